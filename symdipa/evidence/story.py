"""A witness told in words, for somebody who designs a mechanism and does not know the theory.

Steps of a run are named from 1, as people count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from textwrap import wrap

from symdipa.model.automaton import Automaton, Guard, OutputKind, noise_scale
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Witness
from symdipa.runs.order import OrderState, initial, members, propagate, update

WIDTH = 98
LONGEST_LOOP = 6
"""A loop with more states than this is shown by its first and last ones."""


LONGEST_NOISE_TABLE = 24


def story(automaton: Automaton, witness: Witness) -> list[str]:
    """The violation in words: which steps repeat, and what the comparisons force on their samples."""
    tell = {
        Pattern.LEAKING_CYCLE: _leaking_cycle,
        Pattern.LEAKING_PAIR: _leaking_pair,
        Pattern.DISCLOSING_CYCLE: _disclosing_cycle,
        Pattern.PRIVACY_VIOLATING_PATH: _violating_path,
    }[witness.pattern]
    return [*tell(automaton, witness), *prose(f"Outputs of the run: {outputs_text(automaton, witness)}")]


def prose(text: str) -> list[str]:
    """A paragraph as lines."""
    return wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _leaking_cycle(automaton: Automaton, witness: Witness) -> list[str]:
    loop = witness.cycles[-1]
    inside = [(k, automaton.transitions[witness.run[k]]) for k in range(*loop)]
    both = conflicts(automaton, witness)
    lines = prose(
        f"The loop {_loop(automaton, witness, loop)} can go round for ever, and it both stores noisy values "
        "and compares with what it stored:"
    )
    for x in sorted(both):
        stored = _steps([k for k, t in inside if x in t.assign])
        read = _steps([k for k, t in inside if x in t.guard.used])
        lines.append(f"  {x}: stored in {stored}, compared with in {read}")
    return lines + prose("So each round has a comparison of its own, of noisy values that are drawn anew.")


def conflicts(automaton: Automaton, witness: Witness) -> frozenset[str]:
    """The variables that the cycle of a leaking cycle both stores and compares with."""
    inside = [automaton.transitions[i] for i in witness.run[slice(*witness.cycles[-1])]]
    stored = frozenset(x for t in inside for x in t.assign)
    return stored & frozenset(x for t in inside for x in t.guard.used)


def _leaking_pair(automaton: Automaton, witness: Witness) -> list[str]:
    below, above = witness.cycles[0], witness.cycles[-1]
    low, high = witness.path[0] + 1, witness.path[-1] + 1
    return [
        *prose(
            f"Loop A, {_loop(automaton, witness, below)}, and loop B, {_loop(automaton, witness, above)}, "
            "can each go round as often as one likes. The comparisons force every noisy value of step "
            f"{low} (in A) below every noisy value of step {high} (in B){_once(witness)}:"
        ),
        *_chain(automaton, witness),
        *prose("So any number of noisy inputs of A lie below any number of noisy inputs of B."),
    ]


def _once(witness: Witness) -> str:
    """Said of a path between two loops unless it passes through a loop itself."""
    inside = any(start <= k < end for k in witness.path[1:-1] for start, end in witness.cycles)
    return "" if inside else ", by way of values that are drawn only once"


def _disclosing_cycle(automaton: Automaton, witness: Witness) -> list[str]:
    loop = witness.cycles[-1]
    inside = ((k, automaton.transitions[witness.run[k]]) for k in range(*loop))
    shown = [k for k, t in inside if t.output.is_real and automaton.state(t.source).is_input]
    where = f", in {_steps(shown)}" if loop[1] - loop[0] > 1 else ""
    return prose(
        f"The loop {_loop(automaton, witness, loop)} can go round for ever, and each round outputs a noisy "
        f"input{where}. Nothing limits how many are shown."
    )


def shown_sample(automaton: Automaton, witness: Witness) -> int:
    """The position of a violating path that outputs the sample at an end of the path."""
    start, end = witness.cycles[-1]
    first, last = witness.path[0], witness.path[-1]
    shows_last = automaton.transitions[witness.run[last]].output.kind is OutputKind.INSAMPLE
    return last if start <= first < end and shows_last else first


def _violating_path(automaton: Automaton, witness: Witness) -> list[str]:
    shown = shown_sample(automaton, witness)
    below = shown == witness.path[-1]
    repeated = witness.path[0] if below else witness.path[-1]
    side = "below" if below else "above"
    return [
        *prose(
            f"The loop {_loop(automaton, witness, witness.cycles[-1])} can go round as often as one likes. "
            f"The comparisons force every noisy value of step {repeated + 1} {side} the noisy value of step "
            f"{shown + 1}, and step {shown + 1} outputs that very value:"
        ),
        *_chain(automaton, witness),
        *prose(f"So the number shown is a bound for any number of noisy inputs: they all lie {side} it."),
    ]


def in_short(automaton: Automaton, witness: Witness) -> list[str]:
    """The violation in one sentence, by the answers that an observer sees."""
    if witness.pattern is Pattern.DISCLOSING_CYCLE:
        return prose("In short: one run can show any number of noisy inputs.")
    if witness.pattern is Pattern.LEAKING_CYCLE:
        variables = enumeration(sorted(conflicts(automaton, witness)))
        return prose(f"In short: every round of a loop stores a new {variables} and compares with it.")
    links = [
        link(automaton, witness.run, low, high)
        for low, high in zip(witness.path, witness.path[1:], strict=False)
    ]
    way = enumeration(dict.fromkeys(step.variable for step in links))
    low, high = witness.path[0], witness.path[-1]
    if witness.pattern is Pattern.LEAKING_PAIR:
        return prose(
            f"In short: one run can give any number of answers {_output(automaton, witness, low)} and any "
            f"number of answers {_output(automaton, witness, high)}. By way of {way}, all noisy inputs "
            "behind the former lie below all noisy inputs behind the latter."
        )
    shown = shown_sample(automaton, witness)
    repeated, side = (low, "above") if shown == high else (high, "below")
    return prose(
        f"In short: one run can give any number of answers {_output(automaton, witness, repeated)}. By way "
        f"of {way}, the number that step {shown + 1} shows lies {side} all the noisy inputs behind them."
    )


def _output(automaton: Automaton, witness: Witness, k: int) -> str:
    return f"{automaton.transitions[witness.run[k]].output} (step {k + 1})"


def why_it_costs(automaton: Automaton, witness: Witness) -> list[str]:
    """Why no D is large enough, for a reader who knows what eps means but not the theory."""
    tell = {
        Pattern.LEAKING_CYCLE: _cost_of_cycle,
        Pattern.LEAKING_PAIR: _cost_of_pair,
        Pattern.DISCLOSING_CYCLE: _cost_of_numbers,
        Pattern.PRIVACY_VIOLATING_PATH: _cost_of_level,
    }[witness.pattern]
    compared = any(automaton.transitions[i].guard.used for i in witness.run)
    so = ", so they tell how every comparison came out" if compared else ""
    return prose(
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
    shown = shown_sample(automaton, witness)
    below = shown == witness.path[-1]
    repeated = (witness.path[0] if below else witness.path[-1]) + 1
    side, moved = ("below", "larger") if below else ("above", "smaller")
    return (
        f"The number of step {shown + 1} is seen, so no noise hides where it lies, and every noisy value of "
        f"step {repeated} lies {side} it. Let every input of step {repeated} be {moved} by 1: each round "
        "becomes less likely by a factor, and nothing that is stored can move to make up for it."
    )


def _loop(automaton: Automaton, witness: Witness, loop: tuple[int, int]) -> str:
    start, end = loop
    inside = [automaton.transitions[i] for i in witness.run[start:end]]
    names = [inside[0].source, *(t.target for t in inside)]
    if len(names) > LONGEST_LOOP:
        names[3:-1] = ["..."]
    return f"{' -> '.join(names)} ({_steps(range(start, end))})"


def _steps(positions: Sequence[int]) -> str:
    """Positions as numbered steps: ``step 3``, ``steps 3 to 5``, ``steps 3 and 7``."""
    numbers = [k + 1 for k in positions]
    if len(numbers) == 1:
        return f"step {numbers[0]}"
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"steps {numbers[0]} to {numbers[-1]}"
    return f"steps {enumeration(map(str, numbers))}"


def enumeration(words: Iterable[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *rest, last = words
    return f"{', '.join(rest)} and {last}" if rest else last


def _chain(automaton: Automaton, witness: Witness) -> list[str]:
    """The dependency path, one comparison a line."""
    rows = []
    for low, high in zip(witness.path, witness.path[1:], strict=False):
        relation = f"sample {low + 1} {'<' if low > high else '<='} sample {high + 1}"
        rows.append([relation, str(link(automaton, witness.run, low, high))])
    return columns(rows, indent=2)


@dataclass(frozen=True)
class Link:
    """The comparison behind an edge of the dependency graph: step ``later`` compares with ``variable``.

    ``sign`` is ``"<"`` or ``">="``; ``variable`` holds the sample of step ``earlier``.
    """

    earlier: int
    later: int
    variable: str
    sign: str

    def __str__(self) -> str:
        asks = f"step {self.later + 1} asks for insample {self.sign} {self.variable}"
        return f"{asks}, stored in step {self.earlier + 1}"


def link(automaton: Automaton, run: Sequence[int], low: int, high: int) -> Link:
    """The comparison that forces the sample at ``low`` below the one at ``high`` (Def. dependency graph)."""
    later, earlier = max(low, high), min(low, high)
    guard = automaton.transitions[run[later]].guard
    compared, sign = (guard.lt, "<") if later == low else (guard.ge, ">=")
    for x in sorted(compared & automaton.transitions[run[earlier]].assign):
        if all(x not in automaton.transitions[i].assign for i in run[earlier + 1 : later]):
            return Link(earlier, later, x, sign)
    raise AssertionError(f"no comparison puts position {low} below position {high}")


def outputs_text(automaton: Automaton, witness: Witness) -> str:
    """The outputs of the run; ``(...)*`` are those of a loop, which may be repeated."""
    opens = {start for start, _ in witness.cycles}
    closes = {end - 1 for _, end in witness.cycles}
    words = []
    for k, i in enumerate(witness.run):
        output = str(automaton.transitions[i].output)
        words.append(f"{'(' if k in opens else ''}{output}{')*' if k in closes else ''}")
    return " ".join(words)


@dataclass(frozen=True)
class Clash:
    """A state whose branches have outputs in common: which symbols, and whether numbers."""

    state: str
    outputs: tuple[str, ...]
    numbers: bool

    def __str__(self) -> str:
        shared = [*self.outputs, *(["a number"] if self.numbers else [])]
        return f"state {self.state}: several branches output {enumeration(shared)}"


def output_clashes(automaton: Automaton) -> Iterator[Clash]:
    """The states that are not output-distinct, and why (Def. output-distinct)."""
    for state, outgoing in zip(automaton.states, automaton.outgoing, strict=True):
        outputs = [automaton.transitions[i].output for i in outgoing]
        symbols = Counter(str(output) for output in outputs if not output.is_real)
        repeated = tuple(name for name, count in symbols.items() if count > 1)
        numbers = sum(output.is_real for output in outputs) > 1
        if repeated or numbers:
            yield Clash(state.name, repeated, numbers)


def run_table(automaton: Automaton, witness: Witness) -> list[str]:
    """The run, one step a line."""
    rows = [["step", "loop", "from", "guard", "stores", "output", "to"]]
    for k, i in enumerate(witness.run):
        t = automaton.transitions[i]
        row = [str(k + 1), loops_at(witness, k), t.source, t.guard.text(automaton.variables)]
        rows.append([*row, ", ".join(sorted(t.assign)) or "-", str(t.output), t.target])
    return columns(rows)


def run_with_facts(automaton: Automaton, witness: Witness) -> list[str]:
    """The run with plain comparisons, and what is known of the stored values after each step, if anything."""
    rows = [["step", "loop", "from", "if", "output", "stored in", "known order", "to"]]
    facts = facts_along(automaton, witness.run)
    for (k, i), known in zip(enumerate(witness.run), facts, strict=True):
        t = automaton.transitions[i]
        row = [str(k + 1), loops_at(witness, k), t.source, comparison(t.guard, automaton.variables)]
        rows.append([*row, str(t.output), ", ".join(sorted(t.assign)) or "-", known or "-", t.target])
    if not any(facts):
        rows = [[*row[:6], *row[7:]] for row in rows]
    return columns(rows)


def legend(automaton: Automaton, witness: Witness) -> list[str]:
    """What the columns of :func:`run_with_facts` mean, as far as they are not empty."""
    moves = [automaton.transitions[i] for i in witness.run]
    letters = "A and B" if witness.pattern is Pattern.LEAKING_PAIR else "*"
    told = [f"Loop: {letters} can be repeated."]
    if any(t.guard.used for t in moves):
        told.append("If: what the step's noisy value (sample) is compared with.")
    elif any(t.assign for t in moves):
        told.append("Stored in: where the step keeps its noisy value.")
    if any(facts_along(automaton, witness.run)):
        told.append("Known order: what the comparisons so far force on the stored values.")
    return prose(" ".join(told))


def comparison(guard: Guard, variables: Sequence[str]) -> str:
    """A guard as people write it: ``l <= sample < u``."""
    lower = ", ".join(x for x in variables if x in guard.ge)
    upper = ", ".join(x for x in variables if x in guard.lt)
    left, right = f"{lower} <= " if lower else "", f" < {upper}" if upper else ""
    return f"{left}sample{right}" if lower or upper else "-"


def facts_along(automaton: Automaton, run: Sequence[int]) -> list[str]:
    """What the comparisons have forced among the stored samples, after each step of a feasible run."""
    from symdipa.runs.control import (
        control_graph,  # it loads a library that reports without a run do not need
    )

    control = control_graph(automaton)
    order = initial(len(automaton.variables))
    told = []
    for t in run:
        following = update(order, control.steps[t])
        if following is None:
            raise AssertionError("the run of a witness is not feasible")
        order = following
        told.append(facts_text(order, automaton.variables))
    return told


MARKS = {
    "L": "a sample that can be repeated lies below it",
    "G": "a sample that can be repeated lies above it",
    "U": "a number that was shown lies below it, or is it",
    "D": "a number that was shown lies above it, or is it",
}
"""The marks of a stored sample (Def. marks). ``L`` and ``G`` on one value are a leaking pair; ``U``
and ``G``, or ``L`` and ``D``, a violating path."""


def marks_along(automaton: Automaton, witness: Witness) -> list[str]:
    """The marks of the stored samples after each step, as ``x: L G``, and where two of them meet.

    The samples that can be repeated are those in the non-leaking cycles of the witness.
    """
    from symdipa.runs.control import control_graph
    from symdipa.runs.marks import Chain, Marks, advance

    control = control_graph(automaton)
    cycles = () if witness.pattern is Pattern.LEAKING_CYCLE else witness.cycles
    order = initial(len(automaton.variables))
    marks = dict.fromkeys(Chain, Marks())
    told = []
    for k, t in enumerate(witness.run):
        step, shows = control.steps[t], control.sampling[t].shows_sample
        repeats = any(i <= k < j for i, j in cycles)
        before = marks
        marks = {
            chain: advance(order, found, step, chain, repeats=repeats, output=shows, keep=-1)
            for chain, found in marks.items()
        }
        order = propagate(order, step)
        pair, below, above = marks[Chain.PAIR], marks[Chain.OUTPUT_BELOW], marks[Chain.OUTPUT_ABOVE]
        letters = {"L": pair.up, "G": pair.down, "U": below.up, "D": above.down}
        words = []
        for x, name in enumerate(automaton.variables):
            carried = [letter for letter, mask in letters.items() if mask >> x & 1]
            words += [f"{name}: {' '.join(carried)}"] if carried else []
        meet = [MEET[chain.name] for chain in Chain if marks[chain].hit and not before[chain].hit]
        told.append("; ".join([*words, *(f"{two} meet" for two in meet)]))
    return told


MEET = {"PAIR": "L and G", "OUTPUT_BELOW": "U and G", "OUTPUT_ABOVE": "L and D"}
"""The marks that no value may carry both of, by chain."""


def facts_text(order: OrderState, variables: Sequence[str]) -> str:
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
    told = []
    while pairs:
        highs = {high for _, high in pairs}
        chain = list(next(pair for pair in pairs if pair[0] not in highs))
        pairs.remove((chain[0], chain[1]))
        while following := [pair for pair in pairs if pair[0] == chain[-1]]:
            pairs.remove(following[0])
            chain.append(following[0][1])
        told.append(" < ".join(names[same] for same in chain))
    return ", ".join([*told, *(name for same, name in names.items() if "=" in name and same not in ends)])


def dependency_text(automaton: Automaton, witness: Witness) -> list[str]:
    """What forces the samples into order: the dependency path, or how a leaking cycle repeats."""
    if witness.pattern is Pattern.LEAKING_CYCLE:
        return _lasso(automaton, witness)
    if not witness.path:
        return []
    names = [_position(witness, witness.path[0])]
    for low, high in zip(witness.path, witness.path[1:], strict=False):
        edge = link(automaton, witness.run, low, high)
        names.append(f"-[{edge.variable}]-> {_position(witness, high)}")
    return [
        *prose("From the lowest value to the highest; -[x]-> is a comparison by way of the variable x:"),
        *(f"  {line}" for line in prose(" ".join(names))),
    ]


def _position(witness: Witness, k: int) -> str:
    loop = loops_at(witness, k)
    where = {"": "", "*": " (loop)"}.get(loop, f" (loop {loop})")
    return f"step {k + 1}{where}"


def _lasso(automaton: Automaton, witness: Witness) -> list[str]:
    """Where the comparisons of the loop look, and why it can be repeated: the order state returns."""
    from symdipa.runs.control import control_graph
    from symdipa.runs.witness import orders_by_round

    (start, end), run = witness.cycles[-1], witness.run
    inside = [(k, automaton.transitions[run[k]]) for k in range(start, end)]
    lines = []
    for k, t in inside:
        for x in sorted(t.guard.used & conflicts(automaton, witness)):
            stores = [j for j in range(end) if x in automaton.transitions[run[j]].assign]
            first = max(j for j in stores if j < k)
            later = max((j for j in stores if start <= j < k), default=stores[-1])
            told = f"Step {k + 1} compares with {x}, stored in step {first + 1}"
            if later > k:
                told += f" the first time, in later rounds in step {later + 1} of the round before"
            elif later == k:
                told += " the first time, in later rounds in the same step of the round before"
            lines += prose(told + ".")
    orders, place = orders_by_round(control_graph(automaton), witness)
    same = place + 1
    known = [facts_text(order, automaton.variables) or "nothing" for order in orders]
    if len(set(known)) == 1:
        order = "no order" if known[0] == "nothing" else f"the same order ({known[0]})"
        return [
            *lines,
            *prose(
                f"Before every round the comparisons so far force {order} on the stored values. So they "
                "never keep the loop from going round once more."
            ),
        ]
    rounds = [f"before round {n}: {facts}" for n, facts in enumerate(known, 1)]
    again = f"before round {len(orders) + 1}: the same as before round {same}, and so on for ever"
    told = "; ".join([*rounds, again])
    return [*lines, *prose(f"What the comparisons so far force on the stored values: {told}.")]


def loops_at(witness: Witness, position: int) -> str:
    """``A`` and ``B`` for the two loops of a leaking pair, ``*`` for the only loop of another pattern."""
    names = "AB" if witness.pattern is Pattern.LEAKING_PAIR else "*"
    pairs = zip(names, witness.cycles, strict=False)
    return "".join(name for name, (start, end) in pairs if start <= position < end)


def noise_table(automaton: Automaton, names: Iterable[str] | None = None) -> list[str]:
    """How the samples of states are drawn, one draw a line: the parameter and the noise that it means.

    All states that draw anything, or those with the given names.
    """
    wanted = None if names is None else set(names)
    rows = []
    for state, outgoing in zip(automaton.states, automaton.outgoing, strict=True):
        if outgoing and (wanted is None or state.name in wanted):
            shows = any(automaton.transitions[t].output.kind is OutputKind.INSAMPLE_PRIME for t in outgoing)
            if state.d:
                rows.append([state.name, f"d = {state.d}", _laplace(state.d, state.mu, state.is_input)])
            if shows and state.d_prime:
                noise = _laplace(state.d_prime, state.mu_prime, state.is_input)
                rows.append([state.name, f"d' = {state.d_prime}", f"{noise} (insampleprime)"])
    if len(rows) > LONGEST_NOISE_TABLE:
        more = f"and {len(rows) - LONGEST_NOISE_TABLE} more"
        return [*columns(rows[:LONGEST_NOISE_TABLE]), more]
    return columns(rows) if rows else []


def _laplace(d: Fraction, mean: Fraction, is_input: bool) -> str:
    around = str(mean)
    if is_input:
        around = "the input" + (f" {'+' if mean > 0 else '-'} {abs(mean)}" if mean else "")
    return f"Laplace noise of scale {noise_scale(d)} around {around}"


def columns(rows: Sequence[Sequence[str]], indent: int = 0) -> list[str]:
    """Rows of cells as aligned lines."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ("  ".join(map(str.ljust, row, widths)) for row in rows)
    return [" " * indent + line.rstrip() for line in padded]
