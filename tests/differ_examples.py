"""Streaming mechanisms, and their wrong twins: sums of entries, and who may differ.

``ROWS`` has the answers that must come out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction as F
from itertools import pairwise

import linear_examples as known
from linear_examples import S, less, most, noisy, query, step

from symdipa.model.adjacency.differ import differ
from symdipa.model.automaton import (
    INSAMPLE,
    Automaton,
    Noise,
    Output,
    State,
    Transition,
    Update,
    several,
    symbol,
)
from symdipa.model.automaton import difference as gap

ONE = F(1)


def under(text: str, automaton: Automaton) -> Automaton:
    """The automaton, where entries differ so."""
    return replace(automaton, differ=differ(text))


def summing(state: State, *registers: str) -> State:
    """The state, with registers added to its means."""
    return replace(state, registers=tuple((r, ONE) for r in registers))


def adding(each: Transition, **updates: str) -> Transition:
    """The transition with updates: ``s="s+input"``, ``s="input"``, ``s="0"``, ``s="r"``."""
    found = []
    for register, text in updates.items():
        source, _, entry = text.partition("+")
        adds = "input" in (source, entry)
        found.append(Update(register, None if source in ("0", "input") else source, adds))
    return replace(each, updates=tuple(found))


def made(states: Iterable[State], *steps: Transition) -> Automaton:
    return known.made(states, *steps)


def reading(name: str) -> State:
    return State(name, True, draws=False)


def released_sum(d: F = ONE) -> Automaton:
    """Entries are added up as long as a noisy number is above 0; then the sum is shown."""
    return made(
        [reading("first"), noisy("more", ONE), reading("next"), summing(noisy("sum", d), "s")],
        adding(step("first", "more", "read"), s="input"),
        step("more", "next", "more", most(0, S)),
        step("more", "sum", "enough", less(S, 0)),
        adding(step("next", "more", "read"), s="s+input"),
        step("sum", "end", INSAMPLE),
    )


def partial_sum(count: int, d: F = ONE) -> Automaton:
    """The sum of so many entries is shown."""
    states = [*(reading(f"q{k}") for k in range(count)), summing(noisy(f"q{count}", d), "s")]
    steps = [adding(step(f"q{k}", f"q{k + 1}", "read"), s="s+input" if k else "input") for k in range(count)]
    return made(states, *steps, step(f"q{count}", "end", INSAMPLE))


def noisy_entries(d: F = ONE) -> Automaton:
    """Every entry is shown with noise, for ever: prefix sums are sums of these."""
    return made([query("q", d)], step("q", "q", INSAMPLE))


def fresh_sums(d: F = ONE) -> Automaton:
    """The wrong twin: the whole sum is shown with fresh noise in every step."""
    return made(
        [query("first", d), summing(query("q", d), "s")],
        adding(step("first", "q", INSAMPLE), s="input"),
        adding(step("q", "q", INSAMPLE), s="s+input"),
    )


def smart_sum(block: int, d: F = ONE, noise: Noise = Noise.LAPLACE) -> Automaton:
    """Entries of a block are shown one by one; its last step shows the sum of the block instead."""
    states, steps = [], []
    for k in range(block - 1):
        states.append(query(f"q{k}", d))
        steps.append(adding(step(f"q{k}", f"q{k + 1}", INSAMPLE), s="s+input" if k else "input"))
    last = query(f"q{block - 1}", None if noise is Noise.NONE else d, noise)
    states.append(summing(last, *["s"] * (block > 1)))
    return made(states, *steps, step(f"q{block - 1}", "q0", INSAMPLE))


def tree(leaves: int, d: F) -> Automaton:
    """The sum of every node of a binary tree over the entries is shown, as soon as it is known; for ever."""
    levels = leaves.bit_length() - 1
    states, steps = [], []
    for i in range(leaves):
        updates = {f"s{n}": "s{n}+input" if i % 2**n else "input" for n in range(1, levels + 1)}
        updates = {s: text.replace("s{n}", s) for s, text in updates.items()}
        whole = [n for n in range(1, levels + 1) if (i + 1) % 2**n == 0]
        names = [f"leaf{i}", *(f"node{i}_{n}" for n in whole), f"leaf{(i + 1) % leaves}"]
        states.append(query(names[0], d))
        states += [summing(noisy(f"node{i}_{n}", d), f"s{n}") for n in whole]
        steps.append(adding(step(names[0], names[1], INSAMPLE), **updates))
        steps += [step(here, there, INSAMPLE) for here, there in pairwise(names[1:])]
    return made(states, *steps)


def sliding_sums(width: int, d: F) -> Automaton:
    """In every step the sum of the last entries is shown."""
    olds = [f"a{k}" for k in range(1, width)]
    start = adding(step("first", "q", "start"), **dict.fromkeys(olds, "0"))
    shifts = dict(zip(olds, ["input", *olds], strict=False))
    return made(
        [known.silent("first"), summing(query("q", d), *olds)],
        start,
        adding(step("q", "q", INSAMPLE), **shifts),
    )


def adaptive() -> Automaton:
    """Adaptive SVT, one answer: a coarse test with its mean lowered, then a finer one of the same entry."""

    def shown(name: str) -> Output:
        return several(symbol(name), gap(S, "t"))

    return made(
        [noisy("a", F(1, 2)), query("coarse", F(1, 16), mu=-16), summing(noisy("fine", F(1, 8)), "r")],
        step("a", "coarse", "start", store="t"),
        step("coarse", "end", shown("top"), most("t", S)),
        adding(step("coarse", "fine", "no", less(S, "t")), r="input"),
        step("fine", "end", shown("middle"), most("t", S)),
        step("fine", "coarse", "bottom", less(S, "t")),
    )


def records(d: F = ONE) -> Automaton:
    """A noisy sum has to exceed the last one again and again.

    All records are in order. So each of ``n`` before the entry that differs, and of ``n`` after it, costs
    something: two loops leak together, and neither of them alone.
    """
    return made(
        [noisy("first", d), summing(query("q", d), "r")],
        adding(step("first", "q", "start", store="x"), r="0"),
        adding(step("q", "q", "record", most("x", S), store="x"), r="r+input"),
    )


def svt_for_ever() -> Automaton:
    return known.svt(None, queries=F(3, 4))


Row = tuple[str, Callable[[], Automaton], str, F | None]

ROWS: list[Row] = [
    ("released sum", released_sum, "entries=1", F(1)),
    ("released sum, two entries", released_sum, "entries=2", F(2)),
    ("released sum, window", released_sum, "window=3", F(3)),
    ("partial sum", lambda: partial_sum(4), "entries=1", F(1)),
    ("partial sum, every entry", lambda: partial_sum(4), "all", F(4)),
    ("noisy entries", noisy_entries, "entries=1", F(1)),
    ("noisy entries, pattern", noisy_entries, "pattern==*~=*", F(1)),
    ("noisy entries, every third one", noisy_entries, "pattern=(==~)*", None),
    ("noisy entries, until one differs", noisy_entries, "pattern==*~", F(1)),
    ("fresh sums", fresh_sums, "entries=1", None),
    ("fresh sums, five entries read", fresh_sums, "pattern=~={4}", F(5)),
    *((f"smart sum, blocks of {n}", lambda n=n: smart_sum(n), "entries=1", F(2)) for n in range(2, 7)),
    ("smart sum, blocks of 1", lambda: smart_sum(1), "entries=1", F(1)),
    ("smart sum, two entries", lambda: smart_sum(3), "entries=2", F(4)),
    ("smart sum, block without noise", lambda: smart_sum(3, noise=Noise.NONE), "entries=1", None),
    *(
        (f"tree over {n} leaves", lambda n=n: tree(n, F(1, n.bit_length())), "entries=1", F(1))
        for n in (2, 4, 8, 16, 32)
    ),
    ("tree, three entries", lambda: tree(4, F(1, 2)), "entries=3", F(9, 2)),
    ("histogram", known.histogram, "entries=1", F(1)),
    ("histogram, every entry", known.histogram, "all", F(5)),
    ("SVT for ever", svt_for_ever, "entries=1", F(3, 4)),
    ("SVT for ever, window", svt_for_ever, "window=3", F(9, 4)),
    ("SVT for ever, every entry", svt_for_ever, "all", None),
    ("SVT for ever, the first two entries", svt_for_ever, "pattern=~~=*", F(3, 2)),
    ("sliding sums", lambda: sliding_sums(3, F(1, 3)), "entries=1", F(1)),
    ("sliding sums, window", lambda: sliding_sums(3, F(1, 3)), "window=3", F(3)),
    ("sliding sums, every entry", lambda: sliding_sums(3, F(1, 3)), "all", None),
    ("adaptive, the same entry", adaptive, "all", F(3, 4)),
]
"""Name, automaton, who may differ, and ``D`` (``None``: not private)."""
