"""Witnesses near another one: on short runs, or on the same run with shorter cycles or a shorter path."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import islice
from operator import or_

from symdipa.model.errors import WitnessRejected
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Witness
from symdipa.runs.control import Control
from symdipa.runs.control.chains import Chain, chains_of
from symdipa.runs.order import OrderState, initial, update
from symdipa.runs.witness.dependency import (
    DependencyGraph,
    Run,
    chain_ends,
    dependency_graph,
    find_chain,
    is_non_leaking,
    outputs_of,
)
from symdipa.runs.witness.replaying import replay

LASSOS = (Pattern.LEAKING_CYCLE, Pattern.DISCLOSING_CYCLE)
"""The patterns that are a cycle at the end of a run, without a dependency path."""

MAX_SETTLED = 24
"""Up to this length of a run all its closed parts are tried as cycles when a witness is shortened."""

MAX_SHORTENED = 80
MAX_TRIED = 300
LONGEST_TRIED = 12
"""The longest run that is shortened at all; how many other short runs are tried, and up to which length."""


def shorten(control: Control, witness: Witness) -> Witness:
    """A witness of the same pattern on a shorter run, with shorter cycles or a shorter path, if one is near.

    First other cycles on the same run are tried and the run without one of its closed parts, again and again;
    then the first ``MAX_TRIED`` short runs from the initial state, which need not resemble this one. Runs
    above ``MAX_SETTLED`` steps keep their cycles, those above ``MAX_SHORTENED`` are left as they are, and so
    are those of automata that are not plain.
    """
    if not control.is_plain:
        return witness
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


def _with_cycles(
    control: Control, like: Witness, run: tuple[int, ...], cycles: tuple[tuple[int, int], ...]
) -> Witness | None:
    """The witness on another run with its cycles in other places, if it is one."""
    chain: tuple[int, ...] | None = ()
    if like.path:
        pair = len(cycles) == 2
        low = pair or like.cycles[0][0] <= like.path[0] < like.cycles[0][1]
        kind = Chain.PAIR if pair else Chain.OUTPUT_ABOVE if low else Chain.OUTPUT_BELOW
        first, last = range(*cycles[0]), range(*cycles[-1])
        ends = chain_ends(control, run, first, last, low, pair or not low, kind)
        chain = find_chain(dependency_graph(control, run), ends)
    if chain is None:
        return None
    witness = trimmed(like.pattern, run, cycles, chain)
    return witness if _replays(control, witness) else None


def witnesses_on(control: Control, pattern: Pattern, run: Sequence[int]) -> Iterator[Witness]:
    """The witnesses of the pattern that a run from the initial state shows, cut after their last step.

    Those that need the fewest steps come first, of these those with the shortest cycles. All of them replay;
    there are none if the run is not feasible. Of chains those between the samples that plain automata have.
    """
    find = _lassos_on if pattern in LASSOS else _chains_on
    return (witness for witness in find(control, pattern, tuple(run)) if _replays(control, witness))


def _replays(control: Control, witness: Witness) -> bool:
    try:
        replay(control, witness)
    except WitnessRejected:
        return False
    return True


def _lassos_on(control: Control, pattern: Pattern, run: tuple[int, ...]) -> Iterator[Witness]:
    for i, j in sorted(_closed_parts(control, run), key=lambda part: (part[1], -part[0])):
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
        shown = outputs_of(control, run)
        above_shown, shown_mask = _union(at_or_above, shown), sum(1 << k for k in shown)
        places = [(loop,) for loop in loops if high[loop] & above_shown or low[loop] & shown_mask]
        sides = [(False, True), (True, False)]
    places.sort(key=lambda cycles: (max(j for _, j in cycles), sum(j - i for i, j in cycles)))
    for cycles in places:
        for repeats in sides:
            kind = next(chain for chain in chains_of(pattern, control) if chain.repeats == repeats)
            ends = chain_ends(control, run, range(*cycles[0]), range(*cycles[-1]), *repeats, kind)
            chain = find_chain(graph, ends)
            if chain is not None:
                yield trimmed(pattern, run, cycles, chain)


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


def trimmed(
    pattern: Pattern, run: Sequence[int], cycles: tuple[tuple[int, int], ...], chain: tuple[int, ...]
) -> Witness:
    """The witness without steps after its last cycle and chain position."""
    end = max([j for _, j in cycles] + [k + 1 for k in chain])
    return Witness(pattern, tuple(run[:end]), cycles, chain)
