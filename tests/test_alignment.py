"""The alignment bound: the numbers of docs/weights.md, section 9, and the face of the module."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import EXAMPLES, ROOT
from test_brute_force import automaton

from symdipa.bounds.alignment import Alignment, align, breakdown
from symdipa.bounds.alignment.lifts import canonical
from symdipa.bounds.alignment.rounding import evaluate, rounded
from symdipa.bounds.costs import Rate
from symdipa.files import formats
from symdipa.files.families import generate
from symdipa.model.automaton import Automaton
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.control import FREE, control_graph
from symdipa.runs.order import members
from symdipa.runs.problem import Problem

PEER = ROOT.parent / "shared" / "peer" / "dipaut"
HALF, ONE = Fraction(1, 2), Fraction(1)


def example(name: str) -> Automaton:
    return formats.load(next(EXAMPLES.glob(f"*/{name}.dipa")))


def bound(automaton: Automaton, graph: str = "auto", lift: str = "", **options: object) -> Fraction | None:
    return align(Problem.of(automaton), graph, lift, **options).bound  # type: ignore[arg-type]


# Numbers


CONTROL = ("control", "", False)
EQ_C, EQ_CK = ("eq", "C", True), ("eq", "CK", True)
MARKS = ("augmentation", "LG", False)


@pytest.mark.parametrize(
    ("name", "how", "expected"),
    [
        ("svt", CONTROL, Fraction(5, 4)),
        ("num_sparse", CONTROL, Fraction(7, 4)),
        ("num_range_2", CONTROL, Fraction(5, 4)),
        ("two_range_2", CONTROL, Fraction(2)),
        ("range_1", CONTROL, ONE),
        ("m_range_2", CONTROL, ONE),
        ("k_min_max_3", EQ_CK, Fraction(5, 6)),
        ("k_min_max_3", EQ_C, Fraction(11, 12)),
        ("k_min_max_3", MARKS, Fraction(11, 12)),
    ],
)
def test_examples(name: str, how: tuple[str, str, bool], expected: Fraction):
    graph, lift, wide = how
    assert bound(example(name), graph, lift, intervals=wide) == expected


@pytest.mark.parametrize("m", [1, 2, 3, 7, 20])
def test_m_range_costs_one_on_the_control_graph(m: int):
    assert bound(generate("m-range", m), *CONTROL[:2]) == 1


@pytest.mark.parametrize("k", [2, 4, 6, 10, 20])
def test_k_minmax_on_equal_variables(k: int):
    control = control_graph(generate("k-minmax", k))
    assert align(Problem(control), "eq", "C", intervals=True).bound == Fraction(k + 2, 4 * k) + HALF
    assert align(Problem(control), "augmentation", "LG").bound == Fraction(k + 2, 4 * k) + HALF
    # The coarser graphs do not tell which sample will be the least and which the largest.
    assert align(Problem(control), "control", "C", intervals=True).bound is None
    assert align(Problem(control), "eq", intervals=True).bound is None


@pytest.mark.parametrize(("k", "expected"), [(3, Fraction(5, 6)), (5, Fraction(17, 20))])
def test_odd_k_minmax(k: int, expected: Fraction):
    assert bound(generate("k-minmax", k)) == expected
    assert bound(generate("k-minmax", k), "eq", "CK", intervals=True) == expected


@pytest.mark.skipif(not PEER.is_dir(), reason="the peer's automata are not at hand")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("example_23", Fraction(7, 4)),
        ("example_25", Fraction(5, 3)),
        ("example_27", Fraction(7, 3)),
        ("example_28_2_1307", Fraction(7, 6)),
        ("example_n_equal_3", Fraction(5, 8)),
    ],
)
def test_the_peers_automata_on_the_control_graph(name: str, expected: Fraction):
    (path,) = PEER.rglob(f"well_formed/{name}.dipa")
    automaton = formats.load(path)
    assert bound(automaton, "control") == expected
    assert bound(automaton) == expected


def test_sparse_vector_technique_without_a_loop():
    rows = ["q0 -> q1 [start] :x"]
    for i in range(1, 11):
        rows += [f"q{i} -> q{i + 1} [below] <x", f"q{i} -> end [above] >x"]
    unrolled = automaton("\n".join(rows), silent="q0")
    double = [replace(s, d=HALF) if s.d is not None and s.name != "q0" else s for s in unrolled.states]
    unrolled = replace(unrolled, states=tuple(double))
    assert bound(unrolled, "control") == Fraction(5, 4)
    assert bound(unrolled) == Fraction(5, 4)


def test_a_chain_where_alignment_is_off_by_two():
    chain = automaton("q0 -> q1 [a] :x \n q1 -> q2 [b] >x :y \n q2 -> q3 [c] >y")
    scales = {"q0": 1, "q1": 2, "q2": 1}
    chain = replace(chain, states=tuple(replace(s, d=Fraction(scales.get(s.name, 1))) for s in chain.states))
    assert bound(chain) == 4


@pytest.mark.parametrize(
    ("name", "expected"),
    [("svt", Fraction(3, 4)), ("num_sparse", ONE), ("range_1", HALF), ("k_min_max_3", Fraction(5, 12))],
)
def test_differences_of_one_sign(name: str, expected: Fraction):
    found = align(Problem.of(example(name)), adjacency="monotone")
    assert found.bound == expected == max(side.bound for side in found.sides)
    assert sorted((side.low, side.high) for side in found.sides) == [(-1, 0), (0, 1)]


def test_a_second_sample_pays_on_each_side_for_itself():
    """Threshold tests that release ``insample'``: the larger of what both directions cost."""
    rows = "q0 -> q1 [start] :x \n q1 -> q2 [insample'] >x \n q1 -> q1 [below] <x"
    released = automaton(rows, silent="q0")
    assert bound(released) == Fraction(1, 4) + 2 * Fraction(1, 4) + Fraction(1, 4)
    one_sided = {
        (low, high): bound(released, adjacency=(Fraction(low), Fraction(high)))
        for low, high in [(0, 1), (-1, 0), (0, 0), (0, 3)]
    }
    quarter = Fraction(1, 4)
    # Upward the threshold stays, and the exit pays for both samples. Downward the threshold goes along, and
    # the exit pays for the sample that cannot stay (difference 0) or for the one that is released (-1).
    assert one_sided[0, 1] == quarter + quarter
    assert one_sided[-1, 0] == quarter + max(quarter, quarter)
    assert one_sided[0, 0] == 0
    assert one_sided[0, 3] == 3 * one_sided[0, 1]


# The face


def test_sensitivity_multiplies_everything():
    control = control_graph(example("num_sparse"))
    (once,), (thrice,) = align(Problem(control)).sides, align(Problem(control), sensitivity=3).sides
    assert thrice.bound == 3 * once.bound == Fraction(21, 4)
    assert (thrice.low, thrice.high) == (-3, 3)
    for node in range(once.lifted.nodes):
        assert thrice.potential(node) == 3 * once.potential(node)
        for x in members(once.lifted.tracked[node]):
            assert thrice.shift(node, x) == tuple(3 * end for end in once.shift(node, x))
    run, costs = breakdown(thrice)
    assert (run, sum(c.amount for c in costs)) == (breakdown(once)[0], thrice.bound)


def test_what_is_not_private_has_no_bound():
    for name in ("a_leakp", "dc_example", "lc_example", "num_range_1"):
        found = align(Problem.of(example(name)))
        assert found.bound is None
        assert not found.sides
        assert {attempt.reason for attempt in found.attempts} == {"no shifts satisfy the rules"}


def test_auto_keeps_the_best_and_says_what_it_tried():
    found = align(Problem.of(example("k_min_max_3")))
    assert (found.bound, found.graph, found.lift, found.intervals) == (Fraction(5, 6), "eq", "CK", True)
    tried = [(a.graph, a.lift, a.bound) for a in found.attempts]
    assert tried[0] == ("control", "", None)
    assert ("eq", "C", Fraction(11, 12)) in tried
    assert tried[-1] == ("augmentation", "CKLG", Fraction(5, 6))


def test_auto_ends_where_the_bound_cannot_be_bettered():
    found = align(Problem.of(example("svt")), goal=Fraction(5, 4))
    assert [(a.graph, a.bound) for a in found.attempts] == [("control", Fraction(5, 4))]
    assert len(align(Problem.of(example("svt")), goal=Fraction(6, 5)).attempts) > 1


def test_limits():
    control = control_graph(generate("k-minmax", 6))
    for graph, lift in [("eq", ""), ("eq", "C"), ("augmentation", ""), ("augmentation", "LG")]:
        with pytest.raises(LimitReached, match="more than 5 nodes"):
            align(Problem(control), graph, lift, max_nodes=5)
    with pytest.raises(LimitReached, match="time"):
        align(Problem(control), "eq", limits=UNLIMITED.within(0))
    found = align(Problem(control), max_nodes=12)
    assert found.bound is None
    assert any("more than 12 nodes" in attempt.reason for attempt in found.attempts)
    assert "time" in align(Problem(control), limits=UNLIMITED.within(0)).attempts[0].reason

    def impatient(_: str) -> None:
        raise LimitReached(Limit.SIZE, "enough")

    with pytest.raises(LimitReached, match="enough"):
        align(Problem(control), "eq", limits=Limits(progress=impatient))


def test_what_cannot_be_asked():
    control = control_graph(example("svt"))
    with pytest.raises(ValueError, match="a graph is"):
        align(Problem(control), "octagons")
    with pytest.raises(ValueError, match="letters of UCKMLG"):
        align(Problem(control), "eq", "Q")
    with pytest.raises(ValueError, match="need the augmentation"):
        align(Problem(control), "eq", "LG")
    with pytest.raises(ValueError, match="contains 0"):
        align(Problem(control), adjacency=(Fraction(1), Fraction(2)))


def test_letters():
    assert canonical("") == ""
    assert canonical("ku") == "UK"
    assert canonical("KCU") == "CK"
    assert canonical("g") == "ULG"
    assert canonical("LCK") == "CKLG"


# Where a bound comes from


def explained(found: Alignment, automaton: Automaton) -> list[tuple[str, str, str]]:
    (side,) = found.sides
    run, costs = breakdown(side)
    at = automaton.initial
    for t in run:
        assert automaton.transitions[t].source == at
        at = automaton.transitions[t].target
    assert all(run[c.position] == c.transition for c in costs)
    assert sum(c.amount for c in costs) == found.bound
    return [(c.state, c.why, str(c.amount)) for c in costs]


def test_breakdown():
    svt = example("svt")
    assert explained(align(Problem.of(svt)), svt) == [("q1", "threshold", "1/4"), ("q2", "test", "1")]
    sparse = example("num_sparse")
    assert [why for _, why, _ in explained(align(Problem.of(sparse)), sparse)] == [
        "threshold",
        "test",
        "release",
    ]
    kept = automaton("q0 -> q1 [insample] :x \n q1 -> q2 [a] >x")
    assert explained(align(Problem.of(kept)), kept) == [("q0", "release", "1/4"), ("q1", "test", "1/4")]


@pytest.mark.parametrize("how", [EQ_C, EQ_CK, MARKS])
def test_the_breakdown_of_a_lift_ends_where_its_prophecies_are_fulfilled(how: tuple[str, str, bool]):
    minmax = generate("k-minmax", 4)
    found = align(Problem.of(minmax), how[0], how[1], intervals=how[2])
    costs = explained(found, minmax)
    assert [why for _, why, _ in costs][-1] == "test"
    assert all(why in ("threshold", "test") for _, why, _ in costs)


# From floats to fractions


def test_only_what_is_exactly_right_is_returned():
    (side,) = align(Problem.of(example("m_range_2")), "control").sides
    problem, values = side.program.constraints, list(side.solution.values)
    assert evaluate(problem, tuple(values), side.low, side.high).bound == side.bound
    for i, value in enumerate(values):
        for wrong in (value + Fraction(1, 10**9), value - Fraction(1, 10**9), Fraction(2)):
            broken = evaluate(problem, (*values[:i], wrong, *values[i + 1 :]), side.low, side.high)
            assert broken is None  # every threshold is fixed by the loop


def test_rounding_forgives_what_floats_get_wrong():
    (side,) = align(Problem.of(generate("k-minmax", 5)), "eq", "CK", intervals=True).sides
    floats = [float(v) + (1e-10 if i % 2 else -1e-10) for i, v in enumerate(side.solution.values)]
    again = rounded(side.program.constraints, floats, float(side.bound), side.low, side.high)
    assert again is not None
    assert again.bound == side.bound
    assert rounded(side.program.constraints, [0.4] * len(floats), 0.0, side.low, side.high) is None


def test_the_cost_of_a_step_is_the_worst_over_the_differences():
    quarter = (Fraction(1, 4), Fraction(1, 4))
    first = Rate(quarter, release=quarter, moves=True)
    second = Rate(quarter, release=FREE, moves=False)
    low, high = Fraction(-1), Fraction(1)
    assert sum(first.worst([], [], low, high)) == Fraction(1, 4)
    assert sum(first.worst([HALF], [HALF], low, high)) == Fraction(1, 4) * Fraction(5, 2)
    assert sum(second.worst([], [HALF], low, high)) == 0
    assert sum(second.worst([], [-HALF], low, high)) == Fraction(1, 8)
    assert sum(first.worst([HALF], [HALF], Fraction(0), high)) == Fraction(1, 4) * Fraction(3, 2)
    assert sum(first.worst([HALF], [HALF], low, Fraction(0))) == Fraction(1, 4) * Fraction(5, 2)
    for rate, ends in ((first, (low, high)), (second, (Fraction(0),))):
        for shift in (-HALF, Fraction(0), HALF):
            assert sum(rate.worst([shift], [shift], low, high)) == max(rate.cost(end, shift) for end in ends)


# Processes


def python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(ROOT), timeout=120, check=True
    )
    return done.stdout


def test_the_solver_is_loaded_late_and_says_nothing():
    code = (
        "import sys\nfrom symdipa.bounds.alignment import align\n"
        "from symdipa.runs.problem import Problem\n"
        "from symdipa.files.families import generate\n"
        "print({'numpy', 'scipy', 'highspy'} & set(sys.modules))\n"
        "print(align(Problem.of(generate('svt', 3))).bound)"
    )
    assert python(code) == "set()\n5/4\n"
