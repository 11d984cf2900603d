"""Slices: an automaton cut down to some of its variables, and the way back for what is found there.

Variables that one transition touches together depend on each other; the classes of that relation are the
*variable components*. Samples of different components are in different parts of every dependency graph, so
each component can be checked alone. A slice keeps the transitions that touch its variables (or that are
asked for) and forgets the other variables: it over-approximates what runs do, so what is absent in it is
absent. What is present in it is lifted and replayed; where that fails, :meth:`Slice.to_blame` says which
variables the slice is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from symdipa.model.verdict import Witness
from symdipa.runs.control import Control, liveness
from symdipa.runs.graphs import classes, component_numbers, the_path
from symdipa.runs.order import Mask, Step, initial, members, update
from symdipa.runs.webs import Split, split


def variable_components(control: Control) -> list[Mask]:
    """The classes of variables that transitions touch together, ordered by their first variable."""
    touched = [step.used | step.asg for step in control.steps]
    found: dict[int, Mask] = {}
    for x, number in enumerate(classes(control.variables, (members(mask) for mask in touched if mask))):
        found[number] = found.get(number, 0) | 1 << x
    return list(found.values())


@lru_cache(maxsize=1)
def separate(whole: Control) -> Split:
    """The control graph with its variables split as far as that makes the variable components smaller.

    Webs that are in one component anyway go on sharing a variable: at most one of them is live at a time.
    The last answer is remembered: several analyses of one automaton ask.
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
        touched = step.used | step.asg
        if touched:
            touching[of[(touched & -touched).bit_length() - 1]].append(t)
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

        Those of the guard that first fails, its cycles being taken up to as many times as there are
        variables; else those that a cycle both uses and assigns.
        """
        order = initial(self.whole.variables)
        place = 0
        for i, j in sorted(witness.cycles):
            rounds = witness.run[i:j] * (self.whole.variables + 2)
            for t in (*witness.run[place:i], *rounds):
                following = update(order, self.whole.steps[t])
                if following is None:
                    return self.whole.steps[t].used
                order = following
            place = j
        for t in witness.run[place:]:
            following = update(order, self.whole.steps[t])
            if following is None:
                return self.whole.steps[t].used
            order = following
        blame = 0
        for i, j in witness.cycles:
            blame |= self.whole.conflicts(witness.run[i:j])
        return blame


def flatten(whole: Control, variables: Mask, transitions: Sequence[int]) -> Control:
    """Transitions as loops at a single state: an over-approximation that knows no control flow.

    ``transitions`` are those that touch ``variables``. Which of them lie on cycles of the whole is kept.
    """
    variable = tuple(members(variables))
    local = _renumbering(variable)
    everything = (1 << len(variable)) - 1
    count = len(transitions)
    return Control(
        automaton=whole.automaton,
        state_names=("any",),
        variable_names=tuple(whole.variable_names[x] for x in variable),
        steps=tuple(local(whole.steps[t]) for t in transitions),
        source=(0,) * count,
        target=(0,) * count,
        outgoing=(tuple(range(count)),),
        reads_input=tuple(whole.reads_input[t] for t in transitions),
        outputs_insample=tuple(whole.outputs_insample[t] for t in transitions),
        outputs_real=tuple(whole.outputs_real[t] for t in transitions),
        mean=tuple(whole.mean[t] for t in transitions),
        initial=0,
        live=(everything,),
        component=(0,),
        cyclic=tuple(whole.cyclic[t] for t in transitions),
    )


def restrict(whole: Control, variables: Mask) -> Control:
    """The control graph as if there were only these variables, which are numbered anew, in order."""
    variable = tuple(members(variables))
    local = _renumbering(variable)
    return replace(
        whole,
        variable_names=tuple(whole.variable_names[x] for x in variable),
        steps=tuple(map(local, whole.steps)),
        live=tuple(local(Step(live, 0, 0)).ge for live in whole.live),
    )


def _renumbering(variable: Sequence[int]) -> Callable[[Step], Step]:
    """A function from steps over all variables to steps over those of ``variable``, numbered anew."""
    number = {x: i for i, x in enumerate(variable)}
    mask = sum(1 << x for x in variable)

    def local(wide: Mask) -> Mask:
        return sum(1 << number[x] for x in members(wide & mask))

    return lambda step: Step(local(step.ge), local(step.lt), local(step.asg))


def cut(whole: Control, variables: Mask, also: Collection[int] = ()) -> Slice:
    """The slice of ``whole`` for some variables; the transitions ``also`` are kept whatever they touch."""
    wanted = set(also)
    kept = frozenset(
        t for t, step in enumerate(whole.steps) if t in wanted or (step.used | step.asg) & variables
    )
    variable = tuple(members(variables))
    local = _renumbering(variable)
    state = tuple(dict.fromkeys([whole.initial, *(whole.target[t] for t in sorted(kept))]))
    place = {q: p for p, q in enumerate(state)}
    source: list[int] = []
    origin: list[int] = []
    outgoing: list[tuple[int, ...]] = []
    for p, q in enumerate(state):
        first = len(origin)
        origin += _kept_after(whole, kept, q)
        source += [p] * (len(origin) - first)
        outgoing.append(tuple(range(first, len(origin))))
    local_step = {t: local(whole.steps[t]) for t in kept}
    steps = tuple(local_step[t] for t in origin)
    target = tuple(place[whole.target[t]] for t in origin)
    component = component_numbers(len(state), list(zip(source, target, strict=True)))
    control = Control(
        automaton=whole.automaton,
        state_names=tuple(whole.state_names[q] for q in state),
        variable_names=tuple(whole.variable_names[x] for x in variable),
        steps=steps,
        source=tuple(source),
        target=target,
        outgoing=tuple(outgoing),
        reads_input=tuple(whole.reads_input[t] for t in origin),
        outputs_insample=tuple(whole.outputs_insample[t] for t in origin),
        outputs_real=tuple(whole.outputs_real[t] for t in origin),
        mean=tuple(whole.mean[t] for t in origin),
        initial=0,
        live=liveness(len(state), steps, source, target),
        component=component,
        cyclic=tuple(component[s] == component[t] for s, t in zip(source, target, strict=True)),
    )
    return Slice(whole, control, state, tuple(origin), variable, kept)


def _kept_after(whole: Control, kept: frozenset[int], q: int) -> Iterable[int]:
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
