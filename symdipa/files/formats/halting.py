"""Runs that stop: where no branch of a state holds, the run ends (Def. halting).

The paper's reading is *hidden*: only outputs are seen. If it is *visible* that a run stops, the stop is
an output, too, as if the values that no branch covers were a last branch ``else output halt``. So the other
reading is that of another automaton, and whatever is decided, proved or computed about it needs no rule of
its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import count

from symdipa.files.formats.branches import MAX_PIECES, first_match
from symdipa.model.automaton import TRUE, Automaton, Guard, State, Transition, symbol, validated
from symdipa.model.errors import Limit, LimitReached, Note, NoteKind
from symdipa.model.options import HALTS, must_be_one_of

SYMBOL, STATE = "halt", "halted"
"""The output of a run that stops, and the state where it is then; numbered where such names are taken."""


def stops_unseen(automaton: Automaton) -> dict[str, tuple[Guard, ...]]:
    """The states that a run can stop in though it might go on: the values that none of their branches cover.

    They come as disjoint guards. Raises :class:`LimitReached` if there are more than :data:`MAX_PIECES` of
    one state, :class:`~symdipa.model.errors.InvalidInput` for an automaton that breaks the rules.
    """
    found = {}
    for state, numbers in zip(validated(automaton).states, automaton.outgoing, strict=True):
        guards = [automaton.transitions[t].guard for t in numbers]
        if not guards or TRUE in guards:
            continue
        rest = first_match([*guards, TRUE], automaton.integer)[-1]
        if rest is None:
            reason = (
                f"what no branch of {automaton.where(state.name)} covers takes more than {MAX_PIECES} guards"
            )
            raise LimitReached(Limit.SIZE, reason)
        if rest:
            found[state.name] = rest
    return found


def with_halt(automaton: Automaton, halt: str | None) -> Automaton:
    """The automaton in the reading that is asked for, one of :data:`HALTS`; ``None``: in its own.

    Raises ``ValueError`` for another name, and for ``"hidden"`` where the automaton itself shows its stops.
    Raises what :func:`stops_unseen` raises.
    """
    if halt is None or halt == automaton.halt:
        return automaton
    must_be_one_of("halt", halt, HALTS)
    if halt == "visible":
        shown = halt_shown(automaton)
        stops = added(automaton, shown)
        notes = [Note(NoteKind.STOP_COUNTED, str(stops[0].output))] if stops else []
        return replace(shown, halt=halt, read_notes=(*automaton.read_notes, *notes)).trusted()
    if automaton.halt:
        raise ValueError("the automaton shows its stops; hide them when it is read")
    return replace(validated(automaton), halt=halt).trusted()


def halt_shown(automaton: Automaton) -> Automaton:
    """The automaton that shows ``halt`` where the given one stops in a state that has branches.

    Its states and transitions are those of the given one, and more behind them; it is the same one if its
    branches cover all values. Raises what :func:`stops_unseen` raises.
    """
    stops = stops_unseen(automaton)
    if not stops:
        return automaton
    taken = {part.symbol for t in automaton.transitions for part in t.output.parts}
    halt = symbol(_free(SYMBOL, (name for name in taken if name is not None)))
    halted = State(_free(STATE, automaton.index))
    more = (
        Transition(source, halted.name, halt, guard, frozenset())
        for source, guards in stops.items()
        for guard in guards
    )
    return replace(
        automaton,
        states=(*automaton.states, halted),
        transitions=(*automaton.transitions, *more),
    ).trusted()


def added(automaton: Automaton, shown: Automaton) -> tuple[Transition, ...]:
    """The transitions that :func:`halt_shown` has put behind those of the automaton."""
    return shown.transitions[len(automaton.transitions) :]


def _free(name: str, taken: Iterable[str]) -> str:
    names = set(taken)
    return next(new for k in count(1) if (new := name if k == 1 else f"{name}{k}") not in names)
