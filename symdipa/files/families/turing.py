"""Machines with a bounded tape as automata: the paper's proof that the problem is hard.

The head position and the state of the machine are the control state. Cell ``i`` is the variable ``y_i``,
compared with ``x``, which is drawn once: ``y_i < x`` stands for 0, ``y_i >= x`` for 1.

* *Writing* stores a sample in ``y_i`` that is below ``x``, or not.
* *Reading* takes a sample between the two: ``insample >= y_i && insample < x`` cannot happen in a cell
  with 1, ``insample >= x && insample < y_i`` cannot in one with 0. So exactly one of the two branches is
  feasible. The symbol that was read is remembered in the control state until the new one is written; if
  that were shared, the machine could act on either.
* In all other cases the run ends.

So the only feasible long run is the machine's own, and each fact about the order follows from the cells.
A cycle of the machine's part assigns a cell that it reads. It leaks if the machine repeats a configuration;
a machine that halts has no cycle at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from symdipa.files.families.drafts import Branch, Draft
from symdipa.model.automaton import Automaton

QUARTER = Fraction(1, 4)
LEAK, HALT = "leak", "halt"
SYMBOLS = ("zero", "one")


@dataclass(frozen=True, slots=True)
class Rule:
    """What the machine does: write (``None``: nothing), go to the cell to the right or to the first."""

    write: int | None
    right: bool
    state: str


@dataclass(frozen=True, slots=True)
class Machine:
    """A deterministic machine that starts in its first state, at the first cell, all cells 0.

    ``rules`` has for each state what to do on 0 and on 1. ``beyond`` is the state in which the machine
    is when it goes right from the last cell: ``"leak"`` (a leaking pair), ``"halt"``, or a state of the
    machine, then at the first cell. Rules may also lead to ``"leak"`` or ``"halt"``.
    """

    rules: dict[str, tuple[Rule, Rule]]
    beyond: str

    def automaton(self, cells: int, name: str) -> Automaton:
        """The machine on a tape of ``cells`` cells."""
        return _Compiler(self, cells).automaton(name)


ADD_ONE = (Rule(1, False, "add"), Rule(0, True, "add"))
OVERFLOWING = Machine({"add": ADD_ONE}, beyond=LEAK)
WRAPPING = Machine({"add": ADD_ONE}, beyond="add")
IN_TWOS = Machine(
    {
        "check": (Rule(None, True, "carry"), Rule(None, False, LEAK)),
        "carry": (Rule(1, False, "check"), Rule(0, True, "carry")),
    },
    beyond=HALT,
)


def turing_overflow(n: int) -> Automaton:
    """A binary counter of n bits; when it overflows, after ``2**n`` additions, two loops leak.

    A leaking pair, whose loops are first reached after ``2**(n + 2) + n - 3`` steps; no other pattern.
    ``n + 1`` variables, ``4 n + 2`` states, ``5 n + 3`` transitions, ``2**(n + 2) + n - 2`` augmented states.
    """
    return OVERFLOWING.automaton(n, f"turing-overflow-{n}")


def turing_wrap(n: int) -> Automaton:
    """A binary counter of n bits that starts again when it overflows, for ever.

    A leaking cycle of ``2**(n + 2) - 4`` steps, and none that is shorter; no other pattern. ``n + 1``
    variables, ``4 n + 1`` states, ``5 n + 1`` transitions, ``2**(n + 2) + n - 3`` augmented states.
    """
    return WRAPPING.automaton(n, f"turing-wrap-{n}")


def turing_odd(n: int) -> Automaton:
    """A binary counter of n bits that counts in twos, would leak at an odd number, and halts at its overflow.

    Private: the first bit stays 0, and no configuration occurs twice. The bound grows with the running time:
    every step has ``d = 1/4``, so ``D = (5 * 2**(n - 1) + n)/2 - 7/4``. ``n + 1`` variables, ``4 n + 1``
    states, ``5 n + 1`` transitions, ``5 * 2**(n - 1) + n - 2`` augmented states.
    """
    return IN_TWOS.automaton(n, f"turing-odd-{n}")


class _Compiler:
    """Adds the states of a machine that its control can reach, each once."""

    def __init__(self, machine: Machine, cells: int) -> None:
        self.machine, self.cells = machine, cells
        self.draft = Draft()
        self.todo: list[tuple[str, int]] = []
        self.known: set[str] = set()

    def automaton(self, name: str) -> Automaton:
        self.draft.draw("q0", QUARTER, Branch("start", "c1", store="x"))
        start = self.at(next(iter(self.machine.rules)), 1)
        for i in range(1, self.cells + 1):
            onward = f"c{i + 1}" if i < self.cells else start
            self.draft.read(f"c{i}", QUARTER, Branch("clear", onward, lt="x", store=f"y{i}"))
        for state, i in self.todo:  # grows while it is walked
            self.add(state, i)
        return self.draft.finish(name)

    def at(self, state: str, cell: int) -> str:
        """The control state for a state of the machine at a cell; it is noted down if it is new."""
        if cell > self.cells:
            state, cell = self.machine.beyond, 1
        name = state if state in (LEAK, HALT) else f"{state}{cell}"
        if name not in self.known:
            self.known.add(name)
            self.todo.append((state, cell))
        return name

    def add(self, state: str, i: int) -> None:
        if state == HALT:
            self.draft.end(HALT)
        elif state == LEAK:
            low, high = Branch("low", LEAK, lt="x"), Branch("high", LEAK, ge="x")
            self.draft.read(LEAK, QUARTER, low, high)
        else:
            self.step(f"{state}{i}", i, self.machine.rules[state])

    def step(self, here: str, i: int, rules: tuple[Rule, Rule]) -> None:
        """Read cell ``i``, then write it in a state of its own for each symbol read."""
        cell = f"y{i}"
        after = [self.at(rule.state, i + 1 if rule.right else 1) for rule in rules]
        writing = [
            onward if rule.write is None else f"{here}{read}"
            for rule, read, onward in zip(rules, SYMBOLS, after, strict=True)
        ]
        zero = Branch("zero", writing[0], ge=cell, lt="x")
        one = Branch("one", writing[1], ge="x", lt=cell)
        self.draft.read(here, QUARTER, zero, one)
        for rule, name, onward in zip(rules, writing, after, strict=True):
            if rule.write is not None:
                ge, lt = ("x", "") if rule.write else ("", "x")
                self.draft.read(name, QUARTER, Branch("write", onward, ge=ge, lt=lt, store=cell))
