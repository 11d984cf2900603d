"""Strategies written down, so that :mod:`symdipa.checker` can check them without this package."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from symdipa.bounds.relational.game import GameNode
from symdipa.bounds.relational.machine import STOPPED, LetterMachine
from symdipa.bounds.relational.outcomes import NONE
from symdipa.bounds.relational.search import Strategy
from symdipa.runs.order import members

Json = dict[str, object]


def certificate(found: Strategy, sensitivity: Fraction) -> Json:
    """A certificate of kind ``relational`` (docs/certificates.md); the strategy includes the sensitivity."""
    machine, unit = found.machine, found.unit
    low, high = (end / sensitivity for end in found.interval)
    return {
        "kind": "relational",
        "adjacency": [str(low), str(high)],
        "sensitivity": str(sensitivity),
        "D": str(found.bound),
        "machine": {
            "states": [None if q == STOPPED else machine.program.state_names[q] for q in machine.state],
            "accepting": sorted(machine.accepting),
            "edges": list(_edges(machine)),
        },
        "suffixes": {
            "able": [sorted(able) for able in found.classes.able],
            "sure": [sorted(sure) for sure in found.classes.sure],
            "before": [
                [rest, shows, remark, s] for (rest, (shows, remark)), s in found.classes.before.items()
            ],
        },
        "nodes": [
            {
                "first": list(found.blocks[node[0]].states),
                "second": list(found.blocks[node[1]].states),
                "suffix": found.blocks[node[0]].suffix,
                "facts": list(_facts(found, node)),
                "potential": str(Fraction(potential, found.cost_unit)),
                "moves": [
                    {
                        "shows": shows,
                        "remark": remark,
                        "suffix": rest,
                        "shift": None if o.shift is None else [str(Fraction(end, unit)) for end in o.shift],
                        "after": list(o.after),
                    }
                    for (shows, remark), rest, o in moves
                ],
            }
            for node, potential, moves in zip(found.nodes, found.potential, found.chosen, strict=True)
        ],
        "initial": list(found.roots),
    }


def _edges(machine: LetterMachine) -> Iterator[list[object]]:
    """Edges by transition; the pieces in which a state stops are one."""
    seen = set()
    for u, edges in enumerate(machine.edges):
        for edge in edges:
            key = u, machine.leaves[machine.state[u]][edge.leaf].transition, edge.letter[1], edge.target
            if key not in seen:
                seen.add(key)
                yield list(key)


def _facts(found: Strategy, node: GameNode) -> Iterator[list[object]]:
    first, second, facts = node
    program = found.machine.program
    names = program.variable_names
    blocks = found.blocks[first], found.blocks[second]
    values = [[copy, names[x]] for copy, block in enumerate(blocks, 1) for x in members(block.live)]
    values += [[0, "0"]] if program.has_zero else []
    for i, bound in enumerate(facts):
        u, v = divmod(i, len(values))
        if u != v and bound < NONE:
            yield [values[u], values[v], "<=" if bound & 1 else "<", str(Fraction(bound >> 1, found.unit))]
