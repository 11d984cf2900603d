"""A system as a hardware model-checking problem: AIGER 1.9, binary, for ``pdr`` of ABC and its kin.

Control states and bits are latches; choices and one line for each edge are inputs. The first edge whose
line is high, whose source is where control is and whose guard holds, is taken; if there is none the state
stays as it is. The one output is high in bad states.
"""

from __future__ import annotations

from symdipa.boolean import TRUE, Lit
from symdipa.system import System


def to_aiger(system: System) -> bytes:
    """The system in AIGER; "safe" means that no bad state is reachable. New nodes are added to its graph."""
    graph, names = system.graph, system.control.state_names
    places = sorted({system.control.initial, *(edge.target for edge in system.edges)})
    location = {q: graph.variable(f"loc({names[q]})") for q in places}
    lines = [graph.variable(f"take({i})") for i in range(len(system.edges))]
    following: dict[Lit, list[Lit]] = {b: [] for b in (*location.values(), *system.bits)}
    idle = TRUE
    for edge, line in zip(system.edges, lines, strict=True):
        taken = graph.all([idle, line, location[edge.source], edge.guard])
        idle = graph.conj(idle, taken ^ 1)
        following[location[edge.target]].append(taken)
        for bit in system.bits:
            following[bit].append(graph.conj(taken, edge.update.get(bit, bit)))
    latches = [
        (latch, graph.disj(graph.any(cases), graph.conj(idle, latch))) for latch, cases in following.items()
    ]
    bad = graph.any(
        graph.conj(location[q], condition) for q, condition in system.bad.items() if q in location
    )
    return _binary(system, [*system.choices, *lines], latches, location[system.control.initial], bad)


def _binary(system: System, inputs: list[Lit], latches: list[tuple[Lit, Lit]], start: Lit, bad: Lit) -> bytes:
    graph = system.graph
    number: dict[int, int] = {0: 0}
    for literal in (*inputs, *(latch for latch, _ in latches)):
        number[literal >> 1] = len(number)

    def of(literal: Lit) -> int:
        return 2 * number[literal >> 1] | literal & 1

    ands: list[tuple[int, int]] = []
    for node in graph.cone([bad, *(new for _, new in latches)]):
        operands = graph.operands(node)
        if operands is not None:
            number[node] = len(number)
            a, b = of(operands[0]), of(operands[1])
            ands.append((max(a, b), min(a, b)))
    head = f"aig {len(number) - 1} {len(inputs)} {len(latches)} 1 {len(ands)}\n"
    resets = [f"{of(new)} {int(latch == start)}\n" for latch, new in latches]
    symbols = [f"i{i} {graph.name(literal >> 1)}\n" for i, literal in enumerate(inputs)]
    symbols += [f"l{i} {graph.name(latch >> 1)}\n" for i, (latch, _) in enumerate(latches)]
    text = head + "".join(resets) + f"{of(bad)}\n"
    first = len(inputs) + len(latches) + 1
    body = b"".join(_delta(2 * (first + i) - a) + _delta(a - b) for i, (a, b) in enumerate(ands))
    return text.encode() + body + "".join([*symbols, "o0 bad\n"]).encode()


def _delta(value: int) -> bytes:
    """A number in the variable-length code of binary AIGER: seven bits a byte, low ones first."""
    result = bytearray()
    while value >= 0x80:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)
