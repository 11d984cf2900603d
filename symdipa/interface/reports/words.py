"""Facts in words and signs: steps (counted from 1), loops, comparisons, orders, marks and noise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, zip_longest
from typing import TypeVar

from symdipa.evidence.facts import (
    Clash,
    Compared,
    Draw,
    Link,
    Steps,
    compared_along,
    compared_words,
    draws,
    entry_difference,
    marks_along,
    orders_along,
    output_words,
    places,
)
from symdipa.interface.reports.document import Block, Table
from symdipa.model.adjacency import EITHER_WAY, TWO_SIDED, Adjacency, Interval
from symdipa.model.adjacency.differ import ALL, Differ
from symdipa.model.adjacency.letters import OTHER
from symdipa.model.automaton import Automaton, Guard, Noise, noise_scale
from symdipa.model.parts import SAMPLE, Form, Origin, Term, Transition
from symdipa.model.spelling import counted, enumeration
from symdipa.model.verdict import Witness
from symdipa.runs.order import OrderState, members

T = TypeVar("T")

LONGEST_LOOP = 6
"""A loop with more states than this is shown by its first and last ones."""
LONGEST_RUN = 40
"""A report shows no more steps of a run than about this many,"""
LONGEST_ON_PAGE = 500
"""and a page, on which one goes from step to step, no more than this."""
LONGEST_NOISE_TABLE = 24
MOST_NAMES = 6
"""The most states that a line of it names."""


def loop_text(automaton: Automaton, witness: Witness, loop: tuple[int, int]) -> str:
    """The states that a loop visits, and its steps; of a program the lines."""
    start, end = loop
    steps = Steps(automaton, witness.run)
    if automaton.origin is not None:
        rounds = end - start == 1 and len(witness.cycles) > 1
        return f"of {steps.one(start) if rounds else steps.lines(range(start, end))}"
    inside = [automaton.transitions[i] for i in witness.run[start:end]]
    names = [inside[0].source, *(t.target for t in inside)]
    if len(names) > LONGEST_LOOP:
        names[3:-1] = ["..."]
    return f"{' -> '.join(names)} ({steps.several(range(start, end))})"


def loops_at(witness: Witness, position: int) -> str:
    """``A`` and ``B`` for the two loops of a leaking pair, ``*`` for the only loop of another violation."""
    names = "AB" if len(witness.cycles) > 1 else "*"
    pairs = zip(names, witness.cycles, strict=False)
    return "".join(name for name, (start, end) in pairs if start <= position < end)


def relation_text(automaton: Automaton, run: Sequence[int], link: Link) -> str:
    """The samples that a comparison ties, in order."""
    low, high = (_moved(automaton, run[k]) for k in (link.low, link.high))
    more = str(Term("", low - high))
    return f"sample {link.low + 1} {'<' if link.sign == '<' else '<='} sample {link.high + 1}{more}"


def _moved(automaton: Automaton, t: int) -> Fraction:
    """How much more the sample of a transition is as a program has it."""
    source = automaton.transitions[t].source
    return automaton.told.state(source).mu - automaton.state(source).mu


def link_text(automaton: Automaton, run: Sequence[int], steps: Steps, link: Link) -> str:
    """The comparison that ties two samples."""
    asked = automaton.told.transitions[run[link.later]].guard.atoms
    text = next(
        str(each)
        for each in sorted(asked, key=str)
        if each.names == {SAMPLE, link.variable} and (each.bounds_sample == "above") == (link.sign == "<")
    )
    compared = compared_words(automaton, text)
    return f"{steps.subject(link.later)} asks for {compared}, stored in {steps.one(link.earlier)}"


def comparison(guard: Guard, variables: Sequence[str]) -> str:
    """A guard as people write it: ``l <= sample < u``."""
    lower = ", ".join(x for x in variables if x in guard.ge)
    upper = ", ".join(x for x in variables if x in guard.lt)
    left, right = f"{lower} <= " if lower else "", f" < {upper}" if upper else ""
    atoms = [f"{left}sample{right}"] if lower or upper else []
    atoms += (str(each).replace(SAMPLE, "sample") for each in sorted(guard.others, key=str))
    return " && ".join(atoms) or "-"


def excerpt(witness: Witness, longest: int | None = None) -> list[range]:
    """The steps of the run that are shown, in pieces without gaps: all, if they are no more than ``longest``.

    Else these are the beginning and the end, and what matters most between them: the loops and the steps of
    the dependency path (of many again the first and the last ones).
    """
    steps = range(len(witness.run))
    if longest is None or len(steps) <= longest:
        return [steps]
    loops = [range(*loop) for loop in witness.cycles]
    tied = sorted({*witness.path, *(k for loop in loops for k in loop)})
    ends = {end for loop in loops for end in (loop[0], loop[-1])}
    shown = sorted({*_ends(steps, longest // 2), *_ends(tied, longest // 2), *ends})
    pieces = [range(shown[0], shown[0] + 1)]
    for k in shown[1:]:
        if k <= pieces[-1].stop + 1:  # a single step takes no more room than the words that it is left out
            pieces[-1] = range(pieces[-1].start, k + 1)
        else:
            pieces.append(range(k, k + 1))
    return pieces


def _ends(steps: Sequence[int], count: int) -> Sequence[int]:
    """So many of the steps, half of them the first ones and half the last."""
    return steps if len(steps) <= count else [*steps[: count // 2], *steps[-(count // 2) :]]


def gaps(pieces: Sequence[range]) -> list[str]:
    """What is left out between the pieces of an excerpt, in words."""
    return [f"{counted(after.start - piece.stop, 'step')} more" for piece, after in pairwise(pieces)]


def joined_pieces(
    pieces: Sequence[range], piece: Callable[[range], list[T]], gap: Callable[[str], T]
) -> list[T]:
    """What is shown of an excerpt: of each piece and, between two of them, of what is left out."""
    shown = []
    for inside, left_out in zip_longest(pieces, gaps(pieces)):
        shown += piece(inside)
        if left_out is not None:
            shown.append(gap(left_out))
    return shown


def outputs_text(automaton: Automaton, witness: Witness, longest: int | None = None) -> str:
    """The outputs of the run; ``(...)*`` are those of a loop, which may be repeated."""
    opens = {start for start, _ in witness.cycles}
    closes = {end - 1 for _, end in witness.cycles}

    def told(piece: range) -> list[str]:
        return [
            f"{'(' if k in opens else ''}{output}{')*' if k in closes else ''}"
            for k in piece
            if (output := output_words(automaton, automaton.transitions[witness.run[k]].output))
            or k in opens | closes
        ]

    return " ".join(joined_pieces(excerpt(witness, longest), told, "[{}]".format))


def clash_text(automaton: Automaton, clash: Clash) -> str:
    """A state that is not output-distinct, and why; of a program for which values a line shows the same."""
    if automaton.origin is None:
        shared = [*clash.outputs, *(["a number"] if clash.numbers else [])]
        return f"state {clash.state}: several branches output {enumeration(shared)}"
    alike: dict[str, list[str]] = {}
    for t in automaton.outgoing[automaton.index[clash.state]]:
        move = automaton.told.transitions[t]
        if str(move.output) in clash.outputs or (clash.numbers and move.output.is_real):
            words = output_words(automaton, move.output) or "nothing"
            shown = "a number" if move.output.is_real else words
            alike.setdefault(shown, []).append(f"for {comparison(move.guard, automaton.variables)}")
    told = (f"{shown} is shown {_few(cases)}" for shown, cases in alike.items())
    return f"{automaton.place(clash.state)}: {'; '.join(told)}"


def run_columns(automaton: Automaton, witness: Witness) -> dict[str, list[str]]:
    """The steps of the run of a witness, by what a column says of them; ``-`` where there is nothing."""
    moves = [automaton.told.transitions[i] for i in witness.run]
    return {
        "step": [str(k + 1) for k in range(len(moves))],
        "loop": [loops_at(witness, k) for k in range(len(moves))],
        "from": [t.source for t in moves],
        "guard": [compared_words(automaton, t.guard.text(automaton.variables)) for t in moves],
        "if": [comparison(t.guard, automaton.variables) for t in moves],
        "output": [output_words(automaton, t.output) or "-" for t in moves],
        "stores": [
            ", ".join([*sorted(t.assign), *(f"{x} := {y}" for x, y in t.copies), *map(str, t.updates)]) or "-"
            for t in moves
        ],
        "to": [t.target for t in moves],
        **_program_columns(automaton, witness),
        **entry_columns(automaton, witness),
    }


LINE, PROGRAM = "line", "program"
"""What the columns are called that say which lines of a program a step passes, and what the first one is."""
LONGEST_CODE = 44


def _program_columns(automaton: Automaton, witness: Witness) -> dict[str, list[str]]:
    """Columns about the program that the automaton was made from, if it was made from one."""
    origin = automaton.origin
    if origin is None:
        return {}
    rows = [program_cells(origin, automaton.transitions[t]) for t in witness.run]
    return {name: list(cells) for name, cells in zip((LINE, PROGRAM), zip(*rows, strict=True), strict=True)}


def program_cells(origin: Origin, move: Transition, longest: int = LONGEST_CODE) -> list[str]:
    """The lines that a step passes, and what is written in the first of them, or its beginning."""
    lines = origin.lines(move)
    code = origin.code(lines[0]) if lines else "-"
    short = code if len(code) <= longest else f"{code[: longest - 3]}..."
    return [", ".join(map(str, lines)) or "-", short]


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
    """What the comparisons have forced among the stored samples, after each step of the run (of a plain
    automaton; else nothing is told)."""
    if not automaton.is_plain:
        return [""] * len(witness.run)
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
    """The marks of the stored samples after each step, as ``x: L G``, and where two of them meet (of a plain
    automaton; else nothing is told)."""
    told: list[str] = []
    if not automaton.is_plain:
        return [""] * len(witness.run)
    for carried, met in marks_along(automaton, witness):
        marks = (f"{variable}: {' '.join(letters)}" for variable, letters in carried.items())
        told.append("; ".join([*marks, *(f"{MEET[chain.name]} meet" for chain in met)]))
    return told


# ------------------------------------------------------------------------------------- which entries differ

ENTRY, DIFFER_THEN = "entry", "differ then"
"""What the columns are called that say which entries differ, and by how much registers do after a step."""
EQUAL_MEAN = "mean is equal"
MOST_CHANGES = 4
"""Of how many changes of registers a sentence tells."""


def compared(automaton: Automaton, witness: Witness) -> list[Compared]:
    """What each step does in two adjacent inputs; nothing where the automaton does not unfold."""
    return list(compared_along(automaton, witness.run, witness.letters)) if witness.letters else []


def entry_text(letter: str, ends: Interval = EITHER_WAY) -> str:
    """What an entry does in two adjacent inputs whose entries differ within these ends: ``equal``,
    ``differs``, ``up``, ``down``; ``-`` if none is read."""
    form = entry_difference(letter)
    if not letter or form is None:
        return "differs" if letter else "-"
    size = form.within(*ends)
    return "up" if size > 0 else "down" if size < 0 else "equal"


def mean_text(step: Compared, ends: Interval = EITHER_WAY) -> str:
    """What the mean of the samples of a step does in two adjacent inputs: ``mean differs by 1``."""
    if step.mean is None:
        return "mean differs" if step.letter == OTHER else "mean may differ"
    size = step.mean.within(*ends)
    return f"mean differs by {size}" if size else EQUAL_MEAN


def registers_text(registers: Mapping[str, Form], ends: Interval = EITHER_WAY) -> str:
    """By how much registers differ: ``s by 1, r by -1``; those that are equal are left out."""
    sizes = {register: form.within(*ends) for register, form in registers.items()}
    return ", ".join(f"{register} by {size}" for register, size in sorted(sizes.items()) if size)


def entry_columns(automaton: Automaton, witness: Witness) -> dict[str, list[str]]:
    """Columns about entries and registers, as far as there is something to tell: see :func:`run_columns`."""
    steps = compared(automaton, witness)
    if not steps:
        return {}
    columns = {ENTRY: [entry_text(step.letter) for step in steps]}
    if automaton.registers:
        columns[DIFFER_THEN] = [registers_text(step.registers) or "-" for step in steps]
    return columns


def entry_legend(automaton: Automaton, witness: Witness) -> list[str]:
    """What these columns mean."""
    legend: list[str] = []
    columns = entry_columns(automaton, witness)
    if ENTRY in columns:
        way = {"up": "larger", "down": "smaller"}
        ways = [f"{word}: {how}" for word, how in way.items() if word in columns[ENTRY]]
        in_first = f" ({', '.join(ways)} in the first one)" if ways else ""
        legend.append(f"Entry: whether the entry that is read is equal in both inputs or differs{in_first}.")
    if DIFFER_THEN in columns:
        legend.append("Differ then: by how much registers differ after the step, first input less second.")
    return legend


def which_differ(automaton: Automaton, witness: Witness) -> list[str]:
    """Which entries of the run differ, and what that does to registers, in sentences."""
    steps = compared(automaton, witness)
    if not steps:
        return []
    differ = [k for k, step in enumerate(steps) if step.letter and entry_text(step.letter) != "equal"]
    others = any(step.letter and k not in differ for k, step in enumerate(steps))
    if not differ:
        told = ["All entries are equal."]
    elif not others:
        once = len(differ) == 1 and not loops_at(witness, differ[0])
        told = [
            f"{first_upper(entries_of(automaton, witness, differ))} differs."
            if once
            else "Every entry differs."
        ]
    else:
        verb = "differs" if len(differ) == 1 else "differ"
        told = [f"{first_upper(entries_of(automaton, witness, differ))} {verb}; all others are equal."]
    changes = _changes(Steps(automaton, witness.run), steps)
    if changes:
        more = "; and so on" if len(changes) > MOST_CHANGES else ""
        told.append(f"{first_upper('; '.join(changes[:MOST_CHANGES]))}{more}.")
    return told


def entries_of(automaton: Automaton, witness: Witness, steps: Sequence[int]) -> str:
    """The entries of these steps: of those in a loop one in every round."""
    inside = [k for k in steps if loops_at(witness, k)]
    outside = [k for k in steps if k not in inside]
    parts = [(outside, ""), (inside, " in every round")]
    names = Steps(automaton, witness.run)
    told = [
        f"the {'entry' if len(some) == 1 else 'entries'} of {names.several(some)}{when}"
        for some, when in parts
        if some
    ]
    return enumeration(told)


def _changes(names: Steps, steps: Sequence[Compared]) -> list[str]:
    """After which steps registers differ by something else than before, and by what."""
    told = []
    before: dict[str, Fraction] = {}
    for k, step in enumerate(steps):
        after = {register: form.within(*EITHER_WAY) for register, form in step.registers.items()}
        alike: dict[Fraction, list[str]] = {}
        for register in sorted(after):
            if after[register] != before.get(register, 0):
                alike.setdefault(after[register], []).append(register)
        if alike:
            parts = enumeration(_differ_by(names, size) for size, names in alike.items())
            told.append(f"after {names.one(k)}, {parts}")
        before = after
    return told


def _differ_by(registers: Sequence[str], size: Fraction) -> str:
    one = len(registers) == 1
    how = f"differ{'s' if one else ''} by {size}" if size else f"{'is' if one else 'are'} equal"
    return f"{enumeration(registers)} {how}"


def first_upper(text: str) -> str:
    """The text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


# ---------------------------------------------------------------------------------------- what is assumed


REAL = "noise and comparisons in exact real numbers, not floating point"
INTEGER = "inputs, noise and comparisons in exact integers"
"""The numbers that an answer is about."""


def assumed(
    adjacency: Adjacency | None = TWO_SIDED,
    sensitivity: Fraction | int = 1,
    integer: bool | None = False,
    differ: Differ | None = ALL,
) -> str:
    """What an answer rests on, beside the automaton itself: exact numbers, and which inputs are adjacent.

    ``integer``: whether the automaton is in integers; ``None``: of several some are, and others not; likewise
    ``differ`` and ``adjacency``.
    """
    numbers = f"{REAL} (in exact integers where a file says so)" if integer is None else REAL
    numbers = INTEGER if integer else numbers
    who = "" if differ is None or differ.is_all else f"{differ.words}, "
    if adjacency is None:
        all_differ, how = "entries may differ,", "by how much is said for each"
    elif adjacency == TWO_SIDED:
        all_differ, how = "each entry may differ", f"by at most {sensitivity}, up or down"
    elif isinstance(adjacency, str):
        all_differ, how = (
            "entries may differ",
            f"by at most {sensitivity}, all of them up or all of them down",
        )
    else:
        low, high = (bound * sensitivity for bound in adjacency)
        all_differ, how = (
            "",
            f"one stream minus the other is between {low} and {high} in each entry, in either order",
        )
    apart = f"{who}{how}" if who or not all_differ else f"{all_differ} {how}"
    apart = (
        apart.replace("each entry", "entries") + "; which of them, is said for each"
        if differ is None
        else apart
    )
    return f"Assumed: {numbers}. Adjacent input streams have equally many entries, and {apart}."


# ------------------------------------------------------------------------------------------------------ noise


def noise(
    automaton: Automaton, names: Iterable[str] | None = None, longest: int = LONGEST_NOISE_TABLE
) -> list[Block]:
    """How the samples of all states, or of those with the given names, are drawn: a line for states whose
    draws are alike, with the parameter and the noise that it means; nothing if there are none."""
    alike: dict[tuple[str, str, bool], list[str]] = {}
    for draw in draws(automaton.told, names):
        apart = draw.second and automaton.origin is None
        name, shown = ("d'", " (insampleprime)") if apart else ("d", "")
        centre = draw.state.mean_text(draw.second)
        if draw.state.is_input:
            plus = f" - {centre[1:]}" if centre.startswith("-") else f" + {centre}"
            centre = "the input" + (plus if centre != "0" else "")
        parameter = "inf" if draw.d is None else f"{name} = {draw.d}"
        words = f"{_drawn(draw, automaton.integer)} {centre}{shown}"
        alike.setdefault((parameter, words, draw.second), []).append(draw.state.name)
    rows = [
        [_few(places(automaton, states, second)), parameter, words]
        for (parameter, words, second), states in alike.items()
    ]
    more = len(rows) - longest
    table: list[Block] = [Table(rows[:longest])] if rows else []
    return [*table, f"and {more} more"] if more > 0 else table


def _drawn(draw: Draw, integer: bool) -> str:
    """What noise there is; the mean follows."""
    if draw.noise is Noise.NONE or draw.d is None:
        return "no noise:"
    scale = f"of scale {noise_scale(draw.d)}"
    if draw.noise is Noise.LAPLACE:
        return f"{'discrete ' if integer else ''}Laplace noise {scale} around"
    return f"{'geometric' if integer else 'exponential'} noise {scale}, upwards from"


def _few(names: Sequence[str]) -> str:
    """Names, of many the first ones and how many there are besides."""
    if len(names) <= MOST_NAMES:
        return enumeration(names)
    return f"{', '.join(names[: MOST_NAMES - 1])} and {len(names) - MOST_NAMES + 1} more"
