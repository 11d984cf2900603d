"""The rules without which the theory says nothing of an automaton (Def. valid automaton).

One pure function per rule; each yields the places it objects to, with a message that says what would be
right. Output distinction and strong feasibility are not rules: an automaton without them is valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from symdipa.model.errors import InputProblem, InvalidInput
from symdipa.model.parts import AutomatonParts
from symdipa.model.validation.guards import determinism, guard
from symdipa.model.validation.initialization import initialization
from symdipa.model.validation.places import Finding, Locate, Place
from symdipa.model.validation.registers import registers, set_first
from symdipa.model.validation.samples import integers, parameters, sample
from symdipa.model.validation.steps import assignment, output
from symdipa.model.validation.structure import structure
from symdipa.model.validation.sums import bounded

__all__ = ["GLOBAL_RULES", "LOCAL_RULES", "Finding", "Locate", "Place", "problems", "validate"]

LOCAL_RULES: dict[str, Callable[[AutomatonParts], Iterator[Finding]]] = {
    "structure": structure,
    "guard": guard,
    "determinism": determinism,
    "parameters": parameters,
    "sample": sample,
    "assignment": assignment,
    "output": output,
    "integer": integers,
    "registers": registers,
}
GLOBAL_RULES: dict[str, Callable[[AutomatonParts], Iterator[Finding]]] = {
    "initialization": initialization,
    "set-first": set_first,
    "sums": bounded,
}


def validate(
    automaton: AutomatonParts, locate: Locate | None = None, extra: Iterable[InputProblem] = ()
) -> None:
    """Raise :class:`InvalidInput` with ``extra`` and every problem of the automaton, if there is any."""
    found = [*extra, *problems(automaton, locate)]
    if found:
        raise InvalidInput(found, automaton.name or None)


def problems(
    automaton: AutomatonParts, locate: Locate | None = None, *, partial: bool = False
) -> list[InputProblem]:
    """Every violation of a rule.

    With ``partial`` the automaton is what could be read of a broken text, so that only rules about a single
    state or transition are applied.
    """
    rules = LOCAL_RULES if partial else LOCAL_RULES | GLOBAL_RULES
    return [
        InputProblem(rule, message, locate(place) if locate else None)
        for rule, check in rules.items()
        for place, message in check(automaton)
    ]
