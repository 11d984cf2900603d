"""Facts in words and signs: steps (counted from 1), loops, comparisons, orders, marks and noise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from symdipa.evidence.facts import Clash, Link, draws, marks_along, orders_along
from symdipa.interface.reports.document import Block, Table
from symdipa.model.automaton import Automaton, Guard, noise_scale
from symdipa.model.patterns import Pattern
from symdipa.model.spelling import enumeration
from symdipa.model.verdict import Witness
from symdipa.runs.order import OrderState, members

LONGEST_LOOP = 6
"""A loop with more states than this is shown by its first and last ones."""
LONGEST_NOISE_TABLE = 24
MOST_NAMES = 6
"""The most states that a line of it names."""


def steps_text(positions: Sequence[int]) -> str:
    """Positions as numbered steps: ``step 3``, ``steps 3 to 5``, ``steps 3 and 7``."""
    numbers = [k + 1 for k in positions]
    if len(numbers) == 1:
        return f"step {numbers[0]}"
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"steps {numbers[0]} to {numbers[-1]}"
    return f"steps {enumeration(map(str, numbers))}"


def loop_text(automaton: Automaton, witness: Witness, loop: tuple[int, int]) -> str:
    """The states that a loop visits, and its steps."""
    start, end = loop
    inside = [automaton.transitions[i] for i in witness.run[start:end]]
    names = [inside[0].source, *(t.target for t in inside)]
    if len(names) > LONGEST_LOOP:
        names[3:-1] = ["..."]
    return f"{' -> '.join(names)} ({steps_text(range(start, end))})"


def loops_at(witness: Witness, position: int) -> str:
    """``A`` and ``B`` for the two loops of a leaking pair, ``*`` for the only loop of another pattern."""
    names = "AB" if witness.pattern is Pattern.LEAKING_PAIR else "*"
    pairs = zip(names, witness.cycles, strict=False)
    return "".join(name for name, (start, end) in pairs if start <= position < end)


def relation_text(link: Link) -> str:
    """The samples that a comparison ties, in order."""
    return f"sample {link.low + 1} {'<' if link.sign == '<' else '<='} sample {link.high + 1}"


def link_text(link: Link) -> str:
    """The comparison that ties two samples."""
    asks = f"step {link.later + 1} asks for insample {link.sign} {link.variable}"
    return f"{asks}, stored in step {link.earlier + 1}"


def comparison(guard: Guard, variables: Sequence[str]) -> str:
    """A guard as people write it: ``l <= sample < u``."""
    lower = ", ".join(x for x in variables if x in guard.ge)
    upper = ", ".join(x for x in variables if x in guard.lt)
    left, right = f"{lower} <= " if lower else "", f" < {upper}" if upper else ""
    return f"{left}sample{right}" if lower or upper else "-"


def outputs_text(automaton: Automaton, witness: Witness) -> str:
    """The outputs of the run; ``(...)*`` are those of a loop, which may be repeated."""
    opens = {start for start, _ in witness.cycles}
    closes = {end - 1 for _, end in witness.cycles}
    return " ".join(
        f"{'(' if k in opens else ''}{automaton.transitions[i].output}{')*' if k in closes else ''}"
        for k, i in enumerate(witness.run)
    )


def clash_text(clash: Clash) -> str:
    """A state that is not output-distinct, and why."""
    shared = [*clash.outputs, *(["a number"] if clash.numbers else [])]
    return f"state {clash.state}: several branches output {enumeration(shared)}"


def run_columns(automaton: Automaton, witness: Witness) -> dict[str, list[str]]:
    """The steps of the run of a witness, by what a column says of them; ``-`` where there is nothing."""
    moves = [automaton.transitions[i] for i in witness.run]
    return {
        "step": [str(k + 1) for k in range(len(moves))],
        "loop": [loops_at(witness, k) for k in range(len(moves))],
        "from": [t.source for t in moves],
        "guard": [t.guard.text(automaton.variables) for t in moves],
        "if": [comparison(t.guard, automaton.variables) for t in moves],
        "output": [str(t.output) for t in moves],
        "stores": [", ".join(sorted(t.assign)) or "-" for t in moves],
        "to": [t.target for t in moves],
    }


# ------------------------------------------------------------------------------------------- orders and marks


def order_text(order: OrderState, variables: Sequence[str]) -> str:
    """An order state as chains: ``l < u < w, a = b``; what follows from the others is left out."""
    names = {same: " = ".join(variables[x] for x in members(same)) for same in order.eq if same}
    over = {same: order.lt[next(members(same))] for same in names}
    pairs = [
        (low, high)
        for low in names
        for high in names
        if over[low] & high and not any(over[low] & mid and over[mid] & high for mid in names)
    ]
    ends = {same for pair in pairs for same in pair}
    chains = []
    while pairs:
        highs = {high for _, high in pairs}
        chain = list(next(pair for pair in pairs if pair[0] not in highs))
        pairs.remove((chain[0], chain[1]))
        while following := [pair for pair in pairs if pair[0] == chain[-1]]:
            pairs.remove(following[0])
            chain.append(following[0][1])
        chains.append(" < ".join(names[same] for same in chain))
    return ", ".join([*chains, *(name for same, name in names.items() if "=" in name and same not in ends)])


def known_orders(automaton: Automaton, witness: Witness) -> list[str]:
    """What the comparisons have forced among the stored samples, after each step of the run."""
    return [order_text(order, automaton.variables) for order in orders_along(automaton, witness.run)]


MARKS = {
    "L": "a sample that can be repeated lies below it",
    "G": "a sample that can be repeated lies above it",
    "U": "a number that was shown lies below it, or is it",
    "D": "a number that was shown lies above it, or is it",
}
"""The marks of a stored sample (Def. marks). ``L`` and ``G`` on one value are a leaking pair; ``U``
and ``G``, or ``L`` and ``D``, a violating path."""
MEET = {"PAIR": "L and G", "OUTPUT_BELOW": "U and G", "OUTPUT_ABOVE": "L and D"}
"""The marks that no value may carry both of, by chain."""


def known_marks(automaton: Automaton, witness: Witness) -> list[str]:
    """The marks of the stored samples after each step, as ``x: L G``, and where two of them meet."""
    told = []
    for carried, met in marks_along(automaton, witness):
        marks = (f"{variable}: {' '.join(letters)}" for variable, letters in carried.items())
        told.append("; ".join([*marks, *(f"{MEET[chain.name]} meet" for chain in met)]))
    return told


# ------------------------------------------------------------------------------------------------------ noise


def noise(
    automaton: Automaton, names: Iterable[str] | None = None, longest: int = LONGEST_NOISE_TABLE
) -> list[Block]:
    """How the samples of all states, or of those with the given names, are drawn: a line for states whose
    draws are alike, with the parameter and the noise that it means; nothing if there are none."""
    alike: dict[tuple[str, str], list[str]] = {}
    for state, d, mean, second in draws(automaton, names):
        name, shown = ("d'", " (insampleprime)") if second else ("d", "")
        centre = str(mean)
        if state.is_input:
            centre = "the input" + (f" {'+' if mean > 0 else '-'} {abs(mean)}" if mean else "")
        words = f"Laplace noise of scale {noise_scale(d)} around {centre}{shown}"
        alike.setdefault((f"{name} = {d}", words), []).append(state.name)
    rows = [[_few(states), *told] for told, states in alike.items()]
    more = len(rows) - longest
    table: list[Block] = [Table(rows[:longest])] if rows else []
    return [*table, f"and {more} more"] if more > 0 else table


def _few(names: Sequence[str]) -> str:
    """Names, of many the first ones and how many there are besides."""
    if len(names) <= MOST_NAMES:
        return enumeration(names)
    return f"{', '.join(names[: MOST_NAMES - 1])} and {len(names) - MOST_NAMES + 1} more"
