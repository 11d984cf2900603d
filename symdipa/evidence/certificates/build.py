"""Making certificates (docs/certificates.md): what was found out, written down so that anyone can check it.

The functions return the JSON values that :mod:`symdipa.checker` reads. Nothing here is trusted: what is
written wrongly is refused there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from symdipa.checker import digest
from symdipa.checker.check import FORMAT, VERSION
from symdipa.model.adjacency import EITHER_WAY, Interval
from symdipa.model.automaton import Automaton, validated
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Witness
from symdipa.runs.control import Control, control_graph
from symdipa.runs.order import members
from symdipa.runs.witness import orders_by_round

if TYPE_CHECKING:
    from symdipa.bounds.alignment import Alignment, Proof
    from symdipa.bounds.alignment.graphs import Cover
    from symdipa.bounds.alignment.lifts import LiftedCover
    from symdipa.bounds.exact.flow import Flow
    from symdipa.bounds.portfolio import Below

Json = dict[str, object]

LINE = 100
"""The longest line on which a list or an object is written as one."""


def bundle(automaton: Automaton, certificates: Iterable[Json]) -> Json:
    """Certificates about one automaton as the content of a file."""
    about = {"name": validated(automaton).name, "sha256": digest(automaton)}
    return {"format": FORMAT, "version": VERSION, "automaton": about, "certificates": list(certificates)}


def dumps(value: object, indent: str = "") -> str:
    """JSON text with short parts on one line each."""
    text = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(text) <= LINE or not isinstance(value, dict | list):
        return text
    deeper = indent + "  "
    if isinstance(value, dict):
        lines = [
            f"{json.dumps(key, ensure_ascii=False)}: {dumps(part, deeper)}" for key, part in value.items()
        ]
        return "{\n" + ",\n".join(deeper + line for line in lines) + f"\n{indent}}}"
    return "[\n" + ",\n".join(deeper + dumps(part, deeper) for part in value) + f"\n{indent}]"


# Violations


def violation(control: Control, witness: Witness) -> Json:
    """A witness as a certificate."""
    certificate: Json = {
        "kind": "violation",
        "pattern": witness.pattern.key,
        "run": list(witness.run),
        "cycles": [list(cycle) for cycle in witness.cycles],
    }
    if witness.pattern is Pattern.LEAKING_CYCLE:
        orders, place = orders_by_round(control, witness)  # the same order state after as many rounds
        return certificate | {"rounds": [place, len(orders)]}
    if witness.pattern is Pattern.DISCLOSING_CYCLE:
        return certificate
    return certificate | {"path": list(witness.path)}


# Bounds on D


def lower(
    bound: Fraction,
    run: Sequence[int],
    differences: Sequence[Fraction],
    flow: Iterable[tuple[int | None, int | None, Fraction, bool]],
    cycles: Iterable[tuple[int, int]] = (),
    adjacency: Interval = EITHER_WAY,
    sensitivity: Fraction | int = 1,
) -> Json:
    """A flow on the dependency graph of a run, as a certificate of a bound from below.

    ``differences`` include the sensitivity. ``flow`` are ``(source, target, amount, repeated)``; ``None`` is
    the ground, and ``repeated`` flow has further rounds of the later position's cycle at that end.
    """
    return {
        "kind": "lower",
        "adjacency": _pair(adjacency),
        "sensitivity": str(sensitivity),
        "D": str(bound),
        "run": list(run),
        "cycles": [list(cycle) for cycle in cycles],
        "differences": [str(difference) for difference in differences],
        "flow": [
            {"from": _end(source), "to": _end(target), "amount": str(amount)}
            | ({"repeated": True} if repeated else {})
            for source, target, amount, repeated in flow
        ],
    }


def _end(position: int | None) -> int | str:
    return "ground" if position is None else position


def lower_of_alike(automaton: Automaton, found: Below, sensitivity: Fraction | int = 1) -> Json:
    """All runs that show the same, each with a flow, as a certificate of a bound from below."""
    from symdipa.bounds.exact.flow import flow_bound

    assert found.alike is not None
    control, alike = control_graph(automaton), found.alike
    flows = [flow_bound(control, run, (), alike.differences_of(automaton, run)) for run in alike.runs]
    first, *others = (lower_of_flow(flow, found.interval, sensitivity) for flow in flows)
    return with_others(first, others, found.value)


def with_others(certificate: Json, others: Sequence[Json], bound: Fraction) -> Json:
    """A certificate of what the run and all others that show the same are worth at least."""
    kept = [{"run": other["run"], "flow": other["flow"]} for other in others]
    return certificate | {"D": str(bound)} | ({"others": kept} if kept else {})


def lower_of_flow(flow: Flow, adjacency: Interval = EITHER_WAY, sensitivity: Fraction | int = 1) -> Json:
    """A flow that was found, as a certificate; its differences are those without the sensitivity."""
    if flow.value is None:
        raise ValueError("a flow without a largest value bounds nothing: it belongs to a violation")
    parts = [
        (
            None if source < 0 else source,
            None if target < 0 else target,
            amount,
            min(source, target) >= 0 and max(source, target) in flow.unlimited,
        )
        for (source, target), amount in sorted(flow.flow.items())
    ]
    return lower(
        flow.value * sensitivity,
        flow.run,
        [delta * sensitivity for delta in flow.deltas],
        parts,
        flow.loops,
        adjacency,
        sensitivity,
    )


def private(alignment: Alignment) -> list[Json]:
    """A proved bound on ``D`` as certificates, one for each range of differences; none without a bound."""
    return [one_sided(side) for side in alignment.sides]


def one_sided(side: Proof) -> Json:
    """A proof for one range of differences as a certificate."""
    from symdipa.bounds.alignment import PartedSide, Side

    claim: Json = {
        "adjacency": _pair((side.low / side.sensitivity, side.high / side.sensitivity)),
        "sensitivity": str(side.sensitivity),
        "D": str(side.bound),
    }
    if isinstance(side, Side):
        potentials = [side.potential(v) for v in range(side.lifted.nodes)]
        return {"kind": "private", **claim, **graphs(side.lifted, side.shift, potentials)}
    assert isinstance(side, PartedSide)
    names, trunk = side.parted.control.state_names, side.parted.trunk
    parts = [
        {"variables": [side.control.variable_names[x] for x in members(part.share.own)]}
        | graphs(part.lifted, partial(side.shift, part))
        for part in side.parted.parts
    ]
    by_state = {q: str(side.potential(i)) for i, q in enumerate(names)}
    split: Json = {} if trunk is None else {"trunk": _without_shifts(trunk)}
    return {"kind": "private-in-parts", **claim, **split, "potentials": by_state, "parts": parts}


def _without_shifts(lifted: LiftedCover) -> Json:
    """Base and lift of a graph in which no variable has a shift."""

    def none(_: int, x: int) -> Interval:
        raise AssertionError(f"variable {x} has no shift")

    return graphs(replace(lifted, tracked=(0,) * lifted.nodes), none)


def graphs(
    lifted: LiftedCover,
    shift: Callable[[int, int], Interval],
    potentials: Sequence[Fraction] | None = None,
    *,
    place: Callable[[int], Json] | None = None,
    edge: Callable[[int, int, int], list[int | str]] | None = None,
) -> Json:
    """Base and lift of a proof; ``place`` writes control states, ``edge`` edges by their transitions."""
    cover, names = lifted.cover, lifted.control.variable_names
    shifts = Shifts(lifted, shift)
    put: Callable[[int], Json] = place or (lambda q: {"state": lifted.control.state_names[q]})
    written: Callable[[int, int, int], list[int | str]] = edge or (lambda u, t, v: [u, t, v])
    return {
        "base": {
            "nodes": [put(q) | _facts(cover, v) for v, q in enumerate(cover.state)],
            "edges": list(map(written, cover.source, cover.transition, cover.target)),
        },
        "lift": {
            "cover": "backward" if lifted.letters else "forward",
            "shifts": {names[x]: _pair(shifts.everywhere[x]) for x in sorted(shifts.everywhere)},
            "nodes": [
                {"base": base}
                | ({} if potentials is None else {"potential": str(potentials[v])})
                | ({"shifts": own} if (own := shifts.own_by_name(v)) else {})
                for v, base in enumerate(lifted.base)
            ],
            "edges": list(map(written, lifted.source, lifted.transition, lifted.target)),
        },
    }


def _facts(cover: Cover, node: int) -> Json:
    names = cover.control.variable_names
    less, same = cover.facts(node)
    facts = [
        [mark, names[x], names[y]] for mark, pairs in (("<", less), ("=", same)) for x, y in sorted(pairs)
    ]
    return {"facts": facts} if facts else {}


def _pair(interval: Interval) -> list[str]:
    return [str(end) for end in interval]


class Shifts:
    """The intervals of a proof, written down sparsely.

    ``everywhere`` has the commonest interval of each variable, ``own[v]`` what differs from it in lift node
    ``v``: another interval, or none (``None``) where the value is not read any more and must not be bound.
    """

    def __init__(self, lift: LiftedCover, shift: Callable[[int, int], Interval]) -> None:
        self.lift, self.shift = lift, shift
        self.own: list[dict[int, Interval | None]] = [{} for _ in range(lift.nodes)]
        self.everywhere: dict[int, Interval] = {}
        self._find_intervals()
        self._release()

    def own_by_name(self, v: int) -> Json:
        names = self.lift.control.variable_names
        return {names[x]: found and _pair(found) for x, found in sorted(self.own[v].items())}

    def _assigned(self) -> Iterator[tuple[int, int]]:
        """Targets of edges with the variables that are assigned on the way."""
        for t, v in zip(self.lift.transition, self.lift.target, strict=True):
            for x in members(self.lift.control.steps[t].asg):
                yield v, x

    def _find_intervals(self) -> None:
        places: dict[int, list[int]] = {}
        for v, x in self._assigned():
            if self.lift.tracked[v] >> x & 1:
                places.setdefault(x, []).append(v)
        self.everywhere = {x: self.shift(vs[0], x) for x, vs in places.items() if len(vs) == 1}
        many = sum(1 << x for x, vs in places.items() if len(vs) > 1)
        counts: dict[int, Counter[Interval]] = {}
        for v, tracked in enumerate(self.lift.tracked):
            for x in members(tracked & many):
                found = self.shift(v, x)
                self.own[v][x] = found
                counts.setdefault(x, Counter())[found] += 1
        self.everywhere |= {x: count.most_common(1)[0][0] for x, count in counts.items()}
        for own in self.own:
            for x in [x for x, found in own.items() if found == self.everywhere[x]]:
                del own[x]

    def _release(self) -> None:
        """Give no interval to a variable that is not read any more where the common one need not fit."""
        lift = self.lift
        for v, x in self._assigned():
            if x in self.everywhere and not lift.tracked[v] >> x & 1:
                self.own[v][x] = None
        leaving: list[list[int]] = [[] for _ in range(lift.nodes)]
        for e, u in enumerate(lift.source):
            leaving[u].append(e)
        work = [(v, x) for v, own in enumerate(self.own) for x in own]
        while work:
            u, x = work.pop()
            for e in leaving[u]:
                v = lift.target[e]
                kept = not lift.control.steps[lift.transition[e]].asg >> x & 1
                if kept and not lift.tracked[v] >> x & 1 and x not in self.own[v]:
                    self.own[v][x] = None
                    work.append((v, x))
