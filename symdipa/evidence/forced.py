"""What a run of any automaton forces on the shifts of its samples (Thm. A): which values lie in order.

A comparison keeps two values in order, a number that is shown keeps its sample where it is, and a difference
that is shown ties two samples to each other. A violation is a chain of these between two ends that pull
against each other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from symdipa.model.automaton import Automaton, Noise
from symdipa.model.verdict import Witness
from symdipa.runs.numbers.system import Comparison, System, unrolled


class Spot(NamedTuple):
    """A value whose place in the order is told: the sample of this number, or its negative if it is
    ``mirrored``, or a ``constant``."""

    sample: int | None
    mirrored: bool = False
    constant: Fraction = Fraction(0)

    @property
    def negative(self) -> Spot:
        return Spot(self.sample, self.sample is not None and not self.mirrored, -self.constant)


class Tie(NamedTuple):
    """What keeps two values in order: ``low`` is below ``high`` plus ``more`` (``sign`` is ``"<"`` or
    ``"<="``), or has the same shift (``"~"``, a difference that is shown).

    ``step`` is where, and ``text`` says by what. Two constants are in order without any step (``None``).
    """

    low: Spot
    high: Spot
    step: int | None
    sign: str
    more: Fraction
    text: str

    @property
    def both(self) -> bool:
        """Whether it holds the other way round, too."""
        return self.sign == "~"

    @property
    def turned(self) -> Tie:
        """A tie both ways, the other way round."""
        return self._replace(low=self.high, high=self.low)

    @property
    def negative(self) -> Tie:
        """The same about the negatives."""
        return self._replace(low=self.high.negative, high=self.low.negative)


@dataclass(frozen=True)
class Forced:
    """A run in numbers, and what it forces: ``ties`` in the order of steps.

    ``released`` are the steps that show a sample as a number, by the number of the sample, with the outputs.
    """

    system: System
    ties: tuple[Tie, ...]
    released: Mapping[int, tuple[tuple[int, str], ...]]

    def step(self, spot: Spot) -> int | None:
        """The step that draws the sample."""
        return None if spot.sample is None else self.system.samples[spot.sample].step

    def name(self, spot: Spot) -> str:
        """``sample 3`` by the step that draws it, ``-(sample 3)``, ``5``."""
        if spot.sample is None:
            return str(spot.constant)
        sample = self.system.samples[spot.sample]
        name = f"{'second ' if sample.second else ''}sample {sample.step + 1}"
        return f"-({name})" if spot.mirrored else name

    def relation(self, tie: Tie) -> str:
        """Which values a tie keeps in order: ``sample 2 < sample 1 + 5``."""
        more = f" {'+' if tie.more > 0 else '-'} {abs(tie.more)}" if tie.more else ""
        sign = "tied to" if tie.both else tie.sign
        return f"{self.name(tie.low)} {sign} {self.name(tie.high)}{more}"

    def is_known(self, spot: Spot) -> bool:
        """Whether it is a constant, written down or drawn without noise."""
        if spot.sample is None:
            return True
        sample = self.system.samples[spot.sample]
        return sample.noise is Noise.NONE and not sample.reads_input

    @cached_property
    def above(self) -> dict[Spot, list[Tie]]:
        """Each way of each tie, by its lower end: also turned round, of the negatives, between constants."""
        every = [way for tie in self.ties for way in ((tie, tie.turned) if tie.both else (tie,))]
        if self.system.mirrored:
            every += [tie.negative for tie in every]
        constants = {spot for tie in every for spot in (tie.low, tie.high) if spot.sample is None}
        for low, high in pairwise(sorted(constants)):
            every.append(Tie(low, high, None, "<", Fraction(0), "known to everybody"))
        found: dict[Spot, list[Tie]] = {}
        for tie in every:
            found.setdefault(tie.low, []).append(tie)
        return found

    def chain(self, steps: Sequence[int], to_constant: bool) -> list[Tie]:
        """Ties from a value of the first of the steps to one of the last, by way of all if that is possible.

        ``to_constant``: one of the ends may be a constant instead.
        """
        spots = dict.fromkeys(
            spot for ties in self.above.values() for tie in ties for spot in (tie.low, tie.high)
        )
        known = list(filter(self.is_known, spots))
        first, last = self._of_step(steps[0]), self._of_step(steps[-1])
        ways = [(low, high) for low in first for high in last if low != high]
        if to_constant:
            ways += [(low, high) for low in known for high in last]
            ways += [(low, high) for low in first for high in known]
        found = [chain for low, high in ways if (chain := self._shortest(low, high))]
        found.sort(key=lambda chain: (len(set(steps) - self._visited(chain)), len(chain), _negatives(chain)))
        return found[0] if found else []

    def chain_of(self, witness: Witness) -> list[Tie]:
        """The chain of a witness whose run this is, from its lowest value to its highest."""
        return self.chain(witness.path, "constant" in witness.conflict) if witness.path else []

    def _shortest(self, start: Spot, end: Spot) -> list[Tie]:
        reached: dict[Spot, Tie | None] = {start: None}
        queue = deque([start])
        while queue and end not in reached:
            for tie in self.above.get(queue.popleft(), ()):
                if tie.high not in reached:
                    reached[tie.high] = tie
                    queue.append(tie.high)
        chain: list[Tie] = []
        last = reached.get(end)
        while last is not None:
            chain.append(last)
            last = reached[last.low]
        return chain[::-1]

    def _of_step(self, k: int) -> list[Spot]:
        """The samples that a step draws or shows, and their negatives."""
        drawn = [i for i, sample in enumerate(self.system.samples) if sample.step == k]
        shown = [i for i, places in self.released.items() if any(at == k for at, _ in places)]
        return [Spot(i, mirrored) for i in dict.fromkeys((*drawn, *shown)) for mirrored in (False, True)]

    def _visited(self, chain: Iterable[Tie]) -> set[int | None]:
        spots = {spot for tie in chain for spot in (tie.low, tie.high)}
        shown = {
            at for spot in spots if spot.sample is not None for at, _ in self.released.get(spot.sample, ())
        }
        return {*map(self.step, spots), *shown}


def forced(automaton: Automaton, run: Sequence[int]) -> Forced:
    """What a run forces; ``run`` is positions of transitions from the initial state on."""
    system = unrolled(automaton, run)
    guards = {k: sorted(automaton.transitions[t].guard.atoms, key=str) for k, t in enumerate(run)}
    asked = {k: iter(atoms) for k, atoms in guards.items()}
    ties = [_compared(c, f"asks for {next(asked[c.step])}") for c in system.comparisons]
    released: dict[int, tuple[tuple[int, str], ...]] = {}
    for k, t in enumerate(run):
        here = [one for one in system.shown if one.step == k]
        numbers = [part for part in automaton.transitions[t].output.parts if part.is_real]
        for one, part in zip(here, numbers, strict=True):
            ends = [v for v in (one.value, one.subtrahend) if v is not None and v.sample is not None]
            samples = list(dict.fromkeys(v.sample for v in ends if v.sample is not None))
            if len(ends) == 1:
                released[samples[0]] = (*released.get(samples[0], ()), (k, str(part)))
            elif len(samples) == 2:
                low, high = (Spot(i) for i in samples)
                ties.append(Tie(low, high, k, "~", Fraction(0), f"shows {part}"))
    return Forced(system, tuple(ties), released)


def _negatives(chain: Iterable[Tie]) -> int:
    return sum(tie.low.mirrored + tie.high.mirrored for tie in chain)


def _compared(c: Comparison, text: str) -> Tie:
    low, high, more = c.low, c.high, c.high.offset - c.low.offset
    known = Spot(None, constant=more if high.sample is None else -more)
    low_end, high_end = (
        known if value.sample is None else Spot(value.sample, value.mirrored) for value in (low, high)
    )
    more = Fraction(0) if known in (low_end, high_end) else more
    return Tie(low_end, high_end, c.step, "<" if c.strict else "<=", more, text)
