"""Symbolic transition systems with explicit control: where encodings meet engines.

A :class:`System` walks along the control states of an automaton; at each it has some Boolean *bits*. Every
edge is one transition of the automaton and a deterministic function of the bits and of free *choices*. A
run of the automaton with a pattern is a path of the system to a *bad* state and vice versa.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import or_

from symdipa.model.patterns import Pattern
from symdipa.runs.control import Control
from symdipa.runs.order import members
from symdipa.runs.witness import Loop
from symdipa.systems.boolean import FALSE, BooleanGraph, Lit


@dataclass(frozen=True, slots=True)
class Edge:
    """``transition`` from control state ``source`` to ``target``, allowed where ``guard`` holds.

    ``update`` gives the new values of bits; a bit that is not in it keeps its value.
    """

    transition: int
    source: int
    target: int
    guard: Lit
    update: Mapping[Lit, Lit]


@dataclass(frozen=True, slots=True)
class Invariant:
    """Conjunctions of literals of bits that no reachable state satisfies, per control state.

    Together with the axioms of the system, and with bits being false where they are not open, their
    negations hold initially, are preserved by every edge and exclude every bad state.
    """

    blocked: Mapping[int, tuple[frozenset[Lit], ...]]

    @property
    def clauses(self) -> int:
        return sum(map(len, self.blocked.values()))


@dataclass(frozen=True, eq=False)
class System:
    """A system for one pattern.

    ``bits`` and ``choices`` are variables of ``graph``. ``open_bits[q]`` are the bits that can be true at
    control state ``q``; all others are false there, in every reachable state. Initially control is at
    ``control.initial`` and every bit is false. ``bad[q]`` is the condition for a bad state at ``q``, if any.
    ``axioms(q)`` hold in every reachable state at ``q`` and are inductive together; engines may assume them.
    They are many: ``first_axioms(q)`` are the few worth assuming from the start; ``broken_axioms(q, bits,
    unknown)`` are further ones that a state with these true bits breaks, whatever the unknown bits are, none
    if there is none. Where no run arrives there are no axioms. ``begins[q]`` is the condition under which a
    step at ``q`` begins the watched cycle, ``is_open`` the bit that says that a cycle is being watched.
    """

    pattern: Pattern
    encoding: str
    control: Control
    graph: BooleanGraph
    bits: tuple[Lit, ...]
    choices: tuple[Lit, ...]
    open_bits: tuple[tuple[Lit, ...], ...]
    edges: tuple[Edge, ...]
    bad: Mapping[int, Lit]
    begins: Mapping[int, Lit]
    is_open: Lit
    axioms: Callable[[int], Sequence[Lit]]
    first_axioms: Callable[[int], Sequence[Lit]]
    broken_axioms: Callable[[int, Set[Lit], frozenset[Lit]], Sequence[Lit]]
    rest_open_at_end: bool = field(default=False)
    """Whether the cycle is still open in a bad state (the lasso of a leaking cycle)."""

    @cached_property
    def places(self) -> list[int]:
        """The control states where a run may be: the initial one, and those that edges lead to."""
        return sorted({self.control.initial, *(edge.target for edge in self.edges)})

    @cached_property
    def steps_from_start(self) -> Mapping[int, int]:
        """The least number of edges from the initial control state to each that edges lead to."""
        following: dict[int, set[int]] = {}
        for edge in self.edges:
            following.setdefault(edge.source, set()).add(edge.target)
        return _distances([self.control.initial], following)

    @cached_property
    def steps_to_bad(self) -> Mapping[int, int]:
        """The least number of edges from each control state to one with a bad condition, if any."""
        preceding: dict[int, set[int]] = {}
        for edge in self.edges:
            preceding.setdefault(edge.target, set()).add(edge.source)
        return _distances(self.bad, preceding)

    @cached_property
    def relevant(self) -> tuple[tuple[Lit, ...], ...]:
        """At each control state the open bits on which a bad condition ahead, or the watching, may depend.

        Without the others the system is a smaller one with the same bad paths.
        """
        supports = self.graph.supports(self.bits)
        place = {bit: 1 << position for position, bit in enumerate(self.bits)}
        is_open = [sum(place[bit] for bit in bits) for bits in self.open_bits]
        found = [0] * self.control.states
        arriving: dict[int, list[Edge]] = {}
        todo = dict.fromkeys(self.steps_to_bad, place[self.is_open])
        for conditions in (self.bad, self.begins):
            for q in todo.keys() & conditions:
                todo[q] |= supports[conditions[q] >> 1]
        for edge in self.edges:
            if edge.target in todo:
                todo[edge.source] |= supports[edge.guard >> 1]
                arriving.setdefault(edge.target, []).append(edge)
        while todo:
            q, asked = todo.popitem()
            new = asked & is_open[q] & ~found[q]
            found[q] |= new
            bits = [self.bits[position] for position in members(new)]
            for edge in arriving.get(q, ()):
                asked = reduce(or_, (supports[edge.update.get(bit, bit) >> 1] for bit in bits), 0)
                if asked & is_open[edge.source] & ~found[edge.source]:
                    todo[edge.source] = todo.get(edge.source, 0) | asked
        return tuple(
            tuple(bit for bit in bits if place[bit] & found[q]) for q, bits in enumerate(self.open_bits)
        )

    def loops(self, path: Sequence[tuple[Edge, Mapping[Lit, bool]]], last: Mapping[Lit, bool]) -> list[Loop]:
        """The cycles watched along a path of (edge, values of bits and choices before it)."""
        found: list[Loop] = []
        start: int | None = None
        for i, (edge, values) in enumerate(path):
            condition = self.begins.get(edge.source, FALSE)
            if start is None and self.graph.evaluate([condition], values)[0]:
                start = i
            after = path[i + 1][1] if i + 1 < len(path) else last
            ends = i + 1 == len(path) if self.rest_open_at_end else not after[self.is_open]
            if start is not None and ends:
                steps = tuple(e.transition for e, _ in path[start : i + 1])
                found.append(Loop(start, steps, taken=True))
                start = None
        return found


def _distances(roots: Iterable[int], following: Mapping[int, Set[int]]) -> dict[int, int]:
    found = dict.fromkeys(roots, 0)
    work = list(found)
    for q in work:  # which grows: breadth first
        for p in sorted(following.get(q, ())):
            if p not in found:
                found[p] = found[q] + 1
                work.append(p)
    return found
