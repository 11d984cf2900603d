"""A witness told for somebody who designs a mechanism and does not know the theory.

What happens on the run, why that costs privacy, and what the comparisons force, out of
:mod:`symdipa.evidence.facts`.
"""

from __future__ import annotations

from itertools import pairwise

from symdipa.evidence.facts import (
    conflicts,
    level,
    link,
    lookbacks,
    orders_by_round,
    path_links,
    shown_in_loop,
    steps_of,
)
from symdipa.interface.reports.document import Block, Inset, Lines, Paragraph, Table
from symdipa.interface.reports.words import (
    known_orders,
    link_text,
    loop_text,
    loops_at,
    order_text,
    outputs_text,
    run_in_words,
    steps_text,
)
from symdipa.model.automaton import Automaton
from symdipa.model.patterns import Pattern
from symdipa.model.spelling import enumeration
from symdipa.model.verdict import Witness


def story(automaton: Automaton, witness: Witness) -> list[Block]:
    """The violation in words: which steps repeat, and what the comparisons force on their samples."""
    tell = {
        Pattern.LEAKING_CYCLE: _leaking_cycle,
        Pattern.LEAKING_PAIR: _leaking_pair,
        Pattern.DISCLOSING_CYCLE: _disclosing_cycle,
        Pattern.PRIVACY_VIOLATING_PATH: _violating_path,
    }[witness.pattern]
    return [*tell(automaton, witness), Paragraph(f"Outputs of the run: {outputs_text(automaton, witness)}")]


def _leaking_cycle(automaton: Automaton, witness: Witness) -> list[Block]:
    loop = witness.cycles[-1]
    inside = steps_of(automaton, witness, loop)
    rows = []
    for x in sorted(conflicts(automaton, witness)):
        stored = steps_text([k for k, t in inside if x in t.assign])
        read = steps_text([k for k, t in inside if x in t.guard.used])
        rows.append(f"{x}: stored in {stored}, compared with in {read}")
    return [
        Paragraph(
            f"The loop {loop_text(automaton, witness, loop)} can go round for ever, and it both stores noisy "
            "values and compares with what it stored:"
        ),
        Inset([Lines(rows)]),
        Paragraph("So each round has a comparison of its own, of noisy values that are drawn anew."),
    ]


def _leaking_pair(automaton: Automaton, witness: Witness) -> list[Block]:
    below, above = (loop_text(automaton, witness, witness.cycles[k]) for k in (0, -1))
    low, high = witness.path[0] + 1, witness.path[-1] + 1
    in_loop = any(start <= k < end for k in witness.path[1:-1] for start, end in witness.cycles)
    once = "" if in_loop else ", by way of values that are drawn only once"
    return [
        Paragraph(
            f"Loop A, {below}, and loop B, {above}, can each go round as often as one likes. The comparisons "
            f"force every noisy value of step {low} (in A) below every noisy value of step {high} (in B)"
            f"{once}:"
        ),
        _chain(automaton, witness),
        Paragraph("So any number of noisy inputs of A lie below any number of noisy inputs of B."),
    ]


def _disclosing_cycle(automaton: Automaton, witness: Witness) -> list[Block]:
    loop = witness.cycles[-1]
    where = f", in {steps_text(shown_in_loop(automaton, witness))}" if loop[1] - loop[0] > 1 else ""
    return [
        Paragraph(
            f"The loop {loop_text(automaton, witness, loop)} can go round for ever, and each round outputs a "
            f"noisy input{where}. Nothing limits how many are shown."
        )
    ]


def _violating_path(automaton: Automaton, witness: Witness) -> list[Block]:
    ends = level(automaton, witness)
    side = "below" if ends.below else "above"
    return [
        Paragraph(
            f"The loop {loop_text(automaton, witness, witness.cycles[-1])} can go round as often as one "
            f"likes. The comparisons force every noisy value of step {ends.repeated + 1} {side} the noisy "
            f"value of step {ends.shown + 1}, and step {ends.shown + 1} outputs that very value:"
        ),
        _chain(automaton, witness),
        Paragraph(f"So the number shown is a bound for any number of noisy inputs: they all lie {side} it."),
    ]


def _chain(automaton: Automaton, witness: Witness) -> Block:
    """The dependency path, one comparison a line."""
    rows = []
    for low, high in pairwise(witness.path):
        relation = f"sample {low + 1} {'<' if low > high else '<='} sample {high + 1}"
        rows.append([relation, link_text(link(automaton, witness.run, low, high))])
    return Inset([Table(rows)])


def in_short(automaton: Automaton, witness: Witness) -> Paragraph:
    """The violation in one sentence, by the answers that an observer sees."""
    return Paragraph(f"In short: {_in_short(automaton, witness)}")


def _in_short(automaton: Automaton, witness: Witness) -> str:
    if witness.pattern is Pattern.DISCLOSING_CYCLE:
        return "one run can show any number of noisy inputs."
    if witness.pattern is Pattern.LEAKING_CYCLE:
        variables = enumeration(sorted(conflicts(automaton, witness)))
        return f"every round of a loop stores a new {variables} and compares with it."
    way = enumeration(dict.fromkeys(step.variable for step in path_links(automaton, witness)))
    if witness.pattern is Pattern.LEAKING_PAIR:
        low, high = witness.path[0], witness.path[-1]
        return (
            f"one run can give any number of answers {_output(automaton, witness, low)} and any number of "
            f"answers {_output(automaton, witness, high)}. By way of {way}, all noisy inputs behind the "
            "former lie below all noisy inputs behind the latter."
        )
    ends = level(automaton, witness)
    side = "above" if ends.below else "below"
    return (
        f"one run can give any number of answers {_output(automaton, witness, ends.repeated)}. By way of "
        f"{way}, the number that step {ends.shown + 1} shows lies {side} all the noisy inputs behind them."
    )


def _output(automaton: Automaton, witness: Witness, k: int) -> str:
    return f"{automaton.transitions[witness.run[k]].output} (step {k + 1})"


# -------------------------------------------------------------------------------------------- why that costs


def why_it_costs(automaton: Automaton, witness: Witness) -> Paragraph:
    """Why no D is large enough, for a reader who knows what eps means but not the theory."""
    tell = {
        Pattern.LEAKING_CYCLE: _cost_of_cycle,
        Pattern.LEAKING_PAIR: _cost_of_pair,
        Pattern.DISCLOSING_CYCLE: _cost_of_numbers,
        Pattern.PRIVACY_VIOLATING_PATH: _cost_of_level,
    }[witness.pattern]
    compared = any(automaton.transitions[i].guard.used for i in witness.run)
    so = ", so they tell how every comparison came out" if compared else ""
    return Paragraph(
        f"Why that costs: no other run shows these outputs{so}. {tell(automaton, witness)} The factors of "
        "all rounds multiply, and nothing limits how many rounds there are."
    )


def _cost_of_cycle(automaton: Automaton, witness: Witness) -> str:
    variables = enumeration(sorted(conflicts(automaton, witness)))
    return (
        "If inputs move by 1, the noise must make up for it or the outputs change. With a value that is "
        "stored once, one shift of that value can serve all rounds. Here every round stores a new "
        f"{variables}, with noise of its own: inputs can move such that the noise has to make up for it in "
        "round after round, and each time the outputs become less likely by a factor."
    )


def _cost_of_pair(automaton: Automaton, witness: Witness) -> str:
    low, high = witness.path[0] + 1, witness.path[-1] + 1
    return (
        f"If every input of step {low} is larger by 1 and every input of step {high} smaller by 1, the noise "
        "must make up for it or the outputs change. With one of the loops alone, one shift of what is stored "
        "between them could serve all rounds; but what helps the one loop hurts the other. So each further "
        "round of both makes the outputs less likely by a factor."
    )


def _cost_of_numbers(automaton: Automaton, witness: Witness) -> str:
    return (
        "Each number that is shown is an input plus noise. If that input moves by 1, away from the number, "
        "the number becomes less likely by a factor, in each round anew."
    )


def _cost_of_level(automaton: Automaton, witness: Witness) -> str:
    ends = level(automaton, witness)
    side, moved = ("below", "larger") if ends.below else ("above", "smaller")
    return (
        f"The number of step {ends.shown + 1} is seen, so no noise hides where it lies, and every noisy "
        f"value of step {ends.repeated + 1} lies {side} it. Let every input of step {ends.repeated + 1} be "
        f"{moved} by 1: each round becomes less likely by a factor, and nothing that is stored can move to "
        "make up for it."
    )


# ---------------------------------------------------------------------------------------------------- the run


def run_table(automaton: Automaton, witness: Witness) -> Table:
    """The run, one step a line."""
    head = ("step", "loop", "from", "guard", "stores", "output", "to")
    steps = run_in_words(automaton, witness)
    rows = [[s.number, s.loop, s.source, s.guard, s.stored or "-", s.output, s.target] for s in steps]
    return Table(rows, head)


def run_with_facts(automaton: Automaton, witness: Witness) -> list[Block]:
    """The run with plain comparisons, and what is known of the stored values after each step, if anything.

    A legend follows, as far as the columns are not empty.
    """
    steps, facts = run_in_words(automaton, witness), known_orders(automaton, witness)
    head = ["step", "loop", "from", "if", "output", "stored in", "known order", "to"]
    rows = [
        [s.number, s.loop, s.source, s.comparison, s.output, s.stored or "-", known or "-", s.target]
        for s, known in zip(steps, facts, strict=True)
    ]
    letters = "A and B" if witness.pattern is Pattern.LEAKING_PAIR else "*"
    told = [f"Loop: {letters} can be repeated."]
    if any(automaton.transitions[i].guard.used for i in witness.run):
        told.append("If: what the step's noisy value (sample) is compared with.")
    elif any(s.stored for s in steps):
        told.append("Stored in: where the step keeps its noisy value.")
    if any(facts):
        told.append("Known order: what the comparisons so far force on the stored values.")
    else:
        head, *rows = ([*row[:6], *row[7:]] for row in (head, *rows))
    return [Table(rows, head), Paragraph(" ".join(told))]


# ------------------------------------------------------------------------------------ what forces the samples


def dependency_title(pattern: Pattern) -> str:
    """What :func:`dependency` is headed by."""
    return "What the loop compares" if pattern is Pattern.LEAKING_CYCLE else "What forces the order"


def dependency(automaton: Automaton, witness: Witness) -> list[Block]:
    """What forces the samples into order: the dependency path, or how a leaking cycle repeats."""
    if witness.pattern is Pattern.LEAKING_CYCLE:
        return _lasso(automaton, witness)
    if not witness.path:
        return []
    names = [_position(witness, witness.path[0])]
    for edge, high in zip(path_links(automaton, witness), witness.path[1:], strict=True):
        names.append(f"-[{edge.variable}]-> {_position(witness, high)}")
    return [
        Paragraph("From the lowest value to the highest; -[x]-> is a comparison by way of the variable x:"),
        Inset([Paragraph(" ".join(names), code=True)]),
    ]


def _position(witness: Witness, k: int) -> str:
    loop = loops_at(witness, k)
    where = {"": "", "*": " (loop)"}.get(loop, f" (loop {loop})")
    return f"step {k + 1}{where}"


def _lasso(automaton: Automaton, witness: Witness) -> list[Block]:
    """Where the comparisons of the loop look, and why it can be repeated: the order state returns."""
    blocks: list[Block] = []
    for back in lookbacks(automaton, witness):
        told = f"Step {back.step + 1} compares with {back.variable}, stored in step {back.first + 1}"
        if back.later > back.step:
            told += f" the first time, in later rounds in step {back.later + 1} of the round before"
        elif back.later == back.step:
            told += " the first time, in later rounds in the same step of the round before"
        blocks.append(Paragraph(f"{told}."))
    orders, place = orders_by_round(automaton, witness)
    known = [order_text(order, automaton.variables) or "nothing" for order in orders]
    if len(set(known)) == 1:
        order = "no order" if known[0] == "nothing" else f"the same order ({known[0]})"
        again = (
            f"Before every round the comparisons so far force {order} on the stored values. So they never "
            "keep the loop from going round once more."
        )
    else:
        rounds = [f"before round {n}: {facts}" for n, facts in enumerate(known, 1)]
        returns = f"before round {len(orders) + 1}: the same as before round {place + 1}, and so on for ever"
        again = f"What the comparisons so far force on the stored values: {'; '.join([*rounds, returns])}."
    return [*blocks, Paragraph(again)]
