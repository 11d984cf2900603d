"""From a run that an engine found to a witness."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product

from symdipa.model.errors import WitnessRejected
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Witness
from symdipa.runs.control import Control
from symdipa.runs.control.chains import Chain, End, chains_of
from symdipa.runs.witness.dependency import Run, chain_ends, dependency_graph, find_chain
from symdipa.runs.witness.nearby import LASSOS, shorten, trimmed
from symdipa.runs.witness.replaying import replay


@dataclass(frozen=True)
class Loop:
    """A closed path that a run may take at position ``at``.

    Either the run takes it already, at positions ``at .. at+len(steps)-1`` (``taken``), or it passes the
    start of the loop at ``at`` and the loop can be inserted there.
    """

    at: int
    steps: tuple[int, ...]
    taken: bool


def complete(control: Control, pattern: Pattern, run: Run, loops: Sequence[Loop]) -> Witness:
    """The witness that a raw find stands for: loops inserted where the chain needs them, chain computed.

    The result has been replayed. Raises :class:`WitnessRejected` when the find is no violation: an
    internal error of the engine that made it.
    """
    if pattern in LASSOS:
        loop = _violating(control, pattern, loops)
        before = tuple(run[: loop.at])
        witness = Witness(pattern, before + loop.steps, ((len(before), len(before) + len(loop.steps)),))
    else:
        witness = _complete_some(control, pattern, run, loops)
    witness = finished(control, witness)
    replay(control, witness)
    return shorten(control, witness)


def finished(control: Control, witness: Witness) -> Witness:
    """The witness on a run that does not end in the middle of a transition of the automaton."""
    return witness if witness.pattern in LASSOS else replace(witness, run=control.completed(witness.run))


def _violating(control: Control, pattern: Pattern, loops: Sequence[Loop]) -> Loop:
    """The loop that is the violation: a run may take others before it."""
    if pattern is Pattern.LEAKING_CYCLE:
        return loops[-1]
    for loop in loops:
        if any(control.sampling[t].discloses for t in loop.steps):
            return loop
    raise WitnessRejected("no loop of the run found is a disclosing cycle")


def _complete_some(control: Control, pattern: Pattern, run: Run, loops: Sequence[Loop]) -> Witness:
    """The first witness of a chain whose ends are repeated, or not, as they can be."""
    for chain in chains_of(pattern, control):
        repeated = (chain.low_end is End.REPEATED, chain.high_end is End.REPEATED)
        ways = [repeated] if control.is_plain else product((False, True), repeat=2)
        for low, high in ways:
            with suppress(WitnessRejected):
                return _complete_chain(control, pattern, run, loops, low, high, chain)
    raise WitnessRejected(f"the run found has no chain for a {pattern.title}")


def _positions(loops: Iterable[Loop]) -> frozenset[int]:
    return frozenset(
        i for loop in loops for i in (range(loop.at, loop.at + len(loop.steps)) if loop.taken else (loop.at,))
    )


def _complete_chain(
    control: Control, pattern: Pattern, run: Run, loops: Sequence[Loop], low: bool, high: bool, kind: Chain
) -> Witness:
    repeatable = _positions(loops)
    chain = find_chain(
        dependency_graph(control, run), chain_ends(control, run, repeatable, repeatable, low, high, kind)
    )
    if chain is None:
        raise WitnessRejected(f"the run found has no chain for a {pattern.title}")
    ends = [chain[0]] * low + [chain[-1]] * high
    if not ends:
        return trimmed(pattern, run, (), chain)
    chosen = [next(loop for loop in loops if position in _positions([loop])) for position in ends]
    return _expand(control, pattern, run, chosen, low, high, kind)


def _expand(
    control: Control, pattern: Pattern, run: Run, chosen: Sequence[Loop], low: bool, high: bool, kind: Chain
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
        ends = chain_ends(control, whole, range(*first), range(*second), low, high, kind)
        chain = find_chain(graph, ends)
        if chain is not None:
            cycles = (first, second) if low and high else (first if low else second,)
            return trimmed(pattern, whole, cycles, chain)
    raise WitnessRejected(f"no chain for a {pattern.title} once its loops are taken")
