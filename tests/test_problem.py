"""A problem builds what several engines need once, and asks the process that has it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import EXAMPLES
from test_brute_force import A_LEAKP, automaton

from symdipa import analysis
from symdipa.bounds.corollary import corollary_bound
from symdipa.engines import lineup, processes
from symdipa.engines.explicit import ExplicitEngine
from symdipa.engines.processes import Race
from symdipa.engines.symbolic import SymbolicEngine
from symdipa.files import formats
from symdipa.files.families import generate
from symdipa.model.automaton import Automaton
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import PatternResult, Status, Verdict
from symdipa.runs import problem as module
from symdipa.runs.augmentation import Augmentation
from symdipa.runs.control import Control
from symdipa.runs.problem import Problem

LC, LP, DC, PV = Pattern
LEAKP = automaton(A_LEAKP, silent="q0 q1")
NODES = Problem.of(LEAKP).augmentation().nodes

guarded = pytest.mark.skipif(not processes.AVAILABLE, reason="processes are guarded on Linux only")

Builders = Callable[[], list[int]]


@pytest.fixture
def builders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Builders:
    """In which processes an augmentation was built, in order; attempts that met a cap do not count."""
    log, original = tmp_path / "built", module.augment
    log.touch()

    def augment(control: Control, max_nodes: int | None = None, limits: Limits = UNLIMITED) -> Augmentation:
        built = original(control, max_nodes, limits)
        with log.open("a") as file:
            file.write(f"{os.getpid()}\n")
        return built

    monkeypatch.setattr(module, "augment", augment)
    return lambda: [int(line) for line in log.read_text().split()]


def example_file(name: str) -> Automaton:
    return formats.load(next(EXAMPLES.glob(f"*/{name}.dipa")))


def place(augmentation: Augmentation, limits: Limits) -> tuple[int, int]:
    """Where this is computed, and from how many nodes."""
    return os.getpid(), augmentation.nodes


def linger(augmentation: Augmentation, limits: Limits) -> None:
    time.sleep(60)


def give_up(augmentation: Augmentation, limits: Limits) -> None:
    raise LimitReached(Limit.SIZE, "too many classes", "the quotient")


# Once


def test_an_augmentation_is_built_once(builders: Builders):
    problem = Problem.of(LEAKP)
    assert builders() == []
    assert problem.augmentation() is problem.augmentation(max_nodes=1), "what is there is under no cap"
    assert problem.from_augmentation(place, max_nodes=1) == (os.getpid(), NODES)
    first, second = ExplicitEngine(problem), ExplicitEngine(problem, 1)
    assert first.decide(LP).status is second.decide(LP).status is Status.PRESENT
    assert builders() == [os.getpid()]


def test_a_cap_that_was_too_small_is_not_tried_again(monkeypatch: pytest.MonkeyPatch):
    caps: list[int | None] = []
    original = module.augment

    def augment(control: Control, max_nodes: int | None = None, limits: Limits = UNLIMITED) -> Augmentation:
        caps.append(max_nodes)
        return original(control, max_nodes, limits)

    monkeypatch.setattr(module, "augment", augment)
    problem = Problem.of(LEAKP)
    for cap in (NODES - 2, NODES - 2, 1, NODES - 1, NODES - 2):
        with pytest.raises(LimitReached, match=f"^the augmentation has more than {cap} nodes$") as caught:
            problem.augmentation(max_nodes=cap)
        assert caught.value.limit is Limit.SIZE
    assert caps == [NODES - 2, NODES - 1]
    assert problem.augmentation(max_nodes=NODES).nodes == NODES
    assert caps == [NODES - 2, NODES - 1, NODES]


def test_time_that_was_too_short_is_tried_again():
    problem = Problem.of(generate("u-range", 4))
    with pytest.raises(LimitReached, match="time limit reached"):
        problem.augmentation(Limits(deadline=time.monotonic() - 1))
    assert problem.augmentation().nodes > 64


@pytest.mark.parametrize("engine", ["auto", "explicit", "z3", "both"])
@pytest.mark.parametrize("example", [generate("svt", 2), generate("u-range", 2)], ids=["svt", "u-range"])
def test_a_private_check_builds_it_once(builders: Builders, engine: str, example: Automaton):
    result = analysis.check(example, engine, slicing=False)
    assert result.verdict is Verdict.PRIVATE
    assert result.bounds is not None and result.bounds.corollary is not None and result.bounds.run is not None
    assert builders() == [os.getpid()]


def test_a_check_and_the_bounds_that_follow_build_it_once(builders: Builders):
    result = analysis.weigh(generate("pivot", 3), ["corollary", "run"])
    assert result.bounds is not None
    assert result.bounds.corollary == 1
    assert len(builders()) == 1


def test_a_comparison_builds_it_once(builders: Builders):
    result = analysis.compare(example_file("svt"))
    assert result.verdict is Verdict.PRIVATE
    assert result.bounds is not None and result.bounds.corollary is not None
    assert builders() == [os.getpid()]


@guarded
@pytest.mark.parametrize("engine", ["explicit", "both"])
def test_beyond_a_small_cap_the_process_of_the_engine_builds_it_and_no_other(
    monkeypatch: pytest.MonkeyPatch, builders: Builders, engine: str
):
    example = example_file("svt")
    here = analysis.check(example, engine).bounds
    assert builders() == [os.getpid()]
    monkeypatch.setattr(lineup, "FIRST_CELLS", 1)
    result = analysis.check(example, engine)
    assert result.verdict is Verdict.PRIVATE and result.bounds is not None and here is not None
    assert result.bounds.from_above == here.from_above
    (built,) = builders()[1:]
    assert built != os.getpid()


@guarded
def test_beyond_a_small_cap_a_comparison_builds_it_in_one_process(
    monkeypatch: pytest.MonkeyPatch, builders: Builders
):
    monkeypatch.setattr(lineup, "FIRST_CELLS", 1)
    result = analysis.compare(example_file("svt"))
    assert result.verdict is Verdict.PRIVATE
    assert result.bounds is not None and result.bounds.corollary is not None
    (built,) = builders()
    assert built != os.getpid()


@guarded
def test_enumeration_that_won_a_race_is_not_repeated(monkeypatch: pytest.MonkeyPatch, builders: Builders):
    monkeypatch.setattr(processes, "cores", lambda: 2)
    monkeypatch.setattr(lineup, "FIRST_CELLS", 1)
    monkeypatch.setattr(SymbolicEngine, "decide", no_idea)
    result = analysis.check(generate("pivot", 3))
    assert result.bounds is not None and result.bounds.corollary is not None
    assert len(builders()) == 1 and builders()[0] != os.getpid()


def no_idea(engine: SymbolicEngine, pattern: Pattern, limits: Limits) -> PatternResult:
    return PatternResult(pattern, Status.UNKNOWN, engine.name, reason="no idea")


# Elsewhere


@guarded
def test_the_process_that_has_built_it_is_asked(builders: Builders):
    problem = Problem.of(LEAKP)
    race = Race([ExplicitEngine(problem)])
    try:
        assert race.decide(LP).status is Status.PRESENT
        ((there, nodes), again) = problem.from_augmentation(place), problem.from_augmentation(place)
        assert there != os.getpid() and nodes == NODES and again == (there, nodes)
        assert problem.from_augmentation(place, max_nodes=1) == (there, nodes), "it is there already"
        assert problem.from_augmentation(corollary_bound) == corollary_bound(Problem.of(LEAKP).augmentation())
        assert builders() == [there, os.getpid()]
    finally:
        race.close()
    assert problem.from_augmentation(place) == (os.getpid(), NODES), "the process is gone"


@guarded
def test_what_is_built_here_is_computed_from_here():
    problem = Problem.of(LEAKP)
    race = Race([ExplicitEngine(problem)])
    try:
        assert race.decide(LP).status is Status.PRESENT
        assert problem.augmentation().nodes == NODES
        assert problem.from_augmentation(place) == (os.getpid(), NODES)
    finally:
        race.close()


@guarded
def test_limits_hold_in_the_other_process():
    problem = Problem.of(LEAKP)
    race = Race([ExplicitEngine(problem)])
    try:
        race.decide(LP)
        with pytest.raises(LimitReached, match="time limit reached"):
            problem.from_augmentation(linger, UNLIMITED.within(0.2))
        race.decide(LP)
        with pytest.raises(LimitReached, match="too many classes at the quotient") as caught:
            problem.from_augmentation(give_up)
        assert caught.value.limit is Limit.SIZE
    finally:
        race.close()


@guarded
def test_a_process_that_was_ended_is_not_asked(builders: Builders):
    """The enumeration wins the first race and is ended in the second: the cap holds for a new one."""
    problem = Problem.of(LEAKP)
    explicit, symbolic = ExplicitEngine(problem), SymbolicEngine(problem)
    race = Race([explicit, symbolic])

    def first_enumeration(pattern: Pattern, limits: Limits = UNLIMITED) -> PatternResult:
        if pattern is not LP:
            time.sleep(60)
        return ExplicitEngine.decide(explicit, pattern, limits)

    def then_symbolic(pattern: Pattern, limits: Limits = UNLIMITED) -> PatternResult:
        if pattern is LP:
            time.sleep(60)
        return SymbolicEngine.decide(symbolic, pattern, limits)

    explicit.decide = first_enumeration  # type: ignore[method-assign]
    symbolic.decide = then_symbolic  # type: ignore[method-assign]
    try:
        assert race.decide(LP).engine == "explicit"
        assert race.decide(LC).engine == "z3"
        with pytest.raises(LimitReached, match=f"more than {NODES - 1} nodes"):
            problem.from_augmentation(place, max_nodes=NODES - 1)
        assert problem.from_augmentation(place) == (os.getpid(), NODES)
        assert len(builders()) == 2
    finally:
        race.close()


# The rest


def test_webs_components_and_facts_are_found_once():
    problem = Problem.of(LEAKP)
    assert problem.automaton is LEAKP and Problem(problem.control).automaton is None
    assert problem.separated is problem.separated and problem.components is problem.components
    assert problem.facts() is problem.facts()
