"""Lifts: nodes of a covering graph split by what the rest of the run will do with the live values.

Prophecies about each live value, as bits (equal variables have equal bits):

* ``U``: whether it will be read;
* ``C``: whether it will be read as a lower bound, and whether as an upper bound, on an edge inside a
  component of the covering graph (*in a loop*);
* ``K``: the same on other edges;
* ``M``: whether it will be compared with a sample whose mean is known to rise, and whether with one whose
  mean falls (so an entry that is read only later can be foreseen);
* ``L``, ``G`` (together, on the augmentation): whether at the end of the run a repeatable sample will lie
  below it, and whether above it.

``S`` is no prophecy of its own: parts (:mod:`symdipa.bounds.alignment.parts`) share the others.

An edge and the bits at its target determine the bits at its source, and where a run ends the bits are known.
So every run has exactly one lift, found backward, and each lift of the target of a base edge has an incoming
edge from a lift of its source: that is why the lifted graph covers all runs, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_

from symdipa.bounds.alignment.graphs import Cover
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.control import Control
from symdipa.runs.graphs import component_numbers, explore
from symdipa.runs.order import Mask, at_or_above, at_or_below, bounds

Bits = tuple[Mask, ...]
"""One set of variables for each bit, in the order of ``LiftedCover.letters`` (``C``, ``K``, ``M``: two)."""

LETTERS = "UCKMLGS"
BITS = {"U": "U", "C": "Cc", "K": "Kk", "M": "Mm", "L": "L", "G": "G"}
"""A capital ``C`` or ``K`` is about lower bounds, the small letter about upper bounds; ``M`` is about rising
means, ``m`` about falling ones."""


@dataclass(frozen=True, eq=False)
class LiftedCover:
    """A lifted graph. Node ``v`` is base node ``base[v]`` with prophecies ``bits[v]``.

    ``tracked[v]`` are the variables that need a shift in ``v``: live and not foretold to stay unread. Edge
    ``e`` lies over base edge ``edge[e]``. ``ends[v]`` says whether a run may end in ``v``.
    """

    cover: Cover
    letters: str
    base: tuple[int, ...]
    bits: tuple[Bits, ...]
    tracked: tuple[Mask, ...]
    source: tuple[int, ...]
    target: tuple[int, ...]
    edge: tuple[int, ...]
    ends: tuple[bool, ...]

    @property
    def control(self) -> Control:
        return self.cover.control

    @property
    def nodes(self) -> int:
        return len(self.base)

    @cached_property
    def initial(self) -> int:
        """The one node over the initial base node (nothing is live there, and nothing to foretell)."""
        (node,) = (v for v, b in enumerate(self.base) if b == 0)
        return node

    @cached_property
    def transition(self) -> tuple[int, ...]:
        return tuple(self.cover.transition[e] for e in self.edge)

    @cached_property
    def component(self) -> tuple[int, ...]:
        """Strongly connected components, numbered from the ends: edges lead to equal or smaller numbers."""
        return component_numbers(self.nodes, list(zip(self.source, self.target, strict=True)))


def canonical(letters: str) -> str:
    """The prophecies in a fixed order, without what follows from others and with what others need."""
    chosen = set(letters.upper())
    if not chosen <= set(LETTERS):
        raise ValueError(f"prophecies are letters of {LETTERS}, not {letters!r}")
    if chosen & set("LG"):
        chosen |= set("LGU")
    if chosen >= set("CK"):
        chosen.discard("U")
    return "".join(letter for letter in LETTERS if letter in chosen)


def lift(
    cover: Cover, letters: str = "", max_nodes: int | None = None, limits: Limits = UNLIMITED
) -> LiftedCover:
    """The cover lifted by the prophecies; without any it is the cover itself.

    Raises :class:`LimitReached` above ``max_nodes`` nodes, and when the time is up.
    """
    letters = canonical(letters)
    if not letters:
        return _plain(cover)
    kinds = "".join(BITS[letter] for letter in letters)
    before = _before(cover, kinds)
    nothing = (0,) * len(kinds)  # where a run ends nothing will be read, and marks are those of read values

    def preceding(node: tuple[int, Bits]) -> Iterator[tuple[int, tuple[int, Bits]]]:
        return ((e, (cover.source[e], before(e, node[1]))) for e in cover.incoming[node[0]])

    ends = ((v, nothing) for v in range(cover.nodes))
    nodes, edges = explore(ends, preceding, "the lifted graph", max_nodes, limits)
    return LiftedCover(
        cover,
        letters,
        tuple(v for v, _ in nodes),
        tuple(bits for _, bits in nodes),
        tuple(cover.live(v) if (read := _read(kinds, bits)) is None else read for v, bits in nodes),
        tuple(u for _, _, u in edges),
        tuple(v for v, _, _ in edges),
        tuple(e for _, e, _ in edges),
        tuple(i < cover.nodes for i in range(len(nodes))),
    )


def _plain(cover: Cover) -> LiftedCover:
    nodes = cover.nodes
    return LiftedCover(
        cover,
        "",
        tuple(range(nodes)),
        ((),) * nodes,
        tuple(map(cover.live, range(nodes))),
        cover.source,
        cover.target,
        tuple(range(len(cover.source))),
        (True,) * nodes,
    )


def _read(kinds: str, bits: Bits) -> Mask | None:
    """The variables that will be read, if the prophecies say so."""
    if "U" in kinds:
        return bits[kinds.index("U")]
    if "C" in kinds and "K" in kinds:
        return reduce(or_, (mask for kind, mask in zip(kinds, bits, strict=False) if kind in "CcKk"))
    return None


def _before(cover: Cover, kinds: str) -> Callable[[int, Bits], Bits]:
    """The bits at the source of a base edge from those at its target."""
    steps, kinds_of = cover.control.steps, cover.control.kinds
    readings = [kind for kind in kinds if kind not in "LG"]

    def read_now(e: int, kind: str) -> Mask:
        step = steps[cover.transition[e]]
        if kind == "U":
            return step.used
        if kind in "Mm":
            moves = kinds_of[cover.transition[e]]
            return step.used if (moves.rises, moves.falls) == (kind == "M", kind == "m") else 0
        if cover.cyclic[e] != (kind in "Cc"):
            return 0
        return step.ge if kind in "CK" else step.lt

    def before(e: int, bits: Bits) -> Bits:
        kept, u = ~steps[cover.transition[e]].asg, cover.source[e]
        found = tuple(
            cover.closed(u, read_now(e, kind) | later & kept)
            for kind, later in zip(readings, bits, strict=False)
        )
        if "L" not in kinds:
            return found
        read = _read(kinds, found)
        assert read is not None
        return (*found, *(mark & read for mark in _marks_before(cover, e, bits[-2], bits[-1])))

    return before


def _marks_before(cover: Cover, e: int, low: Mask, high: Mask) -> tuple[Mask, Mask]:
    """The final marks of the values at the source of an edge, from those of the values read after it.

    A value that is not read after the edge has the marks that it got so far, those that the edge itself
    gives, and those of the later values (the sample of the edge included) that are known to lie on the right
    side of it: the future touches the past only through values that it reads.
    """
    assert cover.order is not None and cover.marks is not None
    u, t = cover.source[e], cover.transition[e]
    order, step, marks = cover.order[u], cover.control.steps[t], cover.marks[u]
    below, above = bounds(order, step)
    repeated_lt, repeated_ge = (step.lt, step.ge) if cover.cyclic[e] else (0, 0)
    up = at_or_above(order, marks.up | repeated_lt | low & ~step.asg)
    if up & below or low & step.asg:
        up |= above
    down = at_or_below(order, marks.down | repeated_ge | high & ~step.asg)
    if down & above or high & step.asg:
        down |= below
    return up, down
