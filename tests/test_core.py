"""The core of automata that are not plain: its runs are theirs, and engines agree on it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import permutations

import pytest
from random_linear import random_linear

from symdipa.analysis import check, weigh
from symdipa.engines.explicit import ExplicitEngine
from symdipa.engines.sliced import SlicedEngine
from symdipa.engines.symbolic import SymbolicEngine
from symdipa.files.formats import loads
from symdipa.model.automaton import Automaton, Noise
from symdipa.model.limits import Limits
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Status, Verdict
from symdipa.runs.control import Control, control_graph
from symdipa.runs.numbers.possible import feasible
from symdipa.runs.numbers.system import unrolled
from symdipa.runs.order import OrderState, initial, update
from symdipa.runs.problem import Problem

LC, LP, DC, PV = Pattern


def sample(i: int) -> Automaton:
    """The next automaton that is not plain."""
    rng = random.Random(f"core/{i}")
    while (automaton := random_linear(rng).trusted()).is_plain:
        pass
    return automaton


def is_exact(automaton: Automaton) -> bool:
    """Whether the order of values is all that decides what is possible."""
    offsets = any(
        None not in (each.low.name, each.high.name) and each.high.offset
        for t in automaton.transitions
        for each in t.guard.atoms
    )
    noises = {state.noise for state in automaton.states if state.draws}
    return not (offsets or automaton.integer or noises - {Noise.LAPLACE})


def runs_of(control: Control, longest: int) -> Iterator[tuple[int, ...]]:
    """The runs of a core, up to so many transitions of the automaton, that end with one of these."""
    stack: list[tuple[tuple[int, ...], int, OrderState]] = [((), control.initial, initial(control.variables))]
    while stack:
        run, q, order = stack.pop()
        whole = control.whole(run)
        if not control.is_between(q):
            yield run
            if len(whole) >= longest:
                continue
        for t in control.outgoing[q]:
            after = update(order, control.steps[t], control.live[control.target[t]])
            if after is not None:
                stack.append(((*run, t), control.target[t], after))


def all_runs(automaton: Automaton, longest: int) -> Iterator[tuple[int, ...]]:
    level: list[tuple[tuple[int, ...], str]] = [((), automaton.initial)]
    for _ in range(longest + 1):
        yield from (run for run, _ in level)
        level = [
            ((*run, t), automaton.transitions[t].target)
            for run, q in level
            for t in automaton.outgoing[automaton.index[q]]
        ]


def test_runs_of_the_core_are_those_of_the_automaton():
    seen: Counter[bool] = Counter()
    for i in range(120):
        automaton = sample(i)
        found = Counter(control_graph(automaton).whole(run) for run in runs_of(control_graph(automaton), 4))
        assert not found or max(found.values()) == 1, "one run of the automaton has two in the core"
        possible = {run for run in all_runs(automaton, 4) if feasible(unrolled(automaton, run))}
        assert possible <= found.keys()
        if is_exact(automaton):
            assert possible == found.keys()
        seen[is_exact(automaton)] += len(found)
    assert min(seen.values()) > 300, seen


@pytest.mark.parametrize("part", range(3))
def test_engines_agree_on_cores(part: int):
    seen: Counter[tuple[Pattern, Status]] = Counter()
    for i in range(part, 45, 3):
        problem = Problem.of(sample(i))
        engines = [
            ExplicitEngine(problem),
            SymbolicEngine(problem, "marks", "minisat"),
            SymbolicEngine(problem, "ghost", "minisat"),
            SlicedEngine(problem, lambda cut: SymbolicEngine(cut, "marks", "minisat")),
        ]
        for pattern in Pattern:
            found = {e.decide(pattern, Limits.of(60, None)).status for e in engines} - {Status.UNKNOWN}
            assert len(found) == 1, (i, pattern, found)
            seen[pattern, found.pop()] += 1
    assert seen[LP, Status.PRESENT] and seen[PV, Status.PRESENT] and seen[PV, Status.ABSENT]


def test_what_is_exchanged_is_not_assigned():
    text = """
        (a:non-input, 1/2, 0): x := insample; output o; goto b
        (b:non-input, 1/2, 0): y := insample; output o; goto c
        (c, 1/4, 0): if (insample < x) then x := y, y := x; output low; goto c else output high; goto end
    """
    result = check(loads(text))
    assert result.verdict is Verdict.PRIVATE and result.patterns[LC].status is Status.ABSENT


def test_a_constant_is_below_a_larger_one():
    text = """
        (a, 1/2, 0): if (insample < 3 && insample >= 5) then output never; goto a else output o; goto b
    """
    control = control_graph(loads(text.replace("insample < 3 && insample >= 5", "insample < 3")))
    assert control.variable_names == ("3",) and control.whole(range(len(control.steps)))[0] == 0


def test_a_leaking_cycle_may_be_harmless():
    """docs/theory.md, section 9: noise below noise, for ever, beside a threshold."""
    text = """
        (a:non-input, 1/2, 0): x := insample; output o; goto b
        (b:non-input, 1/2, 0): t := insample; output o; goto c
        (c:non-input, 1/2, 0):
            if (insample < x) then x := insample; output lower; goto d else output stop; goto end
        (d, 1/4, 0): if (insample < t) then output low; goto c else output high; goto end
    """
    result = weigh(loads(text))
    assert result.verdict is Verdict.PRIVATE and result.patterns[LC].method == "bound"
    assert result.bounds is not None and result.bounds.optimal and result.bounds.best == 1


def test_many_ways_to_name_slots_are_a_limit_and_no_crash():
    names = [f"v{i}" for i in range(8)]
    lines = [
        f"(s{i}:non-input, 1, 0): {name} := insample; output o; goto {f's{i + 1}' if i < 7 else 'q'}"
        for i, name in enumerate(names)
    ]
    turned = ", ".join(f"{x} := {y}" for x, y in zip(names, [*names[1:], names[0]], strict=True))
    lines.append(
        f"(q, 1, 0): if (insample < v0) then v0 := v1, v1 := v0; output swap; goto q "
        f"else {turned}; output turn; goto q"
    )
    result = check(loads("\n".join(lines)), timeout=0.5)
    assert result.verdict is Verdict.UNKNOWN and "the core" in str(result.patterns[LP].reason)
    assert len(list(permutations(range(8)))) == 40_320  # so many
