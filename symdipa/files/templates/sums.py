"""Sums: mechanisms that show sums of a stream of which few entries differ."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from symdipa.files.families.drafts import Branch
from symdipa.files.templates.base import Settings, Sheet
from symdipa.model.automaton import INSAMPLE, Update
from symdipa.model.spelling import counted

ZERO = Fraction(0)


def _begun(register: str) -> Update:
    """The sum begins with this entry."""
    return Update(register, adds_input=True)


def _added(register: str) -> Update:
    """The entry is added to the sum."""
    return Update(register, register, adds_input=True)


def partial_sum(settings: Settings, inputs: int) -> Sheet:
    """Partial sum: ``D = k * d`` if ``k`` of the entries may differ: they move the sum by ``k``."""
    moved = settings.most(inputs)
    d = settings.inverse_scale(settings.total, moved)
    sheet = Sheet(settings, f"Partial sum: reads {counted(inputs, 'input')} and shows their sum with noise.")
    sheet.cost(settings.total, f"the sum, {settings.cost(d, moved)}: it moves by as much as all that differ")
    for i in range(1, inputs + 1):
        after = f"read{i + 1}" if i < inputs else "tell"
        update = _begun("s") if i == 1 else _added("s")
        sheet.take(f"read{i}", Branch("read", after, updates=(update,)), remark=f"Input {i}.")
    sheet.draw("tell", d, ZERO, Branch(INSAMPLE, "done"), "The sum is shown.", ("s",))
    return sheet


def prefix_sums(settings: Settings) -> Sheet:
    """Prefix sums from single noisy entries: ``D = k * d`` if ``k`` entries may differ."""
    entries = settings.most()
    d = settings.inverse_scale(settings.total, entries)
    sheet = Sheet(
        settings,
        "Prefix sums: shows each input with noise, for ever. Whoever adds up what was shown so far has the "
        "sum of all inputs so far, with noise that grows like the root of their number.",
    )
    sheet.cost(settings.total, f"{counted(entries, 'input')} that may differ, each {settings.cost(d)}")
    sheet.say("A number that is added to others is not shown once more: sums of what was shown are free.")
    sheet.read("entry", d, Branch(INSAMPLE, "entry"), remark="One number for each input.")
    return sheet


def smart_sum(settings: Settings, block: int) -> Sheet:
    """Smart sum: an entry is shown itself, at ``d``, and in the sum of its block, at ``e``; the last one of
    a block in the sum only.

    If ``K`` entries may differ ``D = K * (d + e)``. Of ``W`` in a row some are the last ones of blocks.
    """
    entries = settings.most()
    alone = entries
    if settings.differ.text.startswith("window"):
        alone -= entries // block
    first, second = settings.split
    unit = settings.total / (alone * first + entries * second)
    d, e = (share * unit / settings.sensitivity for share in settings.split)
    sheet = Sheet(
        settings,
        f"Smart sum with blocks of {block}: shows each input with noise, but the last one of a block; "
        "instead of that the sum of the whole block. The sum of all inputs so far is that of the blocks "
        f"before and of less than {block} inputs, so it has less noise than one of single inputs.",
    )
    sheet.cost(alone * first * unit, f"{counted(alone, 'input')} that may differ, each {settings.cost(d)}")
    sheet.cost(entries * second * unit, f"their part in the sums of blocks, each time {settings.cost(e)}")
    if alone < entries:
        ends = counted(entries - alone, "ends a block and is", "end blocks and are")
        sheet.say(f"Of {entries} inputs in a row at least {ends} in a sum only.")
    sheet.say("The sum begins anew with each block; if it did not, an input would be in all sums after it.")
    for i in range(1, block):
        update, remark = (_begun("s"), "A block begins.") if i == 1 else (_added("s"), f"Input {i} of it.")
        after = f"entry{i + 1}" if i + 1 < block else "block"
        sheet.read(f"entry{i}", d, Branch(INSAMPLE, after, updates=(update,)), remark=remark)
    end = "The last input, and with it the sum of the block."
    sheet.read("block", e, Branch(INSAMPLE, "entry1"), remark=end, registers=("s",))
    return sheet


def tree_sums(settings: Settings, depth: int) -> Sheet:
    """Binary tree: an entry is in one number of each level, which is ``(depth + 1) * d`` if it differs."""
    leaves, entries = 2**depth, settings.most()
    d = settings.inverse_scale(settings.total, entries * (depth + 1))
    sheet = Sheet(
        settings,
        f"Binary tree over {leaves} inputs, again and again: shows each input with noise, and the sum of "
        "each two, each four, and so on, as soon as it is complete. Few of these numbers make up the sum of "
        "any stretch of inputs.",
    )
    sheet.cost(
        settings.total,
        f"{counted(entries, 'input')} that may differ, in {depth + 1} numbers each, "
        f"{settings.cost(d)} a number",
    )
    for i in range(1, leaves + 1):
        updates, complete = [], []
        for level in range(1, depth + 1):
            width = 2**level
            updates.append((_begun if i % width == 1 else _added)(f"s{level}"))
            if i % width == 0:
                complete.append((level, f"sum{i - width + 1}_{i}"))
        after = [name for _, name in complete] + [f"leaf{i % leaves + 1}"]
        branch = Branch(INSAMPLE, after[0], updates=tuple(updates))
        sheet.read(f"leaf{i}", d, branch, remark=f"Input {i}.")
        for (level, name), following in zip(complete, after[1:], strict=True):
            remark = f"The sum of inputs {i - 2**level + 1} to {i}."
            sheet.draw(name, d, ZERO, Branch(INSAMPLE, following), remark, (f"s{level}",))
    return sheet


def sliding_sums(settings: Settings, length: int) -> Sheet:
    """Sliding sums: an entry is in ``length`` sums. ``D = k * length * d`` if ``k`` entries may differ."""
    entries = settings.most()
    d = settings.inverse_scale(settings.total, entries * length)
    sheet = Sheet(
        settings,
        f"Sliding sums: after each input shows the sum of the last {length} with noise, for ever.",
    )
    sheet.cost(
        settings.total,
        f"{counted(entries, 'input')} that may differ, in {length} sums each, {settings.cost(d)} a sum",
    )
    kept = tuple(f"s{i}" for i in range(1, length))
    zero = tuple(Update(register) for register in kept)
    moved = (_begun("s1"), *(Update(new, old) for old, new in pairwise(kept)))
    sheet.tell("start", Branch("start", "sum", updates=zero), "Nothing has been read.")
    remark = f"{', '.join(kept)} {'is the input' if length == 2 else 'are the inputs'} before this one."
    sheet.read("sum", d, Branch(INSAMPLE, "sum", updates=moved), remark=remark, registers=kept)
    return sheet
