"""The families of the paper's evaluation, and the sparse vector technique: few orders of the samples."""

from __future__ import annotations

from fractions import Fraction

from symdipa.files.families.drafts import Branch, Draft
from symdipa.model.automaton import Automaton

QUARTER = Fraction(1, 4)


def m_range(m: int) -> Automaton:
    """m-Range: go round m dimensions while every input lies between two noisy thresholds of its dimension.

    Private with corollary bound 1 for every ``m``: the ``2 m`` thresholds cost ``1/(4 m)`` each and leaving
    the loop costs ``1/2``. It has ``2 m`` variables, ``3 m + 1`` states and ``5 m`` transitions. In the first
    round each dimension adds the fact that its thresholds are in order: ``4 m + 1`` augmented states.
    """
    draft = Draft()
    for place in range(2 * m):
        dimension, upper = divmod(place, 2)
        store = f"{'lr'[upper]}{dimension + 1}"
        draft.draw(f"q{place + 1}", Fraction(1, 4 * m), Branch("obot", f"q{place + 2}", store=store), upper)
    first, end = 2 * m + 1, f"q{3 * m + 1}"
    for dimension in range(m):
        low, high = f"l{dimension + 1}", f"r{dimension + 1}"
        draft.read(
            f"q{first + dimension}",
            QUARTER,
            Branch("ocontinue", f"q{first + (dimension + 1) % m}", ge=low, lt=high),
            Branch("otop", end, ge=f"{low} {high}"),
            Branch("obot", end, lt=f"{low} {high}"),
        )
    draft.end(end)
    return draft.finish(f"m-range-{m}", [f"{side}{i + 1}" for i in range(m) for side in "lr"])


def k_minmax(k: int) -> Automaton:
    """k-MinMax: keep the least and the largest of k noisy inputs, then accept inputs between the two.

    Private with corollary bound 1 for every ``k``: ``k`` inputs cost ``1/(2 k)`` each, leaving the loop costs
    ``1/2``. Not output-distinct (which of the three cases an early input falls into is not shown). It has 2
    variables, ``k + 2`` states and ``3 k + 1`` transitions, and one augmented state for each state.
    """
    scale = Fraction(1, 4 * k)
    draft = Draft()
    draft.read("q1", scale, Branch("oread", "q2", store="min max"))
    for i in range(2, k + 1):
        draft.read(
            f"q{i}",
            scale,
            Branch("oread", f"q{i + 1}", ge="min max", store="max"),
            Branch("oread", f"q{i + 1}", ge="min", lt="max"),
            Branch("oread", f"q{i + 1}", lt="min max", store="min"),
        )
    here, end = f"q{k + 1}", f"q{k + 2}"
    draft.read(
        here,
        QUARTER,
        Branch("obot", end, lt="min max"),
        Branch("otop", end, ge="min max"),
        Branch("ocontinue", here, ge="min", lt="max"),
    )
    draft.end(end)
    return draft.finish(f"k-minmax-{k}", ["min", "max"])


def svt(cutoff: int) -> Automaton:
    """Sparse vector technique: compare inputs with a noisy threshold until ``cutoff`` of them exceed it.

    Private with corollary bound 5/4 for every ``cutoff``: the threshold costs 1/4, each input above it
    ``1/cutoff``, inputs below it nothing. ``svt 1`` is the paper's SVT. It has 1 variable, ``cutoff + 2``
    states and ``2 * cutoff + 1`` transitions, and one augmented state for each state.
    """
    draft = Draft()
    draft.draw("q1", QUARTER, Branch("oinit", "q2", store="x"))
    for i in range(2, cutoff + 2):
        here = f"q{i}"
        below, above = Branch("obot", here, lt="x"), Branch("otop", f"q{i + 1}", ge="x")
        draft.read(here, Fraction(1, 2 * cutoff), below, above)
    draft.end(f"q{cutoff + 2}")
    return draft.finish(f"svt-{cutoff}")
