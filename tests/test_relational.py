"""Relational alignment: known constants, soundness against probabilities and proofs, what is refused."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from conftest import EXAMPLES, ROOT
from random_automata import random_automaton
from test_examples import BAD_LINE, FILES, expected, short

from symdipa.analysis import check
from symdipa.bounds.exact.profiles import exact_constant
from symdipa.bounds.portfolio import bounds_on
from symdipa.bounds.relational import Relational, relational
from symdipa.checker import CertificateRefused, verify
from symdipa.evidence.certificates import bundle
from symdipa.evidence.probability import total_log_probability
from symdipa.files import formats
from symdipa.files.families import generate
from symdipa.model.automaton import TRUE, Automaton, Guard, State, Transition, symbol
from symdipa.model.errors import LimitReached
from symdipa.model.limits import UNLIMITED
from symdipa.model.verdict import Verdict
from symdipa.runs.augmentation import augment
from symdipa.runs.control import control_graph
from symdipa.runs.problem import Problem

HALF = Fraction(1, 2)


def report_noisy_max(k: int, d: Fraction = HALF) -> Automaton:
    """Read k noisy inputs and tell which was the largest: state ``s3_1`` has read three, the second leads."""
    states = [State("s0", True, d)]
    moves = [Transition("s0", "s1_0", symbol("read"), TRUE, frozenset("x"))]
    for i in range(1, k):
        for leader in range(i):
            name, last = f"s{i}_{leader}", i == k - 1
            states.append(State(name, True, d))
            for guard, winner in ((Guard(ge=frozenset("x")), i), (Guard(lt=frozenset("x")), leader)):
                target = "end" if last else f"s{i + 1}_{winner}"
                shown = symbol(f"best{winner}" if last else "read")
                stored = frozenset("x") if guard.ge and not last else frozenset()
                moves.append(Transition(name, target, shown, guard, stored))
    return Automaton.build(states, moves)


def proved(automaton: Automaton, **options: Any) -> Relational:
    """Without a limit on time, so that the outcome does not depend on the machine."""
    return relational(automaton, **options)


def read(text: str) -> Automaton:
    return formats.read(text.encode(), "dipa")


def example(name: str) -> Automaton:
    return formats.read_file(EXAMPLES / f"{name}.dipa")


def verified(automaton: Automaton, certificates: Any) -> Fraction:
    """The largest bound that the checker grants to certificates that went through a file."""
    file = json.loads(json.dumps(bundle(automaton, certificates)))
    claims = verify(automaton, file).claims
    assert all(claim.kind == "private" for claim in claims)
    return max(claim.bound for claim in claims)


# Known constants


@pytest.mark.parametrize("k", [2, 3, 4])
def test_report_noisy_max_costs_two_samples(k):
    automaton = report_noisy_max(k)
    found = proved(automaton)
    assert found.bound == 2 * HALF == verified(automaton, found.certificates)


def test_report_noisy_max_on_counts_costs_one():
    assert proved(report_noisy_max(3), adjacency="monotone").bound == HALF


@pytest.mark.parametrize("k", [2, 3])
def test_k_minmax_is_below_what_single_runs_give(k):
    automaton = generate("k-minmax", k)
    bound = proved(automaton).bound
    assert bound == Fraction(1, k) + HALF
    assert bound <= exact_constant(augment(control_graph(automaton))).value


@pytest.mark.parametrize(
    ("name", "bound"),
    [("leaking_cycle/a_nwf", Fraction(0)), ("leaking_cycle/hidden_maximum", Fraction(5, 4))],
)
def test_private_though_not_well_formed(name, bound):
    automaton = example(name)
    found = proved(automaton)
    assert found.bound == bound == verified(automaton, found.certificates)
    without = check(automaton, relational=False)
    assert without.verdict is Verdict.NOT_WELL_FORMED and without.weight is None
    asked = check(automaton)
    assert asked.verdict is Verdict.PRIVATE and asked.well_formed is False
    assert asked.weight.best == asked.weight.relational == bound


def test_sensitivity_multiplies_and_counts_cost_less():
    automaton = example("leaking_cycle/hidden_maximum")
    assert proved(automaton, sensitivity=3).bound == 3 * Fraction(5, 4)
    monotone = proved(automaton, adjacency="monotone")
    assert monotone.bound == Fraction(3, 4) and len(monotone.certificates) == 2
    assert verified(automaton, monotone.certificates) == monotone.bound


# Soundness


BAD = [path for path in FILES if expected(path).verdict is Verdict.NOT_PRIVATE]


@pytest.mark.parametrize("path", BAD, ids=short)
def test_nothing_is_proved_of_what_is_not_private(path):
    assert proved(formats.read_file(path)).bound is None


def test_the_examples_have_both_kinds():
    assert len(BAD) > 5 and any(BAD_LINE.match(path.read_text().splitlines()[0]) for path in FILES)


def blurred(rng: random.Random, automaton: Automaton, share: float) -> Automaton:
    """The automaton with some of its symbols replaced by one, so that more runs show the same outputs."""
    moves = tuple(
        replace(move, output=symbol("o")) if not move.output.is_real and rng.random() < share else move
        for move in automaton.transitions
    )
    return replace(automaton, transitions=moves)


def samples(seed: int, count: int) -> Iterator[Automaton]:
    rng = random.Random(seed)
    for _ in range(count):
        automaton = random_automaton(rng, (1, 2), (1, 2))
        yield blurred(rng, automaton, rng.choice((0.0, 0.5, 1.0)))


@pytest.mark.parametrize("seed", range(4))
def test_no_bound_for_random_automata_contradicts_another_proof(seed):
    answered = 0
    for automaton in samples(seed, 7):
        result = check(automaton, "explicit")
        bound = proved(automaton, max_nodes=400).bound
        if result.verdict is Verdict.NOT_PRIVATE:
            assert bound is None
        elif bound is not None:
            answered += 1
            if result.output_distinct and result.verdict is Verdict.PRIVATE:
                try:
                    assert bound >= exact_constant(augment(control_graph(automaton)), 1_000_000).value
                except LimitReached:
                    continue
    assert answered, "a test that compares nothing"


def outputs_of(automaton: Automaton, longest: int) -> set[tuple[Any, ...]]:
    """The sequences of outputs that paths of the control graph show; real ones are split in half-lines."""
    found: set[tuple[Any, ...]] = set()
    paths: set[tuple[str, tuple[Any, ...]]] = {(automaton.initial, ())}
    for _ in range(longest):
        following: set[tuple[str, tuple[Any, ...]]] = set()
        for state, shown in paths:
            for t in automaton.outgoing[automaton.index[state]]:
                move = automaton.transitions[t]
                halves = [(-float("inf"), 0.5), (0.5, float("inf"))]
                for output in halves if move.output.is_real else [move.output.symbol]:
                    following.add((move.target, (*shown, output)))
        paths = following
        found |= {shown for _, shown in paths}
    return found


def largest_ratio(automaton: Automaton, rng: random.Random, longest: int, pairs: int) -> float:
    """The largest log-ratio, its error taken off, of outputs on random adjacent inputs, at eps 1."""
    worst = 0.0
    sequences = sorted(outputs_of(automaton, longest), key=repr)
    for _ in range(pairs):
        spread = rng.choice((0, 4, 16))
        alpha = [Fraction(rng.randint(-spread, spread)) for _ in range(longest)]
        beta = [a + rng.choice((-1, -1, 1, 1, 0)) for a in alpha]
        for outputs in rng.sample(sequences, min(len(sequences), 12)):
            one, other = (total_log_probability(automaton, inputs, outputs) for inputs in (alpha, beta))
            if one.value > -40 and one.complete and other.complete:
                worst = max(worst, abs(one.value - other.value) - one.error - other.error)
    return worst


RATIOS: list[tuple[str, Callable[[], Automaton]]] = [
    ("noisy max", lambda: report_noisy_max(3)),
    ("k-minmax", lambda: generate("k-minmax", 2)),
    ("redraws", lambda: example("leaking_cycle/a_nwf")),
    ("hidden maximum", lambda: example("leaking_cycle/hidden_maximum")),
]


@pytest.mark.parametrize("make", [make for _, make in RATIOS], ids=[name for name, _ in RATIOS])
def test_probabilities_do_not_exceed_the_bound(make):
    automaton = make()
    bound = proved(automaton).bound
    assert largest_ratio(automaton, random.Random(1), 4, 3) <= float(bound) + 1e-9


OPEN = [(101, 29), (105, 19), (110, 27), (114, 1), (114, 23), (118, 10), (129, 10)]
"""Seeds and places of random automata that are not well-formed, of which privacy is proved."""


@pytest.mark.parametrize(("seed", "place"), OPEN)
def test_probabilities_of_random_automata_do_not_exceed_the_bound(seed, place):
    automaton = next(islice(samples(seed, 30), place, None))
    assert check(automaton, "explicit", relational=False).verdict is Verdict.NOT_WELL_FORMED
    bound = proved(automaton, max_nodes=400).bound
    assert bound is not None and bound <= 5
    assert largest_ratio(automaton, random.Random(seed), 4, 2) <= float(bound) + 1e-9


DIFFERENT_NOISE = """
(q1, 1/4, 0): x := insample; output read; goto q2
(q2, 1/4, 0):
    if (insample >= x) then output read; goto q3
    elseif (insample < x) then output read; goto q4
(q3, {}): y := insample; output read; goto q5
(q4, 1/4, 0): y := insample; output read; goto q5
(q5, 1/4, 0):
    if (insample >= y) then output top; goto q6
    elseif (insample < y) then output bottom; goto q6
"""


def test_runs_with_different_noise_are_not_tied():
    same, scaled, moved = (read(DIFFERENT_NOISE.format(noise)) for noise in ("1/4, 0", "1/2, 0", "1/4, 3"))
    assert proved(same).bound == HALF  # the last sample is shifted past every y
    assert proved(scaled).bound != HALF and proved(moved).bound >= HALF
    for automaton in (scaled, moved):
        bound = proved(automaton).bound
        if bound is not None:
            assert largest_ratio(automaton, random.Random(5), 4, 4) <= float(bound) + 1e-9


STOPS = """
(q1, 1/4, 0): x := insample; output read; goto q2
(q2, 1/4, 0):
    if (insample >= x) then output read; goto q3
    elseif (insample < x) then output read; goto q4
(q4, 1/4, 0): output more; goto q5
"""


def test_the_end_of_a_run_is_seen():
    found = proved(read(STOPS))
    assert found.bound == HALF  # stopping after two steps tells how the samples compare


# Certificates


def hidden() -> tuple[Automaton, dict[str, Any]]:
    automaton = example("leaking_cycle/hidden_maximum")
    (certificate,) = proved(automaton).certificates
    return automaton, json.loads(json.dumps(certificate))


def test_certificates_follow_the_schema():
    automaton, certificate = hidden()
    schema = json.loads((ROOT / "symdipa" / "files" / "formats" / "certificate.schema.json").read_text())
    follows = jsonschema.Draft202012Validator(schema).is_valid
    (remarked,) = proved(generate("k-minmax", 2)).certificates
    assert any(remark for _, _, remark, _ in remarked["machine"]["edges"])
    for one in (certificate, remarked):
        assert follows(json.loads(json.dumps(bundle(automaton, [one]))))
    assert not follows(bundle(automaton, [{**certificate, "nodes": [{}]}]))


def test_no_small_change_proves_less():
    """Numbers changed at random: either refused, or what is claimed is still no less than the truth."""
    automaton, certificate = hidden()
    rng = random.Random(3)
    refused = 0
    for _ in range(60):
        broken = deepcopy(certificate)
        broken["D"] = "1"
        for node in broken["nodes"]:
            if rng.random() < 0.5:
                node["potential"] = str(max(Fraction(0), Fraction(node["potential"]) - Fraction(1, 4)))
            for move in node["moves"]:
                if rng.random() < 0.2 and move["shift"] is not None:
                    low = rng.choice((-1, 0, 1))
                    move["shift"] = [str(low), str(rng.choice([c for c in (-1, 0, 1) if c >= low]))]
        try:
            verify(automaton, bundle(automaton, [broken]))
        except CertificateRefused:
            refused += 1
    assert refused == 60  # inputs exist whose ratio comes as close to 5/4 as one likes


# The command line


def test_weight_tries_pairs_where_privacy_is_open(run):
    done = run("weight", "examples/leaking_cycle/hidden_maximum.dipa")
    assert done.returncode == 0
    words = "private, D is at most 5/4, at least 3/4, by relational alignment (experimental)"
    assert words in done.stdout
    assert "not well-formed (leaking cycle)" in done.stdout and "optimal" not in done.stdout
    told = json.loads(run("weight", "--json", "examples/leaking_cycle/a_nwf.dipa").stdout)
    assert told["verdict"] == "private" and told["bounds"]["relational"] == "0" and told["optimal"] is True


@pytest.mark.parametrize("command", ["check", "witness", "weight", "weight --method run", "compare"])
def test_every_command_pairs_runs_where_privacy_is_open(run, command):
    done = run(*command.split(), "--json", "examples/leaking_cycle/a_nwf.dipa")
    told = json.loads(done.stdout)
    assert done.returncode == 0 and told["verdict"] == "private"
    assert (told.get("weight") or told["bounds"])["relational"] == "0"


def test_check_need_not_pair_runs(run):
    plain = run("check", "-q", "--no-relational", "examples/leaking_cycle/a_nwf.dipa")
    assert plain.returncode == 3 and "privacy not decided" in plain.stdout


def test_what_needs_no_repair_gets_no_hints(run):
    told = json.loads(run("witness", "--json", "examples/leaking_cycle/a_nwf.dipa").stdout)
    assert told["witness"] is not None and told["hints"] is None
    assert "What would help" not in run("witness", "examples/leaking_cycle/a_nwf.dipa").stdout


def test_the_proof_is_certified_beside_the_violation(run, tmp_path):
    file, certificate = "examples/leaking_cycle/hidden_maximum.dipa", tmp_path / "c.json"
    assert run("certify", file, "-o", str(certificate)).returncode == 0
    told = run("verify", file, str(certificate))
    assert told.returncode == 0
    assert "D*eps-private with D = 5/4" in told.stdout and "not well-formed" in told.stdout


def test_a_method_like_the_others():
    found = bounds_on(Problem.of(report_noisy_max(4)), ("alignment", "relational"))
    assert found.from_above["relational"] == 1 < found.from_above["alignment"]
    assert found.best_method == "relational" and found.relational_proof.certificates


def test_a_run_that_no_other_imitates_shows_that_pairs_are_best():
    """All comparisons lose: the first candidate wins. No other run shows that, and it costs 2d."""
    found = bounds_on(Problem.of(report_noisy_max(4)))
    assert (found.best, found.best_method, found.lower) == (1, "relational", 1)
    assert found.distinct and found.optimal and len(found.flow.run) == 4


def test_a_limit_is_told_of():
    found = relational(generate("k-minmax", 4), limits=UNLIMITED.within(0))
    assert found.bound is None and not found.certificates and "time" in found.limits[0]
