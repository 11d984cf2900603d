"""Monitors: they watch a stream by two bounds and say when it leaves them."""

from __future__ import annotations

from fractions import Fraction

from symdipa.files.families.drafts import Branch
from symdipa.files.templates.base import Settings, Sheet, numbered, refused
from symdipa.model.spelling import counted

Pair = tuple[Fraction, Fraction]


def band(settings: Settings, dimensions: int, thresholds: tuple[Pair, ...], cutoff: int) -> Sheet:
    """Range: ``D = 2 * dimensions * d1 + cutoff * 2 * d2``; under monotone adjacency half of it.

    With monotone adjacency only the upper thresholds (or only the lower ones) move.
    """
    if len(thresholds) not in (1, dimensions):
        many = counted(dimensions, "dimension")
        raise refused("thresholds", f"given {len(thresholds)} times for {many}; give it once, or for each")
    if len(thresholds) == 1:
        thresholds *= dimensions
    first, second = settings.shares()
    paying = settings.swing * dimensions
    d1 = settings.inverse_scale(first, paying)
    d2 = settings.inverse_scale(second, settings.swing * cutoff)
    each = f", of {dimensions} dimensions in turn," if dimensions > 1 else ""
    sheet = Sheet(
        settings,
        f"Range monitor: says of each input{each} whether it lies between two noisy thresholds, and stops "
        f"after {counted(cutoff, 'input')} outside.",
    )
    _cost_of_two(sheet, first, paying, d1)
    outside = counted(cutoff, "input")
    sheet.cost(second, f"{outside} outside, each {settings.cost(d2, settings.swing)}")
    sheet.say("Inputs inside are free, however many.")
    names = [(numbered("lo", (i, dimensions)), numbered("hi", (i, dimensions))) for i in _upto(dimensions)]
    draws = [f"draw_{name}" for pair in names for name in pair]
    following = [*draws[1:], _watch(1, dimensions, 1, cutoff)]
    for place, (here, after) in enumerate(zip(draws, following, strict=True)):
        dimension, upper = divmod(place, 2)
        which = f"The {'upper' if upper else 'lower'} threshold"
        of = f" of dimension {dimension + 1}" if dimensions > 1 else ""
        mean, store = thresholds[dimension][upper], names[dimension][upper]
        sheet.draw(here, d1, mean, Branch("ready", after, store=store), f"{which}{of}.")
    for copy in _upto(cutoff):
        for i in _upto(dimensions):
            low, high = names[i - 1]
            turn = i % dimensions + 1
            inside = _watch(turn, dimensions, copy, cutoff)
            outside = _watch(turn, dimensions, copy + 1, cutoff) if copy < cutoff else "done"
            remark = _watching(settings, d2) if copy == i == 1 else _same(i, dimensions, copy)
            _between(sheet, _watch(i, dimensions, copy, cutoff), d2, low, high, inside, outside, remark)
    return sheet


def _upto(n: int) -> range:
    return range(1, n + 1)


def _watch(dimension: int, dimensions: int, copy: int, copies: int) -> str:
    return numbered("watch", (dimension, dimensions), (copy, copies))


def _between(
    sheet: Sheet, here: str, d: Fraction, low: str, high: str, inside: str, outside: str, remark: str
) -> None:
    sheet.read(
        here,
        d,
        Branch("inside", inside, ge=low, lt=high),
        Branch("above", outside, ge=f"{low} {high}"),
        Branch("below", outside, lt=f"{low} {high}"),
        remark=remark,
    )


def _watching(settings: Settings, d: Fraction) -> str:
    return (
        "Inputs inside go round for nothing. One outside has to stay there when the threshold moves, "
        f"and costs {settings.cost(d, settings.swing)}."
    )


def _same(dimension: int, dimensions: int, copy: int) -> str:
    of = f" for dimension {dimension}" if dimensions > 1 else ""
    after = f" after {copy - 1} outside" if copy > 1 else ""
    return f"The same{of}{after}."


def _cost_of_two(sheet: Sheet, share: Fraction, paying: int, d: Fraction) -> None:
    cost = sheet.settings.cost(d)
    if sheet.settings.monotone:
        which = "the upper threshold" if paying == 1 else f"{paying} upper thresholds, each"
        lower = "the lower" if paying == 1 else "as many lower ones"
        text = f"{which} {cost}, if inputs rise, and {lower} if they fall"
    else:
        text = f"{paying} thresholds, each {cost}"
    sheet.cost(share, f"{text}: a threshold moves by up to 1 and so makes up for all inputs that respect it")


def hysteresis(settings: Settings, thresholds: tuple[Pair, ...], cutoff: int) -> Sheet:
    """An alarm with two thresholds: ``D = 2 * d1 + cutoff * 4 * d2``; under monotone adjacency half of it."""
    if len(thresholds) != 1:
        raise refused("thresholds", f"given {len(thresholds)} times; there is one pair")
    low, high = thresholds[0]
    first, second = settings.shares()
    d1 = settings.inverse_scale(first, settings.swing)
    d2 = settings.inverse_scale(second, settings.swing * 2 * cutoff)
    sheet = Sheet(
        settings,
        "Alarm with hysteresis: rings when an input exceeds a noisy upper threshold, and falls silent when "
        f"one is below a noisy lower threshold. It stops after {counted(cutoff, 'alarm')}.",
    )
    _cost_of_two(sheet, first, settings.swing, d1)
    changes = f"{2 * cutoff} changes between silent and ringing"
    sheet.cost(second, f"{changes}, each {settings.cost(d2, settings.swing)}")
    sheet.say("Inputs that change nothing are free, however many.")
    sheet.draw("draw_lo", d1, low, Branch("ready", "draw_hi", store="lo"), "The lower threshold.")
    start = Branch("ready", numbered("silent", (1, cutoff)), store="hi")
    sheet.draw("draw_hi", d1, high, start, "The upper threshold.")
    cost = settings.cost(d2, settings.swing)
    for i in _upto(cutoff):
        silent, ringing = numbered("silent", (i, cutoff)), numbered("ringing", (i, cutoff))
        after = numbered("silent", (i + 1, cutoff)) if i < cutoff else "done"
        again = "" if i == 1 else f"Alarm number {i}. "
        sheet.read(
            silent,
            d2,
            Branch("quiet", silent, lt="hi"),
            Branch("alarm", ringing, ge="hi"),
            remark=f"{again}Silent until an input reaches the upper threshold, which costs {cost}.",
        )
        sheet.read(
            ringing,
            d2,
            Branch("ringing", ringing, ge="lo"),
            Branch("clear", after, lt="lo"),
            remark=f"Ringing until an input is below the lower threshold, which costs {cost}.",
        )
    return sheet


def minmax(settings: Settings, inputs: int, cutoff: int) -> Sheet:
    """Least and largest of the first inputs as a band: ``D = 2*(inputs//2 + 1)*d1 + cutoff * 2 * d2``.

    The first input and the last one that is kept are shifted to the ends, which costs ``2 * d1`` each. In
    a run of records in between, shifts must not decrease, and each *pair* of neighbours whose inputs move the
    wrong way costs ``2 * d1``: ``(inputs - 2)//2`` pairs.
    """
    first, second = settings.shares()
    paying = inputs // 2 + 1
    d1 = settings.inverse_scale(first, settings.swing * paying)
    d2 = settings.inverse_scale(second, settings.swing * cutoff)
    sheet = Sheet(
        settings,
        f"Min/max monitor: keeps the least and the largest of the first {inputs} noisy inputs (and says "
        "which of them set a new mark), then says of each further input whether it lies between the two, and "
        f"stops after {counted(cutoff, 'input')} outside.",
    )
    cost = settings.cost(d1, settings.swing)
    pairs = (inputs - 2) // 2
    between = f", and {counted(pairs, 'pair')} of marks in between" if pairs else ""
    sheet.cost(first, f"{paying} times {cost}, for both ends of the band{between}")
    outside = counted(cutoff, "input")
    sheet.cost(second, f"{outside} outside, each {settings.cost(d2, settings.swing)}")
    sheet.say("Further inputs inside are free, however many.")
    sheet.read("read1", d1, Branch("first", "read2", store="min max"), remark="The first input is both ends.")
    watch = numbered("watch", (1, cutoff))
    for i in range(2, inputs + 1):
        after = f"read{i + 1}" if i < inputs else watch
        remark = "It sets a new maximum, a new minimum, or lies between." if i == 2 else f"Input {i}."
        sheet.read(
            f"read{i}",
            d1,
            Branch("new_max", after, ge="min max", store="max"),
            Branch("between", after, ge="min", lt="max"),
            Branch("new_min", after, lt="min max", store="min"),
            remark=remark,
        )
    for copy in _upto(cutoff):
        here = numbered("watch", (copy, cutoff))
        after = numbered("watch", (copy + 1, cutoff)) if copy < cutoff else "done"
        remark = _watching(settings, d2) if copy == 1 else _same(1, 1, copy)
        _between(sheet, here, d2, "min", "max", here, after, remark)
    return sheet
