"""Bounds from above and below for automata that are not the paper's (docs/weights.md)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import islice, product

import pytest

from symdipa.bounds.alignment import align, breakdown
from symdipa.bounds.breakdown import breakdown_of
from symdipa.bounds.costs import Rate, rate_of
from symdipa.bounds.exact.flow import best_shifts, flow_bound, repeatable
from symdipa.bounds.exact.signs import best_signs
from symdipa.bounds.portfolio import Portfolio, bounds_on, cheap, fallback
from symdipa.bounds.tight_runs import is_real
from symdipa.model.adjacency import EITHER_WAY, in_integers
from symdipa.model.automaton import (
    INSAMPLE,
    INSAMPLE_PRIME,
    Atom,
    Automaton,
    Noise,
    Output,
    State,
    Term,
    Transition,
    atom,
    difference,
    guarded,
    several,
    symbol,
    value,
)
from symdipa.model.errors import LimitReached
from symdipa.runs.control import FREE, Control, control_graph
from symdipa.runs.numbers.shifts import cost as cost_in_numbers
from symdipa.runs.numbers.system import unrolled
from symdipa.runs.order import follow, initial, members
from symdipa.runs.problem import Problem
from symdipa.runs.witness import feasible_runs, rounds_are_alike

F = Fraction
HALF, QUARTER, EIGHTH = F(1, 2), F(1, 4), F(1, 8)
S, T = Term("insample"), Term("t")
EXP, NONE = Noise.EXPONENTIAL, Noise.NONE

# Mechanisms


def go(
    source: str,
    target: str,
    output: str | Output,
    *guard: Atom,
    put: str = "",
    copies: tuple[tuple[str, str], ...] = (),
) -> Transition:
    """A transition; ``put`` are the letters of the variables that the sample is stored in."""
    shown = symbol(output) if isinstance(output, str) else output
    return Transition(source, target, shown, guarded(guard), frozenset(put), copies)


def automaton(states: Sequence[State], *transitions: Transition, integer: bool = False) -> Automaton:
    known = {state.name for state in states}
    ends = dict.fromkeys(t.target for t in transitions if t.target not in known)
    names = sorted({x for t in transitions for x in t.assigned | t.reads})
    every = (*states, *map(State, ends))
    return Automaton(every, states[0].name, transitions, tuple(names), "wide", integer).trusted()


def below(low: Term, high: Term) -> Atom:
    return atom(low, high, True)


def at_most(low: Term, high: Term) -> Atom:
    return atom(low, high, False)


def number(of: int) -> Term:
    return Term(None, F(of))


def gap(answers: int | None, threshold: Fraction = HALF, query: Fraction = EIGHTH) -> Automaton:
    """Sparse vector technique that shows the gaps."""
    states, moves = [State("q0", False, threshold)], [go("q0", "q1", "start", put="t")]
    high = several(symbol("high"), difference("insample", "t"))
    for i in range(1, (answers or 1) + 1):
        states.append(State(f"q{i}", True, query))
        moves.append(go(f"q{i}", f"q{i}", "low", below(S, T)))
        moves.append(go(f"q{i}", f"q{i + (answers is not None)}", high, at_most(T, S)))
    return automaton(states, *moves)


def against_a_constant(loop: bool) -> Automaton:
    low, high = below(S, number(5)), at_most(number(5), S)
    if loop:
        return automaton([State("a", True, EIGHTH)], go("a", "a", "low", low), go("a", "a", "high", high))
    states = [State("a", True, HALF), State("b", True, HALF)]
    moves = [(p, q, o, g) for p, q in ("ab", "bc") for o, g in (("low", low), ("high", high))]
    return automaton(states, *(go(p, q, o, g) for p, q, o, g in moves))


def noisy_max_released() -> Automaton:
    states = [State("a", True, HALF), State("b", True, HALF), State("c", True, HALF), State("r", draws=False)]
    moves = [go("a", "b", "first", put="m")]
    for p, q in ("bc", "cr"):
        moves += [go(p, q, "more", at_most(Term("m"), S), put="m"), go(p, q, "less", below(S, Term("m")))]
    return automaton(states, *moves, go("r", "end", several(symbol("max"), value("m"))))


def released_after_a_loop() -> Automaton:
    states = [State("a", False, HALF), State("q", True, EIGHTH), State("r", draws=False)]
    return automaton(
        states,
        go("a", "q", "start", put="t"),
        go("q", "q", "low", below(S, T)),
        go("q", "r", "high", at_most(T, S)),
        go("r", "end", value("t")),
    )


def vector(noise: Noise, d: Fraction | None, query: Noise, e: Fraction | None) -> Automaton:
    states = [State("a", False, d, noise=noise), State("q", True, e, noise=query)]
    return automaton(
        states,
        go("a", "q", "start", put="t"),
        go("q", "q", "low", below(S, T)),
        go("q", "end", "high", at_most(T, S)),
    )


def exponential_max() -> Automaton:
    states = [State("a", True, HALF, noise=EXP), State("b", True, HALF, noise=EXP)]
    return automaton(
        states,
        go("a", "b", "start", put="t"),
        go("b", "end", "first", below(S, T)),
        go("b", "end", "second", at_most(T, S)),
    )


def exponential_shown() -> Automaton:
    return automaton([State("a", True, HALF, noise=EXP)], go("a", "end", INSAMPLE))


def two_thresholds() -> Automaton:
    x, y = Term("x"), Term("y")
    states = [State("a", False, QUARTER), State("b", False, QUARTER), State("c", draws=False)]
    return automaton(
        [*states, State("d", True, QUARTER)],
        go("a", "b", "start", put="x"),
        go("b", "c", "start", put="y"),
        go("c", "d", "go", below(x, y)),
        go("c", "end", "stop", at_most(y, x)),
        go("d", "d", "in", at_most(x, S), below(S, y)),
        go("d", "end", "low", below(S, x), below(S, y)),
        go("d", "end", "high", at_most(x, S), at_most(y, S)),
    )


def outside(answers: int) -> Automaton:
    """``abs(insample)`` against a threshold."""
    minus = T.negative
    states, moves = [State("q0", False, QUARTER)], [go("q0", "q1", "start", put="t")]
    for i in range(1, answers + 1):
        states.append(State(f"q{i}", True, EIGHTH))
        moves.append(go(f"q{i}", f"q{i}", "in", below(S, T), below(minus, S)))
        moves.append(go(f"q{i}", f"q{i + 1}", "above", at_most(T, S)))
        moves.append(go(f"q{i}", f"q{i + 1}", "below", below(S, T), at_most(S, minus)))
    return automaton(states, *moves)


def keep_two() -> Automaton:
    states = [State("a", True, HALF), State("b", True, HALF), State("c", True, HALF), State("d", draws=False)]
    x, y = Term("x"), Term("y")
    return automaton(
        states,
        go("a", "b", "one", put="y"),
        go("b", "c", "two", put="y", copies=(("x", "y"),)),
        go("c", "d", "three", put="y", copies=(("x", "y"),)),
        go("d", "end", "less", below(x, y)),
        go("d", "end", "more", at_most(y, x)),
    )


def adaptive() -> Automaton:
    shown = difference("insample", "t")
    states = [State("a", False, HALF), State("c", True, F(1, 16), F(-16)), State("f", True, EIGHTH)]
    return automaton(
        states,
        go("a", "c", "start", put="t"),
        go("c", "end", several(symbol("big"), shown), at_most(T, S)),
        go("c", "f", "no", below(S, T)),
        go("f", "end", several(symbol("small"), shown), at_most(T, S)),
        go("f", "c", "low", below(S, T)),
    )


def band() -> Automaton:
    """Stops in a band around the threshold, or above it."""
    low, high = at_most(T.plus(F(-1)), S), below(S, T.plus(F(1)))
    return automaton(
        [State("a", False, HALF), State("q", True, EIGHTH)],
        go("a", "q", "start", put="t"),
        go("q", "end", "in", low, high),
        go("q", "q", "below", low.negation),
        go("q", "end", "above", high.negation, low),
    )


def hysteresis() -> Automaton:
    up, down = at_most(T.plus(F(5)), S), below(S, T.plus(F(-5)))
    return automaton(
        [State("a", False, HALF), State("off", True, EIGHTH), State("on", True, EIGHTH)],
        go("a", "off", "start", put="t"),
        go("off", "on", "on", up),
        go("off", "off", "stay", up.negation),
        go("on", "off", "off", down),
        go("on", "on", "hold", down.negation),
    )


def own_test() -> Automaton:
    """A loop whose rounds store a sample that they compare later, with noise of their own."""
    states = [State("a", False, HALF), State("b", True, QUARTER), State("c", draws=False)]
    return automaton(
        states,
        go("a", "b", "start", put="t"),
        go("b", "c", "next", put="x"),
        go("c", "b", "low", below(Term("x"), T)),
        go("c", "end", "high", at_most(T, Term("x"))),
    )


PRIVATE: list[tuple[Callable[[], Automaton], Fraction]] = [
    (lambda: gap(2), F(1)),
    (lambda: against_a_constant(loop=False), F(1)),
    (noisy_max_released, F(3, 2)),
    (lambda: vector(EXP, HALF, EXP, QUARTER), F(1)),
    (exponential_max, F(1)),
    (two_thresholds, F(1)),
    (lambda: outside(1), HALF),
    (lambda: outside(2), F(3, 4)),
    (keep_two, F(1)),
    (adaptive, F(3, 4)),
    (band, F(3, 4)),
    (own_test, F(1)),
]


@pytest.mark.parametrize(("mechanism", "expected"), PRIVATE)
def test_both_bounds_meet(mechanism: Callable[[], Automaton], expected: Fraction):
    bounds = bounds_on(Problem.of(mechanism()), ("alignment",))
    assert (bounds.alignment, bounds.lower) == (expected, expected)


def test_with_offsets_a_run_from_below_must_be_feasible_in_numbers():
    """The order leaves out that no number is both at least 1 and at most 1/2 above the threshold."""
    states = [State("a", False, HALF), State("b", True, QUARTER), State("c", draws=False)]
    above, near = at_most(T.plus(F(1)), S), at_most(Term("x"), T.plus(HALF))
    mechanism = automaton(
        states,
        go("a", "b", "start", put="t"),
        go("b", "c", "above", above, put="x"),
        go("c", "end", "near", near),
        go("c", "end", "far", near.negation),
    )
    problem = Problem.of(mechanism)
    real = {
        problem.control.whole(run): is_real(problem, run, ()) for run in some_runs(problem.control, 9, 99, 1)
    }
    assert real.pop((0, 1, 2)) is False
    assert set(real.values()) == {True}


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda: gap(None),
        lambda: against_a_constant(loop=True),
        released_after_a_loop,
        lambda: vector(Noise.LAPLACE, HALF, NONE, None),
        lambda: vector(NONE, None, Noise.LAPLACE, HALF),
        exponential_shown,
        hysteresis,
    ],
)
def test_what_is_not_private_has_no_bound(mechanism: Callable[[], Automaton]):
    found = align(Problem.of(mechanism()))
    assert found.bound is None
    assert {attempt.reason for attempt in found.attempts} == {"no shifts satisfy the rules"}


def test_exponential_noise_costs_on_one_side_only():
    """A threshold may only be shifted up to its difference, which is 0, and the answer is below it."""
    for threshold, query, expected in ((EXP, Noise.LAPLACE, F(1)), (Noise.LAPLACE, EXP, F(1))):
        assert align(Problem.of(vector(threshold, HALF, query, QUARTER))).bound == expected
    # The other way round no shift will do: every query must be shifted above its difference.
    states = [State("a", False, HALF), State("q", True, QUARTER, noise=EXP)]
    moves = [
        go("a", "q", "start", put="t"),
        go("q", "q", "high", at_most(T, S)),
        go("q", "end", "low", below(S, T)),
    ]
    assert align(Problem.of(automaton(states, *moves))).bound is None


def test_integers():
    """The range of the differences is rounded inwards, and so is that of the shifts."""
    assert in_integers("two-sided", F(3, 2)) == ("two-sided", 1)
    assert in_integers("two-sided", 3) == ("two-sided", 3)
    assert in_integers("monotone", F(5, 2)) == ("monotone", 2)
    assert in_integers((F(-1, 2), F(2)), F(3, 2)) == ("monotone", 3)
    assert in_integers((F(-2), F(3)), 1) == ((F(-2), F(3)), 1)
    assert in_integers("two-sided", HALF) == ((0, 0), 1)
    paper = gap(1)
    whole = Automaton(paper.states, paper.initial, paper.transitions, paper.variables, "", True).trusted()
    for sensitivity, expected in ((1, F(3, 4)), (F(3, 2), F(3, 4)), (F(5, 2), F(3, 2)), (HALF, F(0))):
        assert align(Problem.of(whole), sensitivity=sensitivity).bound == expected
        found = bounds_on(Problem.of(whole), ("alignment",), sensitivity=sensitivity)
        assert (found.alignment, found.lower) == (expected, expected)
        assert found.sensitivity * 1 == found.sensitivity.numerator
    assert align(Problem.of(paper), sensitivity=F(3, 2)).bound == F(9, 8)


def test_rates():
    exponential, rigid, mirrored = (None, QUARTER), (None, None), (QUARTER, QUARTER)
    low, high = F(-1), F(2)
    rate = Rate(exponential, FREE, moves=True)
    assert (rate.cost(F(1), HALF), rate.cost(HALF, F(1)), rate.cost(F(1), F(1))) == (EIGHTH, None, 0)
    assert rate.worst([], [F(1)], low, high) == (QUARTER, 0)
    assert rate.worst([F(0)], [], low, high) is None
    assert rate.worst([F(-1)], [F(-1)], low, high) == (F(3, 4), 0)
    assert Rate(rigid, FREE, moves=True).worst([], [], low, high) == (0, 0)
    assert Rate(rigid, FREE, moves=True).worst([], [F(1)], low, high) is None
    assert Rate(rigid, FREE, moves=False).worst([F(0)], [F(0)], low, high) == (0, 0)
    mirror = Rate(mirrored, FREE, moves=True, mirror=True)
    assert mirror.differences(low, high) == (-2, 1)
    assert mirror.worst([F(1)], [F(1)], low, high) == (F(3, 4), 0)
    second = Rate(FREE, exponential, moves=True)
    assert second.worst([], [], F(0), high) == (0, HALF)
    assert second.worst([], [], low, high) is None
    assert len({rate, Rate(exponential, FREE, moves=True), mirror, second}) == 3


def test_what_comes_with_every_check():
    """The paper's bounds are about its automata: they are not tried, and refused by name."""
    work = Portfolio(Problem.of(gap(2)))
    work.make(cheap())
    assert not work.from_above
    assert not work.missing
    work.make(fallback())
    assert work.from_above == {"alignment": 1}
    asked = bounds_on(Problem.of(gap(2)), ("corollary", "run", "alignment"))
    assert set(asked.missing) == {"corollary", "run"}
    assert all("the paper's automata only" in reason for reason in asked.missing.values())


def test_parts_are_for_values_that_order_shifts_too():
    with pytest.raises(LimitReached, match="differences are shown"):
        align(Problem.of(gap(2)), "parts")
    assert align(Problem.of(two_thresholds()), "parts", "C", intervals=True).bound == 1


def test_where_a_bound_comes_from_is_told_of_the_automaton():
    mechanism = outside(2)
    parts = breakdown_of(mechanism, bounds_on(Problem.of(mechanism), ("alignment",)))
    assert parts is not None
    assert [(c.position, c.state, c.amount) for c in parts.costs] == [
        (0, "q0", QUARTER),
        (1, "q1", QUARTER),
        (2, "q2", QUARTER),
    ]
    assert [mechanism.transitions[t].source for t in parts.run] == ["q0", "q1", "q2"]


# Random automata, and runs of theirs by a linear program of their own


def some_term(rng: random.Random, names: str, mirrors: bool, offsets: bool) -> Term:
    name = rng.choice([*names, *names, "0", "1"])
    if name in "01":
        return number(int(name))
    return Term(name, F(rng.choice((0, 0, 1)) if offsets else 0), mirrors and rng.random() < 0.3)


def random_automaton(rng: random.Random) -> Automaton:
    mirrors, offsets = rng.random() < 0.3, rng.random() < 0.3
    kinds = rng.choice(((Noise.LAPLACE,), (Noise.LAPLACE, EXP), (Noise.LAPLACE, EXP, NONE)))

    def drawing(name: str, reads: bool) -> State:
        noise = rng.choice(kinds)
        scale = None if noise is NONE else rng.choice((HALF, QUARTER, F(1)))
        mean, second = F(rng.choice((0, 0, 1))), rng.choice(kinds[:2])
        return State(name, reads, scale, mean, QUARTER, noise=noise, noise_prime=second)

    def guard(sample: bool) -> list[Atom]:
        found = []
        for _ in range(rng.choice((0, 1, 1, 2))):
            term = some_term(rng, "xy", mirrors, offsets)
            other = S if sample and rng.random() < 0.8 else some_term(rng, "xy", mirrors, offsets)
            if mirrors and other is S and rng.random() < 0.2:
                other = S.negative
            if term.name != other.name:
                pair = rng.choice(((term, other), (other, term)))
                found.append(atom(*pair, rng.random() < 0.5))
        return found

    states = [drawing("a", rng.random() < 0.5), drawing("b", rng.random() < 0.5)]
    states += [
        drawing(f"s{k}", True) if rng.random() < 0.7 else State(f"s{k}", False, draws=False)
        for k in range(rng.choice((2, 3)))
    ]
    moves = [go("a", "b", "one", put="x"), go("b", "s0", "two", put="y")]
    for k, state in enumerate(states[2:]):
        for n in range(rng.choice((2, 2, 3))):
            target = rng.choice([f"s{k}", f"s{min(k + 1, len(states) - 3)}", f"s{k + 1}"])
            target = target if target in {q.name for q in states} else "end"
            copies: tuple[tuple[str, str], ...] = ()
            put = rng.choice(("", "", "", "x", "y")) if state.draws else ""
            if rng.random() < 0.15:
                copies = (rng.choice((("x", "y"), ("y", "x"))),)
                put = "" if put == copies[0][0] else put
            shown: list[Output] = [symbol(f"{k}{n}")]
            if rng.random() < 0.1:
                shown.append(value(rng.choice("xy")))
            if rng.random() < 0.1:
                shown.append(difference("x", "y"))
            if state.draws and rng.random() < 0.15:
                shown.append(rng.choice((INSAMPLE, INSAMPLE_PRIME, difference("insample", "x"))))
            output = shown[0] if len(shown) == 1 else several(*shown)
            moves.append(go(state.name, target, output, *guard(state.draws), put=put, copies=copies))
    return automaton(states, *moves)


def least_cost(
    control: Control, run: Sequence[int], deltas: Sequence[Fraction], tied: bool = False
) -> float | None:
    """The least cost of shifts by a linear program; ``None``: there are none of finite cost.

    With ``tied`` the shift of a mirror is the negative of the one before, which must make no difference.
    """
    import highspy

    solver, n, infinite = highspy.Highs(), len(run), highspy.kHighsInf
    solver.setOptionValue("output_flag", False)
    for _ in run:
        solver.addVar(-infinite, infinite)
    for j in range(n):
        solver.addVar(0.0, infinite)
        solver.changeColCost(n + j, 1.0)

    def at_most(row: dict[int, float], bound: float, least: float = -infinite) -> None:
        solver.addRow(least, bound, len(row), list(row), list(row.values()))

    certain, last = 0.0, dict[int, int]()
    for j, t in enumerate(run):
        step, sampling, delta = control.shifting(t), control.sampling[t], float(deltas[j])
        for x in members(step.ge):
            at_most({j: 1.0, last[x]: -1.0}, 0.0)
        for x in members(step.lt):
            at_most({last[x]: 1.0, j: -1.0}, 0.0)
        last |= dict.fromkeys(members(step.asg), j)
        if sampling.shows_sample:
            at_most({j: 1.0}, 0.0, 0.0)
        if tied and sampling.mirror:
            at_most({j: 1.0, j - 1: 1.0}, 0.0, 0.0)
        for slope, sign in zip(sampling.slopes, (1.0, -1.0), strict=True):
            if slope is None:
                at_most({j: sign}, sign * delta)
            else:
                at_most({j: sign * float(slope), n + j: -1.0}, sign * delta * float(slope))
        if sampling.shows_second and sampling.reads_input and sampling.second is None:
            certain += float(sampling.d_prime or 0) * abs(delta)
    solver.run()
    status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return None
    assert not run or status == highspy.HighsModelStatus.kOptimal, status
    return certain + float(solver.getInfo().objective_function_value)


def inputs_of(control: Control, run: Sequence[int]) -> list[int]:
    """The places in the automaton's run where an input is read."""
    places = zip(run, control.places(run), strict=True)
    return sorted({place for t, place in places if control.sampling[t].reads_input})


def linked(control: Control, run: Sequence[int], choice: Sequence[Fraction]) -> list[Fraction]:
    """The differences of all positions from those of the inputs."""
    chosen = dict(zip(inputs_of(control, run), choice, strict=True))
    return [
        F(0) if not sampling.reads_input else -chosen[place] if sampling.mirror else chosen[place]
        for sampling, place in (
            (control.sampling[t], p) for t, p in zip(run, control.places(run), strict=True)
        )
    ]


def some_runs(control: Control, steps: int, count: int, each: int = 20) -> Iterator[tuple[int, ...]]:
    """Feasible runs that end where a transition of the automaton does."""
    for run in islice(feasible_runs(control, steps, each * count), 0, None, each):
        whole = control.completed(run)
        if follow(initial(control.variables), [control.steps[t] for t in whole]) is not None:
            yield whole


def test_flows_on_random_runs_are_what_a_linear_program_says():
    rng = random.Random(14)
    finite = infinite = mirrored = 0
    for _ in range(120):
        mechanism = random_automaton(rng)
        control = control_graph(mechanism)
        for run in some_runs(control, 14, 6):
            inputs = inputs_of(control, run)
            deltas = linked(control, run, [F(rng.choice((-1, 0, 1, 2))) for _ in inputs])
            flow, expected = flow_bound(control, run, (), deltas), least_cost(control, run, deltas)
            numbers = unrolled(mechanism, control.whole(run))
            assert flow.value == cost_in_numbers(numbers, control.whole_differences(run, deltas, EITHER_WAY))
            mirrors = any(control.sampling[t].mirror for t in run)
            if expected is None:
                assert flow.value is None
                infinite += 1
                continue
            assert flow.value is not None
            assert float(flow.value) == pytest.approx(expected, abs=1e-7)
            finite += 1
            if mirrors and not any(control.sampling[t].shows_second for t in run):
                mirrored += 1
                assert least_cost(control, run, deltas, tied=True) == pytest.approx(expected, abs=1e-7)
            rates = [rate_of(control.sampling[t]) for t in run]
            shifts = best_shifts(control, flow)
            paid = [rate.cost(d, shift) for rate, d, shift in zip(rates, deltas, shifts, strict=True)]
            assert sum(cost for cost in paid if cost is not None) == flow.value
            assert None not in paid
    assert min(finite, infinite, mirrored) > 30, (finite, infinite, mirrored)


def test_no_run_of_a_random_automaton_costs_more_than_its_bound():
    rng = random.Random(8)
    bounded = met = 0
    for _ in range(100):
        mechanism = random_automaton(rng)
        problem = Problem.of(mechanism)
        found = align(problem, max_nodes=300)
        if found.bound is None:
            continue
        bounded += 1
        highest = F(0)
        for run in some_runs(problem.control, 12, 5):
            inputs = inputs_of(problem.control, run)
            if len(inputs) > 5:
                continue
            costs = [
                least_cost(problem.control, run, linked(problem.control, run, choice))
                for choice in product((F(-1), F(1)), repeat=len(inputs))
            ]
            assert None not in costs
            worst = max(cost for cost in costs if cost is not None)
            assert worst <= float(found.bound) + 1e-7
            deltas = best_signs(problem.control, run)
            best = flow_bound(problem.control, run, (), deltas).value
            assert best is not None
            assert float(best) == pytest.approx(worst, abs=1e-7)
            highest = max(highest, best)
        run, costs_of_steps = breakdown(found.sides[0])
        assert sum(cost.amount for cost in costs_of_steps) == found.bound
        assert set(problem.control.whole(run)) <= set(range(len(mechanism.transitions)))
        lower = bounds_on(problem, ("alignment",)).lower
        assert lower is None or lower <= found.bound
        met += lower == found.bound
    assert bounded > 20
    assert 2 * met > bounded


def test_repeated_loops_are_paid_for_as_if_taken_for_ever():
    rng = random.Random(5)
    finite = infinite = own = 0
    for _ in range(150):
        control = control_graph(random_automaton(rng))
        for run in some_runs(control, 12, 8):
            loop = next(
                (
                    (a, b)
                    for a in range(len(run))
                    for b in range(a + 1, len(run) + 1)
                    if control.source[run[a]] == control.target[run[b - 1]]
                    and control.begins[run[a]]
                    and rounds_are_alike(control, run[a:b])
                ),
                None,
            )
            if loop is None:
                continue
            a, b = loop
            deltas = linked(control, run, [F(rng.choice((-1, 1))) for _ in inputs_of(control, run)])
            value = flow_bound(control, run, [loop], deltas).value
            taken = [
                least_cost(control, run[:a] + run[a:b] * n + run[b:], together)
                for n in (1, 2, 12)
                for together in [deltas[:a] + deltas[a:b] * n + deltas[b:]]
            ]
            if value is None:
                infinite += 1
                once, twice, often = taken
                assert once is None or (twice is not None and often is not None and once <= twice < often)
                continue
            finite += 1
            own += len(repeatable(control, run, [loop])) < b - a
            assert taken[2] is not None
            assert taken[2] >= float(value) - 1e-7
    assert min(finite, infinite) > 30, (finite, infinite, own)
