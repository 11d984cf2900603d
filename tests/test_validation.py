"""The rules of the model, on automata built in Python."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

import symdipa
from symdipa.model.automaton import (
    INSAMPLE,
    INSAMPLE_PRIME,
    Automaton,
    Guard,
    State,
    Transition,
    symbol,
    variables_of,
)
from symdipa.model.errors import InputProblem, InvalidInput, Position
from symdipa.model.parts import Term, atom
from symdipa.model.validation import Place, problems, validate
from symdipa.model.validation.guards import earlier_overlaps

ONE = Fraction(1)
A = symbol("a")


def ge(*names: str) -> Guard:
    return Guard(ge=frozenset(names))


def lt(*names: str) -> Guard:
    return Guard(lt=frozenset(names))


def raw(states: Sequence[State], transitions: Sequence[Transition], **changes: Any) -> Automaton:
    """An automaton that nobody has checked."""
    parts: dict[str, Any] = {
        "initial": states[0].name if states else "",
        "variables": variables_of(transitions),
    }
    return Automaton(tuple(states), transitions=tuple(transitions), **(parts | changes))


def rules(automaton: Automaton) -> list[str]:
    return [problem.rule for problem in problems(automaton)]


def message(automaton: Automaton) -> str:
    (problem,) = problems(automaton)
    return problem.message


STORE = Transition("p", "q", A, assign=frozenset("x"))
P, Q = State("p", d=ONE), State("q", d=ONE)


def test_a_valid_automaton_has_no_problems() -> None:
    automaton = raw([P, Q], [STORE, Transition("q", "q", A, ge("x")), Transition("q", "p", A, lt("x"))])
    assert problems(automaton) == []
    validate(automaton)


def test_validate_raises_everything_with_extra_first_and_locates() -> None:
    automaton = raw([P, State("q", d=-ONE), P], [STORE], name="example")
    extra = InputProblem("syntax", "earlier", Position(1, 1))
    with pytest.raises(InvalidInput) as caught:
        validate(automaton, lambda place: Position(place.index + 2, 1), [extra])
    assert [problem.rule for problem in caught.value.problems] == ["syntax", "parameters", "structure"]
    assert [p.position.line for p in caught.value.problems if p.position] == [1, 3, 4]
    assert caught.value.source == "example"


def test_places_are_as_fine_as_the_fault() -> None:
    seen: list[Place] = []

    def note(place: Place) -> None:
        seen.append(place)

    problems(raw([P, State("q", d=-ONE)], [STORE, Transition("q", "z", A, ge("y"))]), note)
    assert Place("transition", 1, "target") in seen
    assert Place("state", 1, "d") in seen
    assert Place("transition", 1, "guard", "y") in seen


# Structure.


@pytest.mark.parametrize(
    ("automaton", "phrase"),
    [
        (raw([], []), "has no state"),
        (raw([P], [], initial="z"), "initial state 'z'"),
        (raw([P, P], []), "p is listed twice"),
        (raw([State("")], []), "empty name"),
        (raw([P], [Transition("p", "z", A)]), "the target 'z'"),
        (raw([P], [Transition("z", "p", A)]), "the source 'z'"),
        (raw([P, Q], [STORE], variables=()), "'x' of the transition p -> q is missing"),
        (raw([P, Q], [STORE], variables=("x", "x")), "listed twice"),
        (raw([P, Q], [STORE], variables=("x", "")), "a variable has an empty name"),
        (raw([P], [Transition("p", "p", symbol(""))]), "a symbol with an empty name"),
    ],
)
def test_structure(automaton: Automaton, phrase: str) -> None:
    assert rules(automaton) == ["structure"]
    assert phrase in message(automaton)


# Guards, determinism, non-input states.


def test_contradictory_guard() -> None:
    both = Guard(frozenset("x"), frozenset("x"))
    automaton = raw([P, Q], [STORE, Transition("q", "q", A, both), Transition("q", "p", A, ge("x"))])
    assert rules(automaton) == ["guard"]
    assert "insample >= x and insample < x" in message(automaton)


def test_overlap_names_both_transitions() -> None:
    automaton = raw(
        [State("p", d=ONE), Q],
        [
            Transition("p", "q", A, assign=frozenset("xy")),
            Transition("q", "q", A, ge("x")),
            Transition("q", "q", A, lt("x")),
            Transition("q", "q", A, ge("y")),
        ],
    )
    assert rules(automaton) == ["determinism"]
    assert "transitions 1 and 3 of state q" in message(automaton)
    assert "(insample >= x) and (insample >= y)" in message(automaton)


@given(
    st.lists(
        st.tuples(st.frozensets(st.sampled_from("xyz")), st.frozensets(st.sampled_from("xyz"))), max_size=8
    )
)
def test_overlaps_follow_the_definition(pairs: list[tuple[frozenset[str], frozenset[str]]]) -> None:
    guards = [Guard(*pair) for pair in pairs]
    for i, mask in enumerate(earlier_overlaps(guards)):
        assert [mask >> j & 1 for j in range(i)] == [not guards[i].excludes(guards[j]) for j in range(i)]


def test_opposite_comparisons_are_found_without_asking_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["x", "y", "z", "u"]
    guards = [
        Guard(
            others=frozenset(each if yes else each.negation for each, yes in zip(asked, answers, strict=True))
        )
        for asked in [[atom(Term(low), Term(high, ONE), True) for low, high in pairwise(names)]]
        for answers in product((True, False), repeat=len(asked))
    ]
    assert earlier_overlaps([*guards, guards[0]]) == [0] * len(guards) + [1]
    monkeypatch.setattr("symdipa.model.validation.guards.excludes", pytest.fail)
    assert earlier_overlaps(guards) == [0] * len(guards)


def test_states_of_every_kind_may_branch() -> None:
    branches = [Transition("q", "q", A, ge("x")), Transition("q", "p", A, lt("x"))]
    assert problems(raw([P, State("q", False, ONE)], [STORE, *branches])) == []
    twice = raw([State("p", False)], [Transition("p", "p", A), Transition("p", "p", A)])
    assert rules(twice) == ["determinism"]


# Parameters.


@pytest.mark.parametrize(
    ("transition", "state", "phrase"),
    [
        (
            STORE,
            State("p"),
            "p needs d > 0, because its sample is stored in x; d is not given: "
            "write for instance (p, 1/2, 0)",
        ),
        (STORE, State("p", d=Fraction(0)), "d of state p is 0"),
        (Transition("p", "q", INSAMPLE), State("p", d=Fraction(0)), "its sample is output"),
        (
            Transition("p", "q", INSAMPLE_PRIME),
            State("p", d=Fraction(3), mu=Fraction(-1, 2)),
            "p needs d' > 0, because insampleprime is output; d' is not given: write (p, 3, -1/2, 3, -1/2)",
        ),
        (
            Transition("p", "q", INSAMPLE_PRIME),
            State("p", False, d=Fraction(0)),
            "d' is not given: write (p:non-input, 0, 0, 1/2, 0)",
        ),
        (
            Transition("p", "q", INSAMPLE_PRIME),
            State("p"),
            "d' is not given: write for instance (p, 1/2, 0, 1/2, 0)",
        ),
        (Transition("p", "q", INSAMPLE_PRIME), State("p", d_prime=Fraction(0)), "d' of state p is 0"),
        (Transition("p", "q", A), State("p", d=-ONE), "d of state p is -1; it must not be negative"),
        (Transition("p", "q", A), State("p", d_prime=-ONE), "d' of state p is -1"),
        (STORE, State("p", d=0.25), "0.25 of type float"),  # type: ignore[arg-type]
        (STORE, State("p", d=ONE, mu=0.5), "mu of state p is 0.5"),  # type: ignore[arg-type]
        (STORE, State("p", d=ONE, mu=float("nan")), "mu of state p is nan"),  # type: ignore[arg-type]
        (STORE, State("p", d=-Fraction(10**60)), "-1000"),
    ],
)
def test_parameters(transition: Transition, state: State, phrase: str) -> None:
    automaton = raw([state, Q], [transition])
    assert rules(automaton) == ["parameters"]
    assert phrase in message(automaton)


def test_comparison_needs_a_scale() -> None:
    automaton = raw([P, State("q")], [STORE, Transition("q", "q", A, ge("x"))])
    assert "its sample is compared" in message(automaton)


def test_scales_may_be_absent_where_no_sample_matters() -> None:
    zero = State("q", d=Fraction(0), d_prime=Fraction(0))
    assert problems(raw([State("p"), zero], [Transition("p", "q", A), Transition("q", "p", A)])) == []
    assert problems(raw([State("p", d_prime=ONE)], [Transition("p", "p", INSAMPLE_PRIME)])) == []
    assert problems(raw([State("p")], [])) == []


# Initialization.


def test_shortest_unassigned_path() -> None:
    states = [State(name, d=ONE) for name in "pqrs"]
    automaton = raw(
        states,
        [
            Transition("p", "q", A, assign=frozenset("y")),
            Transition("q", "r", A, ge("y"), frozenset("x")),
            Transition("q", "s", A, lt("y")),
            Transition("r", "s", A),
            Transition("s", "s", A, ge("x")),
        ],
    )
    assert rules(automaton) == ["initialization"]
    assert "on the path p -> q -> s no transition stores insample in x" in message(automaton)
    assert "(insample >= x) of the transition s -> s" in message(automaton)


def test_a_variable_that_is_nowhere_assigned_may_be_misspelt() -> None:
    store = Transition("p", "q", A, assign=frozenset(["treshold"]))
    automaton = raw([P, Q], [store, Transition("q", "q", A, ge("threshold"))])
    assert message(automaton) == (
        "variable threshold is read before it is assigned: no transition stores insample in it; "
        "did you mean treshold?"
    )
    assert "on the path" in message(raw([P, Q], [store, Transition("q", "q", A, ge("other"))]))


def test_what_follows_from_a_state_that_is_listed_twice_is_no_news() -> None:
    silent = State("p", False, d=ONE)
    steps = [Transition("p", "p", A), Transition("p", "p", symbol("b"), ge("x"))]
    assert rules(raw([silent, P], steps)) == ["structure"]


def test_guard_reads_before_the_same_transition_assigns() -> None:
    assert rules(raw([P], [Transition("p", "p", A, ge("x"), frozenset("x"))])) == ["initialization"]


def test_unreachable_reads_are_no_fault() -> None:
    assert problems(raw([P, Q], [Transition("q", "q", A, ge("x"))])) == []


def test_partial_skips_initialization() -> None:
    assert problems(raw([P], [Transition("p", "p", A, ge("x"))]), partial=True) == []


def test_long_paths_and_many_variables_are_summarised() -> None:
    states = [State(f"q{i}", d=ONE) for i in range(100)]
    steps = [Transition(f"q{i}", f"q{i + 1}", A) for i in range(99)]
    read = Transition("q99", "q99", A, ge(*(f"x{i:02}" for i in range(70))))
    found = problems(raw(states, [*steps, read]))
    assert len(found) == 21
    assert "q11 -> ... (85 more states) ... -> q97 -> q98 -> q99" in found[0].message
    assert found[-1].message.startswith("50 more variables are read before they are assigned: x20, x21")


def unassigned(automaton: Automaton) -> set[str]:
    """By the definition: variables that some path reads unassigned (search over states and sets)."""
    start = (automaton.initial, frozenset[str]())
    seen, queue, found = {start}, [start], set[str]()
    for state, known in queue:
        for transition in automaton.transitions:
            if transition.source == state:
                found |= transition.guard.used - known
                following = (transition.target, known | transition.assign)
                if following not in seen:
                    seen.add(following)
                    queue.append(following)
    return found


few = st.frozensets(st.sampled_from("xyz"), max_size=2)
edges = st.builds(
    Transition, st.sampled_from("pqrs"), st.sampled_from("pqrs"), st.just(A), st.builds(Guard, few, few), few
)


@settings(max_examples=300)
@given(st.lists(edges, max_size=7))
def test_initialization_agrees_with_the_definition(transitions: list[Transition]) -> None:
    automaton = raw([State(name, d=ONE) for name in "pqrs"], transitions)
    found = [p for p in problems(automaton) if p.rule == "initialization"]
    assert {problem.message.split()[1] for problem in found} == unassigned(automaton)


def test_thousands_of_variables_take_about_a_second() -> None:
    m = 1000
    transitions = [Transition(f"s{i}", f"s{i + 1}", A, assign=frozenset([f"x{i}"])) for i in range(2 * m)]
    for i in range(m):
        here, following = f"s{2 * m + i}", f"s{2 * m + (i + 1) % m}"
        low, high = f"x{2 * i}", f"x{2 * i + 1}"
        transitions += [
            Transition(here, following, A, Guard(frozenset([low]), frozenset([high]))),
            Transition(here, "end", symbol("b"), ge(low, high)),
            Transition(here, "end", symbol("c"), lt(low, high)),
        ]
    states = [State(f"s{i}", d=ONE) for i in range(3 * m)]
    automaton = raw([*states, State("end")], transitions)
    start = time.process_time()
    assert problems(automaton) == []
    assert time.process_time() - start < 1.5


def never_validated() -> Automaton:
    """Two transitions of one input state, guards ``true`` and ``insample >= t``: not deterministic."""
    states = (State("s", False, Fraction(1, 4)), State("q", True, Fraction(1, 2)), State("e"))
    transitions = (
        Transition("s", "q", symbol("a"), assign={"t"}),
        Transition("q", "q", symbol("b")),
        Transition("q", "e", symbol("c"), Guard(ge={"t"})),
    )
    return Automaton(states, "s", transitions, ("t",))


@pytest.mark.parametrize("ask", [symdipa.check, symdipa.compare, symdipa.dumps], ids=lambda f: f.__name__)
def test_what_takes_an_automaton_refuses_one_that_breaks_the_rules(ask):
    with pytest.raises(InvalidInput, match="determinism"):
        ask(never_validated())
    with pytest.raises(InvalidInput, match="is not a state"):
        ask(Automaton((), "s", (Transition("u", "v", symbol("a")),), ()))
    with pytest.raises(TypeError, match=r"symdipa\.load"):
        ask("svt.dipa")


def test_a_changed_automaton_is_validated_anew():
    valid = symdipa.load(ROOT / "examples" / "well_formed" / "svt.dipa")
    assert valid.is_validated and not replace(valid, name="other").is_validated
