"""A monitor that watches one non-leaking cycle at a time (docs/theory.md, section 4).

It guesses where a cycle begins, remembers that control state, and lets go when control is back there.
Every cycle passes through a *header* (a target of a back edge), and a non-leaking cycle may be taken
twice, so it is enough to begin at headers. Inside the cycle a variable that the control component both
uses and assigns is either protected (uses only) or not (assignments only), as guessed at the start.
Steps that cannot be on a non-leaking cycle (Thm. repeatable) are never inside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from symdipa.runs.dataflow import OrderFacts
from symdipa.runs.graphs import cycle_headers
from symdipa.runs.order import Mask, members
from symdipa.systems.boolean import FALSE, TRUE, BooleanGraph, Lit


@dataclass(frozen=True)
class MonitorStep:
    """``guard``: the monitor allows the step. ``inside``: the step belongs to the watched cycle."""

    guard: Lit
    inside: Lit
    update: Mapping[Lit, Lit]


class CycleMonitor:
    """Watches cycles that contain a *relevant* transition; other components are never entered open."""

    def __init__(
        self, graph: BooleanGraph, facts: OrderFacts, relevant: Callable[[int], bool], closes: bool = True
    ) -> None:
        self.graph = graph
        self.facts = facts
        self.closes = closes
        control = facts.control
        self.is_open = graph.variable("open")
        self.start = graph.variable("start")
        self._conflicts: dict[int, Mask] = {}
        self._headers: dict[int, tuple[int, ...]] = {}
        self._at: dict[int, Lit] = {}
        self._protected: dict[int, Lit] = {}
        self._protect: dict[int, Lit] = {}
        names = control.variable_names
        self._inside = facts.repeatable if closes else frozenset(t for ts in facts.loops.values() for t in ts)
        for number, loop in facts.loops.items():
            transitions = [t for t in loop if t in self._inside]
            if not any(relevant(t) for t in transitions):
                continue
            edges = [(control.source[t], control.target[t]) for t in transitions]
            headers = sorted(cycle_headers(sorted({q for edge in edges for q in edge}), edges))
            self._headers[number] = tuple(headers)
            self._conflicts[number] = control.conflicts(transitions) if closes else 0
            if len(headers) > 1:
                for h in headers:
                    self._at[h] = graph.variable(f"begun({control.state_names[h]})")
            for x in members(self._conflicts[number]):
                if x not in self._protected:
                    self._protected[x] = graph.variable(f"protected({names[x]})")
                    self._protect[x] = graph.variable(f"protect({names[x]})")

    @property
    def choices(self) -> list[Lit]:
        return [self.start, *self._protect.values()]

    @property
    def headers(self) -> list[int]:
        """Every control state where a watched cycle may begin."""
        return [h for headers in self._headers.values() for h in headers]

    def open_bits(self, q: int) -> list[Lit]:
        number = self.facts.component[q]
        if number not in self._headers:
            return []
        bits = [self.is_open]
        if len(self._headers[number]) > 1:
            bits += [self._at[h] for h in self._headers[number]]
        return bits + [self._protected[x] for x in members(self._conflicts[number])]

    def bits(self) -> list[Lit]:
        return [self.is_open, *self._at.values(), *self._protected.values()]

    def open_at(self, q: int) -> Lit:
        """Whether a cycle is being watched at ``q``."""
        return self.is_open if self.facts.component[q] in self._headers else FALSE

    def begun_at(self, h: int) -> Lit:
        """Whether the watched cycle began at header ``h``."""
        return self._at.get(h, self.is_open)

    def begins(self) -> dict[int, Lit]:
        """For each header the condition that a cycle begins with the next step."""
        return {h: self.graph.conj(self.start, self.is_open ^ 1) for h in self.headers}

    def step(self, t: int) -> MonitorStep:
        """The monitor's part of transition ``t``."""
        graph, control = self.graph, self.facts.control
        q, p = control.source[t], control.target[t]
        number = self.facts.component[q]
        before = self.open_bits(q)
        if number not in self._headers or t not in self._inside:
            # The step is on no cycle to watch: none is open, and none begins with it.
            starts = self.start if q in self._headers.get(number, ()) else FALSE
            guard = graph.disj(self.open_at(q), starts) ^ 1
            return MonitorStep(guard, FALSE, dict.fromkeys(before, FALSE))
        headers, conflicts = self._headers[number], self._conflicts[number]
        begins = graph.conj(self.start, self.is_open ^ 1) if q in headers else FALSE
        inside = graph.disj(self.is_open, begins)
        protected = {
            x: graph.ite(self.is_open, self._protected[x], self._protect[x]) for x in members(conflicts)
        }
        step = control.steps[t]
        obeyed = graph.all(
            [protected[x] for x in members(step.used & conflicts)]
            + [protected[x] ^ 1 for x in members(step.asg & conflicts)]
        )
        back = FALSE
        if p in headers and self.closes:
            back = graph.disj(graph.conj(self.is_open, self.begun_at(p)), begins if p == q else FALSE)
        still = graph.conj(inside, back ^ 1)
        update = {self.is_open: still}
        if len(headers) > 1:
            for h in headers:
                begun = graph.ite(self.is_open, self._at[h], TRUE if h == q else FALSE)
                update[self._at[h]] = graph.conj(still, begun)
        for x in members(conflicts):
            update[self._protected[x]] = graph.conj(still, protected[x])
        return MonitorStep(graph.implies(inside, obeyed), inside, update)

    def axioms(self, q: int) -> list[Lit]:
        """The monitor's invariants at ``q``: details only while open, exactly one header remembered."""
        graph = self.graph
        found = [graph.implies(bit, self.is_open) for bit in self.open_bits(q) if bit != self.is_open]
        headers = self._headers.get(self.facts.component[q], ())
        if len(headers) > 1:
            marks = [self._at[h] for h in headers]
            found.append(graph.implies(self.is_open, graph.any(marks)))
            found += [graph.conj(a, b) ^ 1 for i, a in enumerate(marks) for b in marks[:i]]
            if q in headers and self.closes:
                found.append(self._at[q] ^ 1)
        elif headers and q == headers[0] and self.closes:
            found.append(self.is_open ^ 1)
        return found
