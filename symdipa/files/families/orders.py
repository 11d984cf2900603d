"""Families whose stored samples can be ordered in exponentially many ways.

All outputs of a state differ, so that a violation is a loss of privacy. A threshold costs 1/4, all inputs
that are stored (or read back) together 1/4, leaving all loops together 1/2.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from symdipa.files.families.drafts import Branch, Draft
from symdipa.model.automaton import Automaton

QUARTER = Fraction(1, 4)


def u_range(m: int) -> Automaton:
    """m dimensions with two thresholds each, read from the input in either order; then m-Range's loop.

    Private with corollary bound 1 (thresholds and loop cost 1/2 each). Each dimension is independent of the
    others: slices are small although there are ``2**m`` orders. ``2 m`` variables, ``3 m + 1`` states,
    ``7 m`` transitions, ``(m + 2) * 2**m - 1`` augmented states, ``2**m`` of them for each state of the loop.
    """
    draft = Draft()
    for j in range(1, m + 1):
        onward = f"a{j + 1}" if j < m else "c1"
        draft.read(f"a{j}", Fraction(1, 8 * m), Branch("left", f"b{j}", store=f"l{j}"))
        draft.read(
            f"b{j}",
            Fraction(1, 8 * m),
            Branch("above", onward, ge=f"l{j}", store=f"r{j}"),
            Branch("below", onward, lt=f"l{j}", store=f"r{j}"),
        )
    for j in range(1, m + 1):
        onward = f"c{j % m + 1}"
        draft.read(
            f"c{j}",
            QUARTER,
            Branch("between", onward, ge=f"l{j}", lt=f"r{j}"),
            Branch("swapped", onward, ge=f"r{j}", lt=f"l{j}"),
            Branch("above", "end", ge=f"l{j} r{j}"),
            Branch("below", "end", lt=f"l{j} r{j}"),
        )
    draft.end("end")
    return draft.finish(f"u-range-{m}")


def pivot(k: int, bad: bool = False) -> Automaton:
    """k inputs stored above or below one pivot, then k loops, each between one of them and the pivot.

    Loop ``j`` takes inputs from ``x_j`` up to the pivot ``p``. Where ``x_j`` was stored above ``p`` there are
    none. So repeated samples lie below ``p`` and never above it: private, corollary bound 1. All inputs
    share the pivot, so that slices do not help. ``k + 1`` variables, ``2 k + 2`` states, ``5 k + 1``
    transitions, ``3 * 2**k - 1`` augmented states.

    The *bad* variant, for ``k >= 2``, also takes inputs from ``p`` up to ``x_k`` in the last loop: a leaking
    pair of an earlier loop, below ``p``, and this one.
    """
    draft = Draft()
    draft.draw("q0", QUARTER, Branch("pivot", "a1", store="p"))
    for j, here, onward in _stages("a", k, "b1"):
        above = Branch("above", onward, ge="p", store=f"x{j}")
        below = Branch("below", onward, lt="p", store=f"x{j}")
        draft.read(here, Fraction(1, 8 * k), above, below)
    for j, here, onward in _stages("b", k, "end"):
        x = f"x{j}"
        branches = [Branch("in", here, ge=x, lt="p"), Branch("below", onward, lt=f"p {x}")]
        if bad and j == k:
            branches += [Branch("over", here, ge="p", lt=x), Branch("above", onward, ge=f"p {x}")]
        else:
            branches += [Branch("above", onward, ge="p")]
        draft.read(here, Fraction(1, 4 * k), *branches)
    draft.end("end")
    return draft.finish(f"pivot{'-bad' if bad else ''}-{k}")


def bracket(k: int, bad: bool = False) -> Automaton:
    """k inputs stored below, inside or above a bracket, then k loops, each from one of them to its lower end.

    Like :func:`pivot` with two thresholds ``lo < hi`` and three places for each input. Private with
    corollary bound 5/4. ``k + 2`` variables, ``2 k + 3`` states, ``7 k + 2`` transitions,
    ``2 * 3**k + 1`` augmented states.

    The *bad* variant, for ``k >= 2``, also takes inputs from ``hi`` up to ``x_k`` in the last loop: a leaking
    pair whose dependency path goes through both thresholds.
    """
    draft = Draft()
    draft.draw("q0", QUARTER, Branch("lower", "q1", store="lo"))
    draft.read("q1", Fraction(1, 8), Branch("upper", "a1", ge="lo", store="hi"))
    for j, here, onward in _stages("a", k, "b1"):
        x = f"x{j}"
        draft.read(
            here,
            Fraction(1, 8 * k),
            Branch("below", onward, lt="lo hi", store=x),
            Branch("inside", onward, ge="lo", lt="hi", store=x),
            Branch("above", onward, ge="lo hi", store=x),
        )
    for j, here, onward in _stages("b", k, "end"):
        x = f"x{j}"
        branches = [
            Branch("in", here, ge=x, lt="lo hi"),
            Branch("below", onward, lt=f"lo hi {x}"),
            Branch("inside", onward, ge="lo", lt="hi"),
        ]
        if bad and j == k:
            branches += [Branch("over", here, ge="lo hi", lt=x), Branch("above", onward, ge=f"lo hi {x}")]
        else:
            branches += [Branch("above", onward, ge="lo hi")]
        draft.read(here, Fraction(1, 4 * k), *branches)
    draft.end("end")
    return draft.finish(f"bracket{'-bad' if bad else ''}-{k}")


def running_max(k: int, bad: bool = False) -> Automaton:
    """Store k inputs and their maximum so far, then k loops, each from one of them up to the maximum.

    A new record is stored in ``m`` and in ``y_j`` at once, so that it matters which variables hold the same
    sample. Private with corollary bound 1. ``k + 1`` variables, ``2 k + 2`` states, ``5 k + 1``
    transitions, ``9 * 2**k // 4 + 1`` augmented states.

    The *bad* variant, for ``k >= 2``, forgets the upper limit in the last loop: if the last input was the
    largest, the samples of that loop are above ``m``, those of an earlier one below it. A leaking pair;
    ``5 k`` transitions and one augmented state less.
    """
    draft = Draft()
    draft.draw("q0", QUARTER, Branch("start", "a1", store="m"))
    for j, here, onward in _stages("a", k, "b1"):
        record = Branch("record", onward, ge="m", store=f"m y{j}")
        other = Branch("other", onward, lt="m", store=f"y{j}")
        draft.read(here, Fraction(1, 8 * k), record, other)
    for j, here, onward in _stages("b", k, "end"):
        y = f"y{j}"
        if bad and j == k:
            branches = [Branch("in", here, ge=y), Branch("below", onward, lt=y)]
        else:
            branches = [
                Branch("in", here, ge=y, lt="m"),
                Branch("below", onward, lt=f"m {y}"),
                Branch("above", onward, ge="m"),
            ]
        draft.read(here, Fraction(1, 4 * k), *branches)
    draft.end("end")
    return draft.finish(f"running-max{'-bad' if bad else ''}-{k}")


def parity(k: int, bad: bool = False) -> Automaton:
    """k inputs stored above or below a pivot; those above are counted modulo 2 twice, and agree.

    The control state holds the parity of the inputs above the pivot, first while they are stored, then
    less those that were read back. ``x_j`` is read back by an input between it and the pivot, on its side.
    If something were left at the end, two loops on both sides of the pivot would leak. Nothing is:
    private with corollary bound 5/4, but the reason is the parity of ``k`` bits, which no small set of
    clauses expresses. ``k + 1`` variables, ``4 k + 3`` states, ``8 k + 3`` transitions, ``3 * 2**k``
    augmented states.

    The *bad* variant does not count the last input while storing: a leaking pair if it is above the
    pivot, and one augmented state more.
    """
    draft = Draft()
    draft.draw("q0", QUARTER, Branch("pivot", "a1even", store="p"))
    for j, parities in enumerate([["even"], *[["even", "odd"]] * k][:k], 1):
        onward = f"a{j + 1}" if j < k else "b1"
        for here in parities:
            counted = here if bad and j == k else _other(here)
            draft.read(
                f"a{j}{here}",
                Fraction(1, 8 * k),
                Branch("above", onward + counted, ge="p", store=f"x{j}"),
                Branch("below", onward + here, lt="p", store=f"x{j}"),
            )
    for j in range(1, k + 1):
        onward = f"b{j + 1}" if j < k else "c"
        for here in ("even", "odd"):
            draft.read(
                f"b{j}{here}",
                Fraction(1, 8 * k),
                Branch("above", onward + _other(here), ge="p", lt=f"x{j}"),
                Branch("below", onward + here, ge=f"x{j}", lt="p"),
            )
    draft.read("ceven", QUARTER, Branch("below", "ceven", lt="p"), Branch("above", "end", ge="p"))
    draft.read("codd", QUARTER, Branch("below", "codd", lt="p"), Branch("above", "codd", ge="p"))
    draft.end("end")
    return draft.finish(f"parity{'-bad' if bad else ''}-{k}")


def _stages(letter: str, k: int, after: str) -> Iterator[tuple[int, str, str]]:
    """``(j, state, next state)`` for a row of ``k`` states."""
    for j in range(1, k + 1):
        yield j, f"{letter}{j}", f"{letter}{j + 1}" if j < k else after


def _other(parity: str) -> str:
    return "odd" if parity == "even" else "even"
