"""Smaller control graphs and the way back: variables split into webs, and slices for some variables.

**Webs.** A variable that is re-assigned for unrelated purposes becomes several variables. A *definition* is a
transition together with a variable that it assigns. It *reaches* a use of the variable if some path of the
control graph leads from one to the other without another definition of the variable between them. Uses that
one definition reaches must go on sharing a variable; the classes that arise are the *webs*. :func:`split`
makes each web a variable of its own. States and transitions stay what and where they are, so runs, cycles and
witnesses need no translation; a definition that reaches no use disappears.

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
splitting never makes order states larger, it only separates what was never together.

**Slices.** An automaton is cut down to some of its variables. Variables that one transition touches together
depend on each other; the classes of that relation are the *variable components*. Samples of different
components are in different parts of every dependency graph, so each component can be checked alone. A slice
keeps the transitions that touch its variables (or are listed) and forgets the other variables: it
over-approximates what runs do, so what is absent in it is absent. What is present in it is lifted and
replayed; where that fails, :meth:`Slice.to_blame` says which variables the slice is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import and_, or_

from symdipa.model.verdict import Witness
from symdipa.runs.control import Control, assembled
from symdipa.runs.dataflow import fixed_point
from symdipa.runs.graphs import the_path, united
from symdipa.runs.order import Mask, Step, image, initial, members, update

Definition = tuple[int, int]
"""A transition and a variable that it assigns."""


# Webs


@dataclass(frozen=True, eq=False)
class Split:
    """``control`` is ``whole`` with other variables: variable ``x`` is part of ``variable[x]`` of the whole.

    States and transitions have the same numbers, so a run of one is a run of the other.
    """

    whole: Control
    control: Control
    variable: tuple[int, ...]

    def joined(self, group: Sequence[int]) -> Split:
        """The split in which variables of one group that stand for the same variable are one again."""
        number: dict[tuple[int, int], int] = {}
        keys = zip(self.variable, group, strict=True)
        new = [1 << number.setdefault(key, len(number)) for key in keys]
        if len(number) == len(new):
            return self
        variable = tuple(x for x, _ in number)
        steps = (Step(*(image(mask, new) for mask in step)) for step in self.control.steps)
        names = _names(self.whole.variable_names, variable)
        return Split(self.whole, self.whole.with_steps(steps, names), variable)


def split(whole: Control) -> Split:
    """Each web a variable of its own, in the order of the variables and of their first definitions.

    A variable with one web keeps its name; the webs of ``x`` are called ``x#1``, ``x#2`` and so on. A use
    that no definition reaches (only an unreachable state has one) disappears.
    """
    assigning: list[list[int]] = [[] for _ in range(whole.variables)]
    for t, step in enumerate(whole.steps):
        for x in members(step.asg):
            assigning[x].append(t)
    definitions = [(t, x) for x, ts in enumerate(assigning) for t in ts]
    of_variable = [0] * whole.variables
    for d, (_, x) in enumerate(definitions):
        of_variable[x] |= 1 << d
    uses = reaching_definitions(whole, definitions, of_variable)
    webs = united(uses.values())
    if webs == of_variable and all(uses.values()):
        return Split(whole, whole, tuple(range(whole.variables)))
    variable: list[int] = []
    web_of = [0] * len(definitions)
    for number, web in enumerate(webs):
        for d in members(web):
            web_of[d] = 1 << number
        variable.append(definitions[d][1])
    stored: list[dict[int, Mask]] = [{} for _ in whole.steps]
    for (t, x), web in zip(definitions, web_of, strict=True):
        stored[t][x] = web
    read: list[dict[int, Mask]] = [{} for _ in whole.outgoing]
    for (q, x), reaching in uses.items():
        read[q][x] = image(reaching & -reaching, web_of)
    soft = sum(1 << web for web, x in enumerate(variable) if whole.soft >> x & 1)
    steps = (
        Step(image(step.ge, read[q]), image(step.lt, read[q]), image(step.asg, stored[t]), soft)
        for t, (q, step) in enumerate(zip(whole.source, whole.steps, strict=True))
    )
    return Split(whole, whole.with_steps(steps, _names(whole.variable_names, variable)), tuple(variable))


def reaching_definitions(
    control: Control, definitions: Sequence[Definition], of_variable: Sequence[Mask]
) -> dict[tuple[int, int], Mask]:
    """For each control state and each variable that it reads, which of the definitions reach it."""
    made: dict[int, Mask] = {}
    for d, (t, _) in enumerate(definitions):
        made[t] = made.get(t, 0) | 1 << d
    of_others = [~mask for mask in of_variable]
    kept = {t: reduce(and_, (of_others[x] for x in members(control.steps[t].asg))) for t in made}

    def after(t: int, before: Mask) -> Mask:
        return before & kept[t] | made[t] if t in made else before

    arriving = fixed_point(control, 0, after, or_)
    return {
        (q, x): (arriving[q] or 0) & of_variable[x]
        for q, outgoing in enumerate(control.outgoing)
        for x in members(reduce(or_, (control.steps[t].used for t in outgoing), 0))
    }


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


# Slices


def variable_components(control: Control) -> list[Mask]:
    """The classes of variables that transitions touch together, ordered by their first variable."""
    return united(step.touched for step in control.steps)


def separate(whole: Control) -> Split:
    """The control graph with its variables split as far as that makes the variable components smaller.

    Webs that are in one component anyway go on sharing a variable: at most one of them is live at a time.
    """
    webs = split(whole)
    group = [0] * webs.control.variables
    for number, component in enumerate(variable_components(webs.control)):
        for x in members(component):
            group[x] = number
    return webs.joined(group)


def transitions_touching(control: Control, components: Iterable[Mask]) -> dict[Mask, list[int]]:
    """For each variable component the transitions that touch it."""
    of: dict[int, Mask] = {x: component for component in components for x in members(component)}
    touching: dict[Mask, list[int]] = {component: [] for component in of.values()}
    for t, step in enumerate(control.steps):
        if step.touched:
            touching[of[next(members(step.touched))]].append(t)
    return touching


@dataclass(frozen=True, eq=False)
class Slice:
    """A slice of ``whole``.

    State ``p`` of ``control`` is control state ``state[p]`` of the whole: the initial state and the targets
    of kept transitions. Its transition ``u`` is the kept transition ``origin[u]``, taken after any number
    of transitions that are not kept. Variable ``x`` of ``control`` is ``variable[x]`` of the whole.
    """

    whole: Control
    control: Control
    state: tuple[int, ...]
    origin: tuple[int, ...]
    variable: tuple[int, ...]
    kept: frozenset[int]

    def lift(self, witness: Witness) -> Witness:
        """The witness as a run of the whole: between kept transitions shortest paths of others.

        The result need not be feasible, nor its cycles non-leaking.
        """
        run: list[int] = []
        begins, ends = [], []
        for u in witness.run:
            begins.append(len(run))
            start = self.state[self.control.source[u]]
            run += self._path(start, self.whole.source[self.origin[u]])
            run.append(self.origin[u])
            ends.append(len(run))
        cycles = tuple((begins[i], ends[j - 1]) for i, j in witness.cycles)
        return Witness(witness.pattern, tuple(run), cycles, tuple(ends[k] - 1 for k in witness.path))

    @cached_property
    def _others(self) -> list[list[int]]:
        """For each control state of the whole the transitions that are not kept."""
        return [[t for t in outgoing if t not in self.kept] for outgoing in self.whole.outgoing]

    def _path(self, start: int, goal: int) -> list[int]:
        return the_path(start, goal, self._others.__getitem__, self.whole.target.__getitem__)

    def to_blame(self, witness: Witness) -> Mask:
        """Variables of the whole that keep a lifted witness from being one (0: none was found).

        They are those of the guard that first fails when each cycle is taken two times more than there are
        variables; if none fails, those that a cycle both uses and assigns.
        """
        whole, run, taken, place = self.whole, witness.run, list[int](), 0
        for i, j in sorted(witness.cycles):
            taken += run[place:i] + run[i:j] * (whole.variables + 2)
            place = j
        order = initial(whole.variables)
        for t in (*taken, *run[place:]):
            following = update(order, whole.steps[t])
            if following is None:
                return whole.steps[t].used
            order = following
        return reduce(or_, (whole.conflicts(run[i:j]) for i, j in witness.cycles), 0)


def flatten(whole: Control, variables: Mask, transitions: Sequence[int]) -> Control:
    """Transitions as loops at a single state: an over-approximation that knows no control flow.

    ``transitions`` are those that touch ``variables``. Which of them lie on cycles of the whole is kept.
    """
    variable = tuple(members(variables))
    local = _renumbering(variable)
    everything = (1 << len(variable)) - 1
    count = len(transitions)
    return Control(
        state_names=("any",),
        variable_names=tuple(whole.variable_names[x] for x in variable),
        steps=tuple(local(whole.steps[t]) for t in transitions),
        sampling=tuple(whole.sampling[t] for t in transitions),
        source=(0,) * count,
        target=(0,) * count,
        outgoing=(tuple(range(count)),),
        initial=0,
        live=(everything,),
        component=(0,),
        cyclic=tuple(whole.cyclic[t] for t in transitions),
    )


def restrict(whole: Control, variables: Mask) -> Control:
    """The control graph as if there were only these variables, which are numbered anew, in order."""
    variable = tuple(members(variables))
    local = _renumbering(variable)
    return whole.with_steps(map(local, whole.steps), tuple(whole.variable_names[x] for x in variable))


def _renumbering(variable: Sequence[int]) -> Callable[[Step], Step]:
    """A function from steps over all variables to steps over those of ``variable``, numbered anew."""
    new = {x: 1 << i for i, x in enumerate(variable)}
    mask = sum(1 << x for x in variable)
    return lambda step: Step(*(image(part & mask, new) for part in step))


def cut(whole: Control, variables: Mask, also: Collection[int] = ()) -> Slice:
    """The slice of ``whole`` for some variables; the transitions ``also`` are kept whatever they touch."""
    wanted = set(also)
    kept = frozenset(t for t, step in enumerate(whole.steps) if t in wanted or step.touched & variables)
    variable = tuple(members(variables))
    local = _renumbering(variable)
    state = tuple(dict.fromkeys([whole.initial, *(whole.target[t] for t in sorted(kept))]))
    place = {q: p for p, q in enumerate(state)}
    source: list[int] = []
    origin: list[int] = []
    for p, q in enumerate(state):
        following = _kept_after(whole, kept, q)
        origin += following
        source += [p] * len(following)
    local_step = {t: local(whole.steps[t]) for t in kept}
    control = assembled(
        state_names=tuple(whole.state_names[q] for q in state),
        variable_names=tuple(whole.variable_names[x] for x in variable),
        steps=tuple(local_step[t] for t in origin),
        sampling=tuple(whole.sampling[t] for t in origin),
        source=tuple(source),
        target=tuple(place[whole.target[t]] for t in origin),
        initial=0,
    )
    if not whole.is_plain:  # each transition counts as a whole one
        parts = tuple(whole.origin[t] for t in origin)
        control = replace(control, origin=parts, begins=(True,) * len(parts))
    return Slice(whole, control, state, tuple(origin), variable, kept)


def _kept_after(whole: Control, kept: frozenset[int], q: int) -> list[int]:
    """The kept transitions that can come next from ``q``, after others that are not kept."""
    found = []
    seen = {q}
    stack = [q]
    while stack:
        for t in whole.outgoing[stack.pop()]:
            if t in kept:
                found.append(t)
            elif whole.target[t] not in seen:
                seen.add(whole.target[t])
                stack.append(whole.target[t])
    return sorted(found)
