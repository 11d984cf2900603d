"""The exact constant by a distance automaton: published numbers, the profiles of the lift, and judges.

The judge of a run is a linear program over its shifts, written down from the automaton's own transitions; it
knows nothing of the core, of order states and of profiles.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from math import inf
from types import SimpleNamespace

import highspy
import linear_models as models
import numpy as np
import pytest
import random_automata
from linear_models import asked, at_most, below, build, drawn, silent

from symdipa.bounds.exact.distance import Distance, distance_constant
from symdipa.bounds.exact.distance.growth import (
    FREE,
    GROWING,
    NEVER,
    PAID,
    Loop,
    endless,
    expanded,
    product,
    repeated,
)
from symdipa.bounds.exact.distance.space import Letter
from symdipa.bounds.exact.frames import StepTable
from symdipa.bounds.exact.profiles import ConstantLimit, exact_constant
from symdipa.files.families import generate
from symdipa.model.automaton import (
    INSAMPLE,
    Automaton,
    Noise,
    State,
    Term,
    Transition,
    atom,
    difference,
    guarded,
    several,
    symbol,
    value,
    variables_of,
)
from symdipa.model.errors import LimitReached, OutOfTime
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.augmentation import augment
from symdipa.runs.control import Control, control_graph
from symdipa.runs.numbers.possible import feasible
from symdipa.runs.numbers.system import System, Value, unrolled

F = Fraction
TWO_SIDED = (F(-1), F(1))


def distance(example: Automaton, **options) -> Distance:
    return distance_constant(augment(control_graph(example)), **options)


# The judge of a run


def least(system: System, deltas: Sequence[Fraction]) -> float:
    """The least cost of an admissible shift, by a linear program; infinite if there is none."""
    if not system.samples:
        return 0.0
    solver = highspy.Highs()
    solver.silent()
    endless = highspy.kHighsInf
    shifts = [solver.addVariable(-endless, endless) for _ in system.samples]

    def shift(value: Value | None):
        return None if value is None or value.sample is None else value.sign * shifts[value.sample]

    def less(low, high) -> None:
        if low is not None and high is not None:
            solver.addConstr(low - high <= 0)
        elif low is not None or high is not None:
            solver.addConstr(low <= 0 if high is None else high >= 0)

    for c in system.comparisons:  # the sign of shifts is that of docs/weights.md
        less(shift(c.high), shift(c.low))
    for one in system.shown:
        less(shift(one.value), shift(one.subtrahend))
        less(shift(one.subtrahend), shift(one.value))
    for own, s in zip(shifts, system.samples, strict=True):
        above = solver.addVariable(0, endless if s.noise is Noise.LAPLACE else 0, float(s.d))
        under = solver.addVariable(0, 0 if s.noise is Noise.NONE else endless, float(s.d))
        solver.addConstr(own - above + under == float(deltas[s.step] if s.reads_input else 0))
    solver.run()
    solved = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return solver.getInfo().objective_function_value if solved else inf


def taken(found: Distance, rounds: int) -> list[int]:
    """The positions of the run with every loop taken so often, each by itself."""

    def walk(start: int, end: int, loops: Sequence[tuple[int, int]]) -> Iterator[int]:
        while start < end:
            loop = max((one for one in loops if one[0] == start), default=None)
            if loop is None:
                yield start
                start += 1
            else:
                inner = [one for one in loops if one != loop and one[1] <= loop[1]]
                for _ in range(rounds):
                    yield from walk(*loop, inner)
                start = loop[1]

    return list(walk(0, len(found.run), found.loops))


def judged(example: Automaton, control: Control, found: Distance, rounds: int = 1) -> float:
    """What the run costs, with its loops taken so often."""
    positions = taken(found, rounds)
    run = [found.run[k] for k in positions]
    whole, places = control.whole(run), control.places(run)
    deltas = [F(0)] * len(whole)
    for k, t, place in zip(positions, run, places, strict=False):
        if control.sampling[t].reads_input and not control.sampling[t].mirror:
            assert found.deltas[k] in found.interval
            deltas[place] = found.deltas[k]
    return least(unrolled(example, whole), deltas)


def check(example: Automaton, found: Distance) -> None:
    """What is said of the run holds for the automaton's own transitions."""
    control = control_graph(example)
    assert len(found.run) == len(found.deltas)
    if found.value is not None:
        assert not found.loops and not found.rigid and found.gain is None
        assert judged(example, control, found) == pytest.approx(float(found.value))
        return
    if found.rigid:
        assert not found.loops and found.gain is None
        assert judged(example, control, found) == inf
        return
    assert found.loops
    for start, end in found.loops:
        assert control.source[found.run[start]] == control.target[found.run[end - 1]]
        assert not control.is_between(control.source[found.run[start]])
    costs = [judged(example, control, found, n) for n in (1, 2, 3)]
    if found.gain is None:
        assert costs[0] < costs[1] < costs[2]
    else:
        assert np.diff(costs) == pytest.approx([float(found.gain)] * 2)


# Published numbers


def harmless() -> Automaton:
    """A loop stores noise below ``x`` in ``x`` and compares an input with ``t``."""
    half = F(1, 2)
    return build(
        [drawn("a", half), drawn("b", half), drawn("l", half), asked("m", half)],
        [
            ("a", [], {"x"}, "o", "b"),
            ("b", [], {"t"}, "o", "l"),
            ("l", [below("insample", "x")], {"x"}, "on", "m"),
            ("l", [at_most("x", "insample")], (), "off", "end"),
            ("m", [below("insample", "t")], (), "low", "l"),
            ("m", [at_most("t", "insample")], (), "high", "end"),
        ],
    )


def leaking() -> Automaton:
    """The same where the input is stored and compared with the one before."""
    return build(
        [drawn("a", F(1, 2)), asked("l", F(1, 2))],
        [
            ("a", [], {"x"}, "o", "l"),
            ("l", [below("insample", "x")], {"x"}, "on", "l"),
            ("l", [at_most("x", "insample")], (), "off", "end"),
        ],
    )


def released() -> Automaton:
    """A threshold is compared for ever, then released."""
    return build(
        [drawn("t", F(1, 2)), asked("q", F(1, 8)), silent("r")],
        [
            ("t", [], {"t"}, "o", "q"),
            ("q", [below("insample", "t")], (), "low", "q"),
            ("q", [at_most("t", "insample")], (), "high", "r"),
            ("r", [], (), value("t"), "end"),
        ],
    )


def adaptive() -> Automaton:
    """A coarse test, then the same with less noise, with gaps."""

    def gap(name: str):
        return several(symbol(name), difference("insample", "t"))

    return build(
        [drawn("t", F(1, 2)), asked("c", F(1, 16), -16), asked("f", F(1, 8))],
        [
            ("t", [], {"t"}, "start", "c"),
            ("c", [at_most("t", "insample")], (), gap("big"), "end"),
            ("c", [below("insample", "t")], (), "no", "f"),
            ("f", [at_most("t", "insample")], (), gap("small"), "end"),
            ("f", [below("insample", "t")], (), "low", "c"),
        ],
    )


def hysteresis() -> Automaton:
    """On above ``t + 5``, off below ``t - 5``, for ever."""
    up, down = Term("t", F(5)), Term("t", F(-5))
    return build(
        [drawn("t", F(1, 2)), asked("off", F(1, 8)), asked("on", F(1, 8))],
        [
            ("t", [], {"t"}, "start", "off"),
            ("off", [at_most(up, "insample")], (), "on", "on"),
            ("off", [below("insample", up)], (), "stay", "off"),
            ("on", [below("insample", down)], (), "off", "off"),
            ("on", [at_most(down, "insample")], (), "hold", "on"),
        ],
    )


KNOWN = [
    (models.gap_svt(), F(1)),
    (models.endless_gap(), None),
    (models.exact_query(), None),
    (models.exact_query(1), None),
    (models.constants(loop=True), None),
    (models.constants(), F(1)),
    (models.noisy_max(), F(3, 2)),
    (models.noisy_max(2, Noise.EXPONENTIAL, release=False), F(1)),
    (models.exponential_svt(), F(1)),
    (models.shown_once(Noise.EXPONENTIAL), None),
    (models.shown_once(Noise.LAPLACE), F(1, 2)),
    (models.two_thresholds(), F(1)),
    (models.absolute(1), F(1, 2)),
    (models.absolute(2), F(3, 4)),
    (models.last_two(), F(1)),
    (adaptive(), F(3, 4)),
    (released(), None),
    (hysteresis(), None),
    (harmless(), F(3, 2)),
    (leaking(), None),
]


@pytest.mark.parametrize(("example", "constant"), KNOWN)
def test_known_constants(example, constant):
    found = distance(example)
    assert found.value == constant
    check(example, found)


@pytest.mark.parametrize(
    ("name", "n", "constant"),
    [("svt", 10, F(5, 4)), ("k-minmax", 5, F(4, 5)), ("m-range", 3, F(1)), ("u-range", 3, F(1))],
)
def test_families(name, n, constant):
    assert distance(generate(name, n)).value == constant


def test_what_rigid_means():
    assert distance(models.exact_query()).rigid
    assert not distance(leaking()).rigid
    assert distance(leaking()).gain == 1


def test_intervals():
    svt = generate("svt", 1)
    assert distance(svt, adjacency="monotone").value == F(3, 4)
    assert distance(svt, adjacency=(0, 0)).value == 0
    assert distance(svt, adjacency=(F(-1, 2), 0)).value == F(3, 8)
    one_sided = models.shown_once(Noise.EXPONENTIAL)
    assert distance(one_sided, adjacency="monotone").value is None, "the other order counts, too"


# Against the profiles of the lift, for the automata of the paper


@pytest.mark.parametrize("part", range(10))
def test_agrees_with_profiles_of_the_lift(part):
    for i in range(20):
        rng = random.Random(f"distance/{part}/{i}")
        example = random_automata.random_automaton(rng)
        graph = augment(control_graph(example))
        adjacency = rng.choice(["two-sided", "two-sided", "monotone", (F(-1), F(2))])
        expected = exact_constant(graph, adjacency=adjacency)
        found = distance_constant(graph, adjacency=adjacency)
        assert found.value == expected.value, (part, i)
        assert not found.rigid
        if found.value is not None:
            # A bound that is known makes no difference, not even the least one.
            for upper in (found.value, found.value + 1):
                assert distance_constant(graph, adjacency=adjacency, upper=upper).value == found.value
        if i % 4 == 0 and len(found.run) < 40:
            check(example, found)


# Against runs of random automata of the wider model


def wide(rng: random.Random) -> Automaton:
    """A random automaton that stores one to three values and then goes round a few states."""
    names = ["x", "y", "z"][: rng.choice((1, 2, 2, 3))]
    mirrors, offsets, constants = (rng.random() < share for share in (0.3, 0.2, 0.3))
    states: list[State] = []
    steps: list[Transition] = []

    def state(name: str, kinds: str) -> State:
        kind = rng.choice(kinds)
        d = rng.choice((F(1, 4), F(1, 2), F(1)))
        if kind in "rs":
            return State(name, kind == "r", draws=False)
        noise = rng.choice((*9 * [Noise.LAPLACE], Noise.EXPONENTIAL, Noise.NONE))
        if noise is Noise.NONE:
            return State(name, True, noise=noise)
        return State(name, kind == "i", d, noise=noise)

    def terms(here: State) -> Iterator[Term]:
        if here.draws:
            yield Term("insample")
        for x in names:
            yield Term(x, F(rng.choice((-1, 2))) if offsets else F(0))
            if mirrors:
                yield Term(x, mirrored=True)
        if constants:
            yield Term(None, F(rng.choice((3, 5))))

    for k, x in enumerate(names):
        states.append(state(f"p{k}", "in"))
        steps.append(Transition(f"p{k}", f"p{k + 1}", symbol("o"), assign=frozenset({x})))
    for k in range(len(names), len(names) + rng.choice((2, 3))):
        here = state(f"p{k}", "iiinnsr")
        states.append(here)
        pool = list(terms(here))
        guards = [guarded([])]
        for _ in range(rng.choice((1, 1, 2)) if len(pool) > 1 else 0):
            low, high = rng.sample(pool, 2)
            if here.draws and "insample" not in (low.name, high.name):
                low = pool[0]
            if low.name == high.name:
                continue
            asked_now = atom(low, high, rng.random() < 0.5)
            split = guards.pop()
            guards += [guarded([*split.atoms, asked_now]), guarded([*split.atoms, asked_now.negation])]
        for n, guard in enumerate(guards):
            stored = frozenset({rng.choice(names)}) if here.draws and rng.random() < 0.15 else frozenset()
            copied = rng.sample(names, 2) if len(names) > 1 and not stored and rng.random() < 0.1 else []
            shown = rng.choice([value(rng.choice(names)), INSAMPLE if here.draws else value(names[0])])
            if len(names) > 1 and rng.random() < 0.5:
                shown = difference(*rng.sample(names, 2))
            output = several(symbol(f"o{n}"), shown) if rng.random() < 0.12 else symbol(f"o{n}")
            target = rng.choice([f"p{k}", f"p{k}", f"p{k + 1}", f"p{k + 1}", f"p{len(names)}", "end"])
            steps.append(
                Transition(here.name, target, output, guard, stored, (tuple(copied),) if copied else ())
            )
    known = {s.name for s in states}
    states += [State(name) for name in dict.fromkeys(t.target for t in steps) if name not in known]
    return Automaton(tuple(states), "p0", tuple(steps), variables_of(steps)).trusted()


@cache
def drawn_wide(i: int) -> Automaton:
    return wide(random.Random(f"wide/{i}"))


def some_runs(example: Automaton, rng: random.Random, count: int, length: int) -> Iterator[list[int]]:
    """Feasible runs, at random."""
    for _ in range(count):
        run: list[int] = []
        at = example.initial
        while len(run) < length:
            ways = list(example.outgoing[example.index[at]])
            rng.shuffle(ways)
            following = next((t for t in ways if feasible(unrolled(example, [*run, t]))), None)
            if following is None:
                break
            run.append(following)
            at = example.transitions[following].target
        yield run


@pytest.mark.parametrize("part", range(10))
def test_random_wide_automata(part):
    for i in range(10 * part, 10 * part + 10):
        example, rng = drawn_wide(i), random.Random(i)
        found = distance(example)
        check(example, found)
        if found.value is None:
            continue
        for run in some_runs(example, rng, 6, 6):
            system = unrolled(example, run)
            for _ in range(3):
                deltas = [rng.choice(TWO_SIDED) for _ in run]
                assert least(system, deltas) <= float(found.value) + 1e-6, (i, run)


def test_random_wide_automata_are_worth_judging():
    found = [distance(drawn_wide(i)) for i in range(100)]
    assert len({one.value for one in found}) > 8
    assert sum(one.value is None for one in found) > 15
    assert sum(one.rigid for one in found) > 3
    assert sum(augment(control_graph(drawn_wide(i))).leaks and found[i].value is not None for i in range(100))


# Costs without bound


def test_products_and_repetitions():
    loop = np.array([[PAID, FREE], [NEVER, FREE]], dtype=np.uint8)
    growing, count = repeated(loop)
    assert growing.tolist() == [[GROWING, FREE], [NEVER, FREE]] and count == 1
    turning = np.array([[NEVER, FREE], [PAID, NEVER]], dtype=np.uint8)
    growing, count = repeated(turning)
    assert growing.tolist() == [[GROWING, NEVER], [NEVER, GROWING]] and count == 2
    assert product(loop, turning).tolist() == [[PAID, PAID], [PAID, NEVER]]


def test_a_growing_run_may_need_two_loops():
    """A leaking pair: each loop alone can be shifted for nothing."""
    example = build(
        [drawn("t", F(1, 2)), asked("low", F(1, 4)), asked("high", F(1, 4))],
        [
            ("t", [], {"t"}, "o", "low"),
            ("low", [below("insample", "t")], (), "low", "low"),
            ("low", [at_most("t", "insample")], (), "high", "high"),
            ("high", [at_most("t", "insample")], (), "high", "high"),
            ("high", [below("insample", "t")], (), "low", "end"),
        ],
    )
    found = distance(example)
    assert found.value is None and len(found.loops) == 2 and found.gain == F(1, 2)
    check(example, found)


def test_a_growing_run_may_need_loops_in_loops():
    """The cost is the number of ``b``, or the length of a block of ``a`` between two: ``(a^n b)^n``."""
    ways = {
        # Columns: count ``b``; the block is yet to come; it is here; it is over.
        "begin": (0, 1, [(0, 0, 0), (0, 1, 0)]),
        "a": (1, 1, [(0, 0, 0), (1, 1, 0), (2, 2, 1), (3, 3, 0)]),
        "b": (1, 1, [(0, 0, 1), (1, 1, 0), (1, 2, 0), (2, 3, 0), (3, 3, 0)]),
        "end": (1, 2, [(0, 0, 0), (3, 0, 0)]),
    }
    widths = (1, 4, 1)
    letters = []
    for edge, (source, target, some) in enumerate(ways.values()):
        sources, targets, prices = np.array(some).T
        table = StepTable(widths[source], widths[target], sources, targets, prices, targets)
        letters.append(Letter(source, target, edge, 0, table))
    space = SimpleNamespace(
        letters=letters,
        frames=[SimpleNamespace(width=width) for width in widths],
        whole=[True] * 3,
        component=(2, 1, 0),
        limits=UNLIMITED,
    )
    word = endless(space, range(4))
    assert word is not None

    def depth(word) -> int:
        return max((1 + depth(item.body) for item in word if isinstance(item, Loop)), default=0)

    assert depth(word) == 2
    assert endless(space, (0, 1, 3)) is None
    text = "".join("<ab>"[i] for i in expanded(word, 3))
    blocks = text.strip("<>").split("b")
    assert len(blocks) > 3 and min(map(len, blocks[1:-1])) >= 3


# Limits


def test_too_many_profiles():
    with pytest.raises(ConstantLimit, match="more than 20 profiles") as limit:
        distance(generate("m-range", 3), max_nodes=20)
    assert limit.value.lower is not None


def test_a_bound_that_is_wrong_is_noticed():
    with pytest.raises(ValueError, match="above the bound"):
        distance(generate("svt", 1), upper=F(1))


def test_limits_are_kept():
    with pytest.raises(OutOfTime):
        distance(generate("m-range", 3), limits=Limits().within(-1))
    with pytest.raises(LimitReached, match="live values"):
        distance(generate("m-range", 6))
