"""C programs on numbers: run as the front end understands them, by a C compiler, and as automata; and random
ones."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from symdipa.model.parts import SAMPLE, SECOND_SAMPLE, Atom, Noise, Output
from symdipa.programs import c
from symdipa.programs.automaton import QUIET, READ, Translation


class Numbers:
    """In place of a trace, one that knows the entries, and the noise of each scale: a run on numbers.

    Noise that does not matter is not drawn, so an order of samples would mean nothing.
    """

    def __init__(self, entries: Iterable[Fraction], noise: Sequence[Fraction]) -> None:
        self.entries, self.samples = iter(entries), noise
        self.shown: list[Any] = []
        self.where: Any = None

    def point(self, place: object, line: int, values: Mapping[str, object]) -> None:
        pass

    def read(self) -> Fraction:
        return next(self.entries)

    def noise(self, kind: object, d: Fraction, site: object) -> Fraction:
        return self.samples[int(1 / d)]

    def show(self, value: object) -> None:
        self.shown.append(value)

    def refuse(self, seen: str, remedy: str) -> None:
        raise AssertionError(f"{self.where()}: {seen}; {remedy}")


def outputs(
    text: str, entries: Iterable[Fraction], noise: Sequence[Fraction] = (), **given: object
) -> list[Any]:
    """What a run of the program on these numbers shows."""
    function = c.read(text, given=given)

    def run() -> list[Any]:
        trace = Numbers(entries, noise)
        function.run(trace)  # type: ignore[arg-type]
        return trace.shown

    return function.in_detail(run)


# --------------------------------------------------------------------------------------- as an automaton


def walked(found: Translation, entries: Iterable[Fraction], noise: Sequence[Fraction]) -> list[Any]:
    """What the automaton of a program shows on the same numbers as :func:`outputs`; ``None`` where it shows
    no number, because that follows from what it has shown before."""
    automaton, waiting = found.automaton, iter(entries)
    held: dict[str, Fraction] = {}
    sums: dict[str, Fraction] = {}
    state, shown = automaton.initial, []
    while True:
        here = automaton.state(state)
        ways = [automaton.transitions[t] for t in automaton.outgoing[automaton.index[state]]]
        entry = next(waiting, None) if here.is_input and ways else Fraction(0)
        if entry is None:
            return shown
        now = dict(held)
        if here.draws and ways:
            mean = here.mu + entry + sum((k * sums[r] for r, k in here.registers), Fraction(0))
            now[SAMPLE] = mean + (noise[int(1 / here.d)] if here.noise is Noise.LAPLACE else 0)
        way = next((t for t in ways if all(_holds(each, now) for each in t.guard.atoms)), None)
        if way is None:
            return shown
        for name, source in way.stores:
            held[name] = now[source] if source in now else Fraction(source)
        sums.update(
            {
                update.register: (sums[update.source] if update.source else 0) + update.adds_input * entry
                for update in way.updates
            }
        )
        after = {**held, SAMPLE: now.get(SAMPLE, Fraction(0))}
        if way.output.shows_second:
            after[SECOND_SAMPLE] = mean - here.mu + here.mu_prime + noise[int(1 / here.d_prime)]
        if way.output.symbol not in (QUIET, READ):
            shown.append(_seen(way.output, after, found))
        state = way.target


def _holds(each: Atom, now: Mapping[str, Fraction]) -> bool:
    low, high = (
        term.offset + (0 if term.name is None else -now[term.name] if term.mirrored else now[term.name])
        for term in (each.low, each.high)
    )
    return low < high if each.strict else low <= high


def _seen(output: Output, now: Mapping[str, Fraction], found: Translation) -> Fraction | None:
    if output.symbol is not None:
        kind, *text = found.symbols[output.symbol]  # type: ignore[misc]
        return Fraction(text[0]) if kind == "constant" else None
    first, *second = output.names or [SECOND_SAMPLE if output.shows_second else SAMPLE]
    return now[first] - (now[second[0]] if second else 0)


# -------------------------------------------------------------------------------------- by a C compiler

_BEFORE = """
#include <stdio.h>
#include <math.h>
#define float double
#define CHECKDP_OUTPUT(x) printf("%.17g ", (double) (x))
static const double *samples;
static double Lap(double scale) { return samples[(int) scale]; }
"""


def compiled_outputs(
    functions: Sequence[str], entries: Sequence[Fraction], noise: Sequence[Fraction], folder: Path
) -> list[list[Fraction]]:
    """What functions ``f0(q, size, epsilon)``, ``f1``, ... show when a C compiler has made them run."""
    code = [_BEFORE, *functions, "int main(void) {"]
    code.append(f"double q[] = {{{', '.join(str(float(x)) for x in entries)}}};")
    code.append(f"double noise[] = {{{', '.join(str(float(x)) for x in noise)}}};")
    for k in range(len(functions)):
        code.append(f'samples = noise; f{k}(q, {len(entries)}, 1.0); printf("\\n");')
    code.append("return 0; }")
    source, program = folder / "all.c", folder / "all"
    source.write_text("\n".join(code), encoding="utf-8")
    subprocess.run(["cc", "-w", "-O0", "-o", program, source, "-lm"], check=True, timeout=120)
    done = subprocess.run([program], check=True, capture_output=True, text=True, timeout=60)
    return [[Fraction(float(word)) for word in line.split()] for line in done.stdout.splitlines()]


# ------------------------------------------------------------------------------------------ random programs


class _Writer:
    """Writes a random function; numbers are halves, so that a compiler computes them exactly."""

    def __init__(self, rnd: Random) -> None:
        self.rnd = rnd
        self.lines: list[str] = []
        self.whole, self.real = ["a", "b"], ["x", "y"]
        self.loops = 0
        self.depth = 0

    def add(self, line: str) -> None:
        self.lines.append("  " * (self.depth + 1) + line)

    def integer(self, deep: int = 2) -> str:
        kind = self.rnd.randrange(6) if deep else 0
        if kind <= 1:
            return self.rnd.choice([*self.whole, "size", str(self.rnd.randint(-3, 4))])
        if kind == 2:
            return f"({self.integer(deep - 1)} % {self.rnd.choice([2, 3, -3])})"
        if kind == 3:
            return f"({self.condition(deep - 1)} ? {self.integer(deep - 1)} : {self.integer(deep - 1)})"
        return f"({self.integer(deep - 1)} {self.rnd.choice('+-*')} {self.rnd.choice([*self.whole, '2'])})"

    def number(self, deep: int = 2) -> str:
        kind = self.rnd.randrange(8) if deep else 0
        if kind <= 1:
            return self.rnd.choice([*self.real, f"{self.rnd.randint(-4, 4)}.5"])
        if kind == 2:
            return f"q[{self.rnd.choice(['0', '1', 'i' if 'i' in self.whole else '2'])}]"
        if kind == 3:
            return self.integer(deep - 1)
        if kind == 4:
            return f"fabs({self.number(deep - 1)})"
        if kind == 5:
            return f"{self.rnd.choice(['fmin', 'fmax'])}({self.number(deep - 1)}, {self.number(deep - 1)})"
        if kind == 6:
            return f"(-({self.number(deep - 1)}) / 2.0)"
        return f"({self.number(deep - 1)} {self.rnd.choice('+-')} {self.number(deep - 1)})"

    def condition(self, deep: int = 2) -> str:
        kind = self.rnd.randrange(6) if deep else 0
        op = self.rnd.choice(["<", "<=", ">", ">=", "==", "!="])
        if kind <= 1:
            return f"{self.integer(0)} {op} {self.integer(0)}"
        if kind == 2:
            return f"{self.number(1)} {op} {self.number(1)}"
        if kind == 3:
            return f"!({self.condition(deep - 1)})"
        return f"({self.condition(deep - 1)} {self.rnd.choice(['&&', '||'])} {self.condition(deep - 1)})"

    def statement(self) -> None:
        kind = self.rnd.randrange(12)
        if kind <= 2:
            name = self.rnd.choice([name for name in self.whole if name != "i"])
            self.add(f"{name} = ({self.integer()}) % 7;")
        elif kind <= 4:
            self.add(f"{self.rnd.choice(self.real)} = {self.number()};")
        elif kind == 5:
            self.add(f"{self.rnd.choice(self.real)} {self.rnd.choice(['+=', '-='])} {self.number(1)};")
        elif kind == 6:
            self.add(f"{self.rnd.choice(self.real)} = Lap({self.rnd.randrange(1, 9)} / epsilon);")
        elif kind <= 8:
            self.add(f"CHECKDP_OUTPUT({self.rnd.choice([self.integer, self.number])()});")
        elif kind == 9 and self.loops:
            self.add(f"if ({self.condition(1)}) {self.rnd.choice(['break', 'continue'])};")
        elif self.depth < 3:
            self.add(f"if ({self.condition()}) {{")
            self.block()
            if self.rnd.randrange(2):
                self.add("} else {")
                self.block()
            self.add("}")

    def block(self, size: int = 3) -> None:
        self.depth += 1
        for _ in range(self.rnd.randint(1, size)):
            self.statement()
        self.depth -= 1

    def loop(self) -> None:
        self.loops += 1
        self.whole.append("i")
        kind = self.rnd.randrange(3)
        heads = ["for (int i = 0; i < size; i++) {", "while (i < size - 1) {", "do {"]
        if kind:
            self.add("{ int i = -1;")
        self.add(heads[kind])
        if kind:
            self.add("  i += 1;")
        self.block(5)
        self.add("} while (i < size - 1); }" if kind == 2 else "}}" if kind else "}")
        self.whole.pop()
        self.loops -= 1


def random_function(seed: int, name: str) -> str:
    """A function of ``q``, ``size`` and ``epsilon`` that ends."""
    writer = _Writer(Random(seed))
    for _ in range(3):
        writer.statement()
    for _ in range(2):
        writer.loop()
        writer.statement()
    body = "\n".join(writer.lines)
    head = f"void {name}(float q[], int size, float epsilon) {{\n  int a = 1, b = 2; float x = 0.5, y = 0;"
    return f"{head}\n{body}\n  CHECKDP_OUTPUT(a); CHECKDP_OUTPUT(x);\n}}"


class _Mechanic(_Writer):
    """Writes a random mechanism: noise is compared, kept and shown, entries are read and added up.

    No numbers are added to noise, and no differences shown: an automaton may show another number, of which
    that of the program can be computed.
    """

    def __init__(self, rnd: Random) -> None:
        super().__init__(rnd)
        self.noisy = ["t", "u"]
        self.scales = iter(rnd.sample(range(1, 20), 19))

    def sample(self) -> str:
        """A noisy value that has not been kept."""
        mean = self.rnd.choice(["", "q[i] + ", "s + ", "q[i] + s + "]) if self.loops else ""
        return f"{mean}{self.fresh()}"

    def fresh(self) -> str:
        name = f"n{len(self.lines)}"
        self.add(f"float {name} = Lap({next(self.scales, 20)} / epsilon);")
        return name

    def condition(self, deep: int = 2) -> str:
        one, other = self.rnd.choice(self.noisy), self.rnd.choice([*self.noisy, "1", "-2.5"])
        op = self.rnd.choice(["<", "<=", ">", ">="])
        found = f"{self.sample()} {op} {other}" if self.rnd.randrange(3) else f"{one} {op} {other}"
        if self.rnd.randrange(3) == 0:
            found = f"{found} {self.rnd.choice(['&&', '||'])} a == {self.rnd.randrange(3)}"
        return found

    def statement(self) -> None:
        kind = self.rnd.randrange(12)
        if kind <= 1:
            self.add(f"a = (a + {self.rnd.randint(1, 2)}) % 3;")
        elif kind == 2 and self.loops:
            self.add(self.rnd.choice(["s = s + q[i];", "s = q[i];", "s = 0;"]))
        elif kind <= 4:
            self.add(f"{self.rnd.choice(self.noisy)} = {self.sample()};")
        elif kind <= 6:
            self.add(f"CHECKDP_OUTPUT({self.rnd.choice([self.sample(), 't', 'u', 'a'])});")
        elif kind == 7 and self.loops:
            self.add(f"if ({self.condition(1)}) {self.rnd.choice(['break', 'continue'])};")
        elif self.depth < 3:
            self.add(f"if ({self.condition()}) {{")
            self.block(2)
            if self.rnd.randrange(2):
                self.add("} else {")
                self.block(2)
            self.add("}")


def random_mechanism(seed: int) -> str:
    """A function of ``q``, ``size`` and ``epsilon`` that compares and shows noise; it may not be followed."""
    writer = _Mechanic(Random(seed))
    writer.add("float t = Lap(21 / epsilon); float u = Lap(22 / epsilon);")
    for _ in range(writer.rnd.randint(0, 2)):
        writer.statement()
    writer.loop()
    writer.statement()
    body = "\n".join(writer.lines)
    head = "void f(float q[], int size, float epsilon) {\n  int a = 1; float s = 0;"
    return f"{head}\n{body}\n  CHECKDP_OUTPUT(a);\n}}"
