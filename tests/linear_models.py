"""Small automata of the wider model, built by hand."""

from __future__ import annotations

from fractions import Fraction as F

from symdipa.model.automaton import (
    INSAMPLE,
    Atom,
    Automaton,
    Guard,
    Noise,
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


def term(text: str | int | F) -> Term:
    """``x``, ``-x``, ``insample`` or a number."""
    if not isinstance(text, str):
        return Term(None, F(text))
    return Term(text.lstrip("-"), mirrored=text.startswith("-"))


def below(low: str | int | F | Term, high: str | int | F | Term, strict: bool = True) -> Atom:
    """The comparison ``low < high``, or ``<=``."""
    low, high = (x if isinstance(x, Term) else term(x) for x in (low, high))
    return atom(low, high, strict)


def at_most(low: str | int | F | Term, high: str | int | F | Term) -> Atom:
    return below(low, high, False)


def build(states: list[State], rows: list[tuple[object, ...]], integer: bool = False) -> Automaton:
    """Rows are source, atoms, assigned, output, target, and copies if there are any."""
    transitions = []
    for source, atoms, assign, output, target, *copies in rows:
        shown = symbol(output) if isinstance(output, str) else output
        guard = guarded(atoms, integer) if atoms else Guard()
        transitions.append(Transition(source, target, shown, guard, frozenset(assign), *copies))
    names = [s.name for s in states]
    for t in transitions:
        if t.target not in names:
            names.append(t.target)
            states = [*states, State(t.target)]
    found = Automaton(
        tuple(states), states[0].name, tuple(transitions), variables_of(transitions), integer=integer
    )
    return found.trusted()


def drawn(name: str, d: F, mu: int | F = 0, noise: Noise = Noise.LAPLACE) -> State:
    """A state that draws without input."""
    return State(name, False, None if noise is Noise.NONE else F(d), F(mu), noise=noise)


def asked(name: str, d: F, mu: int | F = 0, noise: Noise = Noise.LAPLACE) -> State:
    """A state that reads an input and draws around it."""
    return State(name, True, None if noise is Noise.NONE else F(d), F(mu), noise=noise)


def silent(name: str) -> State:
    return State(name, False, draws=False)


def gap_svt(c: int = 2, integer: bool = False, gap: bool = True, d: F = F(1, 8)) -> Automaton:
    """SVT that shows by how much a query exceeds the threshold, ``c`` times; thresholds 1/2."""
    states = [drawn("t", F(1, 2))] + [asked(f"q{k}", d) for k in range(c)]
    rows: list[tuple[object, ...]] = [("t", [], {"t"}, "start", "q0")]
    for k in range(c):
        over = several(symbol("high"), difference("insample", "t")) if gap else symbol("high")
        rows.append((f"q{k}", [below("insample", "t")], (), "low", f"q{k}"))
        rows.append((f"q{k}", [at_most("t", "insample")], (), over, f"q{k + 1}" if k + 1 < c else "end"))
    return build(states, rows, integer)


def endless_gap() -> Automaton:
    """The same without cutoff."""
    over = several(symbol("high"), difference("insample", "t"))
    return build(
        [drawn("t", F(1, 2)), asked("q", F(1, 8))],
        [
            ("t", [], {"t"}, "start", "q"),
            ("q", [below("insample", "t")], (), "low", "q"),
            ("q", [at_most("t", "insample")], (), over, "q"),
        ],
    )


def constants(loop: bool = False, noise: Noise = Noise.LAPLACE) -> Automaton:
    """Two tests of 1/2 each against constants; or one, for ever."""
    if loop:
        return build(
            [asked("q", F(1, 2), noise=noise)],
            [("q", [below("insample", 5)], (), "low", "q"), ("q", [at_most(5, "insample")], (), "high", "q")],
        )
    return build(
        [asked("a", F(1, 2)), asked("b", F(1, 2))],
        [
            ("a", [below("insample", 5)], (), "low", "b"),
            ("a", [at_most(5, "insample")], (), "high", "b"),
            ("b", [below("insample", -3)], (), "low", "end"),
            ("b", [at_most(-3, "insample")], (), "high", "end"),
        ],
    )


def absolute(answers: int = 1, integer: bool = False) -> Automaton:
    """``abs(insample)`` against one noisy threshold at 1/4, queries at 1/8, until so many are outside."""
    states = [drawn("t", F(1, 4), 2)] + [asked(f"q{k}", F(1, 8)) for k in range(answers)]
    rows: list[tuple[object, ...]] = [("t", [], {"t"}, "start", "q0")]
    for k in range(answers):
        after = f"q{k + 1}" if k + 1 < answers else "end"
        rows.append((f"q{k}", [at_most("t", "insample")], (), "out", after))
        rows.append((f"q{k}", [below("insample", "t"), at_most("insample", "-t")], (), "out", after))
        rows.append((f"q{k}", [below("insample", "t"), below("-t", "insample")], (), "in", f"q{k}"))
    return build(states, rows, integer)


def exponential_svt(integer: bool = False) -> Automaton:
    """SVT, exponential noise of 1/2 and 1/4, one answer."""
    return build(
        [drawn("t", F(1, 2), 0, Noise.EXPONENTIAL), asked("q", F(1, 4), 0, Noise.EXPONENTIAL)],
        [
            ("t", [], {"t"}, "start", "q"),
            ("q", [below("insample", "t")], (), "low", "q"),
            ("q", [at_most("t", "insample")], (), "high", "end"),
        ],
        integer,
    )


def noisy_max(
    n: int = 3, noise: Noise = Noise.LAPLACE, release: bool = True, integer: bool = False
) -> Automaton:
    """Report Noisy Max of ``n`` queries at 1/2, shown at the end, its value released by a silent state."""
    states, rows = [asked("first", F(1, 2), 0, noise)], []
    rows.append(("first", [], {"m"}, "next", "q1_0"))
    for k in range(1, n):
        for best in range(k):
            states.append(asked(f"q{k}_{best}", F(1, 2), 0, noise))
            for wins, guard in ((k, [at_most("m", "insample")]), (best, [below("insample", "m")])):
                target = f"q{k + 1}_{wins}" if k + 1 < n else f"show_{wins}"
                rows.append((f"q{k}_{best}", guard, {"m"} if wins == k else (), "next", target))
    for best in range(n):
        states.append(silent(f"show_{best}"))
        shown = several(symbol(f"is{best}"), value("m")) if release else symbol(f"is{best}")
        rows.append((f"show_{best}", [], (), shown, "end"))
    return build(states, rows, integer)


def two_thresholds() -> Automaton:
    """Two thresholds at 1/4, compared with each other by a silent state, then a range test at 1/4."""
    return build(
        [drawn("low", F(1, 4)), drawn("high", F(1, 4), 1), silent("check"), asked("q", F(1, 4))],
        [
            ("low", [], {"x"}, "o", "high"),
            ("high", [], {"y"}, "o", "check"),
            ("check", [below("x", "y")], (), "fine", "q"),
            ("check", [at_most("y", "x")], (), "empty", "end"),
            ("q", [at_most("x", "insample"), below("insample", "y")], (), "in", "q"),
            ("q", [below("insample", "x"), below("insample", "y")], (), "below", "end"),
            ("q", [at_most("x", "insample"), at_most("y", "insample")], (), "above", "end"),
        ],
    )


def last_two() -> Automaton:
    """Keeps the last two of three samples by copying, 1/2 each, and compares these."""
    return build(
        [asked("a", F(1, 2)), asked("b", F(1, 2)), asked("c", F(1, 2)), silent("end")],
        [
            ("a", [], {"x"}, "o", "b"),
            ("b", [], {"x"}, "o", "c", (("y", "x"),)),
            ("c", [], {"x"}, "o", "end", (("y", "x"),)),
            ("end", [below("x", "y")], (), "less", "stop"),
            ("end", [at_most("y", "x")], (), "more", "stop"),
        ],
    )


def exact_query(c: int | None = None) -> Automaton:
    """SVT without query noise."""
    return build(
        [drawn("t", F(1, 2)), asked("q", F(0), noise=Noise.NONE)],
        [
            ("t", [], {"t"}, "start", "q"),
            ("q", [below("insample", "t")], (), "low", "q"),
            ("q", [at_most("t", "insample")], (), "high", "q" if c is None else "end"),
        ],
    )


def shown_once(noise: Noise, integer: bool = False) -> Automaton:
    """One sample at 1/2, shown."""
    return build([asked("q", F(1, 2), noise=noise)], [("q", [], (), INSAMPLE, "end")], integer)
