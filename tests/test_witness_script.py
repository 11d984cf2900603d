"""Counterexamples as programs: they compute what symdipa computes, and refute nothing that is true."""

from __future__ import annotations

import ast
import math
import os
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise, product

import pytest
from click.testing import CliRunner
from conftest import ROOT

import symdipa
from symdipa.evidence.refutation import NoRefutation, recompute, script
from symdipa.evidence.refutation.recompute import Bound, Law, TooMuchWork, adjacent, log_probability
from symdipa.interface.cli import cli
from symdipa.model.limits import Limits
from symdipa.programs.loading import read_program

EXAMPLES = ROOT / "examples"


def laws(*means, kind="laplace", rate=1.0, whole=False):
    return [Law(kind, rate, Fraction(mean), None, None, whole) for mean in means]


def at_most(i, j, more=0, sign=1, other_sign=1):
    return Bound(i, sign, j, other_sign, Fraction(more))


# ------------------------------------------------------------------------------------------- the computation


@pytest.mark.parametrize("kind", ["laplace", "exponential"])
@pytest.mark.parametrize("count", [2, 3, 4, 6])
def test_all_orders_of_equal_samples_are_equally_likely(kind, count):
    chain = [at_most(i, j) for i, j in pairwise(range(count))]
    value, off = log_probability(laws(*[0] * count, kind=kind), chain)
    assert off < 1e-3 and value == pytest.approx(-math.log(math.factorial(count)), abs=1e-4)
    star = [at_most(0, j) for j in range(1, count)]
    value, off = log_probability(laws(*[0] * count, kind=kind), star)
    assert off < 1e-3 and value == pytest.approx(-math.log(count), abs=1e-4)


def test_samples_between_others():
    # of four equal samples 0 and 1 are below 2 and 3: 4 of 24 orders
    bounds = [at_most(i, j) for i, j in product((0, 1), (2, 3))]
    value = recompute._Tables(laws(0, 0, 0, 0), bounds, recompute.Work()).value(-1)
    assert value == pytest.approx(math.log(4 / 24), abs=2e-2)


def test_offsets_and_mirrors():
    # the difference of two Laplace samples is at least 2: exp(-2) * (2 + 2) / 4
    value, _ = log_probability(laws(0, 0), [at_most(0, 1, -2)])
    assert value == pytest.approx(-2, abs=1e-6)
    value, _ = log_probability(laws(1, 3), [at_most(0, 1, -4)])  # the same, moved
    assert value == pytest.approx(-2, abs=1e-6)
    value, _ = log_probability(laws(0, 0), [at_most(0, 1, -2, sign=1, other_sign=-1)])  # z0 + z1 <= -2
    assert value == pytest.approx(-2, abs=1e-6)
    both = [at_most(0, 1, 0, 1, -1), at_most(0, 1, 0, 1, 1)]  # z0 below z1 and -z1
    assert log_probability(laws(0, 0), both)[0] == pytest.approx(-math.log(4), abs=1e-6)


@pytest.mark.parametrize("kind", ["laplace", "exponential"])
def test_integers_are_added_up(kind):
    rate, span = 0.7, range(-30, 60)
    samples = laws(0, 2, -1, kind=kind, rate=rate, whole=True)
    bounds = [at_most(0, 1, -1), at_most(2, 1), at_most(2, 0, 3), at_most(0, 2, 2, -1, -1)]

    def weight(law, k):
        if kind == "exponential":
            return (1 - math.exp(-rate)) * math.exp(-rate * (k - int(law.mean))) if k >= law.mean else 0.0
        return math.tanh(rate / 2) * math.exp(-rate * abs(k - int(law.mean)))

    total = 0.0
    weights = [[weight(law, k) for k in span] for law in samples]
    for (i, a), (j, b) in product(enumerate(span), repeat=2):
        if a <= b - 1:
            part = sum(
                w for w, c in zip(weights[2], span, strict=True) if c <= b and c <= a + 3 and -a <= -c + 2
            )
            total += weights[0][i] * weights[1][j] * part
    assert log_probability(samples, bounds)[0] == pytest.approx(math.log(total), abs=1e-9)


def test_what_is_impossible_has_no_probability():
    for circle in (
        [at_most(0, 1), at_most(1, 0)],
        [at_most(0, 1, -1), at_most(1, 2), at_most(2, 0, 1)],
        [at_most(0, 1, 0, 1, -1), at_most(0, 1, 0, -1, 1)],
    ):
        assert log_probability(laws(0, 0, 0), circle) == (-math.inf, 0.0)
    whole = laws(0, 0, whole=True)
    assert log_probability(whole, [at_most(0, 1), at_most(1, 0)])[0] > -math.inf  # both may be the same
    assert log_probability(whole, [at_most(0, 1, -1), at_most(1, 0)])[0] == -math.inf
    late = [Law("exponential", 1.0, Fraction(3), None, Fraction(2), False)]
    assert log_probability(late, []) == (-math.inf, 0.0)


def test_tails_keep_their_digits():
    far = [Law("laplace", 1.0, Fraction(0), Fraction(500), Fraction(501), False)]
    assert log_probability(far, [])[0] == pytest.approx(-500 + math.log((1 - math.exp(-1)) / 2))
    value, _ = log_probability(laws(0, 300), [at_most(1, 0)])
    assert value == pytest.approx(-300 + math.log(302 / 4), abs=1e-6)


MANY_ORDERS = {
    "all of three below all of four": ([0, 0, 1, 2, 3, 2, 3], [*product((0, 1, 2), (3, 4, 5, 6))]),
    "samples between two others, twice": (
        [0, 9, 4, 4, 5, 6, 4],
        [(0, k) for k in range(2, 7)] + [(k, 1) for k in range(2, 7)],
    ),
    "a chain, and what each of it is above": (
        [5, 3, 1, 0, 0, 0, -2],
        [(1, 0), (2, 1), (3, 0), (4, 1), (5, 2), (6, 3), (6, 4), (6, 5)],
    ),
    "a square": ([0, 1, 1, 2], [(0, 1), (0, 2), (1, 3), (2, 3)]),
}


def counted(means, pairs, rate=0.4, step=0.05, reach=24.0):
    """The logarithm of the probability that samples have an order, by sums over all down-sets on a line."""
    places = [k * step - reach for k in range(int(2 * reach / step) + 1)]
    count = len(means)
    below = [sum(1 << i for i, k in pairs if k == j) for j in range(count)]
    tables = {0: [1.0] * len(places)}
    for placed in range(1, 1 << count):
        added = [0.0] * len(places)
        for j in range(count):
            before = placed & ~(1 << j)
            if placed >> j & 1 and before & below[j] == below[j] and before in tables:
                density = [rate / 2 * math.exp(-rate * abs(x - means[j])) for x in places]
                added = [a + d * f for a, d, f in zip(added, density, tables[before], strict=True)]
        if any(added):
            sums = [0.0]
            for a, b in pairwise(added):
                sums.append(sums[-1] + (a + b) / 2 * step)
            tables[placed] = sums
    return math.log(tables[(1 << count) - 1][-1])


@pytest.mark.parametrize("case", MANY_ORDERS)
def test_samples_in_an_order(case):
    means, pairs = MANY_ORDERS[case]
    value, off = log_probability(laws(*means, rate=0.4), [at_most(i, j) for i, j in pairs])
    assert off < 1e-3 and value == pytest.approx(counted(means, pairs), abs=5e-3)


@pytest.mark.parametrize("kind", ["laplace", "exponential"])
def test_a_sweep_and_tables_agree(kind):
    moved = [0, 3, -1, 2, 1, 0]
    pairs = [(0, 2), (2, 1), (0, 3), (3, 1), (0, 4), (4, 1), (5, 0)]
    samples = laws(0, 4, 1, 1, 1, -1, kind=kind, rate=0.5)
    bounds = [at_most(i, j, moved[i] - moved[j]) for i, j in pairs]
    sweep, tables = (
        samples_of(samples, bounds, recompute.Work()).value(2)
        for samples_of in (recompute._Sweep, recompute._Tables)
    )
    assert sweep == pytest.approx(tables, abs=1e-6)


def test_many_samples_that_are_alike():
    # 40 samples below one threshold and above another: what no table of two values would be small enough for
    count = 40
    bounds = [at_most(0, k) for k in range(2, count + 2)] + [at_most(k, 1) for k in range(2, count + 2)]
    value, off = log_probability(laws(*[0] * (count + 2)), bounds)
    orders = math.log(math.factorial(count)) - math.log(math.factorial(count + 2))
    assert off < 1e-3 and value == pytest.approx(orders, abs=1e-4)


def test_too_much_work_is_noticed():
    three, four = (0, 1, 2), (3, 4, 5, 6)  # each of three within some distance of each of four
    near = [at_most(*pair, 4) for i, k in product(three, four) for pair in ((i, k), (k, i))]
    with pytest.raises(TooMuchWork, match="at the same time"):
        log_probability(laws(*range(7)), near)
    with pytest.raises(TooMuchWork, match="one after another"):
        recompute.Work(left=10).did(11)


def test_time_that_is_over_is_noticed():
    with pytest.raises(TooMuchWork, match="the time was over"):
        log_probability(laws(0, 0), [at_most(0, 1)], until=0.0)


@pytest.mark.parametrize(
    ("beta", "ranges", "moves", "answer"),
    [
        (["1", "2"], [("-1", "1")], [(0, 0)], True),
        (["0", "5/2"], [("-1", "1")], [(0, 0)], True),
        (["0", "3"], [("-1", "1")], [(0, 1), (1, None)], False),
        (["1", "3"], [("-1", "1")], [(0, 1), (1, None)], True),
        (["1", "7/2"], [("-1", "1")], [(0, 0)], False),
        (["0", "3"], [("0", "1"), ("-1", "0")], [(0, 0)], False),
        (["0", "1"], [("0", "1"), ("-1", "0")], [(0, 0)], True),
    ],
)
def test_adjacency_is_checked(beta, ranges, moves, answer):
    assert adjacent(["1", "2"], beta, ranges, moves) is answer


# ------------------------------------------------------------------------------------------------ the numbers


NUMBERS = [
    ("leaking_pair/svt_no_cutoff.dipa", 4),
    ("leaking_pair/a_leakp.dipa", 1),
    ("leaking_pair/hysteresis_forever.dipa", 1),
    ("leaking_pair/two_range_1.dipa", 6),
    ("leaking_cycle/lc_example.dipa", 2),
    ("disclosing_cycle/dc_example.dipa", 10),
    ("privacy_violating_path/num_range_1.dipa", 4),
    ("leaking_cycle/running_maximum.dipa", 1),
    ("linear/svt_gap_forever.dipa", 1),
    ("adjacency/fresh_noise_on_everything.dipa", 2),
    ("programs/sparse_vector.py:without_query_noise", 1),
    ("programs/ranges.py:inside_for_ever", 4),
    ("programs/watch.py:every_other", 2),
    ("programs/sums.py:fresh_noise_on_everything", 1),
    ("programs/noisy_max.py:first_shown", 1),
    ("programs/histogram.py:empty_bins_shown", 1),
]


def refutation(name, exceeds=1, eps=1):
    file = str(EXAMPLES / name)
    automaton = read_program(file) if ".py" in name else symdipa.load(file)
    return symdipa.refute(symdipa.check(automaton), exceeds, eps)


@pytest.mark.parametrize(
    ("name", "exceeds"), [n for n in NUMBERS if (EXAMPLES / n[0].split(":")[0]).exists()]
)
def test_both_computations_agree(name, exceeds):
    found = refutation(name, exceeds)
    data = script.contents(found)
    for entries, value, error in (
        (data["alpha"], found.log_prob_alpha, found.error_alpha),
        (data["beta"], found.log_prob_beta, found.error_beta),
    ):
        again, off = recompute.total(data["runs"], entries, data["eps"], data["whole"])
        assert again == value or abs(again - value) <= error + off + 1e-6


# ----------------------------------------------------------------------------------------------- the programs


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    file = tmp_path_factory.mktemp("scripts") / "refutes.py"
    leaky = str(EXAMPLES / "leaking_pair" / "svt_no_cutoff.dipa")
    done = CliRunner().invoke(cli, ["witness", "--no-hints", "--exceeds", "2", "--script", str(file), leaky])
    assert done.exit_code == 1, done.output
    assert f"wrote a program that computes both probabilities to {file}" in done.stderr
    return file


def run(file):
    """Run a program without anything but Python itself."""
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [sys.executable, "-I", "-S", str(file)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=clean)


def test_a_program_refutes_the_claim(written):
    done = run(written)
    assert (done.returncode, done.stderr) == (0, "")
    assert "adjacent inputs: yes" in done.stdout
    assert done.stdout.endswith("2*eps-privacy at eps = 1 is refuted\n")


def test_a_program_needs_the_standard_library_only(written):
    tree = ast.parse(written.read_text(encoding="utf-8"))
    names = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names])
    }
    assert names and names <= set(sys.stdlib_module_names)


@pytest.mark.parametrize("change", ["claim", "apart", "same", "eps"])
def test_a_program_fails_where_nothing_is_refuted(written, tmp_path, change):
    text = written.read_text(encoding="utf-8")
    head, rest = text.split("DATA = ", 1)
    data_text, rest = rest.split("\n\nENOUGH", 1)
    data = ast.literal_eval(data_text)
    if change == "claim":
        data["claimed"] = "50"  # far more than the run costs
    elif change == "apart":
        data["beta"] = [str(Fraction(a) + 3 * (Fraction(b) - Fraction(a))) for a, b in pairs(data)]
    elif change == "same":
        data["beta"] = data["alpha"]
    else:
        data["alpha"], data["beta"] = data["beta"], data["alpha"]
    changed = tmp_path / "changed.py"
    changed.write_text(f"{head}DATA = {data!r}\n\nENOUGH{rest}", encoding="utf-8")
    done = run(changed)
    assert (done.returncode, done.stderr) == (1, "")
    assert "NOT refuted" in done.stdout and ("adjacent inputs: NO" in done.stdout) == (change == "apart")


def pairs(data):
    return zip(data["alpha"], data["beta"], strict=True)


def test_programs_of_mechanisms_run(tmp_path):
    for name in ("programs/watch.py:every_other_of_a_window", "programs/histogram.py:empty_bins_shown"):
        file = tmp_path / "out.py"
        done = CliRunner().invoke(cli, ["witness", "--no-hints", "--script", str(file), str(EXAMPLES / name)])
        if done.exit_code == 0:
            assert "is not written: it is private" in done.stderr and not file.exists()
        else:
            assert run(file).returncode == 0


def test_no_name_gets_out_of_the_text(tmp_path):
    name = 'x"""\nraise SystemExit(7)\n"""\\'
    found = refutation("leaking_pair/svt_no_cutoff.dipa")
    from dataclasses import replace

    file = tmp_path / "named.py"
    file.write_text(script.script(replace(found, automaton=replace(found.automaton, name=name))), "utf-8")
    assert run(file).returncode == 0


def test_a_program_with_several_stored_values(tmp_path):
    file = tmp_path / "range.py"
    leaky = str(EXAMPLES / "disclosing_cycle" / "dc_example.dipa")
    done = CliRunner().invoke(cli, ["witness", "--no-hints", "--exceeds", "4", "--script", str(file), leaky])
    assert file.exists(), done.output
    assert run(file).returncode == 0


def test_the_time_is_for_the_program_too(monkeypatch, tmp_path):
    found = refutation("leaking_pair/svt_no_cutoff.dipa")
    with pytest.raises(NoRefutation, match="the time was over"):
        script.script(found, Limits(deadline=0.0))

    deadlines = []

    def refuses(found, limits):
        deadlines.append(limits.deadline)
        raise NoRefutation("that was all")

    monkeypatch.setattr(script, "script", refuses)
    file = str(tmp_path / "out.py")
    leaky = str(EXAMPLES / "leaking_pair" / "svt_no_cutoff.dipa")
    CliRunner().invoke(cli, ["witness", "--no-hints", "--timeout", "60", "--script", file, leaky])
    assert deadlines and all(deadlines)


def test_nothing_is_written_where_nothing_is_refuted():
    from dataclasses import replace

    found = refutation("leaking_pair/svt_no_cutoff.dipa")
    with pytest.raises(NoRefutation, match="there is no counterexample to write"):
        script.script(replace(found, exceeds=Fraction(100)))
    with pytest.raises(NoRefutation, match="do not refute it clearly enough"):
        script.script(replace(found, beta=found.alpha))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--script", "out.py", "a.dipa", "b.dipa"], "--script is about one file"),
        (["--script", "program.py", "program.py:svt"], "program.py is one of the inputs"),
        (["--script", "out.json", "a.dipa"], "what is written is a program in Python"),
    ],
)
def test_what_cannot_be_written_is_refused(arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text("", encoding="utf-8")
    done = CliRunner().invoke(cli, ["witness", *arguments])
    assert done.exit_code == 2 and said in done.output
    assert (tmp_path / "program.py").read_text(encoding="utf-8") == ""
