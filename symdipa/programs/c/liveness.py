"""Which variables matter where: by a backward analysis of the flow chart.

A variable matters where its value can decide what is shown or whether the run goes on. What is assigned
without mattering is not computed at all (``count = count + 1`` that nobody reads would otherwise tell states
apart for ever), and so is an ``if`` both of whose branches do nothing that matters.
"""

from __future__ import annotations

from dataclasses import dataclass

from symdipa.programs.c.chart import Assign, Chart, End, Number, Show, Test, names, successors


@dataclass(frozen=True)
class Liveness:
    """For each instruction the variables that matter before it, and whether it does anything that matters."""

    before: tuple[frozenset[str], ...]
    needed: tuple[bool, ...]


def liveness(chart: Chart) -> Liveness:
    """What matters in a chart.

    The least solution: nothing matters until an output, the end of a run or a loop needs it.
    """
    code = chart.instructions
    before: list[frozenset[str]] = [frozenset()] * len(code)
    needed = [isinstance(one, Show | End) or (isinstance(one, Test) and one.inside is None) for one in code]
    changed = True
    while changed:
        changed = False
        for place in reversed(range(len(code))):
            one = code[place]
            match one:
                case Assign(_, target, value):
                    after = before[one.next] - {target}
                    needed[place] = target in before[one.next] and value is not None
                    read = value
                case Show(_, read):
                    after = before[one.next]
                case Test(_, Number(_, known)):
                    after, read = before[one.yes if known else one.no], None
                    needed[place] = True
                case Test(_, read):
                    needed[place] = needed[place] or _does_something(chart, one, needed)
                    after = before[one.yes] | before[one.no] if needed[place] else before[one.next]
                case End():
                    after, read = frozenset(), None
            if needed[place] and read is not None:
                after |= names(read)
            if after != before[place]:
                before[place], changed = after, True
    return Liveness(tuple(before), tuple(needed))


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
