"""Pictures: what is drawn, that nothing lies on anything else, and that nothing in a name can break out."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from math import inf
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from conftest import EXAMPLES, VIOLATIONS, WIDER_EXAMPLES
from svg_geometry import box, clashes, groups, overlap, parsed, part

from symdipa import check
from symdipa.evidence.forced import forced
from symdipa.evidence.refutation import Growth
from symdipa.files import families, formats
from symdipa.interface.cli import cli
from symdipa.interface.pictures import automaton as automata
from symdipa.interface.pictures import dependency, growth, svg, witness
from symdipa.interface.pictures.layered import Box, LabelledEdge, layered
from symdipa.model.automaton import INSAMPLE, Automaton, Guard, State, Transition, symbol
from symdipa.model.validation.samples import scale_text
from symdipa.runs.control import control_graph
from symdipa.runs.witness import dependency_graph

FILES = sorted(EXAMPLES.glob("*/*.dipa"))
WIDER = [path for path in VIOLATIONS if path in WIDER_EXAMPLES]
SVT = str(EXAMPLES / "well_formed" / "svt.dipa")
A_LEAKP = str(EXAMPLES / "leaking_pair" / "a_leakp.dipa")
NASTY = '<script>alert("1")</script>&\'x\x01'


def drawn(automaton, run=None):
    return svg.standalone(automata.draw(automaton, run), "a picture")


def invoke(*arguments):
    return CliRunner().invoke(cli, list(arguments))


# ------------------------------------------------------------------------------------------ layout


def random_graph(seed):
    rng = random.Random(seed)
    count = rng.randint(1, 25)
    boxes = [
        Box(
            rng.uniform(10, 60),
            rng.uniform(10, 40),
            rng.random() < 0.5,
            right=rng.choice((0.0, 80.0)),
            tall=rng.uniform(0, 60),
        )
        for _ in range(count)
    ]
    pairs = [(rng.randrange(count), rng.randrange(count)) for _ in range(rng.randint(0, 40))]
    links = [LabelledEdge(u, v, rng.uniform(10, 120), rng.uniform(10, 60)) for u, v in pairs if u != v]
    return boxes, links


def area(x, y, left, right, half):
    return x - left, y - half, x + right, y + half


@pytest.mark.parametrize("seed", range(40))
def test_nodes_and_labels_keep_apart_and_routes_end_at_their_nodes(seed):
    boxes, links = random_graph(seed)
    layout = layered(boxes, links)
    areas = [
        area(*at, b.rx + b.left, b.rx + b.right, max(b.ry, b.tall))
        for at, b in zip(layout.centres, boxes, strict=True)
    ]
    areas += [
        area(*route.label, e.width / 2, e.width / 2, e.height / 2)
        for route, e in zip(layout.routes, links, strict=True)
    ]
    assert not [(a, b) for k, a in enumerate(areas) for b in areas[:k] if overlap(a, b)]
    assert all(a[0] > -0.2 and a[1] > -0.2 for a in areas)
    assert all(a[2] < layout.width + 0.2 and a[3] < layout.height + 0.2 for a in areas)
    for route, link in zip(layout.routes, links, strict=True):
        for end, node in ((route.start, link.source), (route.end, link.target)):
            centre, b = layout.centres[node], boxes[node]
            assert abs(end.x - centre.x) <= b.rx
            assert abs(abs(end.y - centre.y) - b.edge(end.x - centre.x)) < 0.2


def test_the_layout_is_the_same_every_time():
    assert layered(*random_graph(7)) == layered(*random_graph(7))


def test_what_follows_is_below_and_what_closes_a_cycle_goes_up():
    boxes = [Box(20, 20)] * 3
    layout = layered(boxes, [LabelledEdge(0, 1), LabelledEdge(1, 2), LabelledEdge(2, 0), LabelledEdge(0, 2)])
    ys = [centre.y for centre in layout.centres]
    assert ys == sorted(set(ys))
    assert [route.falls for route in layout.routes] == [True, True, False, True]


# ------------------------------------------------------------------------------------------ automata


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_examples_are_drawn_whole_and_nothing_lies_on_anything_else(path):
    automaton = formats.load(path)
    text = drawn(automaton)
    root = parsed(text)
    assert [int(g.get("data-state")) for g in groups(root, "state")] == list(range(len(automaton.states)))
    shown = sorted(int(g.get("data-transition")) for g in groups(root, "edge"))
    assert shown == list(range(len(automaton.transitions)))
    for group, state in zip(groups(root, "state"), automaton.states, strict=True):
        assert part(group, "shape").tag.endswith("ellipse" if state.is_input else "rect")
        words = [t.text for t in group if t.tag.endswith("text")]
        assert words[0] == state.name
        if state.draws and state.d is not None:
            assert words[1] == f"{scale_text(state.noise, state.d)}, {state.mean_text()}"
        if not state.draws:
            assert words[1] == ("read" if state.is_input else "silent")
    assert clashes(text) == []


@pytest.mark.parametrize(
    ("family", "n"),
    [
        ("m-range", 18),
        ("u-range", 14),
        ("k-minmax", 20),
        ("bracket-bad", 12),
        ("parity", 9),
        ("turing-odd", 4),
    ],
)
def test_families_of_up_to_60_states_are_legible(family, n):
    automaton = families.generate(family, n)
    assert 10 < len(automaton.states) <= automata.LEGIBLE
    assert clashes(drawn(automaton)) == []


def test_a_short_name_gives_a_circle_and_a_long_one_is_cut_but_told():
    long = "a" * 60
    automaton = Automaton.build(
        [State("q", d=Fraction(1)), State(long, d=Fraction(1))],
        [Transition("q", long, symbol("s")), Transition(long, "q", symbol("t"))],
    )
    short, other = groups(parsed(drawn(automaton)), "state")
    assert part(short, "shape").get("rx") == part(short, "shape").get("ry")
    words = [t.text for t in other if t.tag.endswith("text")]
    assert words[0].endswith("…") and len(words[0]) <= automata.LONGEST_NAME
    assert long in other[0].text
    left, _, right, _ = box(part(other, "shape"))
    assert right - left > svg.text_width([words[0]])


def test_many_loops_and_parallel_edges_of_one_state_are_told_apart():
    automaton = Automaton.build(
        [State("s", is_input=False, d=Fraction(1)), State("q", d=Fraction(1))],
        [
            Transition("s", "q", symbol("go"), assign=frozenset("abcd")),
            *(
                Transition("q", "q", symbol(f"loop{x}"), Guard(ge={x}, lt=set("abcd"[:k])))
                for k, x in enumerate("abcd")
            ),
            Transition("q", "end", symbol("low"), Guard(lt=set("abcd"))),
        ],
    )
    text = drawn(automaton)
    assert clashes(text) == []
    assert len(groups(parsed(text), "edge")) == 6


def test_a_long_guard_is_cut_but_told():
    names = [f"x{k}" for k in range(30)]
    automaton = Automaton.build(
        [State("s", is_input=False, d=Fraction(1)), State("q", d=Fraction(1))],
        [
            Transition("s", "q", symbol("go"), assign=frozenset(names)),
            Transition("q", "q", symbol("low"), Guard(lt=names)),
        ],
    )
    loop = groups(parsed(drawn(automaton)), "edge")[-1]
    words = [t.text for t in loop if t.tag.endswith("text")]
    assert len(words) == automata.MOST_LINES and words[-1] == "… and 24 more"
    assert all(f"insample < {name}" in loop[0].text.split("\n") for name in names)


def test_names_cannot_break_out_of_a_picture():
    automaton = Automaton(
        (State(NASTY, d=Fraction(1)), State("]]>", d=Fraction(1))),
        NASTY,
        (
            Transition(NASTY, "]]>", symbol('"<b>'), assign=frozenset({"</text>"})),
            Transition("]]>", "]]>", INSAMPLE, Guard(lt={"</text>"})),
        ),
        ("</text>",),
        name=NASTY,
    )
    text = drawn(automaton)
    root = parsed(text)
    assert "<script" not in text and "<b>" not in text
    assert "\x01" not in text
    first = groups(root, "state")[0]
    assert next(t.text for t in first if t.tag.endswith("text")) == svg.cut(NASTY.replace("\x01", "�"), 26)


def test_an_automaton_that_is_too_large_is_refused_with_a_way_out():
    with pytest.raises(automata.PictureTooLarge, match=r"301 states.*--to dot"):
        automata.draw(chain(301))


def chain(count):
    states = [State(f"q{k}", d=Fraction(1)) for k in range(count)]
    steps = [Transition(f"q{k}", f"q{k + 1}", symbol("s")) for k in range(count - 1)]
    return Automaton.build(states, steps)


def test_300_states_are_drawn():
    assert len(groups(parsed(drawn(chain(300))), "state")) == 300


# ------------------------------------------------------------------------------------------ witnesses


@pytest.mark.parametrize("path", VIOLATIONS, ids=lambda path: path.stem)
def test_the_run_is_marked_with_its_loops(path):
    automaton = formats.load(path)
    found = check(automaton).witness
    text = drawn(automaton, found)
    assert clashes(text) == []
    for group in groups(parsed(text), "edge"):
        t = int(group.get("data-transition"))
        steps = [k for k, other in enumerate(found.run) if other == t]
        classes = group.get("class").split()
        assert ("run" in classes) is bool(steps)
        for name, (i, j) in zip(("loop-a", "loop-b"), found.cycles, strict=False):
            assert (name in classes) is any(i <= k < j for k in steps)
        told = " ".join(e.text for e in group if e.get("class") == "strong")
        assert all(str(k + 1) in told for k in steps)


@pytest.mark.parametrize("path", [p for p in VIOLATIONS if p not in WIDER], ids=lambda path: path.stem)
def test_larger_samples_are_higher_and_the_path_is_marked(path):
    automaton = formats.load(path)
    found = check(automaton).witness
    drawing = dependency.draw(automaton, found)
    text = svg.standalone(drawing, "samples")
    root = parsed(text)
    assert clashes(text, "tie") == []
    heights = {int(g.get("data-step")): box(part(g, "shape"))[1] for g in groups(root, "sample")}
    over = dependency_graph(control_graph(automaton), found.run).over
    edges = [(i, j) for i, targets in enumerate(over) for j in targets]
    assert all(heights[j] < heights[i] for i, j in edges)
    assert len([g for g in groups(root, "tie") if "path" in g.get("class").split()]) == max(
        0, len(found.path) - 1
    )
    assert bool(drawing.elements) is bool(groups(root, "tie"))


@pytest.mark.parametrize("path", WIDER, ids=lambda path: path.stem)
def test_what_is_in_conflict_is_marked_in_any_automaton(path):
    automaton = formats.load(path)
    found = check(automaton).witness
    drawing = dependency.draw(automaton, found)
    text = svg.standalone(drawing, "samples")
    assert clashes(text, "tie") == []
    ordered = forced(automaton, found.run)
    chain = ordered.chain_of(found)
    marked = [g for g in groups(parsed(text), "tie") if "path" in g.get("class").split()]
    assert len(marked) == len(chain)
    assert sorted(g[0].text.partition(":")[0] for g in marked) == sorted(map(ordered.relation, chain))
    # A sample that is shown is in conflict by itself.
    assert bool(chain) is (len(found.path) > 1 or "constant" in found.conflict)


def picture_of(name):
    automaton = formats.load(EXAMPLES / "linear" / f"{name}.dipa")
    return parsed(svg.standalone(dependency.draw(automaton, check(automaton).witness), name))


def words_of(group):
    return [t.text for t in group if t.tag.endswith("text")]


def test_constants_negatives_and_shown_numbers_are_drawn():
    assert ["5", "a constant"] in [words_of(g) for g in groups(picture_of("fixed_limit_forever"), "sample")]
    negatives = [words_of(g)[0] for g in groups(picture_of("deviation_forever"), "sample")]
    assert [name for name in negatives if name.startswith("-(sample 1")]
    assert "shown in step 5" in [
        line for g in groups(picture_of("svt_released"), "sample") for line in words_of(g)
    ]


def test_a_difference_that_is_shown_has_two_arrowheads():
    ties = groups(picture_of("svt_gap_forever"), "tie")
    heads = {words_of(g)[0]: sum(part.get("class") == "head" for part in g) for g in ties}
    assert heads == {">= t": 1, "shows insample - t": 2}


def test_an_infinite_ratio_is_at_the_top_of_the_curve():
    found = SimpleNamespace(growth=(), rounds=1, log_ratio=inf, eps=Fraction(1), exceeds=Fraction(1))
    text = svg.standalone(growth.draw(found), "curve")
    assert ">infinite</text>" in text and "inf" not in text.replace("infinite", "")


def test_integers_are_told_below_an_automaton():
    automaton = formats.load(EXAMPLES / "linear" / "svt_integer.dipa")
    assert ">noise integer</text>" in drawn(automaton)


def test_of_a_large_automaton_the_part_with_the_run_is_drawn():
    small = formats.load(A_LEAKP)
    far = [State(f"far{k}", d=Fraction(1)) for k in range(400)]
    links = [
        Transition(a, b, symbol("on"))
        for a, b in zip(["q4", *(s.name for s in far)], (s.name for s in far), strict=False)
    ]
    states = tuple(replace(s, d=Fraction(1)) if s.name == "q4" else s for s in small.states)
    large = replace(small, states=(*states, *far), transitions=(*small.transitions, *links))
    found = check(small).witness
    drawing = automata.draw(large, found)
    assert len(groups(parsed(svg.standalone(drawing, "part")), "state")) == 5
    assert drawing.remarks == (
        "Only the states of the run are drawn; 400 others and 400 transitions are left out.",
    )


def test_a_long_run_shows_the_samples_around_its_path():
    small = formats.load(A_LEAKP)
    found = check(small).witness
    loop = found.run[2:3]  # loop B, step 3, once more and more
    more = 200
    longer = replace(
        found,
        run=(*found.run[:3], *loop * more, *found.run[3:]),
        cycles=tuple((i + more, j + more) if i >= 3 else (i, j) for i, j in found.cycles),
        path=tuple(k + more if k >= 3 else k for k in found.path),
    )
    drawing = dependency.draw(small, longer)
    shown = {int(g.get("data-step")) for g in groups(parsed(svg.standalone(drawing, "s")), "sample")}
    assert set(longer.path) <= shown and len(shown) <= dependency.MOST_STEPS
    assert "Only the samples around the dependency path are drawn." in drawing.remarks


def test_both_parts_of_a_witness_are_side_by_side():
    automaton = formats.load(A_LEAKP)
    text = svg.standalone(witness.draw(automaton, check(automaton).witness), "both")
    words = [t.text for t in parsed(text).iter("{http://www.w3.org/2000/svg}text")]
    assert "The run: a leaking pair" in words and "What lies above what" in words
    assert any("Dashed: loop A" in word for word in words)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_curve_has_a_dot_for_every_number_of_rounds(count):
    points = tuple(Growth(2**k, 0.5 * k - 0.2, 1e-9) for k in range(count))
    drawing = growth.draw(SimpleNamespace(growth=points, exceeds=Fraction(3, 2)))
    text = svg.standalone(drawing, "curve")
    assert text.count('class="dot"') == count
    assert "claimed D = 3/2" in text


# ------------------------------------------------------------------------------------------ the command line


def test_convert_to_svg_needs_no_other_program(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    target = tmp_path / "svt.svg"
    assert invoke("convert", SVT, "-o", str(target)).exit_code == 0
    assert target.read_text() == invoke("convert", SVT, "--to", "svg").stdout
    assert len(groups(parsed(target.read_text()), "state")) == 3


def test_convert_says_what_is_too_large(tmp_path):
    large = tmp_path / "large.json"
    large.write_text(formats.dumps(chain(301), "json"))
    done = invoke("convert", str(large), "--to", "svg")
    assert done.exit_code == 2 and done.stdout == ""
    assert "301 states" in done.stderr and "--to dot" in done.stderr


def test_witness_writes_a_picture(tmp_path):
    target = tmp_path / "w.svg"
    done = invoke("witness", "--no-hints", "--svg", str(target), A_LEAKP)
    assert done.exit_code == 1 and "not private: leaking pair" in done.stdout
    assert "leaking pair" in parsed(target.read_text()).get("aria-label")


def test_without_a_run_there_is_no_picture_and_it_is_said(tmp_path):
    target = tmp_path / "w.svg"
    done = invoke("witness", "--svg", str(target), SVT)
    assert done.exit_code == 0 and not target.exists()
    assert "w.svg is not written" in done.stderr


def test_a_picture_is_of_one_file(tmp_path):
    done = invoke("witness", "--svg", str(tmp_path / "w.svg"), A_LEAKP, SVT)
    assert done.exit_code == 2 and "--svg draws one file" in done.stderr


def test_a_picture_that_cannot_be_written(tmp_path):
    done = invoke("witness", "--no-hints", "--svg", str(tmp_path / "no" / "w.svg"), A_LEAKP)
    assert done.exit_code == 2 and "cannot write" in done.stderr
