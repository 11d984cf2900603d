"""Relational alignment: known constants, soundness against probabilities and proofs, what is refused."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from itertools import compress, islice, product
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
from symdipa.bounds.relational.blocks import blocks_of
from symdipa.bounds.relational.machine import machine
from symdipa.bounds.relational.program import program_of
from symdipa.bounds.relational.proof import certificate
from symdipa.bounds.relational.search import Strategy, search
from symdipa.bounds.relational.shifts import ShiftMenu
from symdipa.bounds.relational.suffixes import suffixes
from symdipa.checker import CertificateRefused, verify
from symdipa.evidence.certificates import bundle
from symdipa.evidence.probability import total_log_probability
from symdipa.files import formats
from symdipa.files.families import generate
from symdipa.model.adjacency import EITHER_WAY
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
    [("leaking_cycle/unseen_redraws", Fraction(0)), ("leaking_cycle/hidden_maximum", Fraction(5, 4))],
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


# Reach


@pytest.mark.parametrize("k", [5, 16])
def test_candidates_of_report_noisy_max_are_interchangeable(k):
    """For each winner, and each number of candidates read, a few pairs of blocks, however many may lead."""
    automaton = report_noisy_max(k)
    found = searched(automaton, remarks=False, memory="letters")
    assert found.bound == 2 * HALF == verified(automaton, [certificate(found, Fraction(1))])
    assert len(found.nodes) < 3 * k * k


@pytest.mark.parametrize("k", [3, 8])
def test_the_values_of_k_minmax_that_stay_are_shifted(k):
    automaton = generate("k-minmax", k)
    found = searched(automaton, remarks=True, memory="none")
    assert found.bound == Fraction(1, k) + HALF == verified(automaton, [certificate(found, Fraction(1))])
    assert len(found.nodes) < 5 * k * k


def searched(automaton: Automaton, remarks: bool, memory: str) -> Strategy:
    """By a search with few shifts."""
    menu = ShiftMenu(machine(program_of(automaton), remarks), EITHER_WAY, few=True)
    found = search(menu, memory, 4000)
    assert isinstance(found, Strategy)
    return found


def test_blocks_are_told_apart_by_all_that_a_run_may_still_do():
    """In c and e the same is compared and shown; only the noise, or what comes later, differs."""
    text = """
    (a, 1, 0): x := insample; output read; goto b
    (b, 1, 0): if (insample >= x) then output read; goto c elseif (insample < x) then output read; goto e
    (c, 1, 0): if (insample >= x) then output yes; goto f elseif (insample < x) then output no; goto f
    (e, {}): if (insample >= x) then {}output yes; goto {} elseif (insample < x) then output no; goto f
    (g, 1, 0): if (insample < x) then output last; goto f
    """
    pairs = {}
    for name, parts in {
        "same": ("1, 0", "", "f"),
        "noise": ("1/2, 0", "", "f"),
        "mean": ("1, 1", "", "f"),
        "later": ("1, 0", "x := insample; ", "g"),
    }.items():
        letters = machine(program_of(read(text.format(*parts))), remarks=False)
        classes = suffixes(letters, "none", 100)
        found, number = blocks_of(letters, classes)
        c, e = (letters.state.index(letters.program.state_names.index(q)) for q in "ce")
        both = [s for s, able in enumerate(classes.able) if {c, e} <= able and s]
        pairs[name] = {number[s, c] == number[s, e] for s in both}
        assert all(number[s, u] == i for i, b in enumerate(found) for s in [b.suffix] for u in b.states)
    assert pairs["same"] == {True}
    assert pairs["noise"] == pairs["mean"] == pairs["later"] == {False}


# Reasons


BOTH_WAYS_OUT = """
(h0:non-input, 1/4, 3): h := insample; output s; goto l0
(l0:non-input, 1/4, -3): l := insample; output s; goto w
(w, 1/8, 0):
    if (insample < h && insample >= l) then output zero; goto w
    elseif (insample >= h) then output out; goto done
    elseif (insample < l) then output out; goto done
"""
"""Samples above the one threshold had to be shifted up, those below the other one down."""


def test_the_reason_is_what_stands_in_the_way():
    found = proved(read(BOTH_WAYS_OUT))
    assert found.bound is None
    (reason,) = found.reasons
    assert reason.startswith("every round of a loop through state w costs something")
    once = BOTH_WAYS_OUT.replace("zero; goto w", "zero; goto done").replace(
        "(w, 1/8, 0)", "(w, 1/8, 0, 1/8, 0)"
    )
    shown = proved(
        read(
            once.replace(
                "elseif (insample < l) then output out", "elseif (insample < l) then output insample"
            )
        )
    )
    assert shown.bound is not None


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
    ("redraws", lambda: example("leaking_cycle/unseen_redraws")),
    ("hidden maximum", lambda: example("leaking_cycle/hidden_maximum")),
]


@pytest.mark.parametrize("make", [make for _, make in RATIOS], ids=[name for name, _ in RATIOS])
def test_probabilities_do_not_exceed_the_bound(make):
    automaton = make()
    bound = proved(automaton).bound
    assert largest_ratio(automaton, random.Random(1), 4, 3) <= float(bound) + 1e-9


OPEN = [(101, 29), (105, 19), (110, 27), (114, 23), (118, 10), (129, 10), (130, 5), (133, 22)]
"""Seeds and places of random automata that are not well-formed, of which privacy is proved."""


@pytest.mark.parametrize(("seed", "place"), OPEN)
def test_probabilities_of_random_automata_do_not_exceed_the_bound(seed, place):
    automaton = next(islice(samples(seed, 30), place, None))
    assert check(automaton, "explicit", relational=False).verdict is Verdict.NOT_WELL_FORMED
    bound = proved(automaton, max_nodes=400).bound
    assert bound is not None and bound <= 5
    assert largest_ratio(automaton, random.Random(seed), 4, 2) <= float(bound) + 1e-9


# What is seen of finite streams


def completed(automaton: Automaton) -> Automaton:
    """The automaton made to show that it stops: ``halted`` where no guard holds, ``ended`` in last states."""
    states, moves = [State("sink", False, Fraction(1))], list(automaton.transitions)
    for state in automaton.states:
        leaving = [automaton.transitions[t] for t in automaton.outgoing[automaton.index[state.name]]]
        if not leaving:
            states.append(State(state.name, False, Fraction(1)))
            moves.append(Transition(state.name, "sink", symbol("ended"), TRUE))
            continue
        states.append(state)
        names = frozenset[str]().union(*(move.guard.ge | move.guard.lt for move in leaving))
        for sides in product((True, False), repeat=len(names)):
            ge = frozenset(compress(sorted(names), sides))
            lt = names - ge
            if not any(move.guard.ge <= ge and move.guard.lt <= lt for move in leaving):
                moves.append(Transition(state.name, "sink", symbol("halted"), Guard(ge, lt)))
    states.sort(key=lambda state: state.name != automaton.initial)
    return Automaton.build(states, moves)


Stream = tuple[int, tuple[Any, ...]]
"""A number of inputs and the outputs that came of them."""


def streams(automaton: Automaton, longest: int) -> list[Stream]:
    """Those of paths of the control graph; real outputs are split in half-lines."""
    paths: set[tuple[str, Stream]] = {(automaton.initial, (0, ()))}
    found: set[Stream] = set()
    for _ in range(longest):
        following = set()
        for name, (inputs, outputs) in paths:
            state = automaton.index[name]
            inputs += automaton.states[state].is_input
            for t in automaton.outgoing[state]:
                move = automaton.transitions[t]
                halves = [(-float("inf"), 0.5), (0.5, float("inf"))]
                for output in halves if move.output.is_real else [move.output.symbol]:
                    following.add((move.target, (inputs, (*outputs, output))))
        paths = following
        found |= {stream for _, stream in paths}
    return sorted(found, key=repr)


def largest_ratio_of_streams(automaton: Automaton, rng: random.Random, longest: int, pairs: int) -> float:
    """The largest log-ratio, its error taken off, of what came of *exactly* the inputs given, at eps 1.

    Both readings at once: where the automaton stops, that is a further output.
    """
    worst = 0.0
    full = completed(automaton)
    seen = streams(full, longest)
    for _ in range(pairs):
        spread = rng.choice((0, 3, 8))
        alpha = [Fraction(rng.randint(-spread, spread)) for _ in range(longest)]
        beta = [a + rng.choice((-1, -1, 1, 1, 0)) for a in alpha]
        for length, outputs in rng.sample(seen, min(len(seen), 20)):
            one, other = (
                total_log_probability(full, inputs[:length], outputs, exact=True) for inputs in (alpha, beta)
            )
            if one.value > -40 and one.complete and other.complete:
                worst = max(worst, abs(one.value - other.value) - one.error - other.error)
    return worst


def branching(rng: random.Random) -> Automaton:
    """Paths that fork, mostly unseen, and read inputs at different places."""
    count = rng.randint(4, 7)
    states, moves = [], []
    for i in range(count):

        def move(guard: Guard = TRUE, stores: float = 0.0, i: int = i) -> Transition:
            onward = range(max(1, i) if rng.random() < 0.3 else min(i + 1, count - 1), count)
            stored = frozenset("x") if rng.random() < stores else frozenset[str]()
            return Transition(f"q{i}", f"q{rng.choice(onward)}", symbol(rng.choice("aaaaab")), guard, stored)

        d = rng.choice((Fraction(1), Fraction(1), HALF))
        if i == 0:
            states.append(State("q0", rng.random() < 0.5, d))
            moves.append(replace(move(stores=1.0), target="q1"))
            continue
        kind = rng.choice(("compare", "compare", "pass", "store", "end")) if i > 1 else "compare"
        states.append(State(f"q{i}", kind in ("compare", "end") or rng.random() < 0.5, d))
        if kind == "compare":
            sides = (Guard(ge=frozenset("x")), Guard(lt=frozenset("x")))
            moves += [move(side, stores=0.3) for side in sides if rng.random() < 0.9]
        elif kind != "end":
            moves.append(move(stores=float(kind == "store")))
    return Automaton.build(states, moves)


READING_PATTERN = """
(q0:non-input, 1, 0): x := insample; output a; goto q1
(q1, 1, 0):
    if (insample < x) then output a; goto q2
    elseif (insample >= x) then output a; goto q3
(q2:non-input, 1, 0): output a; goto q4
(q3, 1, 0): output a; goto q4
"""
"""Three outputs come of one input or of two, which tells how the samples compare."""


def test_how_many_outputs_come_of_how_many_inputs_is_seen():
    automaton = read(READING_PATTERN)
    found = proved(automaton)
    assert found.bound is not None and found.bound >= 1
    assert verified(automaton, found.certificates) == found.bound
    assert 0.9 < largest_ratio_of_streams(automaton, random.Random(2), 4, 12) <= float(found.bound) + 1e-9
    assert proved(read(READING_PATTERN.replace("q2:non-input", "q2"))).bound == 0


def test_redraws_that_read_no_input_are_counted():
    assert proved(example("leaking_cycle/a_nwf")).bound is None


@pytest.mark.parametrize("seed", range(100, 150))
def test_what_is_seen_of_finite_streams_does_not_exceed_the_bound(seed):
    automaton = branching(random.Random(seed))
    bound = proved(automaton, max_nodes=400).bound
    if bound is not None:
        assert largest_ratio_of_streams(automaton, random.Random(seed), 4, 3) <= float(bound) + 1e-9


def test_the_random_automata_have_bounds():
    bounds = [proved(branching(random.Random(seed)), max_nodes=400).bound for seed in range(100, 150)]
    assert sum(bound is not None for bound in bounds) > 30 and bounds.count(Fraction(0)) > 5


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
    told = json.loads(run("weight", "--json", "examples/leaking_cycle/unseen_redraws.dipa").stdout)
    assert told["verdict"] == "private" and told["bounds"]["relational"] == "0" and told["optimal"] is True


@pytest.mark.parametrize("command", ["check", "witness", "weight", "weight --method run", "compare"])
def test_every_command_pairs_runs_where_privacy_is_open(run, command):
    done = run(*command.split(), "--json", "examples/leaking_cycle/unseen_redraws.dipa")
    told = json.loads(done.stdout)
    assert done.returncode == 0 and told["verdict"] == "private"
    assert (told.get("weight") or told["bounds"])["relational"] == "0"


def test_check_need_not_pair_runs(run):
    plain = run("check", "-q", "--no-relational", "examples/leaking_cycle/unseen_redraws.dipa")
    assert plain.returncode == 3 and "privacy not decided" in plain.stdout


def test_what_needs_no_repair_gets_no_hints(run):
    told = json.loads(run("witness", "--json", "examples/leaking_cycle/unseen_redraws.dipa").stdout)
    assert told["witness"] is not None and told["hints"] is None
    assert "What would help" not in run("witness", "examples/leaking_cycle/unseen_redraws.dipa").stdout


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
    assert found.bound is None and not found.certificates and "time" in found.reasons[0]
