"""AIGER files: read back by a few lines that share nothing with the writer, and answered by ABC."""

from __future__ import annotations

import random
import shutil
import subprocess
from itertools import product

import pytest
from random_automata import random_automaton

from symdipa.encodings.catalogue import systems
from symdipa.engines.bounded import KInduction, Outcome
from symdipa.engines.pdr import PDR
from symdipa.evidence.exports.aiger import to_aiger, to_ascii_aiger
from symdipa.evidence.exports.circuit import circuit_of, unrolled
from symdipa.model.limits import Limits
from symdipa.model.patterns import Pattern
from symdipa.runs.control import control_graph
from symdipa.runs.dataflow import order_facts
from symdipa.systems.system import System

ABC = shutil.which("berkeley-abc")


class Circuit:
    """A binary AIGER file, simulated."""

    def __init__(self, data: bytes) -> None:
        lines = data.split(b"\n")
        kind, *sizes = lines[0].split()
        assert kind == b"aig"
        self.most, self.inputs, latches, outputs, ands = map(int, sizes)
        assert outputs == 1 and self.most == self.inputs + latches + ands
        self.latches = [tuple(map(int, line.split())) for line in lines[1 : 1 + latches]]
        self.bad = int(lines[1 + latches])
        at = sum(len(line) + 1 for line in lines[: 2 + latches])
        self.ands = []
        for i in range(ands):
            left = 2 * (self.inputs + latches + 1 + i)
            values = []
            for _ in range(2):
                number = shift = 0
                while True:
                    number |= (data[at] & 0x7F) << shift
                    shift += 7
                    at += 1
                    if not data[at - 1] & 0x80:
                        break
                values.append(number)
            first = left - values[0]
            second = first - values[1]
            assert left > first >= second >= 0
            self.ands.append((first, second))
        self.symbols = data[at:].decode().splitlines()

    def step(self, state, choices):
        """(bad, next state) for a valuation of latches and inputs."""
        value = [False, *choices, *state]

        def of(literal):
            return value[literal >> 1] ^ bool(literal & 1)

        for a, b in self.ands:
            value.append(of(a) and of(b))
        return of(self.bad), tuple(of(new) for new, _ in self.latches)

    def reaches_bad(self):
        start = tuple(bool(reset) for _, reset in self.latches)
        seen, work = {start}, [start]
        while work:
            state = work.pop()
            for choices in product((False, True), repeat=self.inputs):
                bad, following = self.step(state, choices)
                if bad:
                    return True
                if following not in seen:
                    seen.add(following)
                    work.append(following)
        return False


def open_systems(seed, count, variables=(1, 2), precise=True):
    for i in range(count):
        control = control_graph(random_automaton(random.Random(f"{seed}/{i}"), variables, (2, 3)))
        facts = order_facts(control, precise=precise)
        for pattern in Pattern:
            for encoding in ("marks", "ghost"):
                yield from systems(pattern, facts, encoding)


def test_the_circuit_is_unsafe_iff_the_system_is():
    outcomes = []
    for system in open_systems("aiger", 25, variables=1, precise=False):
        if len(system.edges) + len(system.choices) > 9:
            continue  # the simulation tries every input
        expected = PDR(system, Limits(), "minisat").run().outcome
        circuit = Circuit(to_aiger(circuit_of([system])))
        assert circuit.reaches_bad() is (expected is Outcome.UNSAFE)
        assert len(circuit.symbols) == circuit.inputs + len(circuit.latches) + 1
        outcomes.append(expected)
    assert outcomes.count(Outcome.SAFE) >= 2 and outcomes.count(Outcome.UNSAFE) >= 5


def test_the_ascii_form_says_the_same():
    for system in open_systems("ascii", 12, variables=(1, 2)):
        whole = circuit_of([system])
        for circuit in (whole, unrolled(whole, 3)):
            read = Circuit(to_aiger(circuit, ["a", "b"]))
            head, *lines = to_ascii_aiger(circuit, ["a", "b"]).splitlines()
            sizes = (read.most, read.inputs, len(read.latches), 1, len(read.ands))
            assert head == f"aag {' '.join(map(str, sizes))}"
            first = [2 * (i + 1) for i in range(read.inputs + len(read.latches) + len(read.ands))]
            inputs, latches = first[: read.inputs], first[read.inputs : read.inputs + len(read.latches)]
            ands = first[read.inputs + len(read.latches) :]
            rows = [[i] for i in inputs]
            rows += [[latch, *row] for latch, row in zip(latches, read.latches, strict=True)]
            rows += [[read.bad], *([a, *row] for a, row in zip(ands, read.ands, strict=True))]
            assert [list(map(int, line.split())) for line in lines[: len(rows)]] == rows
            assert lines[len(rows) :] == read.symbols and lines[-3:] == ["c", "a", "b"]


def test_an_unrolled_circuit_is_bad_as_soon_as_the_system_can_be():
    depths = []
    for system in open_systems("unrolled", 30, variables=1):
        search = KInduction(system, Limits(), 6, "minisat").run()
        least = search.depth if search.outcome is Outcome.UNSAFE else 99
        for bound in range(3):
            circuit = Circuit(to_aiger(unrolled(circuit_of([system]), bound)))
            if circuit.inputs <= 12:
                assert circuit.latches == [] and circuit.reaches_bad() is (least <= bound)
                depths.append(least <= bound)
    assert depths.count(True) >= 5 and depths.count(False) >= 5


def test_systems_side_by_side_are_unsafe_iff_one_is():
    drawn = open_systems("beside", 120, variables=1, precise=False)
    sides: dict[bool, list[System]] = {False: [], True: []}
    for system in drawn:
        if len(system.edges) + len(system.choices) <= 5:
            sides[PDR(system, Limits(), "minisat").run().outcome is Outcome.UNSAFE].append(system)
    for unsafe_a, unsafe_b in product((False, True), repeat=2):
        for a, b in zip(sides[unsafe_a][:2], sides[unsafe_b][1:3], strict=True):
            circuit = Circuit(to_aiger(circuit_of([a, b])))
            assert circuit.reaches_bad() is (unsafe_a or unsafe_b)
            assert len(set(circuit.symbols)) == len(circuit.symbols)
    assert not Circuit(to_aiger(circuit_of([]))).reaches_bad()


@pytest.mark.skipif(ABC is None, reason="ABC is not installed")
@pytest.mark.parametrize("precise", [True, False])
def test_abc_answers_alike(tmp_path, precise):
    file = tmp_path / "query.aig"
    for system in open_systems("abc", 6, variables=(1, 2, 3), precise=precise):
        expected = PDR(system, Limits(), "minisat").run().outcome
        file.write_bytes(to_aiger(circuit_of([system])))
        command = [str(ABC), "-c", f"read_aiger {file}; pdr -T 60"]
        said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
        assert ("Property proved" in said) is (expected is Outcome.SAFE), said
        assert ("was asserted" in said) is (expected is Outcome.UNSAFE), said
