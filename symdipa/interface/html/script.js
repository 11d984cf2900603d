"use strict";
// Steps through the runs. Everything that it shows is in the page already; without it the tables tell the same.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const steppers = [];

  function stepper(section, told) {
    const box = section.querySelector(".stepper");
    const automaton = section.querySelector("svg.automaton");
    const program = section.querySelector("figure.program");
    const samples = section.querySelector("svg.samples");
    const rows = [...section.querySelectorAll("tr[data-position]")];
    const fields = Object.fromEntries([...box.querySelectorAll("[data-field]")].map((f) => [f.dataset.field, f]));
    const buttons = Object.fromEntries([...box.querySelectorAll("button")].map((b) => [b.dataset.go, b]));
    const run = told.witness.run;
    const called = (place, state) => (told.places ? told.places[place] : state); // where the run is after so many steps
    const number = (place) => told.steps[place - 1]; // in the whole run, of which the page may show a part
    const stored = (values) => Object.entries(values || {}).map(([x, y]) => (y === `${x} + input` ? `${x} += input` : `${x} := ${y}`));
    let place = 0;

    function mark(picture, selector, name, on) {
      for (const part of within(picture, selector)) part.classList.toggle(name, on(part));
    }

    // Scrolls the frame around parts, not the page, as little as it takes to have them in view.
    function reveal(parts, room) {
      const frame = parts.length && parts[0].closest(".scroll");
      if (!frame) return;
      const boxes = parts.map((part) => part.getBoundingClientRect());
      const outer = frame.getBoundingClientRect();
      const head = frame.querySelector("thead");
      const top = outer.top + (head ? head.getBoundingClientRect().height : 0);
      const off = (low, high, from, to) => (low < from ? low - from - room : high > to ? Math.min(high - to + room, low - from) : 0);
      const least = (side) => Math.min(...boxes.map((box) => box[side]));
      const most = (side) => Math.max(...boxes.map((box) => box[side]));
      frame.scrollTop += off(least("top"), most("bottom"), top, outer.bottom);
      frame.scrollLeft += off(least("left"), most("right"), outer.left, outer.right);
    }
    const within = (picture, selector) => (picture ? [...picture.querySelectorAll(selector)] : []);

    function show(next) {
      place = Math.max(0, Math.min(run.length, next));
      const step = place ? run[place - 1] : null;
      const here = step ? step.to : run[0].from;
      const values = {
        where: place ? `Step ${number(place)} of ${told.length}` : `Before step 1 of ${told.length}`,
        move: step ? `${called(place - 1, step.from)} → ${called(place, here)}` : `the run begins in ${called(0, here)}`,
        guard: step ? (told.guards ? told.guards[place - 1] : step.guard) : "–",
        output: step ? (told.outputs ? told.outputs[place - 1] : step.output) : "–",
        stores: (step && [...step.assign, ...stored(step.copy), ...stored(step.update)].join(", ")) || "–",
        entries: (step && told.entries && told.entries[place - 1]) || "–",
        registers: (step && told.registers && told.registers[place - 1]) || "–",
        facts: (step && told.facts[place - 1]) || "nothing",
        marks: (step && told.marks[place - 1]) || "none",
      };
      for (const [name, value] of Object.entries(values)) if (fields[name]) fields[name].textContent = value;
      for (const row of rows) {
        if (place && Number(row.dataset.position) === number(place)) row.setAttribute("aria-current", "step");
        else row.removeAttribute("aria-current");
      }
      buttons.first.setAttribute("aria-disabled", place === 0);
      buttons.previous.setAttribute("aria-disabled", place === 0);
      buttons.next.setAttribute("aria-disabled", place === run.length);
      buttons.last.setAttribute("aria-disabled", place === run.length);
      const lines = (place && told.lines && told.lines[place - 1]) || [];
      mark(program, "[data-line]", "now", (p) => lines.includes(Number(p.dataset.line)));
      mark(automaton, "[data-transition]", "now", (p) => place > 0 && Number(p.dataset.transition) === told.transitions[place - 1]);
      mark(automaton, "[data-state]", "now", (p) => Number(p.dataset.state) === told.states[place]);
      const later = (k) => place > 0 && place < run.length && k >= number(place);
      mark(samples, "[data-step]", "now", (p) => place > 0 && Number(p.dataset.step) === number(place) - 1);
      mark(samples, "[data-step]", "later", (p) => later(Number(p.dataset.step)));
      mark(samples, "[data-later]", "later", (p) => later(Number(p.dataset.later)));
      reveal(within(program, ".now"), 20);
      reveal(within(automaton, ".now[data-state]"), 20);
      reveal(within(automaton, ".now[data-transition]"), 20);
      reveal(within(samples, ".path"), 20);
      reveal(within(samples, ".now"), 20);
      reveal(rows.slice(Math.max(place - 1, 0)).slice(0, 1), 0);
    }

    const go = { first: () => show(0), previous: () => show(place - 1), next: () => show(place + 1), last: () => show(run.length) };
    for (const [name, button] of Object.entries(buttons)) button.addEventListener("click", () => go[name]());
    for (const row of rows) row.querySelector("button").addEventListener("click", () => show(rows.indexOf(row) + 1));
    box.hidden = false;
    section.querySelector(".walk").classList.add("live");
    show(0);
    return { section, box, go };
  }

  for (const [id, told] of Object.entries(data.files)) {
    const section = document.getElementById(id);
    if (section && told.witness && section.querySelector(".stepper")) steppers.push(stepper(section, told));
  }

  // A frame takes part in the order of tabs only while there is something to scroll in it.
  const frames = [...document.querySelectorAll(".scroll")];
  function order() {
    for (const f of frames) f.tabIndex = f.scrollWidth > f.clientWidth || f.scrollHeight > f.clientHeight ? 0 : -1;
  }
  order();
  addEventListener("resize", order);

  function wanted(target) {
    const inside = steppers.find((s) => s.section.contains(target));
    const seen = (s) => {
      const place = s.section.getBoundingClientRect();
      return Math.min(place.bottom, innerHeight) - Math.max(place.top, 0);
    };
    return inside || [...steppers].sort((a, b) => seen(b) - seen(a))[0];
  }

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !steppers.length) return;
    const frame = event.target.closest && event.target.closest(".scroll");
    if (frame && frame.scrollWidth > frame.clientWidth && frame === event.target) return; // the arrows scroll it
    const stepper = wanted(event.target);
    const inside = stepper.box.contains(event.target);
    const go = { ArrowRight: "next", ArrowLeft: "previous", ...(inside ? { Home: "first", End: "last" } : {}) }[event.key];
    if (!go) return;
    event.preventDefault();
    stepper.go[go]();
  });
})();
