"""Which variables matter where: by a backward analysis of the flow chart.

A variable matters where its value can decide what is shown or whether the run goes on. What is assigned
without mattering is not computed at all (``count = count + 1`` that nobody reads would otherwise tell states
apart for ever), and so is an ``if`` both of whose branches do nothing that matters.
"""

from __future__ import annotations

from dataclasses import dataclass

from symdipa.programs.c.chart import (
    Assign,
    Binary,
    Chart,
    Entry,
    Expression,
    Instruction,
    Name,
    Number,
    Show,
    Test,
    names,
    successors,
    within,
)


@dataclass(frozen=True)
class Liveness:
    """For each instruction the variables that matter before it, whether it does anything that matters, and
    whether it or a later one ``shows`` something: what comes after the last output is not run."""

    before: tuple[frozenset[str], ...]
    needed: tuple[bool, ...]
    shows: tuple[bool, ...]

    def read(self, place: int, one: Instruction) -> Expression | None:
        """What an instruction computes, if that matters."""
        return _computed(one) if self.needed[place] else None


def _computed(one: Instruction) -> Expression | None:
    match one:
        case Test(_, condition):
            return condition
        case Assign(_, _, value) | Show(_, value):
            return value
    return None


def liveness(chart: Chart) -> Liveness:
    """What matters in a chart.

    The least solution: nothing matters until an output needs it, or a loop before one.
    """
    code = chart.instructions
    shows = _showing(chart)
    before: list[frozenset[str]] = [frozenset()] * len(code)
    needed = [
        shows[place] and (isinstance(one, Show) or (isinstance(one, Test) and one.inside is None))
        for place, one in enumerate(code)
    ]
    changed = True
    while changed:
        changed = False
        for place in filter(shows.__getitem__, reversed(range(len(code)))):
            one = code[place]
            ways = successors(one)
            after = frozenset[str]().union(*(before[way] for way in ways))
            read = _computed(one)
            if isinstance(one, Assign):
                needed[place] = one.target in after and read is not None
                after -= {one.target}
            elif isinstance(one, Test) and len(ways) > 1 and not needed[place]:
                needed[place] = _does_something(chart, one, needed)
                after = after if needed[place] else before[one.next]
            if needed[place] and read is not None:
                after |= names(read)
            if after != before[place]:
                before[place], changed = after, True
    return Liveness(tuple(before), tuple(needed), tuple(shows))


def _showing(chart: Chart) -> list[bool]:
    """From where an output can be reached."""
    code = chart.instructions
    found = [isinstance(one, Show) for one in code]
    while True:
        more = [found[place] or any(found[way] for way in successors(one)) for place, one in enumerate(code)]
        if more == found:
            return found
        found = more


def _does_something(chart: Chart, test: Test, needed: list[bool]) -> bool:
    """Whether anything in the branches of an ``if`` matters, or they lead elsewhere than behind it."""
    assert test.inside is not None
    inside = [*test.inside]
    allowed = {*inside, test.next}
    ways = [
        *successors(test),
        *(other for place in inside for other in successors(chart.instructions[place])),
    ]
    return any(needed[place] for place in inside) or not allowed.issuperset(ways)


Subscript = tuple[str, int]
"""An index: a variable plus a number; only a number where the name is empty."""


def subscripts(chart: Chart, live: Liveness) -> tuple[frozenset[Subscript], ...] | None:
    """For each instruction the indices of entries that are wanted from there on, as far as they may have been
    read; ``None`` if there are other indices than variables plus numbers.

    What is wanted farther from an index than entries are used, or by a variable that gets some other value
    than a variable plus a number, is not known: a run that finds an entry missing starts again.
    """
    code = chart.instructions
    used = [_used(live.read(place, one)) for place, one in enumerate(code)]
    known = [each for each in used if each is not None]
    if len(known) < len(used):
        return None
    steps = [ahead for each in known for _, ahead in each]
    span = range(min(steps, default=0), max(steps, default=0) + 1)
    before: list[frozenset[Subscript]] = [frozenset()] * len(code)
    changed = True
    while changed:
        changed = False
        for place in reversed(range(len(code))):
            one = code[place]
            wanted = frozenset[Subscript]().union(*(before[way] for way in successors(one)))
            if isinstance(one, Assign) and live.needed[place]:
                wanted = _before_assignment(one, wanted)
            wanted = frozenset(each for each in wanted if each[1] in span) | known[place]
            if wanted != before[place]:
                before[place], changed = wanted, True
    return tuple(before)


def _used(read: Expression | None) -> frozenset[Subscript] | None:
    """The indices of entries in an expression; ``None`` if there are others."""
    found = set()
    for part in within(read) if read is not None else ():
        if isinstance(part, Entry):
            match part.index:
                case Number(_, int(number)):
                    found.add(("", number))
                case _:
                    step = _step(part.index)
                    if step is None:
                        return None
                    found.add(step)
    return frozenset(found)


def _step(value: Expression) -> Subscript | None:
    """A variable plus a number."""
    match value:
        case Name(_, name):
            return name, 0
        case Binary(_, "+" | "-" as op, Name(_, name), Number(_, int(number))):
            return name, number if op == "+" else -number
    return None


def _before_assignment(one: Assign, wanted: frozenset[Subscript]) -> frozenset[Subscript]:
    step = _step(one.value) if one.value is not None else None
    others = frozenset(each for each in wanted if each[0] != one.target)
    if step is None:
        return others
    return others | {(step[0], ahead + step[1]) for name, ahead in wanted if name == one.target}
