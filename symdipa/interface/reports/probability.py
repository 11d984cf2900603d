"""The probability of outputs, and how often a simulation showed them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING

from symdipa.interface.reports.document import Block, Document, Headline, Inset, Lines, Section, Table
from symdipa.interface.reports.numbers import measured, power
from symdipa.interface.reports.words import noise
from symdipa.model.automaton import Automaton
from symdipa.model.spelling import counted

if TYPE_CHECKING:
    from symdipa.evidence.probability import TotalLogProbability
    from symdipa.evidence.simulation import Frequent, Shown, Simulation

ENDED = {
    "inputs": "for want of inputs",
    "terminal": "in a state without transitions",
    "guard": "since no guard held",
    "steps": "at the limit on steps",
}
OF_PROGRAMS = {"terminal": "at the end of the program", "guard": "where no branch holds"}
"""The same in words of a program."""
UNSEEN = "-"
"""What is written for a step of a program in which nobody sees anything."""


def symbols_in_words(automaton: Automaton) -> dict[str, str]:
    """What a program shows instead of symbols of its automaton."""
    told = automaton.origin.outputs if automaton.origin is not None else {}
    return {symbol: text or UNSEEN for symbol, text in told.items()}


def output_text(asked: Shown, other: str = "(other)", told: Mapping[str, str] | None = None) -> str:
    """A symbol, or an interval as it is asked for; ``other`` for a number in none of the intervals, and for
    symbols what is ``told`` instead.

    What a list shows is joined as it is asked for, too.
    """
    if asked is None or isinstance(asked, str):
        return (told or {}).get(asked or "", asked) or other
    ends = [end for end in asked if isinstance(end, float | int)]
    if len(ends) == len(asked) == 2:
        return "..".join("" if abs(end) == inf else f"{end:g}" for end in ends)
    return ";".join(output_text(item, other, told) for item in asked)


def probability(
    name: str, automaton: Automaton, eps: Fraction, found: TotalLogProbability, alone: bool
) -> Document:
    """What was computed; ``alone``: of exactly one run, else of outputs, whatever run shows them."""
    logarithm, error = measured(found.value, found.error)
    if alone:
        whose = "of exactly this run"
    elif found.runs is None:
        whose = "of these outputs, over all runs"
    elif not found.complete:
        some = counted(found.runs, "run")
        whose = f"of these outputs, over {some} with them; there are more, which are not counted"
    elif found.runs == 0:
        whose = "no run has these outputs on these inputs (or one of them finds no input left)"
        if UNSEEN in symbols_in_words(automaton).values():
            whose += f"; {UNSEEN} stands for a step that shows nothing, which counts, too"
    else:
        over = "one run has them" if found.runs == 1 else f"over all {found.runs} runs with them"
        whose = f"of these outputs; {over}"
    at_least = "" if found.complete else "at least "
    value: list[Block] = [Lines([f"logarithm {logarithm} {error}"]), f"{whose}; computed by {found.method}"]
    section = Section([*value, *_rests_on(automaton, eps, "exact real numbers")])
    return Document([section], Headline(name, f"probability {at_least}{power(found.value)}"))


def simulation(
    name: str,
    automaton: Automaton,
    eps: Fraction,
    found: Simulation,
    rows: Sequence[Frequent],
    windows: bool,
    compare: bool,
) -> Document:
    """The most frequent outputs, with their computed probabilities if ``compare``, and how runs ended."""
    head = ["count", "began so", "share", *(["computed", "deviation"] if compare else []), "outputs"]
    told = symbols_in_words(automaton)
    table = Table([_row(row, windows, compare, told) for row in rows], head)
    more = len(found.outputs) - len(rows)
    words = ENDED if automaton.origin is None else ENDED | OF_PROGRAMS
    ends = ", ".join(f"{count} {words[why]}" for why, count in sorted(found.stopped.items()))
    others = [f"and {counted(more, 'other output sequence')}"] if more else []
    section = Section([table, *others, f"ended: {ends}", *_rests_on(automaton, eps, "floating point")])
    return Document([section], Headline(name, counted(found.samples, "execution")))


def _row(row: Frequent, windows: bool, compare: bool, told: Mapping[str, str]) -> list[str]:
    computed = ["-", "-"]
    if row.computed is not None and row.sigmas is not None:
        computed = [f"{row.computed:.6f}", f"{row.sigmas + 0.0:+.1f} sigma"]
    numbers = [str(row.count), str(row.beginning), f"{row.share:.6f}", *(computed if compare else [])]
    return [*numbers, outputs_text(row.outputs, windows, told)]


def outputs_text(outputs: Sequence[Shown], windows: bool, told: Mapping[str, str] | None = None) -> str:
    """What an execution showed; of a number outside of all ``windows``, only that it was one."""
    other = "(other)" if windows else "(number)"
    return " ".join(output_text(shown, other, told) for shown in outputs) or "(nothing)"


def _rests_on(automaton: Automaton, eps: Fraction, arithmetic: str) -> list[Block]:
    """What the numbers rest on: eps, the arithmetic, and the noise that the scales mean."""
    return [f"at eps = {eps}, in {arithmetic}, with", Inset(noise(automaton))]
