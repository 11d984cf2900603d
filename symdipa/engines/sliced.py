"""Slices first: an engine that asks another engine about one variable component at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from operator import or_

from symdipa.engines.base import Engine
from symdipa.model.errors import LimitReached, WitnessRejected
from symdipa.model.limits import UNLIMITED, Limits, stopwatch
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import PatternResult, Status
from symdipa.runs.control.chains import Chain, chains_of
from symdipa.runs.control.slicing import Slice, cut
from symdipa.runs.dataflow import graph_allows, may_have_chain
from symdipa.runs.order import Mask
from symdipa.runs.problem import Problem
from symdipa.runs.witness import finished, replay, shorten

METHODS = ("static", "explicit", "bounded", "k-induction", "pdr")
"""By cost, cheapest first; of several slices the most expensive is reported."""


class SlicedEngine(Engine):
    """Decides a pattern by slices; ``make`` gives the engine for a slice (or for the whole).

    Variables are split first where that separates components; transitions keep their numbers. A pattern
    that is absent in the slice of each component is absent. A witness from a slice is lifted to the whole and
    replayed there, on the original variables; if that fails, the slice is enlarged by the components to
    blame, until the witness holds or nothing is left out.
    """

    def __init__(self, problem: Problem, make: Callable[[Problem], Engine]) -> None:
        self.problem = problem
        self._make = make
        self._parts: dict[tuple[Mask, bool], tuple[Slice, Engine]] = {}
        self._open: dict[Pattern, list[Mask]] = {}
        self._whole = make(problem)
        self.name, self.encoding = self._whole.name, self._whole.encoding

    @property
    def components(self) -> list[Mask]:
        return self.problem.components

    def load(self) -> None:
        self._whole.load()

    def decide_statically(self, pattern: Pattern, limits: Limits = UNLIMITED) -> PatternResult | None:
        if len(self.components) <= 1:
            return self._whole.decide_statically(pattern, limits)
        return None if self._open_components(pattern, limits) else self._together(pattern, [])

    def decide(self, pattern: Pattern, limits: Limits = UNLIMITED) -> PatternResult:
        if len(self.components) <= 1:
            return self._whole.decide(pattern, limits)
        seconds = stopwatch()
        answers: list[PatternResult] = []
        try:
            for variables in self._open_components(pattern, limits):
                limits.check(f"{pattern.title}, slice {len(answers) + 1}")
                answers.append(answer := self._decide_from(pattern, variables, limits))
                if answer.status is Status.PRESENT:
                    break
        except LimitReached as limit:
            answers.append(self.unknown(pattern, str(limit)))
        return replace(self._together(pattern, answers), seconds=seconds())

    def _together(self, pattern: Pattern, answers: list[PatternResult]) -> PatternResult:
        """The answer of all slices: one violation decides, else one that is open, else all are absent."""
        for status in (Status.PRESENT, Status.UNKNOWN):
            for answer in answers:
                if answer.status is status:
                    return answer
        if not answers:
            name = "dataflow" if self.name == "auto" else self.name
            return PatternResult(pattern, Status.ABSENT, name, "static", self.encoding)
        hardest = max(answers, key=lambda answer: METHODS.index(answer.method or "static"))
        sizes: dict[str, int] = {"slices": len(answers)}
        for answer in answers:
            for what, size in answer.sizes.items():
                sizes[what] = max(size, sizes.get(what, 0))
        return replace(hardest, sizes=sizes)

    def _open_components(self, pattern: Pattern, limits: Limits) -> list[Mask]:
        found = self._open.get(pattern)
        if found is None:
            found = self._open[pattern] = self._find_open_components(pattern, limits)
        return found

    def _find_open_components(self, pattern: Pattern, limits: Limits) -> list[Mask]:
        """The components not cleared by arguments without control flow (disclosing cycles: the empty one)."""
        control = self.problem.separated
        if not graph_allows(pattern, control):
            return []
        if pattern is Pattern.DISCLOSING_CYCLE:
            return [0]
        if pattern is Pattern.LEAKING_CYCLE:
            conflicts = reduce(or_, map(control.conflicts, control.loops.values()), 0)
            return [variables for variables in self.components if variables & conflicts]
        return [
            variables
            for variables in self.components
            if any(self._flat_chain(variables, chain, limits) for chain in chains_of(pattern, control))
        ]

    def _flat_chain(self, variables: Mask, chain: Chain, limits: Limits) -> bool:
        """Whether a chain is possible even if transitions could be taken in any order."""
        limits.check("dataflow without control flow")
        return may_have_chain(self.problem.flat_facts(variables), chain, limits)

    def _decide_from(self, pattern: Pattern, variables: Mask, limits: Limits) -> PatternResult:
        """The answer about the slice for ``variables``, enlarged as often as its violation is spurious."""
        control, everything = self.problem.control, sum(self.components)
        while True:
            part, engine = self._part(pattern, variables)
            answer = engine.decide(pattern, limits)
            if answer.witness is None:
                return answer
            lifted = part.lift(answer.witness)
            try:
                lifted = finished(control, lifted)
                replay(control, lifted)
                return replace(answer, witness=shorten(control, lifted))
            except WitnessRejected:
                if variables == everything:
                    return self._whole.decide(pattern, limits)
            blamed = part.to_blame(lifted)
            grown = reduce(or_, (component for component in self.components if component & blamed), variables)
            variables = grown if grown != variables else everything

    def _part(self, pattern: Pattern, variables: Mask) -> tuple[Slice, Engine]:
        control = self.problem.control
        disclosing = pattern is Pattern.DISCLOSING_CYCLE
        found = self._parts.get((variables, disclosing))
        if found is None:
            also = [t for t, s in enumerate(control.sampling) if s.discloses] if disclosing else []
            part = cut(self.problem.separated, variables, also)
            found = self._parts[variables, disclosing] = part, self._make(Problem(part.control))
        return found
