"""Leaking cycles by rounds: proofs by PDR, taken apart along the control graph, and long walks.

If no run makes ``k`` rounds of ``x`` in a row inside a set of transitions, a cycle in that set that leaks by
another variable lacks either the assignments or the uses of ``x``. So it lies in a component that remains
when one or the other are removed: a counter of ``n`` bits is proved to stop by one round ``n`` times, not by
``2**n`` rounds. A proof is tried with few variables first: those that are compared together with ``x``.

A run with ``k`` rounds may or may not go on to any number of them. It is *walked*: followed over full order
states, and on from its end inside its component, until a state returns after an assignment and a use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from symdipa.encodings.rounds import RoundSystems, components_without, near
from symdipa.engines.bounded import Outcome, Search
from symdipa.engines.pdr import PDR
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import Limits
from symdipa.runs.control import Control
from symdipa.runs.dataflow import OrderFacts, order_facts
from symdipa.runs.order import Mask, OrderState, initial, members, update
from symdipa.runs.witness import Loop
from symdipa.systems.invariants import check_invariant
from symdipa.systems.system import System

FRAMES = 4
STEPS = 16_384
"""The frames of PDR and the steps of each walk at effort 0; each further effort has 2 and 8 times as many."""

Place = tuple[int, OrderState]


class Walk:
    """Follows a run and continues inside the last component, taking the ways out of each place in turn.

    It ends where it cannot continue inside, or when most of its steps have led to no new place.
    """

    def __init__(self, control: Control, facts: OrderFacts, run: Sequence[int]) -> None:
        self.control, self.facts = control, facts
        self.run: list[int] = []
        self.ended = False
        self._place: Place = (control.initial, initial(control.variables))
        self._seen: dict[Place, int] = {}
        self._turn: dict[Place, int] = {}
        self._used = [-1] * control.variables
        self._assigned = [-1] * control.variables
        self._given = iter(run)
        self._patience = 0

    def go(self, steps: int, limits: Limits) -> Loop | None:
        """Take at most ``steps`` further steps; the leaking cycle that they close, if any."""
        for _ in range(steps):
            if len(self.run) % 256 == 0:
                limits.check(f"walk of {len(self.run)} steps")
            first = self._seen.setdefault(self._place, len(self.run))
            if first == len(self.run):
                self._patience = 4 * first + 64
            elif self._leaks_since(first):
                return Loop(first, tuple(self.run[first:]), taken=True)
            if len(self.run) > self._patience or not self._step():
                self.ended = True
                break
        return None

    def _leaks_since(self, first: int) -> bool:
        """Whether a variable was assigned and used at the positions from ``first`` on."""
        return any(
            used >= first and assigned >= first
            for used, assigned in zip(self._used, self._assigned, strict=True)
        )

    def _step(self) -> bool:
        for t in self._candidates():
            q = self.control.target[t]
            step = self.control.steps[t]
            after = update(self._place[1], step, self.control.live[q])
            if after is None:
                continue
            for x in members(step.used):
                self._used[x] = len(self.run)
            for x in members(step.asg):
                self._assigned[x] = len(self.run)
            self.run.append(t)
            self._place = (q, after)
            return True
        return False

    def _candidates(self) -> Iterator[int]:
        given = next(self._given, None)
        if given is not None:
            yield given
            return
        ways = [t for t in self.control.outgoing[self._place[0]] if self.facts.cyclic[t]]
        if ways:
            turn = self._turn.get(self._place, -1) + 1
            self._turn[self._place] = turn
            yield from (ways[(turn + k) % len(ways)] for k in range(len(ways)))


class Liveness:
    """Decides whether there is a leaking cycle; complete up to the deadline.

    A bound limits the length of a violation, which rounds do not measure, so it is ignored here.
    """

    def __init__(self, control: Control, facts: OrderFacts, limits: Limits, solver: str = "z3") -> None:
        self.control, self.facts, self.limits, self.solver = control, facts, limits, solver
        self._depth = self._rounds = self._proofs = self._clauses = 0
        self._counts: dict[tuple[frozenset[int], int], int] = {}
        self._systems: dict[Mask, RoundSystems] = {}
        self._found: list[tuple[frozenset[int], tuple[int, ...]]] = []
        self._walks: dict[frozenset[int], Walk] = {}

    def run(self) -> Search:
        """Search with growing effort until every component is cleared or a leaking cycle is found.

        The sizes are the most rounds that were counted, and the number of proofs with their clauses.
        """
        possible = [t for t, cyclic in enumerate(self.facts.cyclic) if cyclic]
        open_sets = self._leaking(components_without(self.control, possible))
        effort = 0
        try:
            while open_sets:
                open_sets = self._cleared(open_sets, partial(self._exact, effort))
                if open_sets and (found := self._walk_on(STEPS * 8**effort)):
                    return found
                open_sets = self._cleared(open_sets, partial(self._near_proof, effort))
                effort += 1
        except LimitReached as limit:
            return self._answer(Outcome.OPEN, reason=f"{limit}; rounds were counted up to {self._rounds}")
        return self._answer(Outcome.SAFE, depth=self._depth)

    def _answer(
        self,
        outcome: Outcome,
        depth: int = 0,
        run: Sequence[int] = (),
        loops: tuple[Loop, ...] = (),
        reason: str = "",
    ) -> Search:
        sizes = {"rounds": self._rounds, "proofs": self._proofs, "clauses": self._clauses}
        return Search(outcome, "pdr", depth, tuple(run), loops, reason, sizes=sizes)

    def _cleared(
        self, open_sets: list[frozenset[int]], attempt: Callable[[frozenset[int]], int | None]
    ) -> list[frozenset[int]]:
        """The sets that stay open when each set, and what remains of a set with a bound, is tried once."""
        todo, unsettled = list(open_sets), []
        while todo:
            inside = todo.pop()
            bounded = attempt(inside)
            if bounded is None:
                unsettled.append(inside)
            else:
                todo += [part for part in self._split(inside, bounded) if part not in todo]
        return unsettled

    def _leaking(self, sets: list[frozenset[int]]) -> list[frozenset[int]]:
        """The sets in which some variable is assigned and used."""
        return [inside for inside in sets if self.control.conflicts(inside)]

    def _near_proof(self, effort: int, inside: frozenset[int]) -> int | None:
        """A variable whose rounds are bounded by the variables it is compared with alone."""
        for x in self._outer_first(inside):
            systems = self._systems_for(near(self.control, inside, x))
            system = systems.system(inside, x, 1 << effort)
            if self._search(system, FRAMES << effort, 1 << effort).outcome is Outcome.SAFE:
                return x
        return None

    def _exact(self, effort: int, inside: frozenset[int]) -> int | None:
        """A variable whose rounds are bounded; a run with rounds ends the attempt, to be walked first."""
        systems = self._systems_for(self._all_variables)
        inner_first = reversed(self._outer_first(inside))
        for x in sorted(inner_first, key=lambda x: self._counts.get((inside, x), 1)):
            rounds = self._counts.get((inside, x), 1)
            search = self._search(systems.system(inside, x, rounds), FRAMES << effort, rounds)
            if search.outcome is Outcome.SAFE:
                return x
            if search.outcome is Outcome.UNSAFE:
                self._counts[inside, x] = 2 * rounds
                self._found.append((inside, search.run))
                return None
        return None

    @property
    def _all_variables(self) -> Mask:
        return (1 << self.control.variables) - 1

    def _systems_for(self, variables: Mask) -> RoundSystems:
        found = self._systems.get(variables)
        if found is None:
            facts = self.facts
            if variables != self._all_variables:
                facts = order_facts(self.control.restricted_to(variables), limits=self.limits)
            found = self._systems[variables] = RoundSystems(facts)
        return found

    def _search(self, system: System, frames: int, rounds: int) -> Search:
        """PDR with this many frames; a proof is checked and counted."""
        search = PDR(system, self.limits, self.solver, max_frames=frames).run()
        self.limits.check(f"leaking cycle, {rounds} rounds")
        if search.outcome is Outcome.OPEN and search.depth < frames:  # not for want of frames
            raise LimitReached(Limit.DEPTH, search.reason.partition(";")[0])
        if search.outcome is Outcome.SAFE:
            assert search.invariant is not None
            check_invariant(system, search.invariant, self.limits, self.solver)
            self._depth = max(self._depth, search.depth)
            self._proofs += 1
            self._clauses += search.invariant.clauses
        if search.outcome is not Outcome.OPEN:
            self._rounds = max(self._rounds, rounds)
        return search

    def _outer_first(self, inside: frozenset[int]) -> list[int]:
        """The variables to count, first those whose assignments lie on the fewest cycles."""

        def left(x: int) -> int:
            return sum(map(len, self._unassigning(inside, x)))

        return sorted(members(self.control.conflicts(inside)), key=lambda x: (-left(x), x))

    def _unassigning(self, inside: frozenset[int], x: int) -> list[frozenset[int]]:
        assigning = {t for t in inside if self.control.steps[t].asg >> x & 1}
        return components_without(self.control, inside, assigning)

    def _split(self, inside: frozenset[int], x: int) -> list[frozenset[int]]:
        """Where a leaking cycle may still be, once the rounds of ``x`` are known to be bounded."""
        using = {t for t in inside if self.control.steps[t].used >> x & 1}
        parts = [*self._unassigning(inside, x), *components_without(self.control, inside, using)]
        return self._leaking(list(dict.fromkeys(parts)))

    def _walk_on(self, steps: int) -> Search | None:
        """Follow the runs found since the last call, and continue one walk for each set of transitions."""
        for inside, run in self._found:
            walk = Walk(self.control, self.facts, run)
            loop = walk.go(len(run) + 1, self.limits)
            if loop is not None:
                return self._present(walk, loop)
            if inside not in self._walks or self._walks[inside].ended:
                self._walks[inside] = walk
        self._found.clear()
        for walk in self._walks.values():
            loop = walk.go(steps, self.limits)
            if loop is not None:
                return self._present(walk, loop)
        return None

    def _present(self, walk: Walk, loop: Loop) -> Search:
        return self._answer(Outcome.UNSAFE, len(walk.run), walk.run, (loop,))
