"""The replay of witnesses refuses what is not one, rule by rule; completion makes what replay accepts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import brute_force as judge
import pytest
import random_automata as source
from test_brute_force import A_LEAKP, automaton

from symdipa.engines.explicit import ExplicitEngine
from symdipa.model.automaton import Automaton
from symdipa.model.errors import SymdipaError, WitnessRejected
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Witness
from symdipa.runs.control import Control, control_graph
from symdipa.runs.order import members
from symdipa.runs.problem import Problem
from symdipa.runs.witness import Loop, complete, dependency_graph, is_non_leaking, replay
from symdipa.runs.witness.dependency import Ends, find_chain

LC, LP, DC, PV = Pattern

# One automaton for each pattern, with a witness that holds.

PAIR = automaton(A_LEAKP, silent="q0 q1")
PAIR_WITNESS = Witness(LP, (0, 1, 2, 3, 4, 5), ((4, 5), (2, 3)), (4, 1, 5, 0, 2))

CYCLE = automaton(
    """q0 -> q1 [a] :x
    q1 -> q2 [b] >x :y
    q2 -> q2 [c] >y :y
    q2 -> q3 [d] <y
    q3 -> q4 [e] >x <y
    q4 -> q3 [f] >y :x
    q3 -> q3 [g] <x"""
)
CYCLE_WITNESS = Witness(LC, (0, 1, 2), ((2, 3),))

DISCLOSES = automaton(
    """q0 -> q1 [a] :x
    q1 -> q2 [b] >x
    q1 -> q1 [insample'] <x :x
    q2 -> q1 [insample] >x
    q2 -> q3 [c] <x
    q3 -> q3 [insample]""",
    silent="q0 q3",
)
DISCLOSES_WITNESS = Witness(DC, (0, 1, 3), ((1, 3),))

VIOLATES = automaton(
    """q0 -> q1 [insample] :x
    q1 -> q1 [a] >x
    q1 -> q2 [insample] <x :y
    q2 -> q2 [b] <x
    q2 -> q3 [insample'] >x
    q3 -> q3 [c] :x
    """
)
VIOLATES_WITNESS = Witness(PV, (0, 1), ((1, 2),), (0, 1))
ABOVE_WITNESS = Witness(PV, (0, 2, 3), ((2, 3),), (2, 0))

HOLDS = [
    (PAIR, PAIR_WITNESS),
    (CYCLE, CYCLE_WITNESS),
    (DISCLOSES, DISCLOSES_WITNESS),
    (VIOLATES, VIOLATES_WITNESS),
    (VIOLATES, ABOVE_WITNESS),
]

# What is changed, and the rule that is broken by it.

TAMPERINGS = [
    ("pair does not start", PAIR, {"run": (1, 2, 3, 4, 5)}, "step 0 does not start where the run is"),
    ("pair jumps", PAIR, {"run": (0, 1, 2, 4, 3, 5)}, "step 3 does not start where the run is"),
    ("pair is shortened", PAIR, {"run": (0, 1, 2, 3)}, "a cycle is not a range of the run"),
    ("pair has an empty cycle", PAIR, {"cycles": ((4, 4), (2, 3))}, "a cycle is not a range of the run"),
    ("pair has a reversed cycle", PAIR, {"cycles": ((5, 4), (2, 3))}, "a cycle is not a range of the run"),
    ("pair has a negative cycle", PAIR, {"cycles": ((-2, -1), (2, 3))}, "a cycle is not a range of the run"),
    ("pair has an open cycle", PAIR, {"cycles": ((4, 5), (2, 4))}, "a cycle does not close"),
    ("pair has one cycle", PAIR, {"cycles": ((4, 5),)}, "a leaking pair has two cycles"),
    ("pair has three", PAIR, {"cycles": ((4, 5), (2, 3), (2, 3))}, "a leaking pair has two cycles"),
    ("pair with itself", PAIR, {"cycles": ((4, 5), (4, 5))}, "the cycles overlap"),
    ("pair the wrong way round", PAIR, {"cycles": ((2, 3), (4, 5))}, "does not leave its first cycle"),
    ("pair without a path", PAIR, {"path": ()}, "the dependency path is too short"),
    ("pair with one position", PAIR, {"path": (4,)}, "the dependency path is too short"),
    ("path skips", PAIR, {"path": (4, 1, 0, 2)}, "the dependency path has a missing edge"),
    ("path backwards", PAIR, {"path": (2, 0, 5, 1, 4)}, "the dependency path has a missing edge"),
    ("path out of the run", PAIR, {"path": (4, 1, 9, 0, 2)}, "the dependency path leaves the run"),
    ("path from the end", PAIR, {"path": (4, 1, -1, 0, 2)}, "the dependency path leaves the run"),
    ("path ends outside", PAIR, {"path": (4, 1, 5, 0)}, "does not enter its last cycle"),
    ("path starts outside", PAIR, {"path": (5, 0, 2)}, "does not leave its first cycle"),
    ("pair called a violating path", PAIR, {"pattern": PV}, "a violating path has one cycle"),
    ("pair called a leaking cycle", PAIR, {"pattern": LC}, "a leaking cycle has one cycle"),
    ("pair called disclosing", PAIR, {"pattern": DC}, "a disclosing cycle has one cycle"),
    ("leaking cycle without one", CYCLE, {"cycles": ()}, "a leaking cycle has one cycle"),
    ("leaking cycle in the middle", CYCLE, {"run": (0, 1, 2, 2)}, "the run does not end with its cycle"),
    (
        "nothing assigned and used",
        CYCLE,
        {"run": (0, 1, 3, 6), "cycles": ((3, 4),)},
        "the cycle assigns no variable that it uses",
    ),
    (
        "only one round",
        CYCLE,
        {"run": (0, 1, 3, 4, 5), "cycles": ((3, 5),)},
        "a round of the cycle is not feasible",
    ),
    ("not even one round", CYCLE, {"run": (0, 1, 3, 4, 5, 4)}, "the run is not feasible"),
    ("leaking cycle called disclosing", CYCLE, {"pattern": DC}, "the cycle is leaking"),
    ("leaking cycle called a path", CYCLE, {"pattern": PV, "path": (0, 1)}, "the cycle is leaking"),
    (
        "disclosing cycle that leaks",
        DISCLOSES,
        {"run": (0, 2), "cycles": ((1, 2),)},
        "the cycle is leaking",
    ),
    ("disclosing cycle in the middle", DISCLOSES, {"run": (0, 1, 3, 1)}, "the run does not end with"),
    ("twice disclosing", DISCLOSES, {"cycles": ((1, 3), (1, 3))}, "a disclosing cycle has one cycle"),
    (
        "it reads no input",
        DISCLOSES,
        {"run": (0, 1, 4, 5), "cycles": ((3, 4),)},
        "no input transition of the cycle",
    ),
    ("disclosing called leaking", DISCLOSES, {"pattern": LC}, "the cycle assigns no variable that it uses"),
    ("the output is on the path's other side", VIOLATES, {"path": (1, 0)}, "has a missing edge"),
    ("two cycles", VIOLATES, {"cycles": ((1, 2), (1, 2))}, "a violating path has one cycle"),
    (
        "no output at the end",
        VIOLATES,
        {"run": (0, 2, 3, 4), "cycles": ((2, 3),), "path": (0, 3)},
        "does not join an output sample",
    ),
    (
        "the path ends on no cycle",
        VIOLATES,
        {"run": (0, 1, 2, 3), "cycles": ((3, 4),), "path": (0, 1)},
        "does not join an output sample",
    ),
    (
        "a cycle that does not touch the path",
        VIOLATES,
        {"run": (0, 2, 4, 5), "cycles": ((3, 4),), "path": (1, 0, 2)},
        "does not join an output sample",
    ),
]

BASES = {id(PAIR): PAIR_WITNESS, id(CYCLE): CYCLE_WITNESS, id(DISCLOSES): DISCLOSES_WITNESS}
BASES[id(VIOLATES)] = VIOLATES_WITNESS


@pytest.mark.parametrize(("example", "witness"), HOLDS, ids=lambda value: getattr(value, "pattern", ""))
def test_what_holds_is_accepted(example: Automaton, witness: Witness):
    replay(control_graph(example), witness)
    assert judge.faults(example, witness.pattern, witness.run, witness.cycles, witness.path) == []


@pytest.mark.parametrize(("name", "example", "change", "rule"), TAMPERINGS, ids=[t[0] for t in TAMPERINGS])
def test_a_tampered_witness_is_refused_by_its_rule(
    name: str, example: Automaton, change: dict[str, object], rule: str
):
    witness = replace(BASES[id(example)], **change)  # type: ignore[arg-type]
    with pytest.raises(WitnessRejected, match=rule):
        replay(control_graph(example), witness)


def test_there_are_twenty_kinds_of_refusal():
    assert len(TAMPERINGS) >= 20
    assert len({rule for *_, rule in TAMPERINGS}) >= 15


def test_a_silent_cycle_discloses_nothing():
    rows = "q0 -> q1 [a] :x \n q1 -> q1 [insample]"
    witness = Witness(DC, (0, 1), ((1, 2),))
    replay(control_graph(automaton(rows)), witness)
    with pytest.raises(WitnessRejected, match="no input transition of the cycle outputs a real value"):
        replay(control_graph(automaton(rows, silent="q1")), witness)


def test_a_pair_needs_cycles_that_do_not_leak():
    rows = "q0 -> q1 [a] :x \n q1 -> q2 [b] :y \n q2 -> q2 [c] <x {} \n q2 -> q3 [d] >x \n q3 -> q3 [e] >x"
    witness = Witness(LP, (0, 1, 2, 3, 4), ((2, 3), (4, 5)), (2, 0, 4))
    replay(control_graph(automaton(rows.format(""))), witness)
    replay(control_graph(automaton(rows.format(":y"))), witness)
    with pytest.raises(WitnessRejected, match="a cycle is leaking"):
        replay(control_graph(automaton(rows.format(":x"))), witness)


def test_a_refusal_is_one_of_the_family():
    assert issubclass(WitnessRejected, SymdipaError)


# Against the judge, on witnesses that engines find and on what random changes make of them


def sample(i: int) -> Automaton:
    return source.random_automaton(random.Random(f"witness/{i}"))


def witnesses(count: int) -> list[tuple[Automaton, Witness]]:
    found = []
    for i in range(count):
        example = sample(i)
        engine = ExplicitEngine(Problem.of(example))
        results = [engine.decide(pattern) for pattern in Pattern]
        found += [(example, r.witness) for r in results if r.witness is not None]
    return found


def accepted(control: Control, witness: Witness) -> bool:
    try:
        replay(control, witness)
    except WitnessRejected:
        return False
    return True


def changed(rng: random.Random, witness: Witness, transitions: int) -> Witness:
    """One random change to a witness."""

    def elsewhere(values: Sequence[int], limit: int) -> tuple[int, ...]:
        k = rng.randrange(len(values)) if values else 0
        kind = rng.randrange(3)
        if kind == 0 or not values:
            return (*values[:k], rng.randrange(limit), *values[k:])
        return (*values[:k], *([rng.randrange(limit)] if kind == 1 else []), *values[k + 1 :])

    match rng.randrange(4):
        case 0:
            return replace(witness, run=elsewhere(witness.run, transitions))
        case 1:
            flat = [k for r in witness.cycles for k in r]
            flat[rng.randrange(len(flat))] += rng.choice((-1, 1))
            return replace(witness, cycles=tuple(zip(flat[::2], flat[1::2], strict=True)))
        case 2 if witness.path:
            return replace(witness, path=elsewhere(witness.path, len(witness.run)))
        case _:
            return replace(witness, pattern=rng.choice(list(Pattern)))


def test_replay_and_the_judge_accept_the_same():
    rng = random.Random("changes")
    seen: Counter[bool] = Counter()
    for example, witness in witnesses(80):
        control = control_graph(example)
        for _ in range(60):
            other = changed(rng, witness, len(example.transitions))
            good = not complaints(example, other)
            assert accepted(control, other) == good, other
            seen[good] += 1
    assert min(seen.values()) > 300, seen


def complaints(example: Automaton, witness: Witness) -> list[str]:
    """What the judge says, which does not ask that a leaking or disclosing cycle ends the run."""
    if witness.pattern in (LC, DC) and any(j != len(witness.run) for _, j in witness.cycles):
        return ["the run goes on after the cycle"]
    if any(i < 0 for i, _ in witness.cycles):
        return ["no range"]
    return judge.faults(example, witness.pattern, witness.run, witness.cycles, witness.path)


# Completion


def test_completing_what_is_complete():
    """With the cycles as loops that were taken: a witness again, and so on."""
    seen: Counter[Pattern] = Counter()
    for example, witness in witnesses(150):
        control = control_graph(example)
        again = witness
        for _ in range(3):
            again = complete(control, witness.pattern, again.run, taken(again))
            assert judge.faults(example, again.pattern, again.run, again.cycles, again.path) == []
            assert witness.path or again == witness
        seen[witness.pattern] += 1
    assert min(seen[pattern] for pattern in Pattern) > 10, seen


def taken(witness: Witness) -> list[Loop]:
    return [Loop(i, witness.run[i:j], taken=True) for i, j in sorted(witness.cycles)]


def ends_of(witness: Witness) -> list[tuple[int, tuple[int, int]]]:
    """The ends of the path that lie on a cycle, with the cycle."""
    ends = (witness.path[0], witness.path[-1])
    pairs = zip(ends, witness.cycles, strict=True) if len(witness.cycles) == 2 else None
    return list(pairs) if pairs else [(k, (i, j)) for k in ends for i, j in witness.cycles if i <= k < j]


def passed(witness: Witness, k: int, i: int, j: int) -> Loop:
    return Loop(k, witness.run[k:j] + witness.run[i:k], taken=False)


def test_loops_that_are_only_passed_are_inserted():
    """A cycle that assigns nothing can be cut out of the run and is put back where it is needed."""
    seen: Counter[Pattern] = Counter()
    for example, witness in witnesses(150):
        control = control_graph(example)
        if witness.pattern in (LC, DC):
            ((i, j),) = witness.cycles
            loops = [Loop(i, witness.run[i:j], taken=False)]
            assert complete(control, witness.pattern, witness.run[:i], loops) == witness
        elif not any(control.steps[t].asg for i, j in witness.cycles for t in witness.run[i:j]):
            # Each loop is passed where the chain meets it: the run takes it once more than before.
            loops = [passed(witness, k, *cycle) for k, cycle in ends_of(witness)]
            longer = complete(control, witness.pattern, witness.run, loops)
            assert judge.faults(example, longer.pattern, longer.run, longer.cycles, longer.path) == []
        else:
            continue
        seen[witness.pattern] += 1
    assert min(seen[pattern] for pattern in Pattern) > 5, seen


def test_one_loop_that_serves_both_ends_is_taken_twice():
    example = source.shape(source._same_loop_twice)
    witness = complete(control_graph(example), LP, (0, 1, 2, 3, 2, 4, 5), [Loop(2, (2, 3), taken=True)])
    assert witness.run == (0, 1, 2, 3, 2, 3, 2, 4, 5)
    assert sorted(witness.cycles) == [(2, 4), (4, 6)]
    assert judge.faults(example, LP, witness.run, witness.cycles, witness.path) == []


def test_the_disclosing_cycle_may_be_the_second_loop_that_was_watched():
    """A search may watch a harmless cycle first; a first loop must not be taken for the violation."""
    example = automaton(
        "q0 -> q1 [start] :x \n q1 -> q1 [low] <x \n q1 -> q2 [high] >x \n q2 -> q2 [insample]"
    )
    loops = [Loop(1, (1,), taken=True), Loop(3, (3,), taken=True)]
    for given in (loops, loops[1:]):
        witness = complete(control_graph(example), DC, (0, 1, 2, 3), given)
        assert judge.faults(example, DC, witness.run, witness.cycles, witness.path) == []
    with pytest.raises(WitnessRejected, match="no loop of the run found is a disclosing cycle"):
        complete(control_graph(example), DC, (0, 1, 2, 3), loops[:1])


def test_what_is_no_violation_cannot_be_completed():
    control = control_graph(PAIR)
    with pytest.raises(WitnessRejected, match="no chain for a leaking pair"):
        complete(control, LP, (0, 1, 2, 3), [Loop(2, (2,), taken=True)])
    with pytest.raises(WitnessRejected, match="no chain for a privacy violating path"):
        complete(control, PV, (0, 1, 2, 3), [Loop(2, (2,), taken=True)])
    with pytest.raises(WitnessRejected):
        complete(control, LC, (0, 1), [Loop(2, (2,), taken=False)])


# The pieces


def test_dependency_graphs_are_the_judges():
    rng = random.Random("graphs")
    cyclic = 0
    for i in range(150):
        example = sample(i)
        control = control_graph(example)
        at, run = control.initial, []
        while control.outgoing[at] and len(run) < 10:
            run.append(rng.choice(control.outgoing[at]))
            at = control.target[run[-1]]
        steps = [example.transitions[t] for t in run]
        graph = dependency_graph(control, run)
        assert sorted((i, j) for i, over in enumerate(graph.over) for j in over) == judge.dependency_edges(
            steps
        )
        assert graph.is_acyclic == judge.is_feasible(steps)
        cyclic += not graph.is_acyclic
        for i, j in judge.cycles(steps):
            leaks = judge.used_in(steps[i:j]) & judge.assigned_in(steps[i:j])
            assert is_non_leaking(control, run[i:j]) == (not leaks)
    assert cyclic > 10


def test_chains_are_shortest_paths_with_the_right_ends():
    rng = random.Random("chains")
    found = 0
    for i in range(200):
        example = sample(i)
        control = control_graph(example)
        runs = [run for run, longer in judge.feasible_runs(example, 8, 60) if not longer]
        run = rng.choice(runs)
        graph = dependency_graph(control, run)
        n = len(run)
        low, high = (frozenset(k for k in range(n) if rng.random() < 0.5) for _ in range(2))
        ends = Ends(low, high, rng.random() < 0.5, rng.random() < 0.5)
        chain, shortest = find_chain(graph, ends), shortest_chain(graph.over, ends, n)
        assert (None if chain is None else len(chain)) == shortest
        found += chain is not None
        if chain is not None:
            assert chain[0] in low and chain[-1] in high
            assert all(j in graph.over[i] for i, j in pairwise(chain))
            assert not ends.low_repeats or chain[1] < chain[0]
            assert not ends.high_repeats or chain[-2] < chain[-1]
    assert found > 40


def shortest_chain(over: Sequence[frozenset[int]], ends: Ends, n: int) -> int | None:
    """The length of a shortest path with the asked-for ends, by trying all lengths."""
    first = {(i, j) for i in ends.low for j in over[i] if not ends.low_repeats or j < i}
    for length in range(2, n + 1):
        if any(j in ends.high and (not ends.high_repeats or i < j) for i, j in first):
            return length
        first = {(j, k) for _, j in first for k in over[j]}
    return None


def test_steps_are_the_transitions_in_numbers():
    for i in range(30):
        example = sample(i)
        control = control_graph(example)
        for t, step in zip(example.transitions, control.steps, strict=True):
            sets = (t.guard.ge, t.guard.lt, t.assign)
            assert sets == tuple(frozenset(example.variables[x] for x in members(mask)) for mask in step[:3])
