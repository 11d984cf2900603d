"""What is asked of the engines: a control graph, and what several of them need to know about it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

from symdipa.model.adjacency import Adjacency, in_integers, named
from symdipa.model.automaton import Automaton
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.augmentation import Augmentation, augment, too_large
from symdipa.runs.control import Control, control_graph
from symdipa.runs.control.slicing import flatten, separate, transitions_touching, variable_components
from symdipa.runs.dataflow import OrderFacts, order_facts
from symdipa.runs.order import Mask

T = TypeVar("T")

Compute = Callable[[Augmentation, Limits], T]
"""Something to compute from an augmentation; it may have to be sent to another process."""


class Problem:
    """A control graph under analysis, that of an ``automaton`` or a slice of one (``None``).

    Webs, components, dataflow facts and the augmentation are built once, when they are first needed. A forked
    process has what was built before.
    """

    def __init__(self, control: Control, automaton: Automaton | None = None) -> None:
        self.control = control
        self.automaton = automaton
        self._facts: OrderFacts | None = None
        self._augmentation: Augmentation | None = None
        self._too_small = 0
        self._flat: dict[Mask, OrderFacts] = {}
        self._by_shape: dict[Hashable, OrderFacts] = {}
        self._elsewhere: Callable[[Compute[object], Limits], object] | None = None

    @classmethod
    def of(cls, automaton: Automaton, limits: Limits = UNLIMITED) -> Problem:
        """The problem of a whole automaton.

        Raises :class:`~symdipa.model.errors.InvalidInput` where it breaks the rules of the model, and
        :class:`LimitReached` where its core is too large.
        """
        return cls(control_graph(automaton, limits), automaton)

    @property
    def is_integer(self) -> bool:
        """Whether inputs are integers, and so are their differences and all shifts."""
        return self.automaton is not None and self.automaton.integer

    def differences(self, adjacency: Adjacency, sensitivity: Fraction | int) -> tuple[Adjacency, Fraction]:
        """Adjacency and sensitivity as bounds take them: in whole numbers where inputs are integers.

        Raises ``ValueError`` for ranges that mean nothing.
        """
        if self.is_integer:
            return in_integers(adjacency, sensitivity)
        return named(adjacency), Fraction(sensitivity)

    @cached_property
    def separated(self) -> Control:
        """The control graph with its variables split into webs, as far as that separates components."""
        return separate(self.control).control

    @cached_property
    def components(self) -> list[Mask]:
        """The variable components, as sets of variables of :attr:`separated`."""
        return variable_components(self.separated)

    @cached_property
    def touching(self) -> dict[Mask, list[int]]:
        """For each variable component the transitions that touch it."""
        return transitions_touching(self.separated, self.components)

    def flat_facts(self, variables: Mask) -> OrderFacts:
        """The facts about a variable component without control flow, shared by components of one shape."""
        facts = self._flat.get(variables)
        if facts is None:
            flat = flatten(self.separated, variables, self.touching[variables])
            shape = flat.shape
            if shape not in self._by_shape:
                self._by_shape[shape] = order_facts(flat)
            facts = self._flat[variables] = self._by_shape[shape]
        return facts

    def facts(self, limits: Limits = UNLIMITED) -> OrderFacts:
        """The dataflow facts; raises :class:`LimitReached`."""
        if self._facts is None:
            self._facts = order_facts(self.control, limits=limits)
        return self._facts

    def augmentation(self, limits: Limits = UNLIMITED, max_nodes: int | None = None) -> Augmentation:
        """The augmentation; raises :class:`LimitReached`, at once above a cap that was too small before."""
        if self._augmentation is None:
            if max_nodes is not None and max_nodes <= self._too_small:
                raise too_large(max_nodes)
            try:
                self._augmentation = augment(self.control, max_nodes, limits)
            except LimitReached as limit:
                if limit.limit is Limit.SIZE and max_nodes is not None:
                    self._too_small = max_nodes
                raise
        return self._augmentation

    def is_larger_than(self, nodes: int) -> bool:
        """Whether the augmentation is known to have more nodes than that."""
        known = self._too_small if self._augmentation is None else self._augmentation.nodes - 1
        return known >= nodes

    def built_elsewhere(self, ask: Callable[[Compute[object], Limits], object] | None) -> None:
        """Note that another process has built the augmentation and computes from it if asked, or is gone."""
        self._elsewhere = ask

    def from_augmentation(
        self, compute: Compute[T], limits: Limits = UNLIMITED, max_nodes: int | None = None
    ) -> T:
        """What ``compute`` makes of the augmentation, in the process that has built it or else in this one.

        Raises :class:`LimitReached`, also when the augmentation has to be built and exceeds ``max_nodes``.
        """
        if self._augmentation is None and self._elsewhere is not None:
            return self._elsewhere(compute, limits)  # type: ignore[return-value]
        return compute(self.augmentation(limits, max_nodes), limits)
