"""Certificates in parts for :mod:`agree`: those that symdipa writes, and others made of proofs on one graph.

symdipa proves in parts where orders are many; here it is asked to. Beyond the paper's automata it writes
grounds only where entries differ, so the rest is made: the graph of a proof says which nodes and edges there
are, without facts, and each part has its facts and some of its shifts.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import symdipa
from symdipa.bounds.alignment import align
from symdipa.checker.wider.adjacent import ANY, EQUAL, state_after
from symdipa.checker.wider.model import Model, model_of
from symdipa.evidence.certificates import bundle
from symdipa.evidence.certificates.build import private
from symdipa.model.errors import LimitReached
from symdipa.runs.problem import Problem

Json = dict[str, Any]


def written(automaton: symdipa.Automaton) -> Iterator[Json]:
    """Files of one certificate each that symdipa writes for an automaton of the paper's kind.

    With and without a trunk.
    """
    for letters in ("C", "CS"):
        try:
            found = align(Problem.of(automaton), "parts", letters, True, max_nodes=200)
        except LimitReached:
            continue
        if found.bound is not None:
            for certificate in private(found):
                yield bundle(automaton, [certificate])


def shared_out(rng: random.Random, variables: list[str], most: int) -> list[list[str]]:
    """The variables in at most so many parts."""
    groups: list[list[str]] = [[] for _ in range(rng.randint(1, most))]
    for x in variables:
        rng.choice(groups).append(x)
    return groups


def _some(shifts: Json, own: list[str]) -> Json:
    return {x: ends for x, ends in shifts.items() if x in own}


def _lift(lift: Json, own: list[str]) -> Json:
    """The lift with the shifts of these variables, and without potentials."""
    nodes = [{"base": node["base"], "shifts": _some(node.get("shifts", {}), own)} for node in lift["nodes"]]
    return lift | {"shifts": _some(lift["shifts"], own), "nodes": nodes}


def _claim(certificate: Json) -> Json:
    return {
        "kind": "private-in-parts",
        **{key: certificate[key] for key in ("adjacency", "sensitivity", "D")},
    }


def on_trunk(certificate: Json, groups: list[list[str]]) -> Json | None:
    """A proof on one graph as one in parts on its lift, if that begins in one node."""
    base, lift = certificate["base"], certificate["lift"]
    first = [v for v, node in enumerate(lift["nodes"]) if node["base"] == 0]
    if len(first) != 1:
        return None
    order = first + [v for v in range(len(lift["nodes"])) if v != first[0]]
    place = {v: i for i, v in enumerate(order)}
    edges = [[place[source], e, place[target]] for e, (source, _, target) in enumerate(lift["edges"])]

    def part(own: list[str]) -> Json:
        over = [lift["nodes"][v] for v in order]
        return {
            "variables": own,
            "base": {
                "nodes": [
                    {"state": str(v), "facts": base["nodes"][node["base"]].get("facts", [])}
                    for v, node in zip(order, over, strict=True)
                ],
                "edges": edges,
            },
            "lift": {
                "cover": "forward",
                "shifts": _some(lift["shifts"], own),
                "nodes": [
                    {"base": i, "shifts": _some(node.get("shifts", {}), own)} for i, node in enumerate(over)
                ],
                "edges": edges,
            },
        }

    return {
        **_claim(certificate),
        "trunk": {"base": base, "lift": _lift(lift, [])},
        "potentials": {str(v): node["potential"] for v, node in enumerate(lift["nodes"])},
        "parts": [part(own) for own in groups],
    }


def on_ground(model: Model, certificate: Json, groups: list[list[str]]) -> Json:
    """A proof on one graph as one in parts on its base.

    What facts exclude there leads to further nodes of the ground, on which no part has any.
    """
    base, lift = certificate["base"], certificate["lift"]
    potentials = ["0"] * len(base["nodes"])
    for node in lift["nodes"]:
        potentials[node["base"]] = max(potentials[node["base"]], node["potential"], key=_number)
    nodes = [
        {key: v for key, v in node.items() if key != "facts"} | {"potential": p}
        for node, p in zip(base["nodes"], potentials, strict=True)
    ]
    edges = list(base["edges"])
    left = {(source, t) for source, t, *_ in edges}
    known: dict[tuple[str, int], int] = {}
    for v, node in enumerate(nodes):  # grows while it is walked
        for t in model.leaving[node["state"]]:
            if (v, t) in left:
                continue
            step = model.steps[t]
            for letter in (EQUAL, ANY) if step.reads_input and model.unfolds else ("",):
                there = state_after(model, node.get("differ", 0), letter)
                if there is None:
                    continue
                if (step.target, there) not in known:
                    known[step.target, there] = len(nodes)
                    differ = {"differ": there} if model.unfolds else {}
                    nodes.append({"state": step.target, "potential": "0"} | differ)
                edges.append([v, t, known[step.target, there], *([letter] if letter else [])])
    return {
        **_claim(certificate),
        "ground": {"nodes": nodes, "edges": edges},
        "parts": [
            {
                "variables": own,
                "base": {
                    "nodes": [
                        {"ground": v, "facts": node.get("facts", [])} for v, node in enumerate(base["nodes"])
                    ],
                    "edges": base["edges"],
                },
                "lift": _lift(lift, own),
            }
            for own in groups
        ],
    }


def _number(text: str) -> float:
    top, _, bottom = text.partition("/")
    return int(top) / int(bottom or 1)


def made(
    rng: random.Random, automaton: symdipa.Automaton, certificate: Json, plain: bool, most: int = 3
) -> Json | None:
    """A certificate in parts of one of the kind ``private``, which may hold or not."""
    groups = shared_out(rng, sorted(automaton.variables), most)
    found = on_trunk(certificate, groups) if plain else on_ground(model_of(automaton), certificate, groups)
    separate: Json | None = json.loads(json.dumps(found))  # nothing is in two places
    return separate
