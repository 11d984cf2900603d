"""A witness told in words, for somebody who designs a mechanism and does not know the theory.

Steps of a run are named from 1, as people count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from textwrap import wrap

from symdipa.automaton import Automaton, OutputKind, State, Transition
from symdipa.patterns import Pattern
from symdipa.verdict import Witness

WIDTH = 98
LONGEST_LOOP = 6
"""A loop with more states than this is shown by its first and last ones."""


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
    both = {x for _, t in inside for x in t.assign} & {x for _, t in inside for x in t.guard.used}
    lines = prose(
        f"The loop {_loop(automaton, witness, loop)} can go round for ever, and it both stores samples and "
        "compares with what it stored:"
    )
    for x in sorted(both):
        stored = _steps([k for k, t in inside if x in t.assign])
        read = _steps([k for k, t in inside if x in t.guard.used])
        lines.append(f"  {x}: stored in {stored}, compared with in {read}")
    return lines + prose(
        "So each round compares noisy values that were drawn anew, and each round costs again."
    )


def _leaking_pair(automaton: Automaton, witness: Witness) -> list[str]:
    below, above = witness.cycles[0], witness.cycles[-1]
    low, high = witness.path[0] + 1, witness.path[-1] + 1
    return [
        *prose(
            f"Loop A, {_loop(automaton, witness, below)}, and loop B, {_loop(automaton, witness, above)}, "
            "can each go round as often as one likes. The comparisons force every sample of step "
            f"{low} (in A) below every sample of step {high} (in B), by way of samples drawn only once:"
        ),
        *_chain(automaton, witness),
        *prose("So the outputs rank any number of inputs of A below any number of inputs of B."),
    ]


def _disclosing_cycle(automaton: Automaton, witness: Witness) -> list[str]:
    loop = witness.cycles[-1]
    inside = ((k, automaton.transitions[witness.run[k]]) for k in range(*loop))
    shown = [k for k, t in inside if t.output.is_real and automaton.state(t.source).is_input]
    return prose(
        f"The loop {_loop(automaton, witness, loop)} can go round for ever, and each round outputs a noisy "
        f"input ({_steps(shown)}). Each such answer costs, and there is no limit on how many there are."
    )


def _violating_path(automaton: Automaton, witness: Witness) -> list[str]:
    loop = witness.cycles[-1]
    first, last = witness.path[0], witness.path[-1]
    shows_last = automaton.transitions[witness.run[last]].output.kind is OutputKind.INSAMPLE
    below = loop[0] <= first < loop[1] and shows_last
    repeated, shown = (first + 1, last + 1) if below else (last + 1, first + 1)
    side = "below" if below else "above"
    return [
        *prose(
            f"The loop {_loop(automaton, witness, loop)} can go round as often as one likes. The comparisons "
            f"force every sample of step {repeated} {side} the sample of step {shown}, and step {shown} "
            "outputs that very sample:"
        ),
        *_chain(automaton, witness),
        *prose(
            "Whoever sees the number has a bound on any number of inputs at once. (To answer with a number, "
            "output insampleprime: it has noise of its own.)"
        ),
    ]


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
        rows.append([relation, reason_below(automaton, witness.run, low, high)])
    return columns(rows, indent=2)


def reason_below(automaton: Automaton, run: Sequence[int], low: int, high: int) -> str:
    """The comparison that forces the sample at ``low`` below the one at ``high`` (Def. dependency graph)."""
    later, earlier = max(low, high), min(low, high)
    guard = automaton.transitions[run[later]].guard
    compared, sign = (guard.lt, "<") if later == low else (guard.ge, ">=")
    for x in sorted(compared & automaton.transitions[run[earlier]].assign):
        if all(x not in automaton.transitions[i].assign for i in run[earlier + 1 : later]):
            return f"step {later + 1} asks for insample {sign} {x}, stored in step {earlier + 1}"
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
    """The states that are not output-distinct, and why (theory, section 1)."""
    for state, outgoing in zip(automaton.states, automaton.outgoing, strict=True):
        outputs = [automaton.transitions[i].output for i in outgoing]
        symbols = Counter(str(output) for output in outputs if not output.is_real)
        repeated = tuple(name for name, count in symbols.items() if count > 1)
        numbers = sum(output.is_real for output in outputs) > 1
        if repeated or numbers:
            yield Clash(state.name, repeated, numbers)


def run_table(automaton: Automaton, witness: Witness, noise: bool = False) -> list[str]:
    """The run, one step a line; with ``noise`` also how the samples of each step are drawn."""
    rows = [["step", "loop", "from", "guard", "stores", "output", "to", *(["samples"] if noise else [])]]
    for k, i in enumerate(witness.run):
        t = automaton.transitions[i]
        row = [str(k + 1), _loops_at(witness, k), t.source, t.guard.text(automaton.variables)]
        row += [", ".join(sorted(t.assign)) or "-", str(t.output), t.target]
        rows.append([*row, noise_text(automaton.state(t.source), t)] if noise else row)
    return columns(rows)


def _loops_at(witness: Witness, position: int) -> str:
    """``A`` and ``B`` for the two loops of a leaking pair, ``*`` for the only loop of another pattern."""
    names = "AB" if witness.pattern is Pattern.LEAKING_PAIR else "*"
    pairs = zip(names, witness.cycles, strict=False)
    return "".join(name for name, (start, end) in pairs if start <= position < end)


def noise_text(state: State, transition: Transition) -> str:
    """The draws of one step in words: ``Laplace, scale 4/eps, around the input + 1``."""
    parts = []
    if state.d:
        parts.append(_laplace(state.d, state.mu, state.is_input))
    if state.d_prime and transition.output.kind is OutputKind.INSAMPLE_PRIME:
        parts.append("insampleprime: " + _laplace(state.d_prime, state.mu_prime, state.is_input))
    return "; ".join(parts) or "-"


def _laplace(d: Fraction, mean: Fraction, is_input: bool) -> str:
    scale = 1 / d
    shown = f"{scale}/eps" if scale.denominator == 1 else f"{scale.numerator}/({scale.denominator}*eps)"
    around = str(mean)
    if is_input:
        around = "the input" + (f" {'+' if mean > 0 else '-'} {abs(mean)}" if mean else "")
    return f"Laplace, scale {shown}, around {around}"


def columns(rows: Sequence[Sequence[str]], indent: int = 0) -> list[str]:
    """Rows of cells as aligned lines."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ("  ".join(map(str.ljust, row, widths)) for row in rows)
    return [" " * indent + line.rstrip() for line in padded]
