"""Witnesses: from a run that an engine found to one that is checked against the definitions.

:func:`replay` is the judge: it knows only runs, cycles and dependency graphs (docs/theory.md, sections 2
and 3) and shares nothing with the engines. :func:`complete` turns a raw find into a :class:`Witness`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice, pairwise
from operator import or_

from symdipa.model.errors import WitnessRejected
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Witness
from symdipa.runs.control import Control
from symdipa.runs.order import OrderState, follow, initial, members, update

Run = Sequence[int]

LASSOS = (Pattern.LEAKING_CYCLE, Pattern.DISCLOSING_CYCLE)
"""The patterns that are a cycle at the end of a run, without a dependency path."""

MAX_SETTLED = 24
"""Up to this length all closed parts of a run are tried as cycles when a witness is shortened."""

MAX_SHORTENED = 80
MAX_TRIED = 300
LONGEST_TRIED = 12
"""How many runs, and up to which length, are searched for a witness unrelated to the one at hand."""


@dataclass(frozen=True)
class DependencyGraph:
    """The dependency graph of a run: ``over[i]`` are the positions with an edge from ``i``.

    An edge ``i -> j`` means that the guards force sample ``i`` below sample ``j`` (Def. dependency graph).
    """

    over: tuple[frozenset[int], ...]

    @property
    def is_acyclic(self) -> bool:
        """Whether the run is feasible."""
        degree = [0] * len(self.over)
        for targets in self.over:
            for j in targets:
                degree[j] += 1
        ready = [i for i, d in enumerate(degree) if d == 0]
        done = 0
        while ready:
            done += 1
            for j in self.over[ready.pop()]:
                degree[j] -= 1
                if degree[j] == 0:
                    ready.append(j)
        return done == len(self.over)


def dependency_graph(control: Control, run: Run) -> DependencyGraph:
    """The dependency graph of a run, straight from the definition."""
    last: dict[int, int] = {}
    over: list[set[int]] = [set() for _ in run]
    for j, t in enumerate(run):
        step = control.steps[t]
        for x in members(step.lt):
            over[j].add(last[x])
        for x in members(step.ge):
            over[last[x]].add(j)
        for x in members(step.asg):
            last[x] = j
    return DependencyGraph(tuple(map(frozenset, over)))


def is_non_leaking(control: Control, cycle: Iterable[int]) -> bool:
    """Whether no variable used in the cycle is assigned in it."""
    return not control.conflicts(cycle)


@dataclass(frozen=True)
class Ends:
    """Which positions may begin and end a chain, and what its first and last edges must be.

    A repeatable low end must have its first edge to an *earlier* position, a repeatable high end its last
    edge from an earlier one; an end that was output has no such condition.
    """

    low: frozenset[int]
    high: frozenset[int]
    low_repeats: bool
    high_repeats: bool


def find_chain(graph: DependencyGraph, ends: Ends) -> tuple[int, ...] | None:
    """A shortest dependency path from some low end to some high end, ``None`` if there is none."""
    best: tuple[int, ...] | None = None
    for start in sorted(ends.low):
        chain = _chain_from(graph, ends, start)
        if chain is not None and (best is None or len(chain) < len(best)):
            best = chain
    return best


def _chain_from(graph: DependencyGraph, ends: Ends, start: int) -> tuple[int, ...] | None:
    reached = {start: start}
    queue = deque([start])
    while queue:
        i = queue.popleft()
        for j in sorted(graph.over[i]):
            if i == start and ends.low_repeats and j > i:
                continue
            if j in ends.high and (not ends.high_repeats or i < j):
                path = [j, i]
                while path[-1] != start:
                    path.append(reached[path[-1]])
                return tuple(reversed(path))
            if j not in reached:
                reached[j] = i
                queue.append(j)
    return None


@dataclass(frozen=True)
class Loop:
    """A closed path that a run may take at position ``at``.

    Either the run takes it already, at positions ``at .. at+len(steps)-1`` (``taken``), or it passes the
    start of the loop at ``at`` and the loop can be inserted there.
    """

    at: int
    steps: tuple[int, ...]
    taken: bool

    @property
    def positions(self) -> range:
        """The positions of the run that it stands for."""
        return range(self.at, self.at + (len(self.steps) if self.taken else 1))


def complete(control: Control, pattern: Pattern, run: Run, loops: Sequence[Loop]) -> Witness:
    """The witness that a raw find stands for: loops inserted where the chain needs them, chain computed.

    The result has been replayed. Raises :class:`WitnessRejected` when the find is no violation: an
    internal error of the engine that made it.
    """
    if pattern in LASSOS:
        loop = loops[0]
        before = tuple(run[: loop.at])
        witness = Witness(pattern, before + loop.steps, ((len(before), len(before) + len(loop.steps)),))
    elif pattern is Pattern.LEAKING_PAIR:
        witness = _complete_chain(control, pattern, run, loops, low=True, high=True)
    else:
        witness = _complete_path(control, run, loops)
    replay(control, witness)
    return shorten(control, witness)


def shorten(control: Control, witness: Witness) -> Witness:
    """A witness of the same pattern on a shorter run, with shorter cycles or a shorter path, if one is near.

    Other cycles on the same run, and the run without one of its closed parts, are tried repeatedly; then the
    first ``MAX_TRIED`` short runs from the initial state, which need not resemble this one. Runs above
    ``MAX_SETTLED`` steps keep their cycles, those above ``MAX_SHORTENED`` are left as they are.
    """
    while len(witness.run) <= MAX_SHORTENED:
        shorter = next((w for w in _neighbours(control, witness) if _size(w) < _size(witness)), None)
        if shorter is None:
            break
        witness = shorter
    for run in feasible_runs(control, min(len(witness.run) - 1, LONGEST_TRIED), MAX_TRIED):
        for shorter in witnesses_on(control, witness.pattern, run):
            return shorter
    return witness


def _size(witness: Witness) -> tuple[int, int, int]:
    return len(witness.run), sum(j - i for i, j in witness.cycles), len(witness.path)


def _neighbours(control: Control, witness: Witness) -> Iterator[Witness]:
    """Witnesses that differ little; of those on one run only the first, which is the shortest."""
    run = witness.run
    if len(run) > MAX_SETTLED:
        yield from _without_detour(control, witness)
        return
    # One more round: then every rotation of a leaking or disclosing cycle is on the run.
    longer = run + run[slice(*witness.cycles[0])] if witness.pattern in LASSOS else run
    for other in (longer, *(longer[:i] + longer[j:] for i, j in _closed_parts(control, longer))):
        yield from islice(witnesses_on(control, witness.pattern, other), 1)


def feasible_runs(control: Control, longest: int, count: int) -> Iterator[tuple[int, ...]]:
    """The first ``count`` feasible runs of 1 to ``longest`` steps from the start, short ones first."""
    queue: deque[tuple[tuple[int, ...], int, OrderState]] = deque()
    queue.append(((), control.initial, initial(control.variables)))
    while queue and count > 0:
        run, q, order = queue.popleft()
        if len(run) >= longest:
            return
        for t in control.outgoing[q]:
            after = update(order, control.steps[t], control.live[control.target[t]])
            if after is not None:
                yield (*run, t)
                count -= 1
                queue.append(((*run, t), control.target[t], after))


def _closed_parts(control: Control, run: Run) -> Iterator[tuple[int, int]]:
    """The ranges of a run that end in the control state in which they start, longest first."""
    for length in range(len(run), 0, -1):
        for i in range(len(run) - length + 1):
            if control.source[run[i]] == control.target[run[i + length - 1]]:
                yield i, i + length


def _without_detour(control: Control, witness: Witness) -> Iterator[Witness]:
    """The witness without one closed part of its run that no cycle overlaps."""
    run = witness.run
    for i, j in _closed_parts(control, run):
        if not any(i < b and a < j for a, b in witness.cycles):
            cycles = tuple((a + i - j, b + i - j) if a >= j else (a, b) for a, b in witness.cycles)
            shorter = _with_cycles(control, witness, run[:i] + run[j:], cycles)
            if shorter is not None:
                yield shorter


def witnesses_on(control: Control, pattern: Pattern, run: Sequence[int]) -> Iterator[Witness]:
    """The witnesses of the pattern that a run from the initial state shows, cut after their last step.

    They are ordered by the steps they need, then by the length of their cycles. All of them replay; there are
    none if the run is not feasible.
    """
    find = _lassos_on if pattern in LASSOS else _chains_on
    for witness in find(control, pattern, tuple(run)):
        if _replays(control, witness):
            yield witness


def _replays(control: Control, witness: Witness) -> bool:
    try:
        replay(control, witness)
    except WitnessRejected:
        return False
    return True


def _lassos_on(control: Control, pattern: Pattern, run: tuple[int, ...]) -> Iterator[Witness]:
    parts = sorted(_closed_parts(control, run), key=lambda part: (part[1], -part[0]))
    for i, j in parts:
        if is_non_leaking(control, run[i:j]) is (pattern is Pattern.DISCLOSING_CYCLE):
            yield Witness(pattern, run[:j], ((i, j),))


def _chains_on(control: Control, pattern: Pattern, run: tuple[int, ...]) -> Iterator[Witness]:
    graph = dependency_graph(control, run)
    if not graph.is_acyclic:
        return
    loops = [part for part in _closed_parts(control, run) if is_non_leaking(control, run[slice(*part)])]
    leaves = [0] * len(run)  # the positions above an earlier one that is above this one
    enters = [0] * len(run)  # the earlier positions just below this one
    at_or_above = [_reachable(graph, k) for k in range(len(run))]
    for i, over in enumerate(graph.over):
        for k in over:
            if k < i:
                leaves[i] |= at_or_above[k]
            else:
                enters[k] |= 1 << i
    low = {loop: _union(leaves, range(*loop)) for loop in loops}
    high = {loop: _union(enters, range(*loop)) for loop in loops}
    places: list[tuple[tuple[int, int], ...]]
    if pattern is Pattern.LEAKING_PAIR:
        places = [(a, b) for a in loops for b in loops if low[a] & high[b] and (a[1] <= b[0] or b[1] <= a[0])]
        sides = [(True, True)]
    else:
        shown = _outputs(control, run)
        above_shown, shown_mask = _union(at_or_above, shown), sum(1 << k for k in shown)
        places = [(loop,) for loop in loops if high[loop] & above_shown or low[loop] & shown_mask]
        sides = [(False, True), (True, False)]
    places.sort(key=lambda cycles: (max(j for _, j in cycles), sum(j - i for i, j in cycles)))
    for cycles in places:
        for repeats in sides:
            chain = find_chain(graph, _ends(control, run, cycles[0], cycles[-1], *repeats))
            if chain is not None:
                yield _trimmed(pattern, run, cycles, chain)


def _reachable(graph: DependencyGraph, start: int) -> int:
    """The positions at or above a position, as a bit set."""
    found, work = 1 << start, [start]
    while work:
        for k in graph.over[work.pop()]:
            if not found >> k & 1:
                found |= 1 << k
                work.append(k)
    return found


def _union(sets: Sequence[int], positions: Iterable[int]) -> int:
    return reduce(or_, (sets[k] for k in positions), 0)


def _with_cycles(
    control: Control, like: Witness, run: tuple[int, ...], cycles: tuple[tuple[int, int], ...]
) -> Witness | None:
    """The witness on another run with its cycles in other places, if it is one."""
    chain: tuple[int, ...] | None = ()
    if like.path:
        pair = len(cycles) == 2
        low = pair or like.cycles[0][0] <= like.path[0] < like.cycles[0][1]
        ends = _ends(control, run, cycles[0], cycles[-1], low, pair or not low)
        chain = find_chain(dependency_graph(control, run), ends)
    if chain is None:
        return None
    witness = _trimmed(like.pattern, run, cycles, chain)
    return witness if _replays(control, witness) else None


def _ends(
    control: Control, run: Run, first: tuple[int, int], last: tuple[int, int], low: bool, high: bool
) -> Ends:
    """The ends of a chain: in the cycle ``first`` or output if not ``low``, likewise at the high end."""
    outputs = _outputs(control, run)
    return Ends(
        frozenset(range(*first)) if low else outputs,
        frozenset(range(*last)) if high else outputs,
        low,
        high,
    )


def _complete_path(control: Control, run: Run, loops: Sequence[Loop]) -> Witness:
    for low, high in ((False, True), (True, False)):
        try:
            return _complete_chain(control, Pattern.PRIVACY_VIOLATING_PATH, run, loops, low, high)
        except WitnessRejected:
            continue
    raise WitnessRejected("no chain between an output sample and a loop of the run")


def _outputs(control: Control, run: Run) -> frozenset[int]:
    return frozenset(i for i, t in enumerate(run) if control.sampling[t].shows_sample)


def _complete_chain(
    control: Control, pattern: Pattern, run: Run, loops: Sequence[Loop], low: bool, high: bool
) -> Witness:
    outputs = _outputs(control, run)
    repeatable = frozenset(i for loop in loops for i in loop.positions)
    ends = Ends(repeatable if low else outputs, repeatable if high else outputs, low, high)
    chain = find_chain(dependency_graph(control, run), ends)
    if chain is None:
        raise WitnessRejected(f"the run found has no chain for a {pattern.title}")
    needed = [position for position, repeats in ((chain[0], low), (chain[-1], high)) if repeats]
    chosen = [next(loop for loop in loops if position in loop.positions) for position in needed]
    return _expand(control, pattern, run, chosen, low, high)


def _expand(
    control: Control, pattern: Pattern, run: Run, chosen: Sequence[Loop], low: bool, high: bool
) -> Witness:
    """Insert the chosen loops; a loop that serves both ends is taken twice."""
    whole = list(run)
    ranges: list[tuple[int, int]] = []

    def insert(at: int, steps: Sequence[int]) -> None:
        whole[at:at] = steps
        for k, (i, j) in enumerate(ranges):
            if i >= at:
                ranges[k] = (i + len(steps), j + len(steps))
        ranges.append((at, at + len(steps)))

    last_first = sorted(set(chosen), key=lambda loop: -loop.at)
    for loop in last_first:
        if loop.taken:
            ranges.append((loop.at, loop.at + len(loop.steps)))
        else:
            insert(loop.at, loop.steps)
        if len(chosen) == 2 and chosen[0] == chosen[1]:
            insert(loop.at + len(loop.steps), loop.steps)
    # ``ranges`` was filled in the order of ``last_first``, twice for a loop that serves both ends.
    if len(chosen) == 2 and chosen[0] == chosen[1]:
        pairs = [(ranges[0], ranges[1]), (ranges[1], ranges[0])]
    else:
        place = dict(zip(last_first, ranges, strict=True))
        pairs = [(place[chosen[0]], place[chosen[-1]])]
    graph = dependency_graph(control, whole)
    for first, second in pairs:
        chain = find_chain(graph, _ends(control, whole, first, second, low, high))
        if chain is not None:
            cycles = (first, second) if low and high else (first if low else second,)
            return _trimmed(pattern, whole, cycles, chain)
    raise WitnessRejected(f"no chain for a {pattern.title} once its loops are taken")


def _trimmed(
    pattern: Pattern, run: Sequence[int], cycles: tuple[tuple[int, int], ...], chain: tuple[int, ...]
) -> Witness:
    """The witness without steps after its last cycle and chain position."""
    end = max([j for _, j in cycles] + [k + 1 for k in chain])
    return Witness(pattern, tuple(run[:end]), cycles, chain)


def replay(control: Control, witness: Witness) -> None:
    """Check a witness against the definitions; raise :class:`WitnessRejected` with the first broken rule."""
    run = witness.run
    where = control.initial
    for i, t in enumerate(run):
        _require(control.source[t] == where, f"step {i} does not start where the run is")
        where = control.target[t]
    graph = dependency_graph(control, run)
    _require(graph.is_acyclic, "the run is not feasible")
    for i, j in witness.cycles:
        _require(0 <= i < j <= len(run), "a cycle is not a range of the run")
        _require(control.source[run[i]] == control.target[run[j - 1]], "a cycle does not close")
    _PATTERN_RULES[witness.pattern](control, witness, graph)


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise WitnessRejected(rule)


def _replay_leaking_cycle(control: Control, witness: Witness, graph: DependencyGraph) -> None:
    """The order state after whole rounds repeats, so ``rho C^m`` is feasible for all ``m``."""
    _require(len(witness.cycles) == 1, "a leaking cycle has one cycle")
    (i, j), run = witness.cycles[0], witness.run
    _require(j == len(run), "the run does not end with its cycle")
    _require(not is_non_leaking(control, run[i:j]), "the cycle assigns no variable that it uses")
    orders_by_round(control, witness)


def orders_by_round(control: Control, witness: Witness) -> tuple[list[OrderState], int]:
    """The order states before the rounds of a leaking cycle until one recurs, and the index of that one.

    Raises :class:`WitnessRejected` if one of these rounds is not feasible.
    """
    ((i, j),) = witness.cycles

    def after(order: OrderState, part: Run) -> OrderState:
        following = follow(order, [control.steps[t] for t in part])
        if following is None:
            raise WitnessRejected("a round of the cycle is not feasible")
        return following

    order = after(initial(control.variables), witness.run[:i])
    seen: dict[OrderState, int] = {}
    while order not in seen:
        seen[order] = len(seen)
        order = after(order, witness.run[i:j])
    return list(seen), seen[order]


def _replay_disclosing_cycle(control: Control, witness: Witness, graph: DependencyGraph) -> None:
    _require(len(witness.cycles) == 1, "a disclosing cycle has one cycle")
    i, j = witness.cycles[0]
    cycle = witness.run[i:j]
    _require(j == len(witness.run), "the run does not end with its cycle")
    _require(is_non_leaking(control, cycle), "the cycle is leaking")
    _require(
        any(control.sampling[t].discloses for t in cycle),
        "no input transition of the cycle outputs a real value",
    )


def _chain_holds(witness: Witness, graph: DependencyGraph) -> None:
    path = witness.path
    _require(len(path) >= 2, "the dependency path is too short")
    _require(all(0 <= k < len(witness.run) for k in path), "the dependency path leaves the run")
    _require(all(k in graph.over[i] for i, k in pairwise(path)), "the dependency path has a missing edge")


def _replay_leaking_pair(control: Control, witness: Witness, graph: DependencyGraph) -> None:
    _require(len(witness.cycles) == 2, "a leaking pair has two cycles")
    (a, b), (c, d) = witness.cycles
    _require(b <= c or d <= a, "the cycles overlap")
    for i, j in witness.cycles:
        _require(is_non_leaking(control, witness.run[i:j]), "a cycle is leaking")
    _chain_holds(witness, graph)
    path = witness.path
    _require(
        a <= path[0] < b and path[1] < path[0],
        "the path does not leave its first cycle to an earlier position",
    )
    _require(
        c <= path[-1] < d and path[-2] < path[-1],
        "the path does not enter its last cycle from an earlier one",
    )


def _replay_violating_path(control: Control, witness: Witness, graph: DependencyGraph) -> None:
    _require(len(witness.cycles) == 1, "a violating path has one cycle")
    i, j = witness.cycles[0]
    run, path = witness.run, witness.path
    _require(is_non_leaking(control, run[i:j]), "the cycle is leaking")
    _chain_holds(witness, graph)
    output_below = control.sampling[run[path[0]]].shows_sample and i <= path[-1] < j and path[-2] < path[-1]
    output_above = i <= path[0] < j and path[1] < path[0] and control.sampling[run[path[-1]]].shows_sample
    _require(output_below or output_above, "the path does not join an output sample and the cycle")


_PATTERN_RULES = {
    Pattern.LEAKING_CYCLE: _replay_leaking_cycle,
    Pattern.LEAKING_PAIR: _replay_leaking_pair,
    Pattern.DISCLOSING_CYCLE: _replay_disclosing_cycle,
    Pattern.PRIVACY_VIOLATING_PATH: _replay_violating_path,
}
