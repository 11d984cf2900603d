"""Simulation: reproducible, and in agreement with computed probabilities."""

from __future__ import annotations

import random
from math import inf, sqrt

import pytest
from conftest import EXAMPLES
from random_automata import random_automaton

from symdipa.evidence.probability import log_probability, total_log_probability
from symdipa.evidence.simulation import simulate
from symdipa.files.formats import load, loads
from symdipa.model.errors import LimitReached

SAMPLES = 40_000
SIGMAS = 4.5


def agree(count, probability, samples=SAMPLES):
    return abs(count - probability * samples) <= SIGMAS * sqrt(probability * (1 - probability) * samples) + 1


def inputs_of(automaton, run, stream):
    stream = iter(stream)
    return [next(stream) if automaton.state(automaton.transitions[t].source).is_input else None for t in run]


def check(automaton, stream, eps, seed):
    simulation = simulate(automaton, stream, eps, SAMPLES, seed, max_steps=12)
    assert sum(simulation.runs.values()) == SAMPLES
    assert sum(simulation.final.values()) == sum(simulation.stopped.values()) == SAMPLES
    for run, _ in sorted(simulation.runs.items(), key=lambda item: -item[1])[:5]:
        found = log_probability(automaton, run, inputs_of(automaton, run, stream), eps=eps)
        beginning = sum(n for taken, n in simulation.runs.items() if taken[: len(run)] == run)
        assert agree(beginning, found.probability), run
    shown = max(simulation.outputs, key=lambda outputs: (simulation.outputs[outputs], len(outputs)))
    outputs = [(-inf, inf) if output is None else output for output in shown]
    try:
        total = total_log_probability(automaton, stream, outputs, eps, max_runs=50)
    except LimitReached:
        return
    if total.complete:
        assert agree(simulation.showing(shown), total.probability)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/*.dipa")), ids=lambda p: p.stem)
def test_examples(path):
    rng, automaton = random.Random(path.stem), load(path)
    inputs = [rng.uniform(-2, 2) for _ in range(5)]
    if not automaton.is_plain or automaton.integer:
        inputs = [round(x) if automaton.integer else round(4 * x) / 4 for x in inputs]
    check(automaton, inputs, rng.choice((1, 4)), seed=7)


@pytest.mark.parametrize("seed", range(30))
def test_random_automata(seed):
    rng = random.Random(seed)
    automaton = random_automaton(rng)
    check(automaton, [rng.uniform(-2, 2) for _ in range(4)], rng.choice((1, 2, 8)), seed)


def test_the_same_seed_gives_the_same_result():
    automaton = load(EXAMPLES / "well_formed" / "svt.dipa")
    runs = [simulate(automaton, [0, 1, 2], 1, 1000, seed).runs for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_why_executions_stop():
    automaton = loads(
        "(a:non-input, 1, 0): x := insample; output o; goto b\n"
        "(b, 1, 0): if (insample >= x) then output high; goto b\n"
    )
    simulation = simulate(automaton, [0, 0, 0], n=SAMPLES, seed=3)
    assert simulation.stopped.keys() == {"guard", "inputs"}
    assert agree(simulation.stopped["inputs"], 1 / 4)
    assert simulation.final == {"b": SAMPLES}
    assert simulate(automaton, [0] * 9, n=10, max_steps=2).stopped.keys() <= {"guard", "steps"}
    ended = simulate(loads("(a, 1, 0): output o; goto b"), [5, 6], n=10)
    assert ended.stopped == {"terminal": 10} and ended.final == {"b": 10}


def test_real_outputs_fall_into_windows():
    automaton = loads("(a, 1, 0, 2, 1): output insampleprime; goto b\n(b, 1, 0): output insample; goto c")
    windows = [(-inf, 0), (0, 1.5), (1.5, 2), (2, 2.5), (2.5, inf)]
    simulation = simulate(automaton, [1, 2], 1, SAMPLES, 5, windows=windows)
    assert len(simulation.outputs) == len(windows) ** 2
    for shown in simulation.outputs:
        found = log_probability(automaton, [0, 1], [1, 2], shown)
        assert agree(simulation.outputs[shown], found.probability)
