"""The text language ``.dipa``: reader and writer.

::

    (q1:non-input,1/4,0): x := insample; output obot; goto q2
    (q2,1/2,0): if (insample < x) then output obot; goto q2
                elseif (insample >= x) then output otop; goto q3

:mod:`symdipa.files.formats.language.grammar` parses; here ordered branches are resolved and states and
transitions are numbered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from symdipa.files.formats.branches import MAX_PIECES, first_match
from symdipa.files.formats.common import READING, Parsed, Report
from symdipa.files.formats.language.grammar import EXAMPLE, FATAL, Listing, Listings, parse_listings
from symdipa.files.formats.language.steps import Arm
from symdipa.files.formats.language.words import NAME, NO_REGISTERS, RESERVED
from symdipa.model.adjacency.differ import ALL
from symdipa.model.automaton import (
    Automaton,
    Guard,
    Noise,
    State,
    Transition,
    validated,
    variables_of,
)
from symdipa.model.errors import InputProblem, InvalidInput, Note, NoteKind, Position
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.parts import ENTRY, SAMPLE, Origin
from symdipa.model.spelling import Dictionary
from symdipa.model.validation import Place
from symdipa.model.validation.comparisons import can_hold, simplified
from symdipa.model.validation.guards import too_many
from symdipa.model.validation.initialization import never_stored
from symdipa.model.validation.places import brief
from symdipa.model.validation.samples import scale_text
from symdipa.model.validation.structure import misspelt, misspelt_targets

LONGEST_LINE = 100
"""A state whose branches make a longer line is written with one branch a line."""


def parse(text: str, strict: bool = False, limits: Limits = UNLIMITED) -> Parsed:
    """Read a text; with ``strict`` overlapping branches are problems, otherwise notes."""
    report = Report(text)
    listings = parse_listings(text, report, limits)
    readable = not any(problem.rule in FATAL for problem in report.problems)
    if not listings.states:
        if not report.problems:
            report.add("syntax", f"there is no state in the text; write for instance {EXAMPLE}", 0)
        return Parsed(None, problems=tuple(report.problems))
    assembly = _Assembly(report, strict, listings)
    for listing in listings.states:
        limits.check(READING)
        assembly.add(listing)
    assembly.doubt_targets()
    assembly.doubt_outputs()
    if not readable:
        assembly.blame_variables()
    return assembly.parsed(partial=not readable)


# ------------------------------------------------------------------------- from listings to an automaton


class _Assembly:
    """Puts the listings together: resolves ordered branches, numbers states and transitions."""

    def __init__(self, report: Report, strict: bool, text: Listings) -> None:
        self.report, self.strict, self.text = report, strict, text
        self.listings: list[Listing] = []
        self.transitions: list[Transition] = []
        self.branches: list[Arm] = []
        self.notes: list[Note] = []

    def add(self, listing: Listing) -> None:
        self.listings.append(listing)
        numbered = [(i, branch) for i, branch in enumerate(listing.branches, 1) if not branch.faulty]
        alternatives = [self.alternatives(branch) for _, branch in numbered]
        resolved = self.first_match([guard for guards in alternatives for guard in guards])
        for (number, branch), written in zip(numbered, alternatives, strict=True):
            guards = _together([next(resolved) for _ in written])
            if guards != written:
                self.explain(listing.state.name, number, branch, written, guards)
            for guard in guards or ():
                self.transitions.append(_transition(listing.state.name, branch, guard))
                self.branches.append(branch)

    def first_match(self, guards: list[Guard]) -> Iterator[tuple[Guard, ...] | None]:
        return iter(first_match(guards, self.text.integer))

    def alternatives(self, branch: Arm) -> tuple[Guard, ...]:
        """The guards of a branch, made disjoint, without those that can never hold unless all are such."""
        if len(branch.guards) == 1:
            return branch.guards
        holding = [guard for guard in branch.guards if too_many(guard) or can_hold(guard, self.text.integer)]
        resolved = list(self.first_match(holding))
        if None in resolved:
            return branch.guards  # and it is too much for the whole state as well
        apart = [simplified(guard, self.text.integer) for several in resolved for guard in several or ()]
        return tuple(apart) or branch.guards[:1]

    def explain(
        self,
        source: str,
        number: int,
        branch: Arm,
        written: tuple[Guard, ...],
        guards: tuple[Guard, ...] | None,
    ) -> None:
        """A branch is not read as it is written: say so, as a note or, if strict, as a problem."""
        which = f"branch {number} of state {source}"
        if guards is None:
            message = f"{which} overlaps with so many earlier ones that it would be split into more than "
            message += f"{MAX_PIECES} transitions; write guards that exclude each other"
            self.report.add("determinism", message, branch.guard_at)
        elif self.strict and not branch.is_else:
            message = f"{which} overlaps with an earlier one; {_repair(written, guards)}"
            self.report.add("determinism", message, branch.guard_at)
        elif not branch.is_else or len(guards) != 1:
            branch_of = f"{number} of state {source}"
            if guards:
                self.note(
                    NoteKind.READ_AS, f"{branch_of} {_reading(branch, written, guards)}", branch.guard_at
                )
            else:
                self.note(NoteKind.NEVER_TAKEN, branch_of, branch.guard_at)

    def note(self, kind: NoteKind, text: str, offset: int) -> None:
        self.notes.append(Note(kind, text, self.report.position(offset)))

    def doubt(self, kind: NoteKind, text: str, offset: int) -> None:
        """Something is likely to be misspelt: say so, as a note or, if strict, as a problem."""
        if self.strict:
            self.report.add("structure", Note(kind, text).sentence, offset)
        else:
            self.note(kind, text, offset)

    def all_branches(self) -> Iterator[Arm]:
        return (branch for listing in self.listings for branch in listing.branches)

    def doubt_targets(self) -> None:
        """A target that is not listed ends the run: was another state meant?"""
        names = [listing.state.name for listing in self.listings]
        listed, dictionary = set(names), Dictionary(names)
        for target, meant in self.misspelt_targets(names).items():
            listed.add(target)
            offset = next(branch.target_at for branch in self.all_branches() if branch.target == target)
            self.report.add("structure", misspelt(target, meant, f"'({target}):'"), offset)
        for branch in self.all_branches():
            name = branch.target
            if name and name not in listed:
                listed.add(name)
                if (close := dictionary.closest(name)) is not None:
                    text = f"{name} is only a target, so the run ends there; did you mean {close}? "
                    text += f"(if not, list it: '({name}):')"
                    self.doubt(NoteKind.ONLY_A_TARGET, text, branch.target_at)

    def misspelt_targets(self, names: list[str]) -> dict[str, str]:
        """Targets that stand for a state which nothing reaches; none where a target could not be read."""
        targets: dict[str, list[str]] = {}
        for listing in self.listings:
            targets.setdefault(listing.state.name, []).extend(arm.target for arm in listing.branches)
        unread = any("" in several for several in targets.values())
        return {} if unread else misspelt_targets(names[0], names, targets)

    def doubt_outputs(self) -> None:
        """Any name is an output symbol: was a sample meant, or the value of a variable?"""
        samples = Dictionary(["insample", "insampleprime"])
        variables = Dictionary(sorted(self.text.variables))
        seen: set[str] = set(self.text.variables)
        for branch in self.all_branches():
            for name in branch.output.shape:
                if name is None or name in seen or name in branch.quoted:
                    continue
                seen.add(name)
                said = f"{name} is a symbol like any other; did you mean "
                if meant := samples.closest(name):
                    self.doubt(NoteKind.ODD_OUTPUT, f"{said}{meant}?", branch.output_at)
                elif meant := variables.closest(name):
                    said += f"the value of {meant}? (if not, write '{name}')"
                    self.note(NoteKind.ODD_OUTPUT, said, branch.output_at)

    def blame_variables(self) -> None:
        """Misspelt variables of a text that could be read in part only (else validation finds them)."""
        stored = set(self.text.variables)
        dictionary = Dictionary(sorted(stored))
        for branch in self.all_branches():
            for name, offset in (*branch.reads.items(), *branch.copied.items()):
                if name not in stored and (meant := dictionary.closest(name)):
                    stored.add(name)
                    self.report.add("initialization", never_stored(name, meant), offset)

    def parsed(self, partial: bool) -> Parsed:
        states = [listing.state for listing in self.listings]
        known = {state.name for state in states}
        for transition in self.transitions:
            if transition.target not in known:
                known.add(transition.target)
                states.append(State(transition.target))
        variables = variables_of(self.transitions)
        notes, initial = tuple(self.notes), states[0].name
        automaton = Automaton(
            tuple(states),
            initial,
            tuple(self.transitions),
            variables,
            integer=self.text.integer,
            differ=self.text.differ or ALL,
            read_notes=notes,
        )
        return Parsed(automaton, self.locate, tuple(self.report.problems), partial, self.text.halt)

    def locate(self, place: Place) -> Position | None:
        if place.kind == "transition":
            branch = self.branches[place.index]
            offsets = {
                "guard": branch.reads.get(place.name, branch.guard_at),
                "assign": branch.copied.get(place.name, branch.assign_at),
                "updates": branch.updated.get(place.name, branch.assign_at),
                "output": branch.shown.get(place.name, branch.output_at),
                "target": branch.target_at,
            }
            return self.report.position(offsets.get(place.part, branch.at))
        if place.kind == "state" and place.index < len(self.listings):
            listing = self.listings[place.index]
            offset = listing.parameters_at.get(place.part, listing.at)
            return self.report.position(listing.registers_at.get(place.name, offset))
        return None


def _together(pieces: list[tuple[Guard, ...] | None]) -> tuple[Guard, ...] | None:
    """What is made of the alternatives of one guard; ``None`` if one of them is split too often."""
    if len(pieces) == 1:
        return pieces[0]
    if None in pieces:
        return None
    return tuple(guard for several in pieces for guard in several or ())


def _transition(source: str, branch: Arm, guard: Guard) -> Transition:
    stored = branch.stored
    copies = tuple((name, value) for name, value in stored.items() if value != SAMPLE) if stored else ()
    assign = frozenset(stored).difference(name for name, _ in copies) if copies else frozenset(stored)
    updates = tuple(branch.updates.values())
    return Transition(source, branch.target, branch.output, guard, assign, copies, updates)


def _reading(branch: Arm, written: tuple[Guard, ...], guards: tuple[Guard, ...]) -> str:
    overlap = "" if branch.is_else else "overlaps with an earlier one; first match wins, so it "
    if len(guards) > 1:
        return f"{overlap}is split into {len(guards)} transitions: {_alternatives(guards)}"
    before, after = written[0], guards[0]
    if len(written) > 1 or not before.atoms <= after.atoms:
        return f"{overlap}is read as {brief(after)}"
    added = Guard(after.ge - before.ge, after.lt - before.lt, after.others - before.others)
    return f"{overlap}is read with {brief(added)} added: {brief(after)}"


def _repair(written: tuple[Guard, ...], guards: tuple[Guard, ...]) -> str:
    whole = _alternatives(written)
    if not guards:
        return f"earlier branches cover {whole}, so it can never be taken: remove it"
    return f"to exclude the earlier ones, write {_alternatives(guards)} for {whole}"


def _alternatives(guards: tuple[Guard, ...]) -> str:
    texts = [brief(guard) for guard in guards[:4]]
    return " or ".join(texts) + (f" or {len(guards) - 4} more" if len(guards) > 4 else "")


# ----------------------------------------------------------------------------------------------- writer


@dataclass(frozen=True, slots=True)
class Remarks:
    """Comments for a text, as lines without ``#``: above all states, and above single ones by their names."""

    head: tuple[str, ...] = ()
    states: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def write(automaton: Automaton, remarks: Remarks | None = None) -> str:
    """The automaton as text; reading it back gives the same automaton.

    The language fixes some orders: the initial state comes first, transitions are grouped by their
    source, variables are ordered by first appearance. ``name`` is not written. What the language cannot
    say is an :class:`InvalidInput` that points to JSON. If there are no remarks, the lines of the file that
    it was made from stand in comments.
    """
    validated(automaton)
    faults = list(_inexpressible(automaton))
    if faults:
        raise InvalidInput([InputProblem("name", fault) for fault in faults], automaton.name or None)
    ordered = [automaton.state(automaton.initial)]
    ordered += [state for state in automaton.states if state.name != automaton.initial]
    origin = automaton.origin
    if remarks is None and origin is not None and origin.file:
        remarks = _program(automaton, origin)
    remarks = remarks or Remarks()
    lines = _comment(remarks.head) + [f"halt {automaton.halt}"] * (automaton.halt == "hidden")
    lines += ["noise integer"] * automaton.integer
    lines += [f"differ {automaton.differ}"] * (automaton.differ != ALL)
    for state in ordered[: _lines_needed(automaton, ordered)]:
        said = remarks.states.get(state.name)
        lines += ["", *_comment(said)] if said else []
        lines.append(_state_line(automaton, state))
    return "\n".join(lines) + "\n"


def _program(automaton: Automaton, origin: Origin) -> Remarks:
    """Above each state the lines of the program that its transitions pass."""
    passed = {
        state: {line for t in numbers for line in origin.lines(automaton.transitions[t])}
        for state, numbers in zip((s.name for s in automaton.states), automaton.outgoing, strict=True)
    }
    digits = len(str(max((line for lines in passed.values() for line in lines), default=0)))
    states = {
        state: tuple(f"line {line:>{digits}}  {origin.code(line)}" for line in sorted(lines))
        for state, lines in passed.items()
    }
    file = "".join(c if c.isprintable() else " " for c in origin.file)
    return Remarks((f"Made from {file}, {automaton.name}",), states)


def _comment(lines: Iterable[str]) -> list[str]:
    return [f"# {line}".rstrip() for line in lines]


def _lines_needed(automaton: Automaton, ordered: list[State]) -> int:
    """How many states need a line: final states that the reader would add by itself, in order, do not."""
    leaving = {state.name: automaton.outgoing[automaton.index[state.name]] for state in ordered}
    implicit = [state == State(state.name) and not leaving[state.name] for state in ordered]
    count = len(ordered)
    while count > 1 and implicit[count - 1]:
        count -= 1
    listed = {state.name for state in ordered[:count]}
    targets = dict.fromkeys(automaton.transitions[i].target for state in ordered for i in leaving[state.name])
    added = [name for name in targets if name not in listed]
    dictionary = Dictionary(listed)
    doubted = any(dictionary.closest(name) for name in added)  # if it were not listed
    return count if added == [state.name for state in ordered[count:]] and not doubted else len(ordered)


def _state_line(automaton: Automaton, state: State) -> str:
    numbers: list[str] = []
    if state.draws and (_is_given(state) or _second_is_given(state)):
        numbers += [scale_text(state.noise, state.d), state.mean_text()]
    if _second_is_given(state):
        numbers += [scale_text(state.noise_prime, state.d_prime), state.mean_text(second=True)]
    header = (
        f"({state.name}{_KINDS[state.is_input, state.draws]}{''.join(f',{number}' for number in numbers)}):"
    )
    leaving = [automaton.transitions[i] for i in automaton.outgoing[automaton.index[state.name]]]
    if not leaving:
        return header
    if len(leaving) == 1 and leaving[0].guard.is_true:
        return f"{header} {_step(automaton, leaving[0])}"
    chain = [
        f"if ({_conjunction(automaton, transition.guard)}) then {_step(automaton, transition)}"
        for transition in leaving
    ]
    line = f"{header} {' else'.join(chain)}"
    return line if len(line) <= LONGEST_LINE else f"{header}\n    " + "\n    else".join(chain)


def _conjunction(automaton: Automaton, guard: Guard) -> str:
    index = automaton.variable_index
    atoms = [(index[name], f"insample >= {name}") for name in guard.ge]
    atoms += [(index[name], f"insample < {name}") for name in guard.lt]
    written = [text for _, text in sorted(atoms)] + sorted(map(str, guard.others))
    return " && ".join(written) or "true"


def _step(automaton: Automaton, transition: Transition) -> str:
    stored = ", ".join(assignments(automaton, transition))
    shown = transition.output.text(numbers_of(automaton))
    return f"{stored}{'; ' if stored else ''}output {shown}; goto {transition.target}"


def assignments(automaton: Automaton, transition: Transition) -> list[str]:
    """What a transition stores and updates, as text."""
    index = automaton.variable_index
    stored = sorted(transition.stores, key=lambda pair: index[pair[0]])
    return [*(f"{x} := {y}" for x, y in stored), *map(str, transition.updates)]


def numbers_of(automaton: Automaton) -> frozenset[str]:
    """The names that stand for numbers: a symbol with one of them is written in quotes."""
    return frozenset((*automaton.variables, *automaton.registers))


_KINDS = {(True, True): "", (False, True): ":non-input", (True, False): ":read", (False, False): ":silent"}
"""Behind the name of a state, by whether it reads and whether it draws."""


def _is_given(state: State) -> bool:
    return state.d is not None or state.noise is Noise.NONE


def _second_is_given(state: State) -> bool:
    return state.d_prime is not None or state.noise_prime is Noise.NONE


def _inexpressible(automaton: Automaton) -> Iterator[str]:
    advice = "write the automaton as JSON instead"
    kinds = {"state": [state.name for state in automaton.states], "variable": automaton.variables}
    shown = [part for t in automaton.transitions for part in t.output.parts]
    symbols = [part.symbol for part in shown if part.symbol is not None]
    for what, names in {**kinds, "output symbol": symbols, "register": automaton.registers}.items():
        for name in dict.fromkeys(names):
            if name in RESERVED or not NAME.fullmatch(name) or (what == "register" and name in NO_REGISTERS):
                yield f"the text language cannot express the {what} {name!r}; {advice}"
    stored = {name for t in automaton.transitions for name in t.assigned}
    for name in sorted({x for part in shown for x in part.values} - stored):
        yield f"the text language cannot express the value of {name!r}, in which nothing is stored; {advice}"
    if automaton.registers and ENTRY in stored:
        yield f"the text language cannot express registers beside a variable {ENTRY!r}; {advice}"
    for name in sorted(set(automaton.registers) - _seen_as_registers(automaton)):
        yield (
            f"the text language cannot express that {name!r} is a register, as it is in no mean and gets "
            f"no input; {advice}"
        )
    for state in automaton.states:
        second, first = _second_is_given(state), _is_given(state)
        lost = (not second and (state.mu_prime or state.noise_prime is not Noise.LAPLACE)) or (
            not first and (state.mu or state.registers or second or state.noise is not Noise.LAPLACE)
        )
        if lost:
            yield f"the text language cannot leave out one scale of state {state.name}; {advice}"


def _seen_as_registers(automaton: Automaton) -> set[str]:
    """The registers that a reader takes for such."""
    updates = [update for transition in automaton.transitions for update in transition.updates]
    found = {name for state in automaton.states for name, _ in state.registers if _is_given(state)}
    found |= {update.register for update in updates if update.adds_input}
    links = [{update.register, update.source} for update in updates if update.source is not None]
    while more := [link for link in links if link & found and not link <= found]:
        found |= {name for link in more for name in link if name is not None}
    return found
