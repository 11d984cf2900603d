"""What a certificate proves, and for which inputs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from symdipa.checker.reading import interval, rational
from symdipa.checker.rules import refuse


@dataclass(frozen=True, slots=True)
class Inputs:
    """Which inputs are compared: differences at input steps lie in ``[low, high]`` times the sensitivity."""

    low: Fraction
    high: Fraction
    sensitivity: Fraction

    def differences(self, reads_input: bool) -> tuple[Fraction, Fraction]:
        """The least and the greatest difference at a step."""
        if not reads_input:
            return Fraction(0), Fraction(0)
        return self.low * self.sensitivity, self.high * self.sensitivity

    def __str__(self) -> str:
        times = "" if self.sensitivity == 1 else f" times {self.sensitivity}"
        return f"differences in [{self.low}, {self.high}]{times}"


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that was proved.

    ``kind`` is ``"private"`` (``D*eps``-private with ``D = bound``), ``"lower"`` (a run whose probabilities
    differ by ``exp(bound*eps)``, or as close to that as one likes), ``"violation"`` (the pattern occurs) or
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
                return f"D*eps-private with D = {self.bound} for {self.inputs}"
            case "lower" if self.distinct:
                return f"not D*eps-private with any D below {self.bound} for {self.inputs}"
            case "lower":
                return f"a run whose probabilities differ by {self.bound}*eps for {self.inputs}"
            case "well-formed":
                return "well-formed: none of the four patterns"
            case _:
                conclusion = "not private" if self.distinct else "not well-formed"
                return f"{conclusion}: a {str(self.pattern).replace('-', ' ')}"


def inputs_of(certificate: dict[str, object], where: str) -> Inputs:
    """The adjacency and the sensitivity that a certificate is about."""
    low, high = interval(certificate["adjacency"], f"{where}.adjacency")
    sensitivity = rational(certificate["sensitivity"], f"{where}.sensitivity")
    if not low <= 0 <= high or sensitivity <= 0:
        refuse("adjacency", f"{where}: differences must range over 0, and the sensitivity must be positive")
    return Inputs(low, high, sensitivity)
