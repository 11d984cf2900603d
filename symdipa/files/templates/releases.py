"""Releases: mechanisms that read a fixed number of values and end."""

from __future__ import annotations

from fractions import Fraction

from symdipa.files.families.drafts import Branch
from symdipa.files.templates.base import EXPONENTIAL, INTEGER, Settings, Sheet, refused
from symdipa.model.automaton import INSAMPLE, several, symbol
from symdipa.model.automaton import value as released
from symdipa.model.spelling import counted


def noisy_max(settings: Settings, candidates: int, value: bool) -> Sheet:
    """Report Noisy Max: ``D = 2 * d``, however many candidates; under monotone adjacency ``d``.

    With the ``value`` of the largest score the noise of that one has to stay, and that of every other below
    it: ``D = candidates * d``.
    """
    if value and settings.noise == EXPONENTIAL:
        raise refused("noise", "a number with exponential noise, which is one-sided, must not be shown")
    d = settings.inverse_scale(settings.total, candidates if value else settings.swing)
    sheet = Sheet(
        settings,
        f"Report Noisy Max: reads the scores of {candidates} candidates, adds noise to each, and says whose "
        f"noisy score is the largest{', and how large it is' if value else ''}. The state remembers who is "
        "the best so far, a variable the score.",
    )
    if value:
        way = "that of the winner is shown, and no other may pass it: each can move by 1, and pays for itself"
        sheet.cost(settings.total, f"{candidates} scores, each {settings.cost(d)}: {way}")
    else:
        cost = settings.cost(d, settings.swing)
        way = (
            "the others may rise by 1" if settings.monotone else "it may fall by 1 while the others rise by 1"
        )
        sheet.cost(settings.total, f"the score of the winner, {cost}: {way}, and its noise makes up for that")
        sheet.say(
            "All other scores are free, however many: nothing is said of them but that they are smaller."
        )
    sheet.read("score1", d, Branch("read", "score2", store="best"), remark="The first candidate.")
    for new in range(2, candidates + 1):
        last = new == candidates
        for best in range(1, new):
            worse, better = (
                Branch(f"candidate{who}" if last and not value else "read", _next(new, who, last, value),
                       ge=ge, lt=lt, store="best" if who == new and (value or not last) else "")
                for who, ge, lt in ((best, "", "best"), (new, "best", ""))
            )  # fmt: skip
            remark = f"Candidate {new}, while candidate {best} is the best so far."
            sheet.read(_score(new, best), d, worse, better, remark=remark)
    for who in range(1, candidates + 1 if value else 1):
        shown = several(symbol(f"candidate{who}"), released("best"))
        remark = f"Candidate {who} has won. Nothing is read or drawn here; its score is shown."
        sheet.tell(f"tell{who}", Branch(shown, "done"), remark)
    return sheet


def _next(new: int, who: int, last: bool, value: bool) -> str:
    """Where it goes after a candidate, when ``who`` is the best."""
    if not last:
        return _score(new + 1, who)
    return f"tell{who}" if value else "done"


def _score(new: int, best: int) -> str:
    """The state that reads the score of a candidate while another one is the best."""
    return f"score{new}" if new == 2 else f"score{new}_best{best}"


def known_limit(settings: Settings, inputs: int, limit: Fraction) -> Sheet:
    """Tests against a limit that everybody knows: ``D = inputs * d``, as it cannot move."""
    if settings.noise == INTEGER and limit.denominator != 1:
        raise refused("limit", f"{limit} is no integer, as --noise integer asks for")
    d = settings.inverse_scale(settings.total, inputs)
    many = counted(inputs, "input")
    sheet = Sheet(
        settings,
        f"Known limit: reads {many}, adds noise, and says of each whether it is below {limit}, a limit that "
        "everybody knows.",
    )
    sheet.cost(
        settings.total, f"{many}, each {settings.cost(d)}: nothing but its own noise can make up for it"
    )
    sheet.say("A limit with noise of its own would pay for many inputs at once (symdipa new svt).")
    for i in range(1, inputs + 1):
        after = f"test{i + 1}" if i < inputs else "done"
        below, above = Branch("below", after, below=limit), Branch("above", after, from_=limit)
        sheet.read(f"test{i}", d, below, above, remark=f"Input {i}.")
    return sheet


def histogram(settings: Settings, bins: int) -> Sheet:
    """Histogram: ``D = k * d`` if ``k`` of the counts may change, all of them or fewer."""
    changed = settings.most(bins)
    d = settings.inverse_scale(settings.total, changed)
    sheet = Sheet(settings, f"Histogram: reads {bins} counts and shows each with noise.")
    sheet.cost(settings.total, f"{counted(changed, 'number')} shown that may change, each {settings.cost(d)}")
    if settings.differ.is_all:
        sheet.say(
            "That is for inputs that differ in every count. Where they differ in one only, as when somebody "
            f"joins whom one bin counts, the loss is {settings.total / bins} (--differ entries=1)."
        )
    for i in range(1, bins + 1):
        after = f"bin{i + 1}" if i < bins else "done"
        sheet.read(f"bin{i}", d, Branch(INSAMPLE, after), remark=f"Count {i}.")
    return sheet
