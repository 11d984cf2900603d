"""Releases: mechanisms that read a fixed number of values and end."""

from __future__ import annotations

from symdipa.files.families.drafts import Branch
from symdipa.files.templates.base import Settings, Sheet
from symdipa.model.automaton import INSAMPLE


def noisy_max(settings: Settings, candidates: int) -> Sheet:
    """Report Noisy Max: ``D = 2 * d``, however many candidates; under monotone adjacency ``d``."""
    d = settings.inverse_scale(settings.total, settings.swing)
    sheet = Sheet(
        settings,
        f"Report Noisy Max: reads the scores of {candidates} candidates, adds noise to each, and says whose "
        "noisy score is the largest. The state remembers who is the best so far, a variable the score.",
    )
    cost = settings.cost(d, settings.swing)
    way = "the others may rise by 1" if settings.monotone else "it may fall by 1 while the others rise by 1"
    sheet.cost(settings.total, f"the score of the winner, {cost}: {way}, and its noise makes up for that")
    sheet.say("All other scores are free, however many: nothing is said of them but that they are smaller.")
    sheet.read("score1", d, Branch("read", "score2", store="best"), remark="The first candidate.")
    for new in range(2, candidates + 1):
        last = new == candidates
        for best in range(1, new):
            worse, better = (
                Branch(f"candidate{who}" if last else "read", "done" if last else _score(new + 1, who),
                       **comparison, store="best" if who == new and not last else "")
                for who, comparison in ((best, {"lt": "best"}), (new, {"ge": "best"}))
            )  # fmt: skip
            remark = f"Candidate {new}, while candidate {best} is the best so far."
            sheet.read(_score(new, best), d, worse, better, remark=remark)
    return sheet


def _score(new: int, best: int) -> str:
    """The state that reads the score of a candidate while another one is the best."""
    return f"score{new}" if new == 2 else f"score{new}_best{best}"


def histogram(settings: Settings, bins: int) -> Sheet:
    """Histogram: ``D = bins * d``, since every count may change."""
    d = settings.inverse_scale(settings.total, bins)
    sheet = Sheet(settings, f"Histogram: reads {bins} counts and shows each with noise.")
    sheet.cost(settings.total, f"{bins} numbers shown, each {settings.cost(d)}")
    sheet.say(
        "That is for inputs that differ in every count. Where they differ in one only, as when somebody "
        f"joins whom one bin counts, the loss is {settings.total / bins}."
    )
    for i in range(1, bins + 1):
        after = f"bin{i + 1}" if i < bins else "done"
        sheet.read(f"bin{i}", d, Branch(INSAMPLE, after), remark=f"Count {i}.")
    return sheet
