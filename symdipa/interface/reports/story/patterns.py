"""What each of the patterns is, told on its run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from symdipa.evidence import facts
from symdipa.interface.reports import words
from symdipa.interface.reports.document import Block, Code, Inset, Lines, Marked, Section, Table
from symdipa.model.automaton import Automaton
from symdipa.model.patterns import Pattern
from symdipa.model.spelling import enumeration
from symdipa.model.verdict import Witness


@dataclass(frozen=True)
class Story:
    """A violation in words: which steps repeat and what the comparisons force on their samples; the same in
    one sentence about the answers that an observer sees; and why no D is large enough."""

    happens: Sequence[Block]
    in_short: str
    why_it_costs: str


def story(automaton: Automaton, witness: Witness, longest: int | None = None) -> Story:
    """The violation that a witness shows; of a run with more than ``longest`` steps an excerpt."""
    outputs = f"Outputs of the run: {words.outputs_text(automaton, witness, longest)}"
    if not automaton.is_plain:
        from symdipa.interface.reports.story import rising

        return Story(
            [*rising.happens(automaton, witness), outputs],
            f"In short: {rising.in_short(automaton, witness)}",
            f"Why that costs: no other run shows these outputs. {rising.why(automaton, witness)}",
        )
    tell = {
        Pattern.LEAKING_CYCLE: _leaking_cycle,
        Pattern.LEAKING_PAIR: _leaking_pair,
        Pattern.DISCLOSING_CYCLE: _disclosing_cycle,
        Pattern.PRIVACY_VIOLATING_PATH: _violating_path,
    }[witness.pattern]
    found = tell(automaton, witness)
    compared = any(automaton.transitions[i].guard.used for i in witness.run)
    so = ", so they tell how every comparison came out" if compared else ""
    return Story(
        [*found.happens, outputs],
        f"In short: {found.in_short}",
        f"Why that costs: no other run shows these outputs{so}. {found.why_it_costs} The factors of all "
        "rounds multiply, and nothing limits how many rounds there are.",
    )


def _leaking_cycle(automaton: Automaton, witness: Witness) -> Story:
    loop = witness.cycles[-1]
    inside = facts.steps_of(automaton, witness, loop)
    both = sorted(facts.conflicts(automaton, witness))
    steps = facts.Steps(automaton, witness.run)
    rows = []
    for x in both:
        stored = steps.several([k for k, t in inside if x in t.assign])
        read = steps.several([k for k, t in inside if x in t.guard.used])
        rows.append(f"{x}: stored in {stored}, compared with in {read}")
    begins = (
        f"The loop {words.loop_text(automaton, witness, loop)} can go round for ever, and it both stores "
        "noisy values and compares with what it stored:"
    )
    ends = "So each round has a comparison of its own, of noisy values that are drawn anew."
    return Story(
        [begins, Inset([Lines(rows)]), ends],
        f"every round of a loop stores a new {enumeration(both)} and compares with it.",
        "If inputs move by 1, the noise must make up for it or the outputs change. With a value that is "
        "stored once, one shift of that value can serve all rounds. Here every round stores a new "
        f"{enumeration(both)}, with noise of its own: inputs can move such that the noise has to make up for "
        "it in round after round, and each time the outputs become less likely by a factor.",
    )


def _leaking_pair(automaton: Automaton, witness: Witness) -> Story:
    below, above = (words.loop_text(automaton, witness, witness.cycles[k]) for k in (0, -1))
    steps = facts.Steps(automaton, witness.run)
    low, high = steps.one(witness.path[0]), steps.one(witness.path[-1])
    first, last = steps.subject(witness.path[0]), steps.subject(witness.path[-1])
    in_loop = any(start <= k < end for k in witness.path[1:-1] for start, end in witness.cycles)
    once = "" if in_loop else ", by way of values that are drawn only once"
    begins = (
        f"Loop A, {below}, and loop B, {above}, can each go round as often as one likes. The comparisons "
        f"force every noisy value of {low} (in A) below every noisy value of {high} (in B){once}:"
    )
    ends = "So any number of noisy inputs of A lie below any number of noisy inputs of B."
    return Story(
        [begins, _chain(automaton, witness), ends],
        f"one run can give any number of answers {_output(automaton, witness, witness.path[0])} and any "
        f"number of answers {_output(automaton, witness, witness.path[-1])}. By way of "
        f"{_way(automaton, witness)}, all noisy inputs behind the former lie below all noisy inputs behind "
        "the latter.",
        f"If every input of {first} is larger by 1 and every input of {last} smaller by 1, the noise "
        "must make up for it or the outputs change. With one of the loops alone, one shift of what is stored "
        "between them could serve all rounds; but what helps the one loop hurts the other. So each further "
        "round of both makes the outputs less likely by a factor.",
    )


def _disclosing_cycle(automaton: Automaton, witness: Witness) -> Story:
    loop = witness.cycles[-1]
    shown = facts.Steps(automaton, witness.run).several(facts.shown_in_loop(automaton, witness))
    where = f", in {shown}" if loop[1] - loop[0] > 1 else ""
    happens = (
        f"The loop {words.loop_text(automaton, witness, loop)} can go round for ever, and each round outputs "
        f"a noisy input{where}. Nothing limits how many are shown."
    )
    return Story(
        [happens],
        "one run can show any number of noisy inputs.",
        "Each number that is shown is an input plus noise. If that input moves by 1, away from the number, "
        "the number becomes less likely by a factor, in each round anew.",
    )


def _violating_path(automaton: Automaton, witness: Witness) -> Story:
    ends = facts.path_ends(automaton, witness)
    steps = facts.Steps(automaton, witness.run)
    shown = steps.one(ends.shown)
    shows, repeats = steps.subject(ends.shown), steps.subject(ends.repeated)
    side, other, moved = ("below", "above", "larger") if ends.below else ("above", "below", "smaller")
    begins = (
        f"The loop {words.loop_text(automaton, witness, witness.cycles[-1])} can go round as often as one "
        f"likes. The comparisons force every noisy value of {repeats} {side} the noisy value of "
        f"{shown}, and {shows} outputs that very value:"
    )
    bound = f"So the number shown is a bound for any number of noisy inputs: they all lie {side} it."
    return Story(
        [begins, _chain(automaton, witness), bound],
        f"one run can give any number of answers {_output(automaton, witness, ends.repeated)}. By way of "
        f"{_way(automaton, witness)}, the number that {shows} shows lies {other} all the noisy inputs "
        "behind them.",
        f"The number of {shows} is seen, so no noise hides where it lies, and every noisy value of "
        f"{repeats} lies {side} it. Let every input of {repeats} be {moved} by 1: each round becomes "
        "less likely by a factor, and nothing that is stored can move to make up for it.",
    )


def _chain(automaton: Automaton, witness: Witness) -> Block:
    """The dependency path, one comparison a line."""
    steps = facts.Steps(automaton, witness.run)
    links = facts.path_links(automaton, witness)
    run = witness.run
    told = [
        [words.relation_text(automaton, run, link), words.link_text(automaton, run, steps, link)]
        for link in links
    ]
    return Inset([Table(told)])


def _way(automaton: Automaton, witness: Witness) -> str:
    """The variables that the dependency path passes."""
    return enumeration(dict.fromkeys(link.variable for link in facts.path_links(automaton, witness)))


def _output(automaton: Automaton, witness: Witness, k: int) -> str:
    output = facts.output_words(automaton, automaton.transitions[witness.run[k]].output)
    return f"{output} ({facts.Steps(automaton, witness.run).one(k)})"


# --------------------------------------------------------------------------------------------------- the run


ALL_STEPS = "-v or --json shows all steps."


def run_table(automaton: Automaton, witness: Witness, longest: int | None = None) -> list[Block]:
    """The run, one step a line, and how to see what an excerpt leaves out."""
    columns = words.run_columns(automaton, witness)
    head = _head(columns, ("step", "loop", "from", "guard", "stores", "output", "to"))
    pieces = words.excerpt(witness, longest)
    return [_steps_table(columns, head, pieces), *([ALL_STEPS] if len(pieces) > 1 else [])]


def _head(columns: Mapping[str, Sequence[str]], head: Sequence[str]) -> list[str]:
    """A head of a table of steps, with what there is to tell of entries before the guard, and of registers
    before the end. Programs have lines instead of states."""
    at = head.index("from")
    entry, registers = ([name] if name in columns else [] for name in (words.ENTRY, words.DIFFER_THEN))
    start, end = (["from"], ["to"]) if words.LINE not in columns else ([words.LINE, words.PROGRAM], [])
    return [*head[:at], *start, *entry, *head[at + 1 : -1], *registers, *end]


def _steps_table(columns: Mapping[str, Sequence[str]], head: Sequence[str], pieces: Sequence[range]) -> Table:
    """The columns with these names, in the rows of an excerpt."""
    whole = Table.of(columns, head)

    def told(piece: range) -> list[Sequence[str | Marked]]:
        return [*whole.rows[piece.start : piece.stop]]

    def left_out(said: str) -> Sequence[str | Marked]:
        return ["...", *[""] * (len(head) - 2), said]

    return replace(whole, rows=words.joined_pieces(pieces, told, left_out))


def run_with_facts(automaton: Automaton, witness: Witness, longest: int | None = None) -> list[Block]:
    """The run with plain comparisons and, if anything is, what is known of the stored values after each step;
    then a legend of the columns that are not empty. Of a run with more than ``longest`` steps, an excerpt."""
    columns = words.run_columns(automaton, witness)
    columns["stored in"], orders = columns["stores"], words.known_orders(automaton, witness)
    columns["known order"] = [order or "-" for order in orders]
    letters = "A and B" if len(witness.cycles) > 1 else "*"
    legend = [f"Loop: {letters} can be repeated."] if witness.cycles else []
    if any(automaton.transitions[i].guard.used for i in witness.run):
        legend.append("If: what the step's noisy value (sample) is compared with.")
    elif any(automaton.transitions[i].assign for i in witness.run):
        legend.append("Stored in: where the step keeps its noisy value.")
    if any(orders):
        legend.append("Known order: what the comparisons so far force on the stored values.")
    legend += words.entry_legend(automaton, witness)
    known = ["known order"] if any(orders) else []
    head = _head(columns, ("step", "loop", "from", "if", "output", "stored in", *known, "to"))
    pieces = words.excerpt(witness, longest)
    if len(pieces) > 1:
        legend.append(ALL_STEPS)
    return [_steps_table(columns, head, pieces), " ".join(legend)]


# ------------------------------------------------------------------------------------ what forces the samples


def dependency(automaton: Automaton, witness: Witness) -> list[Section]:
    """What, if anything, forces an order on the samples: the path, or how a leaking cycle repeats (of a plain
    automaton)."""

    def position(k: int) -> str:
        loop = words.loops_at(witness, k)
        return names.one(k) + {"": "", "*": " (loop)"}.get(loop, f" (loop {loop})")

    if not automaton.is_plain:
        return []
    names = facts.Steps(automaton, witness.run)
    if witness.pattern is Pattern.LEAKING_CYCLE:
        return [Section(_lasso(automaton, witness), "What the loop compares")]
    if not witness.path:
        return []
    links = facts.path_links(automaton, witness)
    steps = (f" -[{link.variable}]-> {position(link.high)}" for link in links)
    said = "From the lowest value to the highest; -[x]-> is a comparison by way of the variable x:"
    path = Inset([Code("".join([position(witness.path[0]), *steps]))])
    return [Section([said, path], "What forces the order")]


def _lasso(automaton: Automaton, witness: Witness) -> list[Block]:
    """Which stored values the loop compares with, and why it can be repeated: the order state returns."""
    from symdipa.runs.control import control_graph
    from symdipa.runs.witness import orders_by_round

    blocks: list[Block] = []
    steps = facts.Steps(automaton, witness.run)
    for back in facts.lookbacks(automaton, witness):
        step = words.first_upper(steps.subject(back.step))
        compares = f"{step} compares with {back.variable}, stored in {steps.one(back.first)}"
        if back.later > back.step:
            compares += f" the first time, in later rounds in {steps.one(back.later)} of the round before"
        elif back.later == back.step:
            compares += " the first time, in later rounds in the same step of the round before"
        blocks.append(f"{compares}.")
    orders, place = orders_by_round(control_graph(automaton), witness)
    known = [words.order_text(order, automaton.variables) or "nothing" for order in orders]
    if len(set(known)) == 1:
        order = "no order" if known[0] == "nothing" else f"the same order ({known[0]})"
        again = (
            f"Before every round the comparisons so far force {order} on the stored values. So they never "
            "keep the loop from going round once more."
        )
    else:
        rounds = [f"before round {n}: {order}" for n, order in enumerate(known, 1)]
        returns = f"before round {len(orders) + 1}: the same as before round {place + 1}, and so on for ever"
        again = f"What the comparisons so far force on the stored values: {'; '.join([*rounds, returns])}."
    return [*blocks, again]
