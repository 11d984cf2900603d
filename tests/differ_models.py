"""Small automata with sums of inputs, and automata of which few entries differ, built by hand."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction as F

from symdipa.model.automaton import (
    INSAMPLE,
    Automaton,
    Guard,
    Noise,
    Output,
    State,
    Transition,
    Update,
    symbol,
)

Row = tuple[State, str, Output, str, Guard, frozenset[str]]

ABOVE, BELOW = Guard(ge=frozenset({"t"})), Guard(lt=frozenset({"t"}))


def updates(text: str) -> tuple[Update, ...]:
    """``s := 0, r := input, s := r, s += input``."""
    found = []
    for part in text.split(", ") if text else ():
        register, sign, new = part.split()[:3]
        source = register if sign == "+=" else None if new in ("0", "input") else new
        found.append(Update(register, source, new == "input" or part.endswith("+ input")))
    return tuple(found)


def shown(name: str, target: str, text: str = "", output: Output = INSAMPLE) -> Transition:
    """A step that shows its sample, and changes registers."""
    return Transition(name, target, output, updates=updates(text))


def noisy(name: str, d: F | int, *registers: str, reads: bool = True, noise: Noise = Noise.LAPLACE) -> State:
    """A state that draws around an entry, or not, and the sum of some registers."""
    scale = None if noise is Noise.NONE else F(d)
    return State(name, reads, scale, noise=noise, registers=tuple((r, F(1)) for r in registers))


def zero(target: str, text: str = "s := 0") -> tuple[State, Transition]:
    """A first step that only sets registers."""
    return State("zero", False, draws=False), Transition(
        "zero", target, symbol("start"), updates=updates(text)
    )


def prefix_sums(differ: str = "entries=1", d: F | int = 1) -> Automaton:
    """Each entry is shown once, with noise; sums of these are sums for all to make."""
    return Automaton.build([noisy("q", d)], [shown("q", "q")], differ=differ)


def whole_sum(differ: str = "entries=1", d: F | int = 1) -> Automaton:
    """The wrong twin: the sum of all entries so far with fresh noise in every step."""
    start, first = zero("q")
    return Automaton.build([start, noisy("q", d, "s")], [first, shown("q", "q", "s += input")], differ=differ)


def smart_sum(
    length: int = 3,
    differ: str = "entries=1",
    d: F | int = 1,
    reset: bool = True,
    block: Noise = Noise.LAPLACE,
) -> Automaton:
    """Each entry is shown with noise, the last of a block of so many together with the sum of the block.

    The wrong twins: without ``reset`` sums go on for ever; the sum of a ``block`` without noise.
    """
    start, first = zero("q0")
    last = f"q{length - 1}"
    states = [start, *(noisy(f"q{k}", d) for k in range(length - 1)), noisy(last, d, "s", noise=block)]
    steps = [first]
    for k in range(length - 1):
        steps.append(shown(f"q{k}", f"q{k + 1}", "s := input" if reset and not k else "s += input"))
    steps.append(shown(last, "q0", "" if reset else "s += input"))
    return Automaton.build(states, steps, differ=differ)


def tree(differ: str = "entries=1", d: F = F(1, 3)) -> Automaton:
    """A binary tree over four leaves, each node shown with noise, repeated for ever."""
    leaves = [noisy(f"leaf{k}", d) for k in range(4)]
    nodes = [
        noisy("left", d, "s", reads=False),
        noisy("right", d, "s", reads=False),
        noisy("root", d, "w", reads=False),
    ]
    steps = [
        shown("leaf0", "leaf1", "s := input, w := input"),
        shown("leaf1", "left", "s += input, w += input"),
        shown("left", "leaf2"),
        shown("leaf2", "leaf3", "s := input, w += input"),
        shown("leaf3", "right", "s += input, w += input"),
        shown("right", "root"),
        shown("root", "leaf0"),
    ]
    return Automaton.build([*leaves, *nodes], steps, differ=differ)


def svt(differ: str = "entries=1", first: F = F(1, 2), query: F = F(3, 4)) -> Automaton:
    """The sparse vector technique without cutoff."""
    return Automaton.build(
        [State("t", False, first), State("q", True, query)],
        [
            Transition("t", "q", symbol("start"), assign=frozenset({"t"})),
            Transition("q", "q", symbol("above"), ABOVE),
            Transition("q", "q", symbol("below"), BELOW),
        ],
        differ=differ,
    )


def sum_above(d: F = F(1, 4), differ: str = "entries=1", queries: Sequence[str] = ("s",)) -> Automaton:
    """Whether the sum of three entries lies above a noisy threshold, asked so many times; then it starts
    again."""
    start, first = zero("draw")
    states = [start, State("draw", False, d), *(State(f"r{k}", draws=False) for k in range(3))]
    steps = [first, Transition("draw", "r0", symbol("drawn"), assign=frozenset({"t"}))]
    for k in range(3):
        following = f"r{k + 1}" if k < 2 else "a0"
        text = "s := input" if not k else "s += input"
        steps.append(Transition(f"r{k}", following, symbol("read"), updates=updates(text)))
    for k, register in enumerate(queries):
        states.append(noisy(f"a{k}", d, register, reads=False))
        following = f"a{k + 1}" if k + 1 < len(queries) else "r0"
        steps.append(Transition(f"a{k}", following, symbol("above"), ABOVE))
        steps.append(Transition(f"a{k}", following, symbol("below"), BELOW))
    return Automaton.build(states, steps, differ=differ)
