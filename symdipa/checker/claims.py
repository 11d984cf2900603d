"""What a certificate proves, and for which inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, permutations

from symdipa.checker.reading import interval, rational
from symdipa.checker.rules import refuse


@dataclass(frozen=True, slots=True)
class Inputs:
    """Which inputs are compared: differences at input steps lie in ``[low, high]`` times the sensitivity.

    A difference is the first input minus the second; the first is the one whose probabilities are at most
    ``exp(D*eps)`` times those of the other. With ``both``, either of two adjacent inputs may be the first.
    ``differ`` says which entries may differ.
    """

    low: Fraction
    high: Fraction
    sensitivity: Fraction
    both: bool
    differ: str = "all"

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        return self.low * self.sensitivity, self.high * self.sensitivity

    @property
    def other_way(self) -> tuple[Fraction, Fraction]:
        """The ends for the other order of the two inputs."""
        low, high = self.ends
        return -high, -low

    def differences(self, reads_input: bool) -> tuple[Fraction, Fraction]:
        """The least and the greatest difference at a step."""
        if not reads_input:
            return Fraction(0), Fraction(0)
        return self.ends

    def __str__(self) -> str:
        times = "" if self.sensitivity == 1 else f" times {self.sensitivity}"
        entries = "" if self.differ == "all" else f" ({self.differ})"
        numbers = f"in [{self.low}, {self.high}]{times}{entries}"
        if self.low == -self.high:
            return f"differences {numbers}"
        return (
            f"differences {numbers} in either order"
            if self.both
            else f"differences (first minus second) {numbers}"
        )


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that was proved.

    ``kind`` is ``"private"`` (``D*eps``-private with ``D = bound``, or one of the two inequalities of that if
    the inputs are not compared ``both`` ways), ``"lower"`` (a run whose probabilities
    differ by ``exp(bound*eps)``, or as close to that as one likes), ``"violation"`` (the pattern occurs; if
    that is ``"growth"``, a run's probabilities differ by as much as one likes for these ``inputs``) or
    ``"well-formed"`` (no pattern does). ``distinct`` says of a run that no other one has its outputs, which
    makes of it a statement about the automaton: no ``D`` below ``bound``, no ``D`` at all.
    """

    kind: str
    bound: Fraction | None = None
    inputs: Inputs | None = None
    pattern: str | None = None
    distinct: bool | None = None

    def __str__(self) -> str:
        match self.kind:
            case "private":
                way = "" if self.inputs is None or self.inputs.both else " in one direction"
                return f"D*eps-private{way} with D = {self.bound} for {self.inputs}"
            case "lower" if self.distinct:
                return f"not D*eps-private with any D below {self.bound} for {self.inputs}"
            case "lower":
                return f"a run whose probabilities differ by {self.bound}*eps for {self.inputs}"
            case "well-formed":
                return "well-formed: none of the four patterns"
            case "violation" if self.pattern == "growth" and self.distinct:
                return f"not private for {self.inputs}: a run costs as much as one likes"
            case "violation" if self.pattern == "growth":
                return f"a run that costs as much as one likes for {self.inputs}"
            case _:
                conclusion = "not private" if self.distinct else "not well-formed"
                whom = "" if self.inputs is None else f" for {self.inputs}"
                return f"{conclusion}{whom}: a {str(self.pattern).replace('-', ' ')}"


def inputs_of(certificate: dict[str, object], where: str, differ: str = "all") -> Inputs:
    """The adjacency and the sensitivity that a certificate is about, and which entries may differ."""
    low, high = interval(certificate["adjacency"], f"{where}.adjacency")
    sensitivity = rational(certificate["sensitivity"], f"{where}.sensitivity")
    if not low <= 0 <= high or sensitivity <= 0:
        refuse("adjacency", f"{where}: differences must range over 0, and the sensitivity must be positive")
    return Inputs(low, high, sensitivity, low == -high, differ)


def both_ways(claims: Sequence[Claim]) -> list[Claim]:
    """Privacy as two claims about the two orders of adjacent inputs make it up together."""
    found = []
    parts = [(c.bound, c.inputs) for c in claims if c.kind == "private" and c.bound is not None and c.inputs]
    for (bound, one), (other_bound, other) in combinations(parts, 2):
        if one.ends == other.other_way != one.other_way:
            found.append(Claim("private", max(bound, other_bound), replace(one, both=True)))
    return found


def refuse_contradictions(claims: Sequence[Claim]) -> None:
    """Refuse claims that cannot be true together, whatever the proofs say: one of the rules is wrong then."""
    for claim, other in permutations(claims, 2):
        if _contradict(claim, other):
            refuse("contradiction", f"{claim}, and {other}: that cannot be true together")


def _contradict(claim: Claim, other: Claim) -> bool:
    """Whether the second claim denies the first one."""
    if claim.kind == "well-formed":
        return other.kind == "violation"
    if claim.kind != "private" or claim.inputs is None or claim.bound is None or not other.distinct:
        return False
    low, high = claim.inputs.ends
    if other.kind == "violation" and other.inputs is None:
        return low < 0 < high
    if other.inputs is None or (other.kind != "violation" and other.bound is None):
        return False
    least, most = other.inputs.ends
    return low <= least and most <= high and (other.bound is None or other.bound > claim.bound)
