"""Sparse vector mechanisms: answers about a threshold, of which only those above it cost anything."""

from __future__ import annotations

from fractions import Fraction

from symdipa.files.families.drafts import Branch
from symdipa.files.templates.base import INTEGER, Settings, Sheet, numbered, refused
from symdipa.model.automaton import INSAMPLE, INSAMPLE_PRIME, Output, difference, several, symbol
from symdipa.model.parts import SAMPLE
from symdipa.model.spelling import counted

GAP = "The gap is free: the noise of the input moves with the threshold anyway, and leaves it what it is."
PAYS_ONCE = "it moves by up to 1 and so makes up for all inputs below it at once"


def svt(settings: Settings, cutoff: int, threshold: Fraction, redraw: bool, gap: bool) -> Sheet:
    """Sparse vector: ``D = d1 + cutoff * 2 * d2``, or with ``redraw`` ``cutoff * (d1 + 2 * d2)``.

    A gap is free: an input above the threshold moves with it anyway.
    """
    first, second = settings.shares()
    draws = cutoff if redraw else 1
    d1 = settings.inverse_scale(first, draws)
    d2 = settings.inverse_scale(second, settings.swing * cutoff)
    question = "whether, and by how much, it exceeds" if gap else "whether it exceeds"
    sheet = Sheet(settings, _about("Sparse vector technique", question, cutoff, redraw))
    _cost_of_thresholds(sheet, first, draws, d1)
    many = counted(cutoff, "input")
    sheet.cost(second, f"{many} above it, each {settings.cost(d2, settings.swing)}")
    sheet.say("Inputs below it are free, however many.")
    if gap:
        sheet.say(GAP)
    _sparse(sheet, cutoff, threshold, redraw, d1, d2, _above("above", gap), None)
    return sheet


def numeric_sparse(settings: Settings, cutoff: int, threshold: Fraction, redraw: bool) -> Sheet:
    """Numeric sparse: as :func:`svt`, and ``cutoff * d'`` for numbers with fresh noise.

    Under monotone adjacency an input that moves with the threshold costs ``d'`` and one that does not ``d2``:
    if inputs rise it is ``draws * d1 + cutoff * max(d2, d')``, if they fall ``cutoff * (d2 + d')``.
    """
    a, b, c = settings.split
    whole = max(a + max(b, c), b + c) if settings.monotone else a + b + c
    first, second, third = (settings.total * share / whole for share in (a, b, c))
    draws = cutoff if redraw else 1
    d1 = settings.inverse_scale(first, draws)
    d2 = settings.inverse_scale(second, settings.swing * cutoff)
    d_prime = settings.inverse_scale(third, cutoff)
    sheet = Sheet(settings, _about("Numeric sparse vector", "how large it is if it exceeds", cutoff, redraw))
    _cost_of_thresholds(sheet, first, draws, d1)
    many = counted(cutoff, "input")
    sheet.cost(second, f"{many} above it, compared, each {settings.cost(d2, settings.swing)}")
    sheet.cost(third, f"{counted(cutoff, 'number')} shown, each {settings.cost(d_prime)}")
    if settings.monotone:
        sheet.say(
            "Not all of them at once: if inputs rise, the threshold pays, and for each input above it either "
            f"the comparison or the number ({first} + {max(second, third)}); if they fall, both, and the "
            f"threshold nothing ({second} + {third}). The larger sum is D."
        )
    sheet.say("Inputs below it are free, however many.")
    _sparse(sheet, cutoff, threshold, redraw, d1, d2, INSAMPLE_PRIME, d_prime)
    return sheet


def _above(answer: str, gap: bool) -> str | Output:
    """The answer for an input above the threshold, perhaps with the gap between the two."""
    return several(symbol(answer), difference(SAMPLE, "t")) if gap else answer


def _about(name: str, question: str, cutoff: int, redraw: bool) -> str:
    stored = "drawn anew after each input above it" if redraw else "drawn once"
    stops = counted(cutoff, "input")
    return (
        f"{name} with cutoff {cutoff}: says of each input {question} a noisy threshold, {stored}, "
        f"and stops after {stops} above it."
    )


def _cost_of_thresholds(sheet: Sheet, share: Fraction, draws: int, d: Fraction) -> None:
    which = "the threshold" if draws == 1 else f"{draws} thresholds, each"
    sheet.cost(share, f"{which} {sheet.settings.cost(d)}: {PAYS_ONCE}")


def _sparse(
    sheet: Sheet,
    cutoff: int,
    threshold: Fraction,
    redraw: bool,
    d1: Fraction,
    d2: Fraction,
    answer: str | Output,
    d_prime: Fraction | None,
) -> None:
    """One loop for each input above the threshold that may still come."""
    for i in range(1, cutoff + 1):
        here = numbered("test", (i, cutoff))
        if i == 1 or redraw:
            again = "The threshold." if i == 1 else "A new threshold."
            draw = numbered("draw", (i, cutoff if redraw else 1))
            sheet.draw(draw, d1, threshold, Branch("ready", here, store="t"), again)
        after = "done"
        if i < cutoff:
            after = numbered("draw" if redraw else "test", (i + 1, cutoff))
        below, above = Branch("below", here, lt="t"), Branch(answer, after, ge="t")
        remark = _remark(sheet.settings, d2) if i == 1 else f"The same after {i - 1} above the threshold."
        sheet.read(here, d2, below, above, remark=remark, d_prime=d_prime)


def _remark(settings: Settings, d: Fraction) -> str:
    if settings.monotone:
        against = "while the input may stay where it is"
    else:
        against = "while the input may move by 1 the other way"
    return (
        "Inputs below the threshold go round for nothing. One above it has to stay above when the "
        f"threshold moves by 1, {against}: it costs {settings.cost(d, settings.swing)}."
    )


def adaptive(settings: Settings, cutoff: int, threshold: Fraction, margin: Fraction, gap: bool) -> Sheet:
    """Adaptive sparse vector, with gaps or without: a coarse test at ``d/2``, then a fine one at ``d``.

    The budget pays ``cutoff`` fine answers, or two coarse ones for each: ``D = d1 + cutoff * 2 * d``.
    """
    first, second = settings.shares()
    units = 2 * cutoff
    d1 = settings.inverse_scale(first, 1)
    coarse = settings.inverse_scale(second, settings.swing * units)
    fine = 2 * coarse
    about = (
        "Adaptive sparse vector technique: an input far above a noisy threshold is found by a coarse test, "
        "which is cheap; only if that fails, the same input is read once more by a fine test. The budget of "
        f"{units} units pays for {cutoff} to {units} inputs above the threshold: 1 unit for a coarse answer, "
        "2 for a fine one."
    )
    sheet = Sheet(settings, about)
    _cost_of_thresholds(sheet, first, 1, d1)
    sheet.cost(
        second,
        f"{units} units of {settings.cost(coarse, settings.swing)}; a fine answer costs "
        f"{settings.cost(fine, settings.swing)}",
    )
    sheet.say("Tests that fail are free, however many.")
    if gap:
        sheet.say(GAP)
    sheet.draw("draw", d1, threshold, Branch("ready", f"coarse{units}", store="t"), "The threshold.")
    for left in range(units, 0, -1):
        here, next_, last = f"coarse{left}", f"fine{left}", left == 1
        missed = Branch("below" if last else "unclear", here if last else next_, lt="t")
        far = Branch(_above("far_above", gap), _with_units(left - 1), ge="t")
        pay = f"{counted(left, 'unit is', 'units are')} left. "
        what = f"Is the input above the threshold by about {margin}? An answer yes costs 1 unit."
        if last:
            what += " A fine answer cannot be paid any more."
        sheet.read(here, coarse, missed, far, mu=-margin, remark=pay + what)
        if not last:
            fails = Branch("below", here, lt="t")
            above = Branch(_above("above", gap), _with_units(left - 2), ge="t")
            what = "The same input again: is it above the threshold at all? An answer yes costs 2 units."
            sheet.read(next_, fine, fails, above, remark=what)
    return sheet


def _with_units(left: int) -> str:
    return f"coarse{left}" if left else "done"


def event_svt(settings: Settings, threshold: Fraction, value: bool) -> Sheet:
    """Sparse vector without cutoff: ``D = k * d`` if ``k`` entries may differ. No noise on the threshold.

    Inputs that are equal lie on both sides of a threshold, any number of them, so it could not move.
    """
    if settings.noise == INTEGER and threshold.denominator != 1:
        raise refused("threshold", f"{threshold} is no integer, as --noise integer asks for")
    entries = settings.most()
    d = settings.inverse_scale(settings.total, entries)
    shown = ", and shows those above it" if value else ""
    sheet = Sheet(
        settings,
        "Sparse vector technique without cutoff: says of each input, for ever, whether with noise it exceeds "
        f"a threshold{shown}.",
    )
    sheet.cost(settings.total, f"{counted(entries, 'input')} that may differ, each {settings.cost(d)}")
    sheet.say(
        "Inputs that are equal are free, however many. They lie on both sides of the threshold, so noise on "
        "it (as in symdipa new svt) would help nobody: it could not move."
    )
    answer = several(symbol("above"), INSAMPLE) if value else "above"
    below, above = Branch("below", "test", below=threshold), Branch(answer, "test", from_=threshold)
    sheet.read("test", d, below, above, remark="The test, again and again.")
    return sheet
