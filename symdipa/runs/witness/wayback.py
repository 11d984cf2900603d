"""From a witness on the core to one on the automaton, which is confirmed by what its run costs.

On the core (:mod:`symdipa.runs.control.core`) a pattern is a conflict between shifts, and more runs may count
as feasible than are. So a witness of an automaton that is not plain is believed only where its run is
possible on the numbers with its cycles taken any number of times, and costs more and more (or infinitely
much).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symdipa.model.adjacency import EITHER_WAY
from symdipa.model.automaton import Automaton, OutputKind
from symdipa.model.errors import LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.verdict import PatternResult, Status, Witness
from symdipa.runs.control import Control
from symdipa.runs.control.chains import EXPOSED, Chain, End
from symdipa.runs.witness.replaying import CHAINS, kind_of


def on_automaton(automaton: Automaton, control: Control, witness: Witness) -> Witness:
    """The witness in transitions of the automaton, with the name of its conflict."""
    if control.is_plain:
        return witness
    run, places = witness.run, control.places(witness.run)
    ends = (witness.path[0], witness.path[-1]) if witness.path else ()
    drawn = (k for k in witness.path if k in ends or not control.sampling[run[k]].is_free)
    path = dict.fromkeys(_place(control, witness, places, k) for k in drawn if places[k] >= 0)
    conflict = witness.conflict
    if not conflict and witness.pattern in CHAINS:
        conflict = _conflict(automaton, control, witness)
    return replace(
        witness,
        run=control.whole(run),
        cycles=control.whole_cycles(run, witness.cycles),
        path=tuple(path),
        conflict=conflict,
        letters=control.whole_letters(run),
    )


def _place(control: Control, witness: Witness, places: Sequence[int], k: int) -> int:
    """The position of a core position in the whole run: of a cycle that is turned, in the turned one."""
    for i, j in witness.cycles:
        if i <= k < j and not control.begins[witness.run[i]] and places[k] == places[i]:
            return places[j - 1]
    return places[k]


def confirmed(
    automaton: Automaton, control: Control, answer: PatternResult, limits: Limits = UNLIMITED
) -> PatternResult:
    """An answer about the core as one about the automaton: a witness that costs nothing is none."""
    if control.is_plain or answer.witness is None:
        return answer
    from symdipa.runs.numbers.growth import growth

    witness = on_automaton(automaton, control, answer.witness)
    try:
        found = growth(automaton, witness.run, witness.cycles, *EITHER_WAY, limits, witness.letters)
    except LimitReached as limit:
        why = str(limit)
    else:
        if found.grows is not None:
            return replace(answer, witness=witness)
        why = found.reason
    reason = f"a run that may show it was found, but not confirmed: {why}"
    return replace(answer, status=Status.UNKNOWN, method=None, witness=None, reason=reason)


def _conflict(automaton: Automaton, control: Control, witness: Witness) -> str:
    """What is in conflict, in words; empty for a leaking pair as the paper has it."""
    chain = kind_of(control, witness)
    if chain is None or chain is Chain.PAIR:
        return ""
    if chain in EXPOSED:
        return "exposed comparison"
    k = witness.path[0 if chain.low_end is End.FIXED else -1]
    return f"violating path to {_fixed(automaton, control, witness.run[k])}"


def _fixed(automaton: Automaton, control: Control, t: int) -> str:
    """What it is that has no shift."""
    sampling, origin = control.sampling[t], control.origin[t]
    if origin < 0:
        names = [name for x, name in enumerate(control.variable_names) if control.steps[t].asg >> x & 1]
        return f"the constant {names[0].rstrip('~')}"
    if not sampling.is_free and not sampling.shows_sample:
        return f"the noise of {automaton.where(automaton.transitions[origin].source)}"
    output = automaton.transitions[origin].output
    values = [part for part in output.parts if part.kind is OutputKind.VALUE]
    if sampling.is_free and len(values) == 1:
        return f"the released value of {values[0].names[0]}"
    return "a number that is shown"
