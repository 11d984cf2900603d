"""Mechanisms of the wider model whose constants were found by an independent program, as automata.

``ROWS`` has all answers that must come out, but for mechanisms that need registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

import linear_judge as judge

from symdipa.model.automaton import (
    INSAMPLE,
    Atom,
    Automaton,
    Noise,
    Output,
    State,
    Term,
    Transition,
    atom,
    difference,
    guarded,
    several,
    symbol,
    value,
    variables_of,
)

F = Fraction
HALF, QUARTER, EIGHTH = F(1, 2), F(1, 4), F(1, 8)
S = "insample"


def term(text: str | int | Fraction | Term) -> Term:
    """``"t"``, ``"-t"``, a number, or a term."""
    if isinstance(text, Term):
        return text
    if isinstance(text, str):
        return Term(text.removeprefix("-"), mirrored=text.startswith("-"))
    return Term(None, F(text))


def less(a: str | int | Term, b: str | int | Term) -> Atom:
    """``a < b``."""
    return atom(term(a), term(b), True)


def most(a: str | int | Term, b: str | int | Term) -> Atom:
    """``a <= b``."""
    return atom(term(a), term(b), False)


def step(
    source: str,
    target: str,
    output: Output | str,
    *atoms: Atom,
    store: Iterable[str] = (),
    copy: Iterable[tuple[str, str | int]] = (),
    integer: bool = False,
) -> Transition:
    """A transition; a text as output is a symbol."""
    shown = symbol(output) if isinstance(output, str) else output
    copies = tuple((x, y if isinstance(y, str) else F(y)) for x, y in copy)
    return Transition(source, target, shown, guarded(atoms, integer), frozenset(store), copies)


def made(states: Iterable[State], *steps: Transition, integer: bool = False) -> Automaton:
    """The automaton; targets without a state are terminal."""
    known = {state.name: state for state in states}
    initial = next(iter(known))
    for each in steps:
        known.setdefault(each.target, State(each.target))
    return Automaton(tuple(known.values()), initial, steps, variables_of(steps), integer=integer)


def query(name: str, d: Fraction | None, noise: Noise = Noise.LAPLACE, mu: int = 0) -> State:
    """A state that reads an entry and draws around it."""
    return State(name, True, d, F(mu), noise=noise)


def noisy(name: str, d: Fraction | None, noise: Noise = Noise.LAPLACE, mu: int = 0) -> State:
    """A state that draws around a constant."""
    return State(name, False, d, F(mu), noise=noise)


def silent(name: str) -> State:
    return State(name, False, draws=False)


def svt(
    cutoff: int | None,
    threshold: Fraction = HALF,
    queries: Fraction | None = EIGHTH,
    gap: bool = False,
    noise: Noise = Noise.LAPLACE,
    query_noise: Noise | None = None,
) -> Automaton:
    """The sparse vector technique with one threshold for all answers, of which there are ``cutoff``."""
    high = several(symbol("high"), difference(S, "t")) if gap else symbol("high")
    states, steps = [noisy("a", threshold, noise)], [step("a", "q0", "start", store="t")]
    for k in range(1 if cutoff is None else cutoff):
        here, after = f"q{k}", "q0" if cutoff is None else f"q{k + 1}"
        states.append(query(here, queries, query_noise or noise))
        steps += [step(here, after, high, most("t", S)), step(here, here, "low", less(S, "t"))]
    return made(states, *steps)


def against_five() -> Automaton:
    """Queries are compared with a constant for ever."""
    return made(
        [query("q", F(1, 2))],
        step("q", "q", "low", less(S, 5)),
        step("q", "end", "high", most(5, S)),
    )


def two_tests() -> Automaton:
    """Two queries are compared with constants, once each."""
    return made(
        [query("p", F(1, 2)), query("q", F(1, 2))],
        step("p", "q", "low", less(S, 5)),
        step("p", "q", "high", most(5, S)),
        step("q", "end", "low", less(S, -3)),
        step("q", "end", "high", most(-3, S)),
    )


def noisy_max(
    count: int, d: Fraction = HALF, noise: Noise = Noise.LAPLACE, released: bool = False
) -> Automaton:
    """The index of the largest of so many noisy entries, with its value if wanted; nothing else is shown."""
    states, steps = [query("q1_1", d, noise)], [step("q1_1", "q2_1", "read", store="m")]
    for k in range(2, count + 1):
        for best in range(1, k):
            here = f"q{k}_{best}"
            states.append(query(here, d, noise))
            steps.append(step(here, f"q{k + 1}_{k}", "read", most("m", S), store="m"))
            steps.append(step(here, f"q{k + 1}_{best}", "read", less(S, "m")))
    for best in range(1, count + 1):
        here = f"q{count + 1}_{best}"
        states.append(silent(here))
        index = symbol(f"index{best}")
        steps.append(step(here, "end", several(index, value("m")) if released else index))
    return made(states, *steps)


def adaptive() -> Automaton:
    """Adaptive SVT, one answer: a coarse test with its mean lowered, then a finer one.

    The finer test reads an entry of its own here, instead of the same one again.
    """
    return made(
        [noisy("a", F(1, 2)), query("coarse", F(1, 16), mu=-16), query("fine", F(1, 8))],
        step("a", "coarse", "start", store="t"),
        step("coarse", "end", several(symbol("top"), difference(S, "t")), most("t", S)),
        step("coarse", "fine", "no", less(S, "t")),
        step("fine", "end", several(symbol("middle"), difference(S, "t")), most("t", S)),
        step("fine", "coarse", "bottom", less(S, "t")),
    )


def histogram() -> Automaton:
    """Five entries, each shown with noise."""
    return made(
        [query(f"q{k}", F(1)) for k in range(5)], *(step(f"q{k}", f"q{k + 1}", INSAMPLE) for k in range(5))
    )


def one_exponential() -> Automaton:
    """One entry is shown with one-sided noise."""
    return made([query("q", F(1), Noise.EXPONENTIAL)], step("q", "end", INSAMPLE))


def sorted_range() -> Automaton:
    """Two thresholds are sorted by a silent state, then queries are tested until one is outside of them."""
    return made(
        [noisy("p", F(1, 4)), noisy("q", F(1, 4)), silent("s"), query("r", F(1, 4))],
        step("p", "q", "start", store="a"),
        step("q", "s", "start", store="b"),
        step("s", "r", "sorted", less("a", "b")),
        step("s", "r", "swapped", most("b", "a"), copy=[("a", "b"), ("b", "a")]),
        step("r", "r", "inside", most("a", S), less(S, "b")),
        step("r", "end", "below", less(S, "a"), less(S, "b")),
        step("r", "end", "above", most("a", S), most("b", S)),
    )


def absolute(answers: int, threshold: Fraction = QUARTER, queries: Fraction = EIGHTH) -> Automaton:
    """One noisy threshold for the absolute value of queries, until so many are outside."""
    states, steps = [noisy("a", threshold)], [step("a", "q0", "start", store="t")]
    for k in range(answers):
        here = f"q{k}"
        states.append(query(here, queries))
        steps += [
            step(here, here, "inside", less(S, "t"), less("-t", S)),
            step(here, f"q{k + 1}", "above", most("t", S)),
            step(here, f"q{k + 1}", "below", less(S, "t"), most(S, "-t")),
        ]
    return made(states, *steps)


def released_threshold() -> Automaton:
    """A threshold is compared for ever, and then released."""
    return made(
        [noisy("a", F(1, 2)), query("q", F(1, 4))],
        step("a", "q", "start", store="t"),
        step("q", "q", "low", less(S, "t")),
        step("q", "end", several(symbol("high"), value("t")), most("t", S)),
    )


def last_two() -> Automaton:
    """The last two of three samples are kept by copying, and released."""
    return made(
        [*(query(f"q{k}", F(1, 2)) for k in range(3)), silent("s")],
        step("q0", "q1", "read", store="y"),
        step("q1", "q2", "read", store="y", copy=[("x", "y")]),
        step("q2", "s", "read", store="y", copy=[("x", "y")]),
        step("s", "end", several(value("x"), value("y"))),
    )


def record() -> Automaton:
    """A record is broken again and again."""
    return made(
        [query("p", F(1, 2)), query("q", F(1, 4))],
        step("p", "q", "start", store="x"),
        step("q", "q", "record", most("x", S), store="x"),
        step("q", "end", "below", less(S, "x")),
    )


def harmless_cycle() -> Automaton:
    """A loop stores noise below ``x`` in ``x`` and compares an entry with ``t``: a leaking cycle, and a D."""
    return made(
        [noisy("p", F(1, 2)), noisy("q", F(1, 2)), noisy("a", F(1, 2)), query("b", F(1, 2))],
        step("p", "q", "start", store="x"),
        step("q", "a", "start", store="t"),
        step("a", "b", "noise", less(S, "x"), store="x"),
        step("b", "a", "low", less(S, "t")),
        step("b", "end", "high", most("t", S)),
    )


EXP, NONE = Noise.EXPONENTIAL, Noise.NONE

ROWS: list[tuple[str, Callable[[], Automaton], judge.Differ, Fraction | None]] = [
    ("gap", lambda: svt(2, gap=True), judge.ALL, F(1)),
    ("gap for ever", lambda: svt(None, gap=True), judge.ALL, None),
    ("queries without noise", lambda: svt(1, queries=None, query_noise=NONE), judge.ALL, None),
    ("queries without noise for ever", lambda: svt(None, queries=None, query_noise=NONE), judge.ALL, None),
    ("constant in a loop", against_five, judge.ALL, None),
    ("two tests of constants", two_tests, judge.ALL, F(1)),
    ("noisy max with its value", lambda: noisy_max(3, released=True), judge.ALL, F(3, 2)),
    ("adaptive", adaptive, judge.ALL, F(3, 4)),
    ("histogram, one entry", histogram, judge.entries(1), F(1)),
    ("histogram", histogram, judge.ALL, F(5)),
    ("SVT for ever, one entry", lambda: svt(None, queries=F(3, 4)), judge.entries(1), F(3, 4)),
    ("SVT for ever, window", lambda: svt(None, queries=F(3, 4)), judge.window(3), F(9, 4)),
    ("SVT for ever", lambda: svt(None, queries=F(3, 4)), judge.ALL, None),
    ("SVT with exponential noise", lambda: svt(1, queries=F(1, 4), noise=EXP), judge.ALL, F(1)),
    ("noisy max with exponential noise", lambda: noisy_max(2, noise=EXP), judge.ALL, F(1)),
    ("exponential sample shown", one_exponential, judge.ALL, None),
    ("sorted thresholds", sorted_range, judge.ALL, F(1)),
    ("absolute value", lambda: absolute(1), judge.ALL, F(1, 2)),
    ("absolute value, two answers", lambda: absolute(2), judge.ALL, F(3, 4)),
    ("threshold released", released_threshold, judge.ALL, None),
    ("last two", last_two, judge.ALL, F(1)),
    ("harmless leaking cycle", harmless_cycle, judge.ALL, F(3, 2)),
    ("record", record, judge.ALL, None),
]  # fmt: skip
"""Name, automaton, who may differ, and ``D`` of single runs (``None``: not private)."""
