"""Circuits as hardware model-checking problems in AIGER 1.9, for ``pdr`` and ``bmc3`` of ABC and their kin.

The one output is high where the circuit is bad. Symbols name inputs and latches; comments follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symdipa.evidence.exports.circuit import Circuit
from symdipa.systems.boolean import Lit


def to_aiger(circuit: Circuit, comments: Sequence[str] = ()) -> bytes:
    """The circuit in binary AIGER: "safe" means that it cannot get bad."""
    numbered = _number(circuit)
    text = numbered.head("aig")
    text += "".join(f"{new} {reset}\n" for _, new, reset in numbered.latches) + f"{numbered.bad}\n"
    body = b"".join(_delta(out - a) + _delta(a - b) for out, a, b in numbered.ands)
    return text.encode() + body + _tail(circuit, comments).encode()


def to_ascii_aiger(circuit: Circuit, comments: Sequence[str] = ()) -> str:
    """The circuit in ASCII AIGER, line by line what :func:`to_aiger` writes."""
    numbered = _number(circuit)
    lines = [str(2 * (i + 1)) for i in range(len(circuit.inputs))]
    lines += [f"{latch} {new} {reset}" for latch, new, reset in numbered.latches]
    lines += [str(numbered.bad), *(f"{out} {a} {b}" for out, a, b in numbered.ands)]
    return numbered.head("aag") + "".join(f"{line}\n" for line in lines) + _tail(circuit, comments)


@dataclass(frozen=True)
class _Numbered:
    """A circuit in AIGER's literals: inputs, then latches, then conjunctions, numbered from 1."""

    inputs: int
    latches: list[tuple[int, int, int]]
    bad: int
    ands: list[tuple[int, int, int]]

    def head(self, kind: str) -> str:
        sizes = (self.inputs, len(self.latches), 1, len(self.ands))
        return f"{kind} {self.inputs + len(self.latches) + len(self.ands)} {' '.join(map(str, sizes))}\n"


def _number(circuit: Circuit) -> _Numbered:
    graph = circuit.graph
    number: dict[int, int] = {0: 0}
    for literal in (*circuit.inputs, *(latch.value for latch in circuit.latches)):
        number[literal >> 1] = len(number)

    def of(literal: Lit) -> int:
        return 2 * number[literal >> 1] | literal & 1

    ands: list[tuple[int, int, int]] = []
    for node in graph.cone(circuit.roots):
        operands = graph.operands(node)
        if operands is not None:
            number[node] = len(number)
            a, b = of(operands[0]), of(operands[1])
            ands.append((of(2 * node), max(a, b), min(a, b)))
    latches = [(of(latch.value), of(latch.following), int(latch.initially)) for latch in circuit.latches]
    return _Numbered(len(circuit.inputs), latches, of(circuit.bad), ands)


def _tail(circuit: Circuit, comments: Sequence[str]) -> str:
    names, count = circuit.names(), len(circuit.inputs)
    symbols = [f"i{i} {name}\n" for i, name in enumerate(names[:count])]
    symbols += [f"l{i} {name}\n" for i, name in enumerate(names[count:])]
    tail = "".join(f"{line}\n" for line in ["c", *comments]) if comments else ""
    return "".join([*symbols, "o0 bad\n"]) + tail


def _delta(value: int) -> bytes:
    """A number in the variable-length code of binary AIGER: seven bits a byte, low ones first."""
    result = bytearray()
    while value >= 0x80:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)
