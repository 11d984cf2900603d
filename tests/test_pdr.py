"""PDR and its invariants: against the judge, and against every state of small systems."""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product

import brute_force as judge
import pytest
import random_automata as source
from test_brute_force import A_LEAKP, automaton

from symdipa.encodings import catalogue
from symdipa.engines.bounded import KInduction, Outcome, Search
from symdipa.engines.explicit import ExplicitEngine
from symdipa.engines.pdr import PDR, back_edges
from symdipa.files.families import generate
from symdipa.model.automaton import Automaton
from symdipa.model.errors import LimitReached, OutOfTime
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Status
from symdipa.runs.control import control_graph
from symdipa.runs.dataflow import order_facts
from symdipa.runs.problem import Problem
from symdipa.runs.witness import complete
from symdipa.systems.boolean import BooleanGraph, Lit
from symdipa.systems.invariants import InvariantRejected, check_invariant
from symdipa.systems.smt import ClauseSolver
from symdipa.systems.system import Invariant, System

LC, LP, DC, PV = Pattern

SOLVERS = ["minisat", "glucose", "cadical", "z3"]
BLOCKS = {"minisat": 50, "glucose": 25, "cadical": 25, "z3": 5}
every_solver = pytest.mark.parametrize("solver", SOLVERS)


@cache
def sample(i: int) -> Automaton:
    return source.random_automaton(random.Random(f"pdr/{i}"), (1, 2, 2, 3), (2, 3, 4))


def systems_of(
    example: Automaton, pattern: Pattern, encoding: str = "marks", precise: bool = True
) -> list[System]:
    control = control_graph(example)
    return catalogue.systems(pattern, order_facts(control, precise=precise), encoding)


def every_system(count: int, precise: Sequence[bool] = (True,)) -> Iterator[System]:
    for i in range(count):
        for pattern in Pattern:
            for encoding in ("marks", "ghost"):
                for known in precise:
                    yield from systems_of(sample(i), pattern, encoding, known)


def shortest(system: System, most: int) -> int | None:
    """The least number of steps to a bad state, ``None`` if it is more than ``most`` or there is none."""
    search = KInduction(system, Limits(), most, "minisat").run()
    return search.depth if search.outcome is Outcome.UNSAFE else None


# Agreement


@every_solver
def test_pdr_agrees_with_the_explicit_engine_and_with_the_judge(solver: str):
    seen: Counter[Outcome] = Counter()
    for i in range(BLOCKS[solver]):
        example, control = sample(i), control_graph(sample(i))
        expected = judge.decide(example)
        explicit = ExplicitEngine(Problem(control))
        for pattern in Pattern:
            outcomes = []
            for system in systems_of(example, pattern, "marks" if i % 3 else "ghost"):
                search = PDR(system, Limits(), solver).run()
                outcomes.append(search.outcome)
                assert search.method == "pdr"
                if search.outcome is Outcome.UNSAFE:
                    witness = complete(control, pattern, search.run, search.loops)
                    faults = judge.faults(example, pattern, witness.run, witness.cycles, witness.path)
                    assert faults == [] and search.depth == len(search.run)
                else:
                    assert search.outcome is Outcome.SAFE and search.invariant is not None
                    assert search.run == () and search.reason == ""
                    check_invariant(system, search.invariant, solver_name=solver)
                    other = "glucose" if solver == "minisat" else "minisat"
                    check_invariant(system, search.invariant, solver_name=other)
            present = Outcome.UNSAFE in outcomes
            assert present == (expected[pattern] is not None), (i, pattern)
            assert present == (explicit.decide(pattern).status is Status.PRESENT)
            seen.update(outcomes)
    assert seen[Outcome.SAFE] > 1 and seen[Outcome.UNSAFE] > 3, seen


@every_solver
@pytest.mark.parametrize("family", ["pivot", "u-range", "bracket"])
def test_families_are_proved_and_their_bad_variants_refuted(family: str, solver: str):
    size = 2 if solver == "z3" else 4
    searches = [PDR(s, Limits(), solver).run() for s in systems_of(generate(family, size), LP)]
    assert searches and all(s.outcome is Outcome.SAFE for s in searches)
    for system, search in zip(systems_of(generate(family, size), LP), searches, strict=True):
        assert search.invariant is not None
        with pytest.raises(InvariantRejected):  # there is something to prove
            check_invariant(system, Invariant({}), solver_name=solver)
    if family == "pivot":
        (bad,) = systems_of(generate("pivot-bad", size), LP)
        assert PDR(bad, Limits(), solver).run().outcome is Outcome.UNSAFE


DEAD_ENDS = {
    "the bad state has no successor": ("a -> a [l] >x \n a -> b [m] <x \n b -> b [n] <y \n b -> e [r] <x >y"),
    "a chain of steps without a way on": "a -> b [l] >x <y \n b -> c [m] >y \n c -> d [n] <x",
    "a loop that cannot be left": "a -> b [l] >x \n b -> b [m] >x <y",
    "a loop behind a guard that never holds": "a -> b [l] >x <y \n b -> c [m] >y <x \n c -> c [insample] >x",
    "branches that end at once": "a -> b [l] >x >y \n a -> c [m] >x <y \n a -> d [n] <x \n c -> c [r] <y >x",
    "an output with nothing after it": "a -> a [l] <x \n a -> b [m] >x \n b -> e [insample] >x",
    "a leaking loop that dies": "a -> b [l] >x <y \n b -> a [m] >y :x \n b -> c [n] <y",
    "no loop": "a -> b [l] >x <y \n b -> c [insample] <x",
}


@every_solver
@pytest.mark.parametrize("name", DEAD_ENDS)
def test_dead_ends(name: str, solver: str):
    example = automaton("p0 -> p1 [o] :x \n p1 -> a [o] :y \n" + DEAD_ENDS[name])
    expected = judge.decide(example)
    for pattern in Pattern:
        for encoding in ("marks", "ghost"):
            for precise in (True, False) if solver == "minisat" else (True,):
                outcomes = []
                for system in systems_of(example, pattern, encoding, precise):
                    search = PDR(system, Limits(), solver).run()
                    outcomes.append(search.outcome)
                    if search.invariant is not None:
                        check_invariant(system, search.invariant, solver_name=solver)
                assert (Outcome.UNSAFE in outcomes) == (expected[pattern] is not None)
                assert Outcome.OPEN not in outcomes


def test_nothing_at_all():
    (system,) = systems_of(automaton(A_LEAKP), LP)
    search = PDR(replace(system, bad={}), Limits(), "minisat").run()
    assert search.outcome is Outcome.SAFE and search.invariant == Invariant({})
    check_invariant(replace(system, bad={}), Invariant({}), solver_name="minisat")
    at_start = replace(system, bad={system.control.initial: 1})
    search = PDR(at_start, Limits(), "minisat").run()
    assert (search.outcome, search.depth, search.run) == (Outcome.UNSAFE, 0, ())
    no_way = replace(system, edges=())
    search = PDR(no_way, Limits(), "minisat").run()
    assert search.outcome is Outcome.SAFE and search.invariant is not None
    check_invariant(no_way, search.invariant, solver_name="minisat")


# Invariants, checked in all states


Table = int
"""The values of a literal under all valuations of ``k`` variables, as ``2**k`` bits."""


class States:
    """All values of the open bits of one control state and of the choices, side by side."""

    def __init__(self, system: System, q: int) -> None:
        self.system, self.q = system, q
        variables = [*system.open_bits[q], *system.choices]
        self.every = (1 << (1 << len(variables))) - 1
        self.of = dict.fromkeys(system.bits, 0)
        for k, variable in enumerate(variables):
            block = ((1 << (1 << k)) - 1) << (1 << k)  # 2**k zeros, then as many ones
            repeats = 1 << (len(variables) - k - 1)
            self.of[variable] = sum(block << (n << (k + 1)) for n in range(repeats))

    def tables(self, literals: Iterable[Lit], of: Mapping[Lit, Table] | None = None) -> list[Table]:
        literals = list(literals)
        graph: BooleanGraph = self.system.graph
        value: dict[int, Table] = {0: 0}
        for variable, table in (self.of if of is None else of).items():
            value[variable >> 1] = table

        def look(literal: Lit) -> Table:
            return value[literal >> 1] ^ (self.every if literal & 1 else 0)

        for node in graph.cone(literals):
            if node not in value:
                operands = graph.operands(node)
                assert operands is not None
                value[node] = look(operands[0]) & look(operands[1])
        return [look(literal) for literal in literals]

    def conjunction(self, literals: Iterable[Lit], of: Mapping[Lit, Table] | None = None) -> Table:
        table = self.every
        for one in self.tables(literals, of):
            table &= one
        return table


def small(system: System, most: int = 13) -> bool:
    return all(len(bits) + len(system.choices) <= most for bits in system.open_bits)


def claims(system: System, invariant: Invariant, q: int) -> list[Lit]:
    cubes = invariant.blocked.get(q, ())
    return [*system.first_axioms(q), *(system.graph.all(cube) ^ 1 for cube in cubes)]


def obligations_that_fail(system: System, invariant: Invariant) -> set[str]:
    """What keeps blocked cubes from being an invariant: every state, edge and choice is looked at."""
    start = system.control.initial
    states = {q: States(system, q) for q in {start, *(e.target for e in system.edges)}}
    found = set()
    initially = system.graph.evaluate(
        claims(system, invariant, start), dict.fromkeys([*system.bits, *system.choices], False)
    )
    if not all(initially):
        found.add("the invariant does not hold initially")
    allowed = {
        q: here.conjunction([*system.axioms(q), *claims(system, invariant, q)]) for q, here in states.items()
    }
    for edge in system.edges:
        if edge.source not in states:
            continue
        here = states[edge.source]
        open_after = set(system.open_bits[edge.target])
        new = here.tables(edge.update.get(bit, bit) for bit in system.bits)
        after = {b: t if b in open_after else 0 for b, t in zip(system.bits, new, strict=True)}
        (guard,) = here.tables([edge.guard])
        kept = here.conjunction(claims(system, invariant, edge.target), after)
        if allowed[edge.source] & guard & ~kept:
            found.add(f"the invariant is not preserved by edge {edge.transition}")
    for q, condition in system.bad.items():
        if q in states and allowed[q] & states[q].tables([condition])[0]:
            found.add(f"the invariant admits a bad state at control state {q}")
    return found


def refusal(system: System, invariant: Invariant, solver: str = "minisat") -> str | None:
    try:
        check_invariant(system, invariant, solver_name=solver)
    except InvariantRejected as refused:
        return str(refused)
    return None


def proofs(count: int) -> Iterator[tuple[System, Invariant]]:
    """Of systems with few bits; mostly of those that know nothing from the dataflow."""
    for system in every_system(count, (True, False)):
        if small(system):
            search = PDR(system, Limits(), "minisat").run()
            if search.invariant is not None and search.invariant.clauses:
                yield system, search.invariant


def with_cubes(proof: Invariant, q: int, cubes: Sequence[frozenset[Lit]]) -> Invariant:
    return Invariant({**proof.blocked, q: tuple(cubes)})


def tampered(system: System, proof: Invariant, rng: random.Random) -> Iterator[tuple[str, Invariant]]:
    """Invariants that somebody has had a hand in."""
    places = sorted(q for q, cubes in proof.blocked.items() if cubes)
    for q in rng.sample(places, min(3, len(places))):
        cubes = list(proof.blocked[q])
        k = rng.randrange(len(cubes))
        cube, rest = cubes[k], cubes[:k] + cubes[k + 1 :]
        yield "dropped", with_cubes(proof, q, rest)
        x = rng.choice(sorted(cube))
        yield "flipped", with_cubes(proof, q, [*rest, cube - {x} | {x ^ 1}])
        yield "shorter", with_cubes(proof, q, [*rest, cube - {x}])
        others = [b for b in system.open_bits[q] if not {b, b ^ 1} & cube]
        if others:
            yield "longer", with_cubes(proof, q, [*rest, cube | {rng.choice(others) ^ rng.randrange(2)}])
        p = rng.choice([p for p, bits in enumerate(system.open_bits) if {y & ~1 for y in cube} <= set(bits)])
        yield "elsewhere", with_cubes(proof, p, [*proof.blocked.get(p, ()), cube])
        yield "forgotten", with_cubes(proof, q, [])
    start = system.control.initial
    no_bit = frozenset(b ^ 1 for b in system.open_bits[start])
    yield "no start", with_cubes(proof, start, [*proof.blocked.get(start, ()), no_bit])


def test_the_check_accepts_what_holds_in_all_states_and_nothing_else():
    """Its answer, and the obligation that it names, are those of a look at every single state."""
    seen: Counter[tuple[str, bool]] = Counter()
    rng = random.Random("tampered")
    for system, proof in proofs(12):
        assert obligations_that_fail(system, proof) == set()
        assert refusal(system, proof) is None
        for how, other in tampered(system, proof, rng):
            expected = obligations_that_fail(system, other)
            said = refusal(system, other)
            assert (said is None) == (not expected), (how, said, expected)
            if said is not None:
                assert said in expected
                assert ("initially" in said) == any("initially" in e for e in expected)
                assert "bad state" not in said or all("bad state" in e for e in expected)
            seen[how, said is None] += 1
    refused = {how for how, accepted in seen if not accepted}
    assert refused >= {"dropped", "flipped", "shorter", "longer", "no start", "forgotten"}, seen
    assert sum(n for (_, accepted), n in seen.items() if not accepted) > 50, seen
    assert any(accepted for _, accepted in seen) and not seen["no start", True]


@every_solver
def test_every_solver_refuses_alike(solver: str):
    rng = random.Random("refused")
    refused = 0
    for system, proof in proofs(2 if solver == "z3" else 6):
        for _, other in tampered(system, proof, rng):
            said = refusal(system, other, solver)
            assert (said is None) == (not obligations_that_fail(system, other))
            refused += said is not None
    assert refused > 5


def test_every_message_is_said():
    rng = random.Random("messages")
    every = [refusal(s, other) or "" for s, proof in proofs(4) for _, other in tampered(s, proof, rng)]
    said = {message.rstrip("0123456789") for message in every}
    assert said >= {
        "the invariant does not hold initially",
        "the invariant is not preserved by edge ",
        "the invariant admits a bad state at control state ",
    }


def test_the_invariant_of_another_system_is_refused():
    """Of the good variant for the bad one, and of a random system for another, if it has these bits."""
    (good,), (bad,) = (systems_of(generate(f, 3), LP) for f in ("pivot", "pivot-bad"))
    proof = PDR(good, Limits(), "minisat").run().invariant
    assert proof is not None
    assert refusal(good, proof) is None
    with pytest.raises(InvariantRejected, match=r"is not preserved by edge|admits a bad state"):
        check_invariant(bad, proof, solver_name="minisat")
    seen: Counter[bool] = Counter()
    found = list(proofs(7))
    for system, _ in found:
        for _, foreign in found:
            known = all(
                q < len(system.open_bits) and {x & ~1 for x in cube} <= set(system.open_bits[q])
                for q, cubes in foreign.blocked.items()
                for cube in cubes
            )
            if known:
                said, expected = refusal(system, foreign), obligations_that_fail(system, foreign)
                assert said in expected if expected else said is None
                seen[said is None] += 1
    assert seen[False] > 20, seen


def test_a_violation_has_no_invariant():
    """Whatever is blocked, an unsafe system refuses it."""
    rng = random.Random("unsafe")
    tried = 0
    for system in every_system(12):
        if shortest(system, 15) is None:
            continue
        for _ in range(3):
            blocked = {
                q: tuple(
                    frozenset(b ^ rng.randrange(2) for b in rng.sample(bits, rng.randint(1, len(bits))))
                    for _ in range(rng.randrange(4))
                )
                for q, bits in enumerate(system.open_bits)
                if bits
            }
            assert refusal(system, Invariant(blocked)) is not None
            tried += 1
    assert tried > 20


# Limits


@every_solver
def test_the_bound_is_kept(solver: str):
    seen: Counter[Outcome] = Counter()
    for system in every_system(5 if solver == "z3" else 12):
        least = shortest(system, 15)
        for bound in (0, 1, 3, 20):
            search = PDR(system, Limits(bound=bound), solver).run()
            seen[search.outcome] += 1
            if search.outcome is Outcome.OPEN:
                steps = "1 step" if bound == 1 else f"{bound} steps"
                assert search.reason.startswith(f"the bound of {steps} was reached; ")
                assert searched(search) == bound
                assert search.depth == bound and search.invariant is None and search.run == ()
                assert least is None or least > bound
            else:
                assert search.reason == ""
                assert (search.outcome is Outcome.UNSAFE) == (least is not None)
                assert search.depth <= bound
    assert all(seen[outcome] > 1 for outcome in Outcome), seen


def test_the_last_literal_stays_without_a_question():
    """A clause without literals says that a control state is not reached; nobody asks for that."""
    for system in every_system(10):
        search = PDR(system, UNLIMITED, "minisat")
        search._new_frame()
        literal = next(iter(system.bits), None)
        if literal is None:
            continue
        cube = frozenset({literal})
        for q in system.bad:
            assert search._generalise(q, cube, 0) == cube
        assert search.effort.queries == 0


def test_no_more_frames_than_wanted():
    (system,) = systems_of(generate("turing-wrap", 3), LP, precise=False)
    for frames in (0, 2):
        search = PDR(system, Limits(), "minisat", max_frames=frames).run()
        assert search.outcome is Outcome.OPEN and search.depth == frames
        assert search.reason.startswith(f"no more than {frames} frames were wanted; no violation within ")
    whole = PDR(system, Limits(), "minisat").run()
    assert whole.outcome is Outcome.SAFE
    assert PDR(system, Limits(), "minisat", max_frames=whole.depth).run() == whole


def test_levels_count_the_edges_that_close_cycles():
    """Without them the control graph is acyclic; and a way to the loops takes no frame."""
    for system in every_system(12):
        back, place = back_edges(system)
        for number, edge in enumerate(system.edges):
            assert (number in back) != (place[edge.source] < place[edge.target])
    for size in (2, 4, 6):
        for system in systems_of(generate("pivot", size), LP):
            assert PDR(system, Limits(), "minisat").run().depth <= 2


def searched(search: Search) -> int:
    """The depth that an open search says it has searched."""
    told = re.search(r"no violation within (-?\d+) steps?$", search.reason)
    return int(told[1]) if told else -1


class Clock:
    """Lets a solver answer so many queries before the time is over."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.allowed = self.asked = 0
        original = ClauseSolver.check

        def check(solver: ClauseSolver, assumptions: Iterable[int] = ()) -> bool:
            self.asked += 1
            if self.asked > self.allowed:
                raise OutOfTime(reason="time limit reached in the solver")
            return original(solver, assumptions)

        monkeypatch.setattr(ClauseSolver, "check", check)

    def run(self, pdr: PDR, allowed: int) -> Search:
        self.asked, self.allowed = 0, allowed
        return pdr.run()


def interrupted(monkeypatch: pytest.MonkeyPatch, bounded: bool) -> Iterator[tuple[int, int]]:
    """The shortest violation, and up to where PDR says that there is none, stopped at any query."""
    cases = [(s, d) for s in every_system(6) if (d := shortest(s, 8)) is not None]
    clock = Clock(monkeypatch)
    for system, least in cases:
        limits = Limits(bound=least) if bounded else Limits()
        allowed = 0
        while (search := clock.run(PDR(system, limits, "minisat"), allowed)).outcome is Outcome.OPEN:
            assert search.reason.startswith("time limit reached in the solver; ")
            yield least, searched(search)
            allowed += 5
        assert search.outcome is Outcome.UNSAFE


def test_what_was_searched_when_time_ran_out(monkeypatch: pytest.MonkeyPatch):
    seen = [*interrupted(monkeypatch, bounded=False)]
    assert all(told < least for least, told in seen)
    assert len(seen) > 100 and max(told for _, told in seen) > 2


def test_what_was_searched_when_time_ran_out_in_the_last_frame(monkeypatch: pytest.MonkeyPatch):
    assert all(told < least for least, told in interrupted(monkeypatch, bounded=True))


def test_a_depth_that_is_told_is_not_negative():
    (system,) = systems_of(automaton(A_LEAKP), LP)
    search = KInduction(system, Limits(deadline=time.monotonic() - 1), None, "minisat").run()
    assert search.outcome is Outcome.OPEN
    assert "-1" not in search.reason


@every_solver
def test_the_deadline_is_kept(solver: str):
    """On a proof that takes far longer; short queries, so that cadical keeps it as well."""
    (system,) = systems_of(generate("parity", 14), LP)
    began = time.monotonic()
    search = PDR(system, Limits(deadline=began + 0.3), solver).run()
    assert search.outcome is Outcome.OPEN and search.invariant is None
    assert "time limit reached" in search.reason and "no violation within" in search.reason
    assert time.monotonic() - began < 5
    began = time.monotonic()
    search = PDR(system, Limits(deadline=began - 1), solver).run()
    assert search.outcome is Outcome.OPEN and searched(search) == 28  # so far it is to a bad control state
    assert time.monotonic() - began < 5


def test_the_check_of_an_invariant_keeps_the_deadline():
    (system,) = systems_of(generate("pivot", 3), LP)
    proof = PDR(system, Limits(), "minisat").run().invariant
    assert proof is not None
    for solver in SOLVERS:
        with pytest.raises(LimitReached, match="time limit"):
            check_invariant(system, proof, Limits(deadline=time.monotonic() - 1), solver)
        check_invariant(system, proof, UNLIMITED.within(600), solver)


def test_progress_is_told():
    told: list[str] = []
    PDR(systems_of(automaton(A_LEAKP), LP)[0], Limits(progress=told.append), "minisat").run()
    assert "leaking pair, frame 0" in told
    told.clear()
    search = PDR(
        systems_of(generate("turing-wrap", 3), LP, precise=False)[0], Limits(progress=told.append), "minisat"
    ).run()
    assert told[-1] == f"leaking pair, frame {search.depth}" and search.depth > 1


def test_solvers_started_over_change_nothing(monkeypatch: pytest.MonkeyPatch):
    before = [PDR(s, Limits(), "minisat").run().outcome for s in every_system(6)]
    monkeypatch.setattr("symdipa.engines.pdr._Leaving.REBUILD_AFTER", 2)
    for outcome, system in zip(before, every_system(6), strict=True):
        search = PDR(system, Limits(), "minisat").run()
        assert search.outcome is outcome
        if search.invariant is not None:
            check_invariant(system, search.invariant, solver_name="minisat")


# Axioms that are assumed only where a model breaks them


def holding(system: System, literals: Iterable[Lit], bits: frozenset[Lit]) -> bool:
    values = {b: b in bits for b in system.bits}
    return all(system.graph.evaluate(list(literals), values))


def ordered(system: System, q: int, rng: random.Random) -> frozenset[Lit]:
    """Bits that describe an order with closed marks: places in a row, marks below and above some place."""
    names = {system.graph.name(b >> 1): b for b in system.open_bits[q]}
    place: dict[str, int] = {}
    low, high = rng.randrange(5), rng.randrange(5)

    def at(x: str) -> int:
        return place.setdefault(x, rng.randrange(4))

    bits = set()
    for name, bit in sorted(names.items()):
        kind, _, rest = name.rstrip(")").partition("(")
        variables = rest.split(",")
        match kind:
            case "lt":
                true = at(variables[0]) < at(variables[1])
            case "eq":
                true = at(variables[0]) == at(variables[1])
            case "up":
                true = at(variables[0]) >= low
            case "down":
                true = at(variables[0]) < high
            case _:
                true = rng.random() < 0.5
        if true:
            bits.add(bit)
    return frozenset(bits)


def test_an_axiom_is_named_broken_exactly_when_one_is():
    """On bits at random, on orders, and on orders with a bit or two turned round."""
    seen: Counter[tuple[str, bool]] = Counter()
    rng = random.Random("axioms")
    examples = [source.random_automaton(random.Random(f"axioms/{i}"), (2, 3, 4, 5)) for i in range(60)]
    for example in examples:
        for pattern in Pattern:
            encoding, precise = rng.choice(("marks", "ghost")), rng.random() < 0.7
            for system in systems_of(example, pattern, encoding, precise):
                for q in rng.sample(range(system.control.states), min(4, system.control.states)):
                    if not system.open_bits[q]:  # perhaps no run arrives there
                        continue
                    axioms, first = list(system.axioms(q)), list(system.first_axioms(q))
                    assert set(first) <= set(axioms)
                    for _ in range(4):
                        order = ordered(system, q, rng)
                        turned = rng.sample(system.open_bits[q], min(2, len(system.open_bits[q])))
                        share = rng.choice((0.05, 0.3, 0.7))
                        anyhow = frozenset(b for b in system.open_bits[q] if rng.random() < share)
                        cases = {"order": order, "turned": order ^ frozenset(turned), "random": anyhow}
                        for kind, bits in cases.items():
                            broken = list(system.broken_axioms(q, bits, frozenset()))
                            fine = not broken and holding(system, first, bits)
                            assert fine == holding(system, axioms, bits)
                            for axiom in broken:
                                assert not holding(system, [axiom], bits)
                            seen[kind, not broken] += 1
    assert all(seen[kind, fine] > 50 for kind in ("order", "turned", "random") for fine in (True, False)), (
        seen
    )


def test_with_unknown_bits_an_axiom_is_named_when_it_fails_whatever_they_are():
    seen: Counter[bool] = Counter()
    rng = random.Random("unknown")
    for i in range(40):
        example = source.random_automaton(random.Random(f"unknown/{i}"), (2, 3, 4))
        for system in systems_of(example, rng.choice((LP, PV)), rng.choice(("marks", "ghost"))):
            for q in (q for q, bits in enumerate(system.open_bits) if len(bits) > 3):
                first = set(system.first_axioms(q))
                later = [axiom for axiom in system.axioms(q) if axiom not in first]
                unknown = frozenset(rng.sample(system.open_bits[q], 3))
                rest = sorted({*system.open_bits[q]} - unknown)
                for bits in (ordered(system, q, rng) - unknown, {b for b in rest if rng.random() < 0.3}):
                    completed = [
                        frozenset(bits) | {b for b, true in zip(sorted(unknown), row, strict=True) if true}
                        for row in product((False, True), repeat=3)
                    ]

                    def fails(
                        axiom: Lit, states: list[frozenset[Lit]] = completed, system: System = system
                    ) -> bool:
                        return not any(holding(system, [axiom], bits) for bits in states)

                    broken = list(system.broken_axioms(q, bits, unknown))
                    assert all(map(fails, broken))
                    assert bool(broken) == any(map(fails, later))
                    seen[bool(broken)] += 1
    assert min(seen[True], seen[False]) > 50, seen


def test_broken_axioms_follow_from_all_axioms():
    """In every state of small systems, so that adding them excludes nothing that is reachable."""
    seen = 0
    for system in every_system(12, (True, False)):
        if not small(system):
            continue
        for q in (q for q, bits in enumerate(system.open_bits) if bits):
            states = States(system, q)
            allowed = states.conjunction(system.axioms(q))
            assert allowed & 1  # no bit is true: an order of which nothing is known
            rng = random.Random(q)
            for _ in range(10):
                bits = {b for b in system.open_bits[q] if rng.random() < 0.4}
                for axiom in system.broken_axioms(q, bits, frozenset()):
                    assert allowed & ~states.tables([axiom])[0] == 0
                    seen += 1
    assert seen > 500


def test_an_invariant_about_unknown_bits_is_refused():
    (system,) = systems_of(automaton(A_LEAKP), LP)
    stray = Invariant({0: (frozenset({2 * 10**6}),)})
    with pytest.raises(InvariantRejected, match="bits that control state 0 does not have"):
        check_invariant(system, stray)
    with pytest.raises(InvariantRejected, match="does not have"):
        check_invariant(system, Invariant({10**6: (frozenset({2}),)}))
