"""C programs on numbers: run as the front end understands them, and by a C compiler; and random ones."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from symdipa.programs import c


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
