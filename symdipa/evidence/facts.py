"""Facts about a witness as values, for reports and hints. Steps of a run are named by position, from 0."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from symdipa.model.automaton import Automaton, Noise, Output, OutputKind, State, Transition
from symdipa.model.parts import SAMPLE, SECOND_SAMPLE, ZERO, Form
from symdipa.model.patterns import Pattern
from symdipa.model.spelling import enumeration
from symdipa.model.verdict import Witness
from symdipa.runs.order import OrderState, initial, propagate, update

if TYPE_CHECKING:
    from symdipa.runs.control.chains import Chain

# The control graph is imported where it is used: it loads a library that reports without a run do not need.


def steps_of(automaton: Automaton, witness: Witness, cycle: tuple[int, int]) -> list[tuple[int, Transition]]:
    """The steps of a cycle: positions in the run with their transitions."""
    return [(k, automaton.transitions[witness.run[k]]) for k in range(*cycle)]


# ------------------------------------------------------------------------------------ what things are called


class Steps:
    """What the steps of a run are called: ``step 3``, or ``line 14, second time round`` where the automaton
    was made from a program."""

    def __init__(self, automaton: Automaton, run: Sequence[int]) -> None:
        origin, moves = automaton.origin, [automaton.transitions[t] for t in run]
        self.passed = [origin.lines(move) if origin is not None else () for move in moves]
        """The lines that each step passes."""
        self.rounds: list[int] = []
        """For each step how many steps until then begin in its line."""
        self.times: Counter[int] = Counter()
        for lines in self.passed:
            self.times.update(lines[:1])
            self.rounds.append(self.times[lines[0]] if lines else 0)

    def one(self, k: int) -> str:
        """A step."""
        if not self.passed[k]:
            return f"step {k + 1}"
        return f"line {self.passed[k][0]}" + (f", {self._round(k)} time round" if self._repeats(k) else "")

    def subject(self, k: int) -> str:
        """A step that something is said about, right behind it."""
        return f"{self.one(k)}," if self._repeats(k) else self.one(k)

    def several(self, steps: Sequence[int]) -> str:
        """Steps: ``steps 3 to 5``, ``lines 14 and 20``; of lines passed more often, with the round."""
        if len(steps) == 1:
            return self.one(steps[0])
        if not all(self.passed[k] for k in steps):
            return in_numbers("step", [k + 1 for k in steps])
        begun = Counter(self.passed[k][0] for k in steps)
        if all(begun[line] == self.times[line] for line in begun):
            return in_numbers("line", sorted(begun))
        told = []
        for line in sorted(begun):
            rounds = enumeration(self._round(k) for k in steps if self.passed[k][0] == line)
            told.append(f"line {line}" + (f" ({rounds} time round)" if self.times[line] > 1 else ""))
        return enumeration(told)

    def lines(self, steps: Iterable[int]) -> str:
        """All lines that some steps of a program pass."""
        return in_numbers("line", sorted({line for k in steps for line in self.passed[k]}))

    def _repeats(self, k: int) -> bool:
        return bool(self.passed[k]) and self.times[self.passed[k][0]] > 1

    def _round(self, k: int) -> str:
        return ordinal(self.rounds[k])


def in_numbers(what: str, numbers: Sequence[int]) -> str:
    """``step 3``, ``steps 3 to 5``, ``lines 3 and 7``."""
    if len(numbers) == 1:
        return f"{what} {numbers[0]}"
    if len(numbers) > 2 and list(numbers) == list(range(numbers[0], numbers[-1] + 1)):
        return f"{what}s {numbers[0]} to {numbers[-1]}"
    return f"{what}s {enumeration(map(str, numbers))}"


def step_lines(automaton: Automaton, move: Transition) -> str:
    """The lines of a program that a step passes: ``lines 15 and 16``; nothing where none is known."""
    lines = automaton.origin.lines(move) if automaton.origin is not None else ()
    return in_numbers("line", sorted(set(lines))) if lines else ""


def ordinal(number: int) -> str:
    """``first``, ``second``, ..., ``11th``."""
    words = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
    if number <= len(words):
        return words[number - 1]
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def places(automaton: Automaton, states: Iterable[str], second: bool = False) -> list[str]:
    """What states are called, or where their ``second`` samples are drawn: by their names, or by lines of the
    program (each once)."""
    return list(dict.fromkeys(automaton.place(state, second) for state in states))


def compared_words(automaton: Automaton, text: str) -> str:
    """A comparison in words: programs have no ``insample``, but a sample all the same."""
    if automaton.origin is None:
        return text
    return re.sub(rf"\b{SECOND_SAMPLE}\b", "second sample", re.sub(rf"\b{SAMPLE}\b", "sample", text))


def output_words(automaton: Automaton, output: Output) -> str:
    """An output as the program has it; nothing for a step of a program in which nobody sees anything."""
    if automaton.origin is None:
        return str(output)
    told = automaton.origin.outputs
    return ", ".join(
        compared_words(automaton, str(part)) if part.symbol is None else told.get(part.symbol, part.symbol)
        for part in output.parts
    )


# ----------------------------------------------------------------------------------------------- comparisons


@dataclass(frozen=True)
class Link:
    """The comparison behind an edge of the dependency graph: step ``later`` compares its sample (``sign`` is
    ``"<"`` or ``">="``) with ``variable``, which holds the sample of step ``earlier``."""

    earlier: int
    later: int
    variable: str
    sign: str

    @property
    def low(self) -> int:
        """The step whose sample is the lower one."""
        return self.later if self.sign == "<" else self.earlier

    @property
    def high(self) -> int:
        return self.earlier if self.sign == "<" else self.later


def link(automaton: Automaton, run: Sequence[int], low: int, high: int) -> Link:
    """The comparison that forces the sample at ``low`` below the one at ``high`` (Def. dependency graph)."""
    later, earlier = max(low, high), min(low, high)
    guard = automaton.transitions[run[later]].guard
    compared, sign = (guard.lt, "<") if later == low else (guard.ge, ">=")
    for x in sorted(compared & automaton.transitions[run[earlier]].assign):
        if all(x not in automaton.transitions[i].assign for i in run[earlier + 1 : later]):
            return Link(earlier, later, x, sign)
    raise AssertionError(f"no comparison puts position {low} below position {high}")


def path_links(automaton: Automaton, witness: Witness) -> list[Link]:
    """The comparisons along the dependency path, from its lowest sample to its highest."""
    return [link(automaton, witness.run, low, high) for low, high in pairwise(witness.path)]


def conflicts(automaton: Automaton, witness: Witness) -> frozenset[str]:
    """The variables that the cycle of a leaking cycle both stores and compares with."""
    inside = [t for _, t in steps_of(automaton, witness, witness.cycles[-1])]
    return frozenset(x for t in inside for x in t.assign) & {x for t in inside for x in t.guard.used}


class Lookback(NamedTuple):
    """Step ``step`` of a leaking cycle compares with ``variable``: stored by step ``first`` in the first
    round, by step ``later`` in later ones (in the round before unless ``later < step``)."""

    step: int
    variable: str
    first: int
    later: int


def lookbacks(automaton: Automaton, witness: Witness) -> Iterator[Lookback]:
    """The comparisons of a leaking cycle with what it stores itself."""
    start, end = witness.cycles[-1]
    both = conflicts(automaton, witness)
    for k, t in steps_of(automaton, witness, (start, end)):
        for x in sorted(t.guard.used & both):
            stores = [j for j in range(end) if x in automaton.transitions[witness.run[j]].assign]
            first = max(j for j in stores if j < k)
            yield Lookback(k, x, first, max((j for j in stores if start <= j < k), default=stores[-1]))


# ---------------------------------------------------------------------------------------------------- outputs


class PathEnds(NamedTuple):
    """The ends of a violating path: step ``shown`` outputs its sample, step ``repeated`` is in the loop,
    whose samples lie ``below`` the shown one, or above it."""

    shown: int
    repeated: int
    below: bool


def path_ends(automaton: Automaton, witness: Witness) -> PathEnds:
    """Which end of a violating path is shown, and on which side of it the loop lies."""
    start, end = witness.cycles[-1]
    first, last = witness.path[0], witness.path[-1]
    shows_last = automaton.transitions[witness.run[last]].output.kind is OutputKind.INSAMPLE
    below = first == last or (start <= first < end and shows_last)
    return PathEnds(last, first, True) if below else PathEnds(first, last, False)


def shown_in_loop(automaton: Automaton, witness: Witness) -> list[int]:
    """The steps of a disclosing cycle that show a number made from inputs that may differ."""
    steps = steps_of(automaton, witness, witness.cycles[-1])
    equal = {
        k
        for k, compared in enumerate(compared_along(automaton, witness.run, witness.letters))
        if compared.mean == ZERO
    }
    states = {k: automaton.state(t.source) for k, t in steps}
    made = [k for k, state in states.items() if (state.is_input or state.registers) and k not in equal]
    return [k for k, t in steps if k in made and t.output.is_real]


class Clash(NamedTuple):
    """A state whose branches have outputs in common: which symbols, and whether numbers."""

    state: str
    outputs: tuple[str, ...]
    numbers: bool


def output_clashes(automaton: Automaton) -> Iterator[Clash]:
    """The states that are not output-distinct, and why (Def. output-distinct)."""
    for state, outgoing in zip(automaton.states, automaton.outgoing, strict=True):
        outputs = [automaton.transitions[i].output for i in outgoing]
        symbols = Counter(str(output) for output in outputs if not output.is_real)
        repeated = tuple(name for name, count in symbols.items() if count > 1)
        numbers = sum(output.is_real for output in outputs) > 1
        if repeated or numbers:
            yield Clash(state.name, repeated, numbers)


class Draw(NamedTuple):
    """A sample that a state draws, with inverse scale (``None``: no noise); the ``second`` is
    ``insampleprime``."""

    state: State
    d: Fraction | None
    second: bool
    noise: Noise = Noise.LAPLACE


def draws(automaton: Automaton, names: Iterable[str] | None = None) -> Iterator[Draw]:
    """The samples drawn with noise, in all states that have transitions or in those with the given names."""
    wanted = set(automaton.index if names is None else names)
    for state, outgoing in zip(automaton.states, automaton.outgoing, strict=True):
        if outgoing and state.name in wanted:
            if state.draws and (state.d or state.noise is Noise.NONE):
                yield Draw(state, state.d, False, state.noise)
            shows = any(automaton.transitions[t].output.shows_second for t in outgoing)
            if shows and (state.d_prime or state.noise_prime is Noise.NONE):
                yield Draw(state, state.d_prime, True, state.noise_prime)


# -------------------------------------------------------------------------------------------- along the run


class Compared(NamedTuple):
    """What a step does in two adjacent inputs: the ``letter`` of the entry that it reads, by how much the
    means of its samples differ (``None``: it draws none, or the letter leaves it open), and by how much
    ``registers`` do after it, as far as that is known."""

    letter: str
    mean: Form | None
    registers: Mapping[str, Form]


def compared_along(automaton: Automaton, run: Sequence[int], letters: Sequence[str]) -> Iterator[Compared]:
    """What each step does in two adjacent inputs, by the letters of its entries (none if there are none)."""
    held: Mapping[str, Form] = {}
    for t, letter in zip(run, letters, strict=bool(letters)):
        move = automaton.transitions[t]
        state = automaton.state(move.source)
        entry = entry_difference(letter)
        terms = [(held.get(register), factor) for register, factor in state.registers]
        mean = _sum([*terms, *([(entry, Fraction(1))] if state.is_input else [])]) if state.draws else None
        after = dict(held)
        for change in move.updates:
            source = ZERO if change.source is None else held.get(change.source)
            form = _sum([(source, Fraction(1)), *([(entry, Fraction(1))] if change.adds_input else [])])
            after.pop(change.register, None)
            if form is not None:
                after[change.register] = form
        held = after
        yield Compared(letter, mean, held)


def entry_difference(letter: str) -> Form | None:
    """The difference of an entry with this letter (0 if none is read), where the letter says it."""
    from symdipa.runs.control.unfolding import ENTRY

    return ENTRY.get(letter) if letter else ZERO


def _sum(terms: Iterable[tuple[Form | None, Fraction]]) -> Form | None:
    """The sum of forms with factors, ``None`` if one is not known."""
    found = ZERO
    for form, factor in terms:
        if form is None:
            return None
        found = found.plus(form, factor)
    return found


def orders_along(automaton: Automaton, run: Sequence[int]) -> Iterator[OrderState]:
    """What the comparisons have forced among the stored samples, after each step of a feasible run."""
    from symdipa.runs.control import control_graph

    control = control_graph(automaton)
    order = initial(len(automaton.variables))
    for t in run:
        following = update(order, control.steps[t])
        if following is None:
            raise AssertionError("the run of a witness is not feasible")
        order = following
        yield order


def marks_along(automaton: Automaton, witness: Witness) -> Iterator[tuple[dict[str, str], list[Chain]]]:
    """After each step, the marks of the stored samples by variable, and the chains that became complete.

    ``L`` and ``G``: a repeatable sample lies below it, above it. ``U`` and ``D``: a number that was shown
    lies below it, above it (or is it). See Def. marks. The repeatable samples are those in the
    non-leaking cycles of the witness.
    """
    from symdipa.runs.control import control_graph
    from symdipa.runs.control.chains import PLAIN, Chain
    from symdipa.runs.marks import Marks, advance

    control = control_graph(automaton)
    cycles = () if witness.pattern is Pattern.LEAKING_CYCLE else witness.cycles
    order = initial(len(automaton.variables))
    marks = dict.fromkeys(PLAIN, Marks())
    for k, t in enumerate(witness.run):
        step, sampling = control.steps[t], control.sampling[t]
        repeats = any(i <= k < j for i, j in cycles)
        before = marks
        marks = {
            chain: advance(order, found, step, chain.roles(sampling), repeats=repeats, keep=-1)
            for chain, found in marks.items()
        }
        order = propagate(order, step)
        pair, below, above = marks[Chain.PAIR], marks[Chain.OUTPUT_BELOW], marks[Chain.OUTPUT_ABOVE]
        masks = {"L": pair.up, "G": pair.down, "U": below.up, "D": above.down}
        carried = {
            name: letters
            for x, name in enumerate(automaton.variables)
            if (letters := "".join(letter for letter, mask in masks.items() if mask >> x & 1))
        }
        yield carried, [chain for chain in PLAIN if marks[chain].hit and not before[chain].hit]
