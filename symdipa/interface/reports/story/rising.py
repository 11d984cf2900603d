"""A witness on an automaton that is not plain, in words: what is in conflict, and how its cost rises.

The paper's patterns are about comparisons of noisy inputs. Constants, shown values, differences and noise
that is one-sided or absent come into conflict as well; what all of these have in common is told here.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from symdipa.evidence.facts import Steps, compared_words
from symdipa.evidence.forced import Spot, forced
from symdipa.interface.reports import words
from symdipa.interface.reports.document import Block, Inset, Table
from symdipa.model.adjacency import EITHER_WAY
from symdipa.model.automaton import Automaton
from symdipa.model.patterns import Pattern
from symdipa.model.spelling import enumeration
from symdipa.model.verdict import Witness

if TYPE_CHECKING:
    from symdipa.runs.numbers.growth import Growth

SHOWN = 3
"""Of how many numbers of rounds the cost is told."""

EXPOSED = "exposed comparison"


def happens(automaton: Automaton, witness: Witness) -> list[Block]:
    """Which loops repeat, and what the run asks of the samples in conflict."""
    blocks: list[Block] = []
    names = "AB" if len(witness.cycles) == 2 else [""]
    for name, loop in zip(names, witness.cycles, strict=False):
        title = f"Loop {name}," if name else "The loop"
        text = words.loop_text(automaton, witness, loop)
        blocks.append(f"{title} {text}{',' if name else ''} can go round as often as one likes.")
    if told := words.which_differ(automaton, witness):
        blocks.append(" ".join(told))
    if rows := _chain(automaton.told, witness):
        blocks += ["From the lowest value to the highest, the run forces this order:", Inset([Table(rows)])]
    return blocks


def _chain(automaton: Automaton, witness: Witness) -> list[list[str]]:
    """What is in conflict, a line for each comparison and each number shown that it takes."""
    if not witness.path:
        return []
    ordered = forced(automaton, witness.run)
    chain = ordered.chain_of(witness)
    steps = Steps(automaton, witness.run)

    def by(step: int | None, text: str) -> str:
        told = compared_words(automaton, text)
        return told if step is None else f"{steps.subject(step)} {told}"

    rows = [[ordered.relation(tie), by(tie.step, tie.text)] for tie in chain]
    ends = [spot.sample for spot in ((chain[0].low, chain[-1].high) if chain else ())]
    shown = [i for i in ends if i is not None] or [
        i for i, places in ordered.released.items() if any(k in witness.path for k, _ in places)
    ]
    for i in dict.fromkeys(shown):
        rows += [
            [f"{ordered.name(Spot(i))} is seen", by(k, f"shows {said}")]
            for k, said in ordered.released.get(i, ())
        ]
    return rows


def in_short(automaton: Automaton, witness: Witness) -> str:
    """The conflict in one sentence."""
    if witness.conflict == EXPOSED:
        steps = sorted({witness.path[0], witness.path[-1]})
        names = Steps(automaton, witness.run)
        told = names.subject(steps[0]) if len(steps) == 1 else names.several(steps)
        one = len(steps) == 1 or told.startswith("line ")
        compare = "compares or shows" if one and " and " not in told else "compare or show"
        return f"{told} {compare} values whose noise cannot hide that an input moved."
    noisy = "noisy values whose means differ" if automaton.unfolds else "noisy inputs"
    if witness.conflict.startswith("violating path to "):
        what = witness.conflict.removeprefix("violating path to ")
        return f"any number of {noisy} lie on one side of {what}, which nothing can shift."
    match witness.pattern:
        case Pattern.LEAKING_PAIR if witness.path:
            return f"any number of {noisy} lie below {_others(automaton, witness)}."
        case Pattern.DISCLOSING_CYCLE:
            return f"one run can show any number of {noisy}."
        case _:
            return "every round of a loop costs something anew."


def _others(automaton: Automaton, witness: Witness) -> str:
    """What the noisy inputs of the first loop lie below."""
    chain = forced(automaton, witness.run).chain_of(witness)
    mirrored = bool(chain) and chain[0].low.mirrored != chain[-1].high.mirrored
    others = f"{'the negatives of ' if mirrored else ''}any number of others"
    tied = " or are tied to them by what is shown" if any(tie.both for tie in chain) else ""
    return others + tied


def why(automaton: Automaton, witness: Witness) -> str:
    """How much more the outputs tell with each further round."""
    from symdipa.runs.numbers.growth import growth

    found = growth(automaton, witness.run, witness.cycles, *EITHER_WAY, letters=witness.letters)
    moved = _moved(automaton, witness, found)
    if found.grows == "infinite":
        return (
            f"{moved} Then the outputs of this run are possible for one of the two inputs and, whatever eps "
            "is, as unlikely as one likes (or impossible) for the other."
        )
    costs = found.costs[:SHOWN]
    rounds, told = (enumeration(map(str, of)) for of in (range(1, len(costs) + 1), costs))
    return (
        f"{moved} With {rounds} rounds the outputs can be less likely by factors that come as close as one "
        f"likes to exp(c*eps) with c = {told}."
    )


def _moved(automaton: Automaton, witness: Witness, found: Growth) -> str:
    """Which inputs move, and how."""
    rows: Sequence[Fraction] = found.deltas[0] if found.deltas else ()
    groups: dict[str, list[int]] = {}
    for k, delta in enumerate(rows):
        reads = automaton.state(automaton.transitions[witness.run[k]].source).is_input
        if reads and delta:
            groups.setdefault("smaller" if delta > 0 else "larger", []).append(k)
    if not groups:
        return "Let the inputs move."
    looped = {k for start, end in witness.cycles for k in range(start, end)}
    turns = " (and the other way in every second round)" if len(found.deltas) == 2 else ""
    if automaton.unfolds:
        return _apart(automaton, witness, rows, turns)
    names = Steps(automaton, witness.run)
    told = [
        f"{_inputs_of(names, steps, looped)} be {abs(rows[steps[0]])} {way}" for way, steps in groups.items()
    ]
    return f"Let {enumeration(told)}{turns}."


def _apart(automaton: Automaton, witness: Witness, differences: Sequence[Fraction], turns: str) -> str:
    """Which entries differ by how much, where not all have to."""
    groups: dict[Fraction, list[int]] = {}
    for k, difference in enumerate(differences):
        if difference:
            groups.setdefault(difference, []).append(k)
    told = [
        f"{words.entries_of(automaton, witness, steps)} be "
        f"{'larger' if size > 0 else 'smaller'} by {abs(size)}"
        for size, steps in groups.items()
    ]
    return f"In the first input, let {enumeration(told)}{turns}, and all others be as in the second."


def _inputs_of(names: Steps, steps: Sequence[int], looped: Container[int]) -> str:
    """The inputs of these steps, of which those in a loop have one in each round."""
    if len(steps) > 1:
        return f"the inputs of {names.several(steps)}"
    return f"{'every' if steps[0] in looped else 'the'} input of {names.subject(steps[0])}"
