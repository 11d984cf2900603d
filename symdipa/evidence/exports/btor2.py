"""Circuits in BTOR2, over single bits, for ``btormc`` and other word-level model checkers."""

from __future__ import annotations

from collections.abc import Sequence

from symdipa.evidence.exports.circuit import Circuit
from symdipa.systems.boolean import Lit


def to_btor2(circuit: Circuit, comments: Sequence[str] = ()) -> str:
    """The circuit as text; its one ``bad`` property is violated iff the circuit can get bad."""
    graph, lines = circuit.graph, [f"; {line}" for line in comments]
    used = 0

    def add(words: str) -> int:
        nonlocal used
        used += 1
        lines.append(f"{used} {words}")
        return used

    bit = add("sort bitvec 1")
    constants = [add(f"zero {bit}"), add(f"one {bit}")]
    number = {0: constants[0]}
    for literal in circuit.inputs:
        number[literal >> 1] = add(f"input {bit} {graph.name(literal >> 1)}")
    for latch in circuit.latches:
        number[latch.value >> 1] = add(f"state {bit} {graph.name(latch.value >> 1)}")
        add(f"init {bit} {number[latch.value >> 1]} {constants[latch.initially]}")
    inverse: dict[int, int] = {0: constants[1]}

    def of(literal: Lit) -> int:
        node = literal >> 1
        if not literal & 1:
            return number[node]
        if node not in inverse:
            inverse[node] = add(f"not {bit} {number[node]}")
        return inverse[node]

    for node in graph.cone(circuit.roots):
        operands = graph.operands(node)
        if operands is not None:
            a, b = of(operands[0]), of(operands[1])
            number[node] = add(f"and {bit} {a} {b}")
    for latch in circuit.latches:
        new = of(latch.following)
        add(f"next {bit} {number[latch.value >> 1]} {new}")
    result = of(circuit.bad)
    add(f"bad {result} bad")
    return "\n".join(lines) + "\n"
