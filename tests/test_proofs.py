"""The proofs in Coq and the checker extracted from them: built, as expected, and of one mind with ours.

``SYMDIPA_PROOFS`` names a folder where ``proofs/build`` has built already, and what it said is in the file
``said``; without it what can be built here is built, and what cannot is skipped by name.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner, Result
from conftest import ROOT

import symdipa
from symdipa.checker import CertificateRefused, Inputs, verify
from symdipa.checker.digest import digest
from symdipa.checker.model import Step
from symdipa.checker.plain import private
from symdipa.checker.relational.effects import Drawn
from symdipa.evidence.certificates import extracted
from symdipa.files import formats
from symdipa.files.families import generate
from symdipa.interface.cli import cli
from symdipa.model.automaton import Noise, with_differ

PROOFS = ROOT / "proofs"
Json = dict[str, Any]
AXIOMS = {
    "ClassicalDedekindReals.sig_not_dec",
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
"""What Coq's real numbers rest on."""

MORE_AXIOMS = {
    "boolp.propositional_extensionality",
    "boolp.functional_extensionality_dep",
    "boolp.constructive_indefinite_description",
    "Epsilon.epsilon_statement",
}
"""What mathcomp-analysis adds."""


@dataclass(frozen=True)
class Built:
    folder: Path
    said: str

    def needs(self, part: str) -> None:
        """Skip, with the reason, what could not be built here."""
        for line in self.said.splitlines():
            if line.startswith(f"skipped: {part}"):
                pytest.skip(line)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    if given := os.environ.get("SYMDIPA_PROOFS"):
        return Built(Path(given), Path(given, "said").read_text())
    if "PYTEST_XDIST_WORKER" in os.environ:
        pytest.skip("every process would build it: run proofs/build and set SYMDIPA_PROOFS")
    if not shutil.which("bash"):
        pytest.skip("proofs/build needs bash")
    folder = tmp_path_factory.mktemp("proofs")
    done = subprocess.run(
        [PROOFS / "build", folder], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return Built(folder, done.stdout)


@pytest.fixture
def program(built: Built, monkeypatch: pytest.MonkeyPatch) -> Path:
    built.needs("checker")
    found = built.folder / "symdipa-checker"
    monkeypatch.setenv(extracted.VARIABLE, str(found))
    return found


def sources() -> list[Path]:
    return sorted(PROOFS.glob("[!_t]*/*.v"))


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.stem)
def test_nothing_is_assumed(path: Path) -> None:
    text = re.sub(r"\(\*.*?\*\)", "", path.read_text(), flags=re.DOTALL)
    assert not re.search(r"\b(Admitted|admit|Axioms?|Parameters?|Conjecture|Abort|give_up)\b", text)


@pytest.mark.parametrize(("part", "axioms"), [("grid", AXIOMS), ("real", AXIOMS | MORE_AXIOMS)])
def test_the_theorems_rest_on_what_real_numbers_rest_on(built: Built, part: str, axioms: set[str]) -> None:
    """``proofs/build`` compares the statements with the expected ones, word by word."""
    expected = (PROOFS / "tests" / f"{part}.statements").read_text()
    assert expected.count("Axioms:") == expected.count("     : forall")
    found = {
        match[1]
        for part in expected.split("Axioms:\n")[1:]
        for match in re.finditer(r"^(\S+) *(?:\n  )?:", part, re.M)
    }
    assert found == axioms
    built.needs(part)
    assert (built.folder / f"{part}.statements").read_text() == expected


def test_the_committed_checker_is_the_extracted_one(built: Built) -> None:
    built.needs("core")
    assert "built: extract, which is what is committed" in built.said


# The checker, on files

EXAMPLES = sorted((ROOT / "examples" / "well_formed").glob("*.dipa"))
WIDER = [
    *("deviation", "every_other", "fixed_limits", "hysteresis_band", "last_two", "near_threshold"),
    *("noisy_max_2_exponential", "noisy_max_3_with_value", "svt_adaptive", "svt_exponential", "svt_gap"),
    *("svt_integer", "svt_integer_gap", "two_thresholds"),
]
"""Constants, offsets, negatives, copies, what is shown, silent states, exponential and integer noise."""


@pytest.fixture(scope="module")
def agree() -> Iterator[ModuleType]:
    """proofs/tests/agree.py."""
    spec = importlib.util.spec_from_file_location("agree_with_coq", PROOFS / "tests" / "agree.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    path = list(sys.path)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = path


def certified(path: Path) -> tuple[symdipa.Automaton, dict[str, Any]]:
    automaton = symdipa.load(path)
    file = symdipa.certify(symdipa.weigh(automaton, certified=True))
    assert isinstance(file, dict)
    return automaton, file


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_certificates_of_the_examples_are_proved(program: Path, path: Path) -> None:
    automaton, file = certified(path)
    text = json.dumps(file).encode()
    found = extracted.verify(automaton, text)
    upper, lower = verify(automaton, text).claims
    # It is about one run: other ones must not look like it
    assert found.claims == ((upper, lower) if lower.distinct else (upper,))
    assert not found.on_integers and found.noise == ("real numbers", "integers")


@pytest.mark.parametrize("name", WIDER)
def test_certificates_beyond_the_papers_automata_are_proved(program: Path, name: str) -> None:
    automaton, file = certified(ROOT / "examples" / "linear" / f"{name}.dipa")
    text = json.dumps(file).encode()
    found = extracted.verify(automaton, text)
    upper, lower = verify(automaton, text).claims
    # Not so if it is distinct only together with others that show the same
    proved = lower.distinct and "others" not in file["certificates"][1]
    assert found.claims == ((upper, lower) if proved else (upper,)) and not found.on_integers
    assert found.noise == (("integers",) if automaton.integer else ("real numbers", "integers"))


LEAK = "(leak, 1/2, 0): output insample; goto leak\n"
X = "(p, 1, 0): x := insample; output a; goto q\n"
FACTS = {
    "values are apart": (
        X + "(q, 1, 0): y := insample; output a; goto r\n"
        "(r:silent): if (x <= y) then output le; goto s elseif (x > y) then output gt; goto end\n"
        "(s:silent): if (x >= y) then output ge; goto leak elseif (x < y) then output lt; goto end\n"
    ),
    "a value is apart from a constant": (
        X + "(q:silent): if (x <= 2) then output le; goto s elseif (x > 2) then output gt; goto end\n"
        "(s:silent): if (x >= 2) then output ge; goto leak elseif (x < 2) then output lt; goto end\n"
    ),
    "a value is apart from one that is given": (
        X + "(q:silent): t := 2; output b; goto r\n"
        "(r:silent): if (x <= t) then output le; goto s elseif (x > t) then output gt; goto end\n"
        "(s:silent): if (x >= t) then output ge; goto leak elseif (x < t) then output lt; goto end\n"
    ),
    "constants": (
        X + "(q:silent): if (x <= 1) then output le; goto s elseif (x > 1) then output gt; goto end\n"
        "(s:silent): if (x >= 2) then output ge; goto leak elseif (x < 2) then output lt; goto end\n"
    ),
    "offsets": (
        X + "(q, 1, 0): if (insample >= x + 1) then y := insample; output up; goto s"
        " elseif (insample < x + 1) then output down; goto end\n"
        "(s:silent): if (y <= x) then output ge; goto leak elseif (y > x) then output lt; goto end\n"
    ),
    "negatives": (
        X + "(q, 1, 0): if (insample >= -x) then y := insample; output up; goto s"
        " elseif (insample < -x) then output down; goto end\n"
        "(s:silent): if (x < -y) then output ge; goto leak elseif (x >= -y) then output lt; goto end\n"
    ),
    "half of a sum": (
        X + "(q:silent): if (x <= -x) then output le; goto s elseif (x > -x) then output gt; goto end\n"
        "(s:silent): if (x > 0) then output gt; goto leak elseif (x <= 0) then output le; goto end\n"
    ),
    "exponential noise is above its mean": (
        "(p:non-input, exp 1, 2): x := insample; output a; goto r\n"
        "(r:silent): if (x < 2) then output lt; goto leak elseif (x >= 2) then output ge; goto end\n"
    ),
    "no noise is at its mean": (
        "(p:non-input, inf, 2): x := insample; output a; goto r\n"
        "(r:silent): if (x < 2) then output lt; goto leak elseif (x >= 2) then output ge; goto end\n"
    ),
    "what is shown is the same value": (
        X + "(q:silent): y := x; output b; goto r\n(r:silent): output y - x; goto end\n"
    ),
}
"""What has to be known of stored values: there is no ``D`` but for facts that exclude the last state, or
answer a pair."""


@pytest.mark.parametrize("what", FACTS)
def test_facts_are_proved(program: Path, what: str) -> None:
    automaton = symdipa.loads(FACTS[what] + (LEAK if "leak" in FACTS[what] else ""))
    written = symdipa.certify(symdipa.weigh(automaton, certified=True))
    assert isinstance(written, dict)
    file: Json = dict(written)
    certificate = file["certificates"][0]
    file["certificates"] = [certificate]
    found = extracted.verify(automaton, json.dumps(file).encode())
    assert found.claims == verify(automaton, json.dumps(file)).claims
    # On integers values may be equal
    assert found.noise == (("real numbers",) if "apart" in what else ("real numbers", "integers"))
    for node in certificate["base"]["nodes"]:
        node.pop("facts", None)
    with pytest.raises(CertificateRefused, match=r"base-complete|lift-read"):
        verify(automaton, json.dumps(file))
    with pytest.raises(extracted.NotAccepted, match=r"base-complete|lift-read"):
        extracted.verify(automaton, json.dumps(file).encode())


ROUNDED = {
    "there is no integer between 0 and 1": (
        "(q:silent): if (x > 0) then output gt; goto s elseif (x <= 0) then output le; goto end\n"
        "(s:silent): if (x < 1) then output lt; goto leak elseif (x >= 1) then output ge; goto end\n",
        ["<=", "1", "x"],
    ),
    "nor is one half": (
        "(q:silent): if (x <= -x + 1) then output le; goto s elseif (x > -x + 1) then output gt; goto end\n"
        "(s:silent): if (x > 0) then output gt; goto leak elseif (x <= 0) then output le; goto end\n",
        ["<=", "x", "0"],
    ),
}
"""What holds of integers only, with a fact that follows behind ``q``."""


@pytest.mark.parametrize("what", ROUNDED)
def test_facts_about_integers_are_rounded(program: Path, what: str) -> None:
    text, fact = ROUNDED[what]
    shifts = {"cover": "forward", "shifts": {"x": ["0", "0"]}}
    nodes: list[Json] = [{"state": q} for q in ("p", "q", "s", "end")]
    nodes[2]["facts"] = [fact]
    edges = [[0, 0, 1], [1, 1, 2], [1, 2, 3], [2, 4, 3]]
    potentials = [{"base": v, "potential": str(int(not v))} for v in range(4)]
    certificate: Json = {"kind": "private", "adjacency": ["-1", "1"], "sensitivity": "1", "D": "1"}
    certificate |= {
        "base": {"nodes": nodes, "edges": edges},
        "lift": shifts | {"nodes": potentials, "edges": edges},
    }
    for first_line in ("noise integer\n", ""):
        automaton = symdipa.loads(first_line + X + text + LEAK)
        file = {"format": "symdipa-certificate", "version": 1, "automaton": {"sha256": digest(automaton)}}
        false = json.dumps(file | {"certificates": [certificate]})
        if first_line:
            assert extracted.verify(automaton, false.encode()).claims == verify(automaton, false).claims
            continue
        with pytest.raises(CertificateRefused, match="base-fact"):
            verify(automaton, false)
        with pytest.raises(extracted.NotAccepted, match="base-fact"):
            extracted.verify(automaton, false.encode())


def test_both_checkers_know_the_same_facts(program: Path, agree: ModuleType) -> None:
    rng = random.Random(20261202)
    subjects = list(agree.random_subjects(rng, 12, agree.random_linear))
    counts, differ = agree.compare(rng, subjects, 200)
    assert not differ
    assert counts["certificate: accepted by both"] == 12
    assert counts["   rule base-fact"] > 5 and counts["mutant: accepted by both"] > 20


ADJACENCY = [
    *("answer_kept", "block_sums", "changes", "histogram", "histogram_all", "known_in_turn", "prefix_sums"),
    *("sliding_sums", "smart_sum", "sum_alarm", "svt_one_entry", "svt_window", "total", "tree"),
]
"""Which entries may differ, by number, window or pattern, and sums of entries."""


@pytest.mark.parametrize("name", ADJACENCY)
def test_certificates_about_some_entries_and_sums_are_proved(program: Path, name: str) -> None:
    automaton, file = certified(ROOT / "examples" / "adjacency" / f"{name}.dipa")
    text = json.dumps(file).encode()
    found = extracted.verify(automaton, text)
    claims = verify(automaton, text).claims
    assert found.claims == claims and not found.on_integers
    # The least and the largest difference have a mean, but integers need not
    assert found.noise == (("real numbers",) if name == "sliding_sums" else ("real numbers", "integers"))


def test_both_checkers_read_patterns_alike(program: Path, agree: ModuleType) -> None:
    """Certificates name the states of the pattern's automaton, and mutants other ones."""
    rng = random.Random(20261130)
    subjects = list(agree.random_subjects(rng, 12, agree.random_differ))
    counts, differ = agree.compare(rng, subjects, 150)
    assert not differ
    assert counts["certificate: accepted by both"] > 8
    assert counts["mutant: accepted by both"] > 5


@pytest.mark.parametrize(
    "text",
    [
        "entries=0",
        "entries=1001",
        "entries=x",
        "window=",
        "pattern=",
        "pattern=(=",
        "pattern=a",
        "pattern=={2,1}",
        "some",
    ],
)
def test_texts_that_say_nothing_are_refused(program: Path, tmp_path: Path, text: str) -> None:
    path = ROOT / "examples" / "adjacency" / "svt_one_entry.dipa"
    automaton, file = certified(path)
    first, second = tmp_path / "automaton.json", tmp_path / "certificate.json"
    written = formats.json_format.write(automaton)
    first.write_text(written.replace('"entries=1"', json.dumps(text)))
    second.write_text(json.dumps(file))
    done = subprocess.run([program, first, second], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "refused" in json.loads(done.stdout)


def test_both_checkers_agree(program: Path, agree: ModuleType) -> None:
    """A small part of what proofs/tests/agree.py does."""
    rng = random.Random(20261129)
    subjects = [s for path in EXAMPLES for s in agree.subjects_of(path.stem, symdipa.load(path), 20)]
    subjects += agree.random_subjects(rng, 8)
    counts, differ = agree.compare(rng, subjects, 250)
    assert not differ
    assert counts["certificate: accepted by both"] > 12
    assert counts["mutant: refused by both"] > 100 and counts["mutant: accepted by both"] > 5


PAIRED = {
    "hidden_maximum": Fraction(5, 4),
    "unseen_redraws": Fraction(0),
    "noisy_max_2_exponential": Fraction(1),
    "noisy_max_3_with_value": Fraction(3, 2),
    "svt_integer_gap": Fraction(1),
    "two_thresholds": Fraction(1),
    "k_min_max_3": Fraction(5, 6),
    "num_range_2": Fraction(5, 4),
}
"""With remarks, sure states, sets of states, numbers shown, other noise; some are not well-formed."""


@pytest.mark.parametrize("name", PAIRED)
def test_pairs_of_runs_are_proved(program: Path, agree: ModuleType, name: str) -> None:
    (path,) = (ROOT / "examples").glob(f"*/{name}.dipa")
    (subject,) = agree.of_pairs(name, symdipa.load(path))
    found = extracted.verify(subject.automaton, json.dumps(subject.file).encode())
    assert [claim.bound for claim in found.claims] == [PAIRED[name]]
    assert "integers" in found.noise


def test_report_noisy_max_costs_two_samples_by_a_theorem(program: Path, agree: ModuleType) -> None:
    for noise in (Noise.LAPLACE, Noise.EXPONENTIAL):
        (subject,) = agree.of_pairs("noisy max", agree.noisy_max(5, noise=noise))
        text = json.dumps(subject.file).encode()
        assert [c.bound for c in extracted.verify(subject.automaton, text).claims] == [1]
        subject.certificate["D"] = "999/1000"
        assert agree.in_coq(subject, subject.file)


def test_a_tie_that_costs_nothing_in_python_is_noticed(
    program: Path, agree: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rule that takes ties for free lets the hidden maximum pass with D = 0."""
    (path,) = (ROOT / "examples").glob("*/hidden_maximum.dipa")
    (subject,) = agree.of_pairs("hidden maximum", symdipa.load(path))
    subject.certificate["D"] = "0"
    for node in subject.certificate["nodes"]:
        node["potential"] = "0"
    assert agree.in_python(subject, subject.file) == "pair-potential"
    monkeypatch.setattr(Drawn, "cost", lambda *_: Fraction(0))
    assert not agree.in_python(subject, subject.file)
    assert "pair-potential" in agree.in_coq(subject, subject.file)


TWISTED = {
    "an unknown key": lambda c: c["nodes"][0].update(colour="red"),
    "a move twice": lambda c: c["nodes"][2]["moves"].append(c["nodes"][2]["moves"][0]),
    "an edge twice": lambda c: c["machine"]["edges"].append(c["machine"]["edges"][0]),
    "a letter of two classes": lambda c: c["suffixes"]["before"].append(c["suffixes"]["before"][0]),
    "a fact about no variable": lambda c: c["nodes"][3]["facts"][0].__setitem__(0, [1, "nobody"]),
    "a third copy": lambda c: c["nodes"][3]["facts"][0].__setitem__(0, [3, "limit"]),
    "a node that is not there": lambda c: c["initial"].append(len(c["nodes"])),
    "a stop that goes on": lambda c: c["machine"]["edges"][-1].__setitem__(3, 0),
    "a number that is no text": lambda c: c["nodes"][2].update(potential=2),
    "another first state": lambda c: c["machine"]["states"].__setitem__(0, "q1"),
    "no accepting state": lambda c: c["machine"].update(accepting=[]),
}


@pytest.mark.parametrize("how", TWISTED)
def test_certificates_of_pairs_are_read_strictly(program: Path, agree: ModuleType, how: str) -> None:
    (path,) = (ROOT / "examples").glob("*/hidden_maximum.dipa")
    (subject,) = agree.of_pairs("hidden maximum", symdipa.load(path))
    assert not agree.in_coq(subject, subject.file)
    TWISTED[how](subject.certificate)
    assert agree.in_python(subject, subject.file)
    assert agree.in_coq(subject, subject.file) not in ("", "not_proved")


def test_both_checkers_agree_on_pairs_of_runs(program: Path, agree: ModuleType) -> None:
    rng = random.Random(20261202)
    subjects = list(agree.random_pairs(rng, 12, agree.random_automaton))
    subjects += agree.random_pairs(rng, 12, agree.random_linear)
    counts, differ = agree.compare(rng, subjects, 250)
    assert not differ
    assert counts["certificate: accepted by both"] == len(subjects)
    assert counts["mutant: refused by both"] > 60 and counts["mutant: accepted by both"] > 30


@pytest.mark.parametrize(("family", "n"), [("pivot", 3), ("bracket", 3), ("u-range", 3), ("running-max", 3)])
def test_certificates_in_parts_are_proved(program: Path, agree: ModuleType, family: str, n: int) -> None:
    automaton = generate(family, n)
    files = list(agree.in_parts.written(automaton))
    assert ["trunk" in file["certificates"][0] for file in files] == [False, True][family == "running-max" :]
    for file in files:
        text = json.dumps(file).encode()
        found = extracted.verify(automaton, text)
        assert found.claims == verify(automaton, text).claims and len(found.noise) == 2


def test_a_trunk_is_needed(program: Path, agree: ModuleType) -> None:
    """Its lift is a backward one: a run has a path in it that knows the rest of the run."""
    automaton = generate("running-max", 2)
    (file,) = agree.in_parts.written(automaton)
    lift = file["certificates"][0]["trunk"]["lift"]
    assert lift["cover"] == "backward"
    for e in range(len(lift["edges"])):
        less = deepcopy(file)
        del less["certificates"][0]["trunk"]["lift"]["edges"][e]
        with pytest.raises(extracted.NotAccepted):
            extracted.verify(automaton, json.dumps(less).encode())


def test_parts_on_a_ground_are_proved(program: Path) -> None:
    """The first entry may not differ, and the ground says which is the first."""
    automaton = with_differ(generate("pivot", 6), "pattern==~*")
    file = symdipa.certify(symdipa.weigh(automaton, timeout=60))
    assert isinstance(file, dict)
    (certificate, _) = file["certificates"]
    file["certificates"] = [certificate]
    text = json.dumps(file).encode()
    assert extracted.verify(automaton, text).claims == verify(automaton, text).claims
    for node in certificate["ground"]["nodes"]:
        if (paid := Fraction(node["potential"])) > 0:
            node["potential"] = str(paid * Fraction(999, 1000))
            with pytest.raises(extracted.NotAccepted):
                extracted.verify(automaton, json.dumps(file).encode())
            node["potential"] = str(paid)


def test_both_checkers_agree_in_parts(program: Path, agree: ModuleType) -> None:
    """On control states, trunks and grounds, of all kinds of automata."""
    rng = random.Random(20261202)
    whole = list(agree.random_subjects(rng, 6))
    whole += agree.random_subjects(rng, 8, agree.random_linear)
    whole += agree.random_subjects(rng, 8, agree.random_differ)
    subjects = list(agree.subjects_in_parts(rng, whole, 8))
    counts, differ = agree.compare(rng, subjects, 250)
    assert not differ
    assert {key for s in subjects for key in s.certificate} >= {"potentials", "trunk", "ground"}
    assert counts["certificate: accepted by both"] > 25
    assert counts["mutant: refused by both"] > 60 and counts["mutant: accepted by both"] > 10


def test_no_bound_from_below_is_too_large(program: Path, agree: ModuleType) -> None:
    rng = random.Random(20261201)
    subjects = [
        s for path in EXAMPLES for s in agree.subjects_of(path.stem, symdipa.load(path), 20, ("lower",))
    ]
    subjects += agree.random_subjects(rng, 8, kinds=("lower",))
    subjects += agree.random_subjects(rng, 8, agree.random_linear, ("lower",))
    counts, wrong = agree.lower_bounds(rng, subjects, 250)
    assert not wrong
    assert counts["lower: accepted in Python, proved on real numbers and integers"] > 15
    assert counts["mutant of lower: accepted in Python, proved on real numbers and integers"] > 10
    assert counts["mutant of lower: refused in Python, not proved"] > 50
    assert counts["lower as growth: not proved"] > 20


TIED = (
    "(q0:non-input, 1/2, 0): t := insample; output init; goto q\n"
    "(q, 1/2, 0): if (insample >= t) then s := insample; u := insample; output high; goto r\n"
    "(r:silent): if ({}) then output done; goto end\n"
)
"""An entry is compared with a threshold, and the two once more."""


@pytest.mark.parametrize(
    ("guard", "noise"),
    [
        ("s >= t", ("real numbers", "integers")),
        ("s >= u && u >= s", ("real numbers", "integers")),  # one sample
        ("t >= s", ("integers",)),  # real numbers are equal with probability 0
        ("t + 1/2 >= s && s >= t + 1/4", ("real numbers",)),
    ],
)
def test_samples_of_a_run_have_room_if_noise_is_real(
    program: Path, guard: str, noise: tuple[str, ...]
) -> None:
    def certificate(automaton: symdipa.Automaton) -> bytes:
        lower = {"kind": "lower", "adjacency": ["-1", "1"], "sensitivity": "1", "D": "1/2", "run": [0, 1, 2]}
        lower |= {"differences": ["0", "1", "0"], "flow": [{"from": 0, "to": 1, "amount": "1/2"}]}
        about = {"automaton": {"sha256": digest(automaton)}, "certificates": [lower]}
        return json.dumps({"format": "symdipa-certificate", "version": 1} | about).encode()

    automaton = symdipa.loads(TIED.format(guard))
    found = extracted.verify(automaton, certificate(automaton))
    assert found.noise == noise and len(found.claims) == ("real numbers" in noise)
    if "real numbers" in noise:
        assert verify(automaton, certificate(automaton)).claims == found.claims
    else:
        with pytest.raises(CertificateRefused, match="no samples satisfy the guards"):
            verify(automaton, certificate(automaton))


def test_that_no_bound_will_do_is_proved(program: Path) -> None:
    """A number that is compared without noise; the same claim about SVT is refused."""
    text = (
        "(q0:non-input, 1/2, 0): t := insample; output init; goto q\n"
        "(q, {}, 0): if (insample < t) then output low; goto q"
        " elseif (insample >= t) then output high; goto end\n"
    )
    automaton, noisy = symdipa.loads(text.format("inf")), symdipa.loads(text.format("1/2"))
    file = symdipa.certify(symdipa.check(automaton))
    assert isinstance(file, dict)
    claims = verify(automaton, json.dumps(file)).claims
    assert [c.kind for c in claims] == ["violation"]
    found = extracted.verify(automaton, json.dumps(file).encode())
    assert found.claims == claims and found.noise == ("real numbers", "integers")
    file["automaton"] = {"sha256": digest(noisy)}
    with pytest.raises(extracted.NotAccepted, match="kind violation"):
        extracted.verify(noisy, json.dumps(file).encode())


LEAKING = {
    "svt whose threshold is released": (
        "(q0:non-input, 1/2, 0): t := insample; output init; goto q\n"
        "(q, 1/4, 0): if (insample < t) then output low; goto q"
        " elseif (insample >= t) then output high; goto out\n"
        "(out:silent): output t; goto end\n"
    ),
    "sums for ever": (
        "differ entries=1\n(p:read): s := input; output start; goto q\n"
        "(q, 1, s): s += input; output insample; goto q\n"
    ),
}
"""Flows without bound through rounds of a cycle."""


@pytest.mark.parametrize("name", LEAKING)
def test_that_no_bound_will_do_is_proved_in_rounds(program: Path, name: str) -> None:
    automaton = symdipa.loads(LEAKING[name])
    file = symdipa.certify(symdipa.check(automaton))
    assert isinstance(file, dict)
    claims = tuple(c for c in verify(automaton, json.dumps(file)).claims if c.kind == "violation")
    found = extracted.verify(automaton, json.dumps(file).encode())
    assert claims and found.claims == claims and found.noise == ("real numbers", "integers")
    for certificate in file["certificates"]:
        certificate["flow"] = [edge | {"repeated": False} for edge in certificate["flow"]]
    with pytest.raises(extracted.NotAccepted):
        extracted.verify(automaton, json.dumps(file).encode())


@pytest.mark.parametrize(
    "path", sorted((ROOT / "examples").glob("[dlp]*_*/*.dipa")), ids=lambda path: path.stem
)
def test_violations_of_the_examples_are_proved(program: Path, path: Path) -> None:
    """The four patterns: cycles that leak or disclose, pairs of them, paths to what is shown."""
    automaton = symdipa.load(path)
    file = symdipa.certify(symdipa.check(automaton))
    assert isinstance(file, dict)
    file["certificates"] = [c for c in file["certificates"] if c["kind"] == "violation"]
    (claim,) = verify(automaton, json.dumps(file)).claims
    found = extracted.verify(automaton, json.dumps(file).encode())
    if not claim.distinct:
        assert found.claims == (claim,) and "not well-formed" in str(claim)
        return
    (proved,) = found.claims
    assert (proved.pattern, proved.distinct) == (claim.pattern, True)
    assert "not private for differences in [-1, 1]" in str(proved)


GROWING = {
    "each sample below the last, above a threshold": (
        "(p:non-input, 1/2, 0): t := insample; output start; goto p1\n"
        "(p1:non-input, 1/2, 1): x := insample; output first; goto q\n"
        "(q, 1/4, 0): if (insample < x && insample >= t) then x := insample; output down; goto q\n"
    ),
    "each sample at least the last, up to a limit": (
        "(p:non-input, 1, 0): x := insample; output start; goto q\n"
        "(q, 1/2, 0): if (insample >= x && insample < 5) then x := insample; output up; goto q\n"
    ),
    "one rises, another one falls": (
        "(p:non-input, 1/2, 0): x := insample; output start; goto p1\n"
        "(p1:non-input, 1/2, 1): y := insample; output first; goto q\n"
        "(q, 1/4, 0): if (insample < x) then x := insample; output down; goto r\n"
        "(r, 1/4, 0): if (insample >= y) then y := insample; output up; goto q\n"
    ),
    "from one loop to another": (
        "(p:non-input, 1/2, 0): t := insample; output start; goto q\n"
        "(q, 1/4, 0): if (insample < t) then output low; goto q"
        " elseif (insample >= t) then output high; goto r\n"
        "(r, 1/4, 0): if (insample >= t) then output high; goto r"
        " elseif (insample < t) then output low; goto end\n"
    ),
}
"""Samples that have to differ from round to round, and flow through two cycles."""


@pytest.mark.parametrize("name", GROWING)
def test_rounds_whose_samples_grow_are_proved(program: Path, name: str) -> None:
    automaton = symdipa.loads(GROWING[name])
    file = symdipa.certify(symdipa.check(automaton))
    assert isinstance(file, dict)
    (proved,) = extracted.verify(automaton, json.dumps(file).encode()).claims
    assert proved.kind == "violation"


MIRRORED = {
    "the second sample absorbs through its negative": (
        "(p0:non-input, 1/2, -1/2): x := insample; output o1; goto p1\n"
        "(p1:non-input, 1/2, 0): if (insample >= -x - 1) then y := insample; output o3; goto p2\n"
        "(p2:non-input, 1/2, 1): if (insample >= x) then z := insample; output o4; goto q0\n"
        "(q0, 1/4, -1/2, 1/2, 1): if (insample >= z) then output o6; goto end"
        " elseif (insample >= y && insample < z) then output o8, insampleprime; goto end\n"
    ),
    "repeated samples absorb, and their negatives do": (
        "(p:non-input, 1/4, 0): a := insample; output start; goto q\n"
        "(q:non-input, 1/4, 0): b := insample; output start; goto r\n"
        "(r, 1, 0): if (insample >= a && insample < -b) then output inside; goto r"
        " elseif (insample < a && insample < -b) then output below; goto end"
        " elseif (insample >= a && insample >= -b) then output above; goto end\n"
    ),
}


@pytest.mark.parametrize("name", MIRRORED)
def test_flow_through_negatives_is_proved(program: Path, name: str) -> None:
    automaton = symdipa.loads(MIRRORED[name])
    file = symdipa.certify(symdipa.weigh(automaton, certified=True))
    assert isinstance(file, dict)
    text = json.dumps(file).encode()
    (lower,) = (c for c in verify(automaton, text).claims if c.kind == "lower")
    assert lower.distinct and lower in extracted.verify(automaton, text).claims


def test_no_violation_of_private_automata_is_proved(program: Path, agree: ModuleType) -> None:
    rng = random.Random(20261202)
    subjects = [s for make in agree.MAKERS for s in agree.random_violations(rng, 5, make)]
    counts, wrong = agree.violations(rng, subjects, 150)
    assert not wrong
    assert counts["violation: distinct in Python, proved not to be private on real numbers and integers"] > 10
    assert counts["mutant of a violation: refused in Python, nothing proved"] > 50
    assert counts["violation of a private automaton: nothing proved"] > 20


def test_a_broken_rule_in_python_is_noticed(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that looks at one end of the differences only lets SVT pass with a fifth of its D."""
    automaton, file = certified(ROOT / "examples" / "well_formed" / "svt.dipa")
    certificate = file["certificates"][0]
    certificate["D"] = "1/4"
    for node, potential in zip(certificate["lift"]["nodes"], ("1/4", "0", "0"), strict=True):
        node["potential"] = potential
    false = json.dumps(file | {"certificates": [certificate]}).encode()
    with pytest.raises(CertificateRefused):
        verify(automaton, false)
    whole = private._cost

    def one_end(step: Step, inputs: Inputs, *asked: list[Fraction]) -> Fraction:
        return whole(step, replace(inputs, high=inputs.low), *asked)

    monkeypatch.setattr(private, "_cost", one_end)
    assert verify(automaton, false).claims[0].bound == Fraction(1, 4)
    with pytest.raises(extracted.NotAccepted, match="lift-potential"):
        extracted.verify(automaton, false)


# The command


def verified(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["verify", *map(str, arguments)])


@pytest.fixture(scope="module")
def svt(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    path = ROOT / "examples" / "well_formed" / "svt.dipa"
    certificate = tmp_path_factory.mktemp("svt") / "svt.json"
    certificate.write_text(json.dumps(certified(path)[1]))
    return path, certificate


def test_the_last_line_says_who_checked(program: Path, svt: tuple[Path, Path]) -> None:
    proved, tested = verified("--checker", "coq", *svt), verified(*svt)
    assert proved.exit_code == tested.exit_code == 0
    assert "Coq proved for noise on real numbers and on integers" in proved.output.splitlines()[-1]
    assert "any D below 5/4" in proved.output and "if noise and inputs are integers" not in proved.output
    assert "Python, which is tested and not proved" in tested.output.splitlines()[-1]
    assert verified("--checker", "coq", "--expect", "D <= 1", *svt).exit_code == 1


def test_what_no_theorem_is_about_is_named(program: Path, svt: tuple[Path, Path], tmp_path: Path) -> None:
    path, of_svt = svt
    certificate = tmp_path / "invariants.json"
    file = json.loads(of_svt.read_text())
    file["certificates"] = [{"kind": "well-formed", "encoding": "marks", "patterns": {}}]
    certificate.write_text(json.dumps(file))
    said = verified("--checker", "coq", path, certificate)
    assert (
        said.exit_code == 3
        and "no theorem is about certificates[0]: certificates of the kind well" in said.output
    )


def test_the_other_reading_is_found(program: Path, tmp_path: Path) -> None:
    automaton = symdipa.load(ROOT / "examples" / "well_formed" / "range_1.dipa", halt="visible")
    certificate = tmp_path / "range.json"
    certificate.write_text(json.dumps(symdipa.certify(symdipa.weigh(automaton, certified=True))))
    said = verified("--checker", "coq", ROOT / "examples" / "well_formed" / "range_1.dipa", certificate)
    assert said.exit_code == 0 and "if it is seen that a run stops" in said.output


def test_a_checker_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch, svt: tuple[Path, Path]) -> None:
    monkeypatch.setenv(extracted.VARIABLE, "no such program")
    said = verified("--checker", "coq", *svt)
    assert said.exit_code == 2 and "proofs/build" in said.output


DISTORTED = {
    "a key twice": lambda text: text.replace('"kind"', '"kind": "private", "kind"', 1),
    "an unknown key": lambda text: text.replace('"kind"', '"colour": "red", "kind"', 1),
    "a fraction that is no text": lambda text: text.replace('"5/4"', "1.25", 1),
    "a denominator 0": lambda text: text.replace('"5/4"', '"5/0"', 1),
    "another automaton": lambda text: re.sub('"sha256": "..', '"sha256": "xx', text),
    "text behind": lambda text: text + "{}",
    "no UTF-8": lambda text: text.replace("svt", "sv\udc80", 1),
}


@pytest.mark.parametrize("how", DISTORTED)
def test_files_are_read_strictly(program: Path, svt: tuple[Path, Path], how: str) -> None:
    path, certificate = svt
    text = DISTORTED[how](certificate.read_text()).encode(errors="surrogateescape")
    for check in (verify, extracted.verify):
        with pytest.raises((CertificateRefused, extracted.NotAccepted)):
            check(symdipa.load(path), text)


def test_names_are_any_texts(program: Path) -> None:
    """The digest is that of the canonical form, with all but ASCII escaped."""
    automaton = symdipa.load(ROOT / "examples" / "well_formed" / "svt.dipa")
    names = {q.name: q.name + '\x7f"\\é\U0001f600' for q in automaton.states}
    renamed = replace(
        automaton,
        states=tuple(replace(q, name=names[q.name]) for q in automaton.states),
        initial=names[automaton.initial],
        transitions=tuple(
            replace(t, source=names[t.source], target=names[t.target]) for t in automaton.transitions
        ),
    )
    file = symdipa.certify(symdipa.weigh(renamed, certified=True))
    assert extracted.verify(renamed, json.dumps(file).encode()).claims
