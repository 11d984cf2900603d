"""Def-use webs: a variable that is re-assigned for unrelated purposes becomes several variables.

A *definition* is a transition together with a variable that it assigns. It *reaches* a use of the variable
if some path of the control graph leads from one to the other without another definition of the variable
between them. Uses that one definition reaches must go on sharing a variable; the classes that arise are the
*webs*. :func:`split` makes each web a variable of its own. States and transitions stay what and where they
are, so runs, cycles and witnesses need no translation; a definition that reaches no use disappears.

The four patterns are the same before and after, for any classes that keep each use together with all
definitions that reach it:

* *Dependency graphs* (Def. dependency graph) are the same for every run. A use of ``x`` at position ``j``
  refers to ``last(x, j)``; the definition there reaches it and so has its class, and what was assigned to
  that class later would be a later definition of ``x``. Hence feasible runs and dependency paths are too.
* *Leaking and non-leaking cycles* are the same. Let a cycle ``C`` assign and use ``x``. On the path ``C C``
  the use in the second round comes after a definition in ``C``; the last one before it reaches it. So
  ``C`` assigns and uses the class of that use. It does not matter whether ``C C`` is feasible, nor
  whether the use comes first in ``C``, nor that some other definition of ``x`` in ``C`` is dead. (This is
  why definitions reach along *all* paths of the control graph, possible or not.) The other way round,
  a class that is assigned and used in ``C`` consists of assignments and uses of one name.

For the same reason a variable that is live at a reachable state has exactly one web that is live there:
splitting never makes order states larger, it only tells apart what was never together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

from symdipa.runs.control import Control, liveness
from symdipa.runs.dataflow import fixed_point
from symdipa.runs.graphs import classes
from symdipa.runs.order import Mask, Step, members

Definition = tuple[int, int]
"""A transition and a variable that it assigns."""


@dataclass(frozen=True, eq=False)
class Split:
    """``control`` is ``whole`` with other variables, each of which is part of variable ``variable[x]`` there.

    States and transitions have the same numbers, so a run of one is a run of the other.
    """

    whole: Control
    control: Control
    variable: tuple[int, ...]

    def joined(self, group: Sequence[int]) -> Split:
        """The split in which variables of one group that stand for the same variable are one again."""
        number: dict[tuple[int, int], int] = {}
        new = [number.setdefault(key, len(number)) for key in zip(self.variable, group, strict=True)]
        variable = tuple(x for x, _ in number)

        def renamed(mask: Mask) -> Mask:
            return reduce(or_, (1 << new[x] for x in members(mask)), 0)

        steps = tuple(Step(*map(renamed, step)) for step in self.control.steps)
        return Split(self.whole, _with_variables(self.whole, variable, steps), variable)


def split(whole: Control) -> Split:
    """Each web a variable of its own, in the order of the variables and of their first definitions.

    A variable with one web keeps its name; the webs of ``x`` are called ``x#1``, ``x#2`` and so on. A use
    that no definition reaches (only an unreachable state has one) disappears.
    """
    definitions = sorted(
        ((t, x) for t, step in enumerate(whole.steps) for x in members(step.asg)), key=lambda d: (d[1], d[0])
    )
    uses = reaching_definitions(whole, definitions)
    together = {mask for mask in uses.values() if mask}
    web = classes(len(definitions), map(members, together))
    number: dict[int, int] = {}
    variable: list[int] = []
    stored: dict[Definition, Mask] = {}
    for d in members(reduce(or_, together, 0)):
        if web[d] not in number:
            number[web[d]] = len(variable)
            variable.append(definitions[d][1])
        stored[definitions[d]] = 1 << number[web[d]]
    read = {use: stored[definitions[next(members(mask))]] for use, mask in uses.items() if mask}

    def renamed(t: int, mask: Mask, new: Mapping[tuple[int, int], Mask]) -> Mask:
        return reduce(or_, (new.get((t, x), 0) for x in members(mask)), 0)

    steps = tuple(
        Step(renamed(t, step.ge, read), renamed(t, step.lt, read), renamed(t, step.asg, stored))
        for t, step in enumerate(whole.steps)
    )
    return Split(whole, _with_variables(whole, variable, steps), tuple(variable))


def reaching_definitions(control: Control, definitions: Sequence[Definition]) -> dict[tuple[int, int], Mask]:
    """For each use, a transition and a variable that it reads, which of the definitions reach it."""
    of_variable: dict[int, Mask] = {}
    made: dict[int, Mask] = {}
    for d, (t, x) in enumerate(definitions):
        of_variable[x] = of_variable.get(x, 0) | 1 << d
        made[t] = made.get(t, 0) | 1 << d
    overwritten = {t: reduce(or_, (of_variable[x] for x in members(control.steps[t].asg))) for t in made}

    def after(t: int, before: Mask) -> Mask:
        return before & ~overwritten[t] | made[t] if t in made else before

    arriving = fixed_point(control, 0, after, or_)
    return {
        (t, x): (arriving[control.source[t]] or 0) & of_variable.get(x, 0)
        for t, step in enumerate(control.steps)
        for x in members(step.used)
    }


def _with_variables(whole: Control, variable: Sequence[int], steps: tuple[Step, ...]) -> Control:
    """``whole`` with other variables, new ``steps`` and the liveness that goes with them."""
    return replace(
        whole,
        variable_names=_names(whole.variable_names, variable),
        steps=steps,
        live=liveness(whole.states, steps, whole.source, whole.target),
    )


def _names(old: Sequence[str], variable: Sequence[int]) -> tuple[str, ...]:
    """A name for each new variable: the old one if it is alone, else the old one with a number."""
    parts, so_far = Counter(variable), Counter[int]()
    taken = set(old)
    names = []
    for x in variable:
        so_far[x] += 1
        name = old[x] if parts[x] == 1 else f"{old[x]}#{so_far[x]}"
        while parts[x] > 1 and name in taken:
            name += "'"
        taken.add(name)
        names.append(name)
    return tuple(names)
