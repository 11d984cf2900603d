"""The checker in Python and the one extracted from Coq on the same certificates, real and spoilt ones.

    SYMDIPA_COQ_CHECKER=proofs/_build/symdipa-checker python proofs/tests/agree.py

Certificates are those of the examples and of random automata, of the paper's kind and wider, also such that
not all entries may differ; in parts on control states, on a trunk and on a ground. Each mutant has
one to three small changes. Whatever one checker accepts and the other refuses is printed, and the exit status
is 1. Beyond the paper's automata the proved checker may say that no theorem is about a certificate. Where
there are no parts it knows what the sample alone is asked, and the checker in Python refuses that.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "proofs" / "tests")]

import in_parts  # noqa: E402
from linear_examples import noisy_max  # noqa: E402
from random_automata import random_automaton, random_product  # noqa: E402
from random_differ import random_differ  # noqa: E402
from random_linear import changed, random_linear  # noqa: E402

import symdipa  # noqa: E402
from symdipa.bounds.relational import relational  # noqa: E402
from symdipa.checker import CertificateRefused, Claim, verify  # noqa: E402
from symdipa.checker.digest import digest  # noqa: E402
from symdipa.checker.model import is_plain  # noqa: E402
from symdipa.evidence.certificates import bundle, extracted  # noqa: E402
from symdipa.files.families import generate  # noqa: E402
from symdipa.files.formats.halting import halt_shown  # noqa: E402
from symdipa.model.automaton import Noise, symbol, with_differ  # noqa: E402
from symdipa.model.errors import NothingToCertify  # noqa: E402

Json = dict[str, Any]

UPPER = ("private", "private-in-parts")


@dataclass(frozen=True)
class Subject:
    """An automaton and a file with one certificate of privacy."""

    name: str
    automaton: symdipa.Automaton
    file: Json

    @property
    def certificate(self) -> Json:
        certificate: Json = self.file["certificates"][0]
        return certificate


def subjects_of(
    name: str, automaton: symdipa.Automaton, timeout: float, kinds: tuple[str, ...] = UPPER
) -> Iterator[Subject]:
    """Those certificates of an automaton, and of its visible reading, that are of these kinds."""
    for about in (automaton, halt_shown(automaton)):
        try:
            result = symdipa.weigh(about, methods=("alignment",), certified=True, timeout=timeout)
            file = symdipa.certify(result, timeout=timeout)
        except (NothingToCertify, symdipa.SymdipaError):
            continue
        assert isinstance(file, dict)
        for certificate in file["certificates"]:
            if certificate["kind"] in kinds:
                yield Subject(name, about, file | {"certificates": [certificate]})
        if about == halt_shown(automaton):
            break


def examples(kinds: tuple[str, ...] = UPPER) -> Iterator[Subject]:
    for path in sorted((ROOT / "examples").glob("*/*.dipa")):
        yield from subjects_of(path.stem, symdipa.load(path), 20, kinds)


def random_subjects(
    rng: random.Random,
    count: int,
    make: Callable[[random.Random], symdipa.Automaton] = random_automaton,
    kinds: tuple[str, ...] = UPPER,
) -> Iterator[Subject]:
    """Certificates of random automata, as many as these."""
    found = 0
    while found < count:
        automaton = make(rng)
        for subject in subjects_of(f"random {found}", automaton, 5, kinds):
            yield subject
            found += 1
            break


def of_pairs(name: str, automaton: symdipa.Automaton) -> Iterator[Subject]:
    """Its certificate that pairs runs, if there is one."""
    try:
        found = relational(automaton, max_nodes=400)
    except symdipa.SymdipaError:
        return
    for certificate in found.certificates:
        subject = Subject(name, automaton, json.loads(json.dumps(bundle(automaton, [certificate]))))
        if in_python(subject, subject.file) != "kind":
            yield subject


def examples_of_pairs() -> Iterator[Subject]:
    for path in sorted((ROOT / "examples").glob("*/*.dipa")):
        yield from of_pairs(path.stem, symdipa.load(path))
    for k in (2, 3, 4, 6):
        yield from of_pairs(f"k-minmax {k}", generate("k-minmax", k))
        for noise in (Noise.LAPLACE, Noise.EXPONENTIAL):
            yield from of_pairs(f"noisy max {k}, {noise.value}", noisy_max(k, noise=noise))


def random_pairs(
    rng: random.Random, count: int, make: Callable[[random.Random], symdipa.Automaton]
) -> Iterator[Subject]:
    """As many, where some symbols have become one: then runs are paired that are not the same."""
    found = 0
    while found < count:
        automaton = make(rng)
        share = rng.random()
        steps = tuple(
            replace(step, output=symbol("o")) if not step.output.is_real and rng.random() < share else step
            for step in automaton.transitions
        )
        try:
            subjects = list(of_pairs(f"pairs {found}", replace(automaton, transitions=steps)))
        except ValueError:
            continue
        yield from subjects
        found += len(subjects)


FAMILIES = (
    *(("pivot", n) for n in (2, 3, 5)),
    *(("bracket", n) for n in (2, 3, 5)),
    *(("u-range", n) for n in (2, 3)),
    *(("m-range", n) for n in (2, 4)),
    *(("running-max", n) for n in (2, 3, 4)),
)
"""Where orders are many, so that symdipa proves in parts."""


def subjects_in_parts(rng: random.Random, subjects: list[Subject], count: int) -> Iterator[Subject]:
    """Certificates in parts: of families, of random automata, and made of the proofs of others.

    The last two are as many as these, on control states and on a trunk, on a trunk, and on a ground.
    """
    for family, n in FAMILIES:
        automaton = generate(family, n)
        for file in in_parts.written(automaton):
            yield Subject(f"{family} {n}", automaton, file)
    for text in ("pattern=(=~)*", "pattern==~*"):
        for family in ("pivot", "bracket"):
            yield from subjects_of(f"{family} {text}", with_differ(generate(family, 6), text), 20)
    found = 0
    while found < count:
        automaton = rng.choice((random_automaton, random_product))(rng)
        for file in in_parts.written(automaton):
            yield Subject(f"random in parts {found}", automaton, file)
            found += 1
    of_one_graph = [s for s in subjects if s.certificate["kind"] == "private"]
    for plain in (True, False):
        some = [s for s in of_one_graph if is_plain(s.automaton) == plain]
        found = 0
        while some and found < count:
            subject = rng.choice(some)
            certificate = in_parts.made(rng, subject.automaton, subject.certificate, plain)
            if certificate is None:
                continue
            file = subject.file | {"certificates": [certificate]}
            more = Subject(f"{subject.name} in parts", subject.automaton, file)
            if not in_python(more, more.file):
                yield more
            found += 1


def in_python(subject: Subject, file: Json) -> str:
    """The rule that is broken, if any."""
    try:
        verify(subject.automaton, json.dumps(file))
    except CertificateRefused as refused:
        return refused.rule
    return ""


def in_coq(subject: Subject, file: Json) -> str:
    """Why it is not accepted, if it is not."""
    try:
        extracted.verify(subject.automaton, json.dumps(file).encode())
    except extracted.NotAccepted as no:
        return no.why if no.why == "not_proved" else no.message
    return ""


def weakened(file: Json) -> Json:
    """The file with facts ``<=`` only, as the proved checker may read them."""
    file = copy.deepcopy(file)
    for node in file["certificates"][0]["nodes"]:
        for fact in node["facts"]:
            fact[2] = "<="
    return file


def noise_of(subject: Subject, file: Json) -> str:
    """For which noise it is proved; empty if it is not."""
    try:
        return " and ".join(extracted.verify(subject.automaton, json.dumps(file).encode()).noise)
    except extracted.NotAccepted:
        return ""


def spoilt(rng: random.Random, subject: Subject) -> Json:
    file = copy.deepcopy(subject.file)
    for _ in range(rng.choice([1, 1, 2, 3])):
        _spoil(rng, file["certificates"][0], subject.automaton)
    return file


def _moved(rng: random.Random, number: str) -> str:
    return str(
        Fraction(number)
        + rng.choice([Fraction(1, 1000), Fraction(-1, 1000), 1, -1, Fraction(1, 2), Fraction(-1, 2)])
    )


RELATIONS = ("<", "<=", "=", "!=")


def _end(rng: random.Random, variables: list[str]) -> str:
    """What a fact may be about: a variable, the negative of one, a number."""
    some = [rng.choice(["0", "1", "-1", "2", "5", "1/2", "-3/2"])]
    some += [sign + x for x in rng.sample(variables, min(len(variables), 3)) for sign in ("", "-")]
    return rng.choice(some)


def _other_end(rng: random.Random, end: str, variables: list[str]) -> str:
    if rng.random() < 0.3:
        return _end(rng, variables)
    if end.lstrip("-") in variables:
        return end[1:] if end.startswith("-") else f"-{end}"
    return _moved(rng, end)


def _spoil(rng: random.Random, certificate: Json, automaton: symdipa.Automaton) -> None:
    """One small change."""
    variables, states = list(automaton.variables), [s.name for s in automaton.states]
    if "machine" in certificate:
        _spoil_pairs(rng, certificate, variables)
        return
    if rng.random() < 0.15:
        _spoil_claim(rng, certificate)
        return
    if "ground" in certificate and rng.random() < 0.3:
        _spoil_graph(rng, certificate["ground"], states)
        return
    graph = rng.choice(
        [*certificate.get("parts", []), *([certificate["trunk"]] if "trunk" in certificate else [])]
        or [certificate]
    )
    if "base" not in graph:
        return
    base, lift = graph["base"], graph["lift"]
    own = graph.get("variables", [] if graph is certificate.get("trunk") else variables)
    if "trunk" in certificate and "variables" in graph:
        states = list(certificate["potentials"])
    if rng.random() < 0.3:
        _spoil_graph(rng, base, states)
        return
    base_node, lift_node = rng.choice(base["nodes"]), rng.choice(lift["nodes"])
    match rng.randrange(18):
        case 0 if "potential" in lift_node:
            lift_node["potential"] = _moved(rng, lift_node["potential"])
        case 1 | 2 if lift["shifts"]:
            x = rng.choice(sorted(lift["shifts"]))
            if (ends := lift["shifts"][x]) is not None:
                i = rng.randrange(2)
                ends[i] = _moved(rng, ends[i])
        case 3 if lift["shifts"]:
            both = rng.choice(["1", "-1", "0"])
            lift["shifts"][rng.choice(sorted(lift["shifts"]))] = [both, both]
        case 4 | 5 if own:
            some = rng.choice([None, ["-1", "-1"], ["0", "0"], ["1", "1"], ["-1", "1"], ["1", "-1"]])
            lift_node.setdefault("shifts", {})[rng.choice(own)] = some
        case 6 if lift["edges"]:
            lift["edges"].pop(rng.randrange(len(lift["edges"])))
        case 7 if lift["edges"]:
            rng.choice(lift["edges"])[rng.choice([0, 2])] = rng.randrange(len(lift["nodes"]))
        case 8 if len(variables) > 1 and rng.random() < 0.5:
            base_node.setdefault("facts", []).append([rng.choice("<="), *rng.sample(variables, 2)])
        case 8 | 13 if not is_plain(automaton):
            ends = [_end(rng, variables) for _ in range(2)]
            base_node.setdefault("facts", []).append([rng.choice(RELATIONS), *ends])
        case 9:
            lift["cover"] = {"forward": "backward", "backward": "forward"}[lift["cover"]]
        case 10 if base_node.get("facts"):
            base_node["facts"].pop(rng.randrange(len(base_node["facts"])))
        case 11 if any(len(edge) > 3 for edge in lift["edges"]):
            rng.choice([edge for edge in lift["edges"] if len(edge) > 3])[3] = rng.choice("=~-+")
        case 12:
            lift_node["base"] = rng.randrange(len(base["nodes"]))
        case 14 | 15 | 16 | 17 if told := [node for node in base["nodes"] if node.get("facts")]:
            fact = rng.choice(rng.choice(told)["facts"])
            i = rng.randrange(3)
            plain = is_plain(automaton)
            if i == 0:
                fact[0] = rng.choice("<=" if plain else RELATIONS)
            else:
                fact[i] = rng.choice(variables) if plain else _other_end(rng, fact[i], variables)


def _spoil_graph(rng: random.Random, graph: Json, states: list[str]) -> None:
    """One change of nodes or edges of a base or of a ground."""
    node, edges = rng.choice(graph["nodes"]), graph["edges"]
    match rng.randrange(8):
        case 0 if edges:
            edges.pop(rng.randrange(len(edges)))
        case 1 if edges:
            rng.choice(edges)[rng.randrange(3)] = rng.randrange(len(graph["nodes"]))
        case 2 if any(len(edge) > 3 for edge in edges):
            rng.choice([edge for edge in edges if len(edge) > 3])[3] = rng.choice("=~-+")
        case 3 if "state" in node:
            node["state"] = rng.choice(states)
        case 4 if "differ" in node:
            node["differ"] += rng.choice([-1, 1])
        case 5 if node.get("registers"):
            r = rng.choice(sorted(node["registers"]))
            if rng.random() < 0.5:
                node["registers"][r] = _moved(rng, node["registers"][r])
            else:
                del node["registers"][r]
        case 6 if "potential" in node:
            node["potential"] = _moved(rng, node["potential"])
        case 7 if "ground" in node:
            node["ground"] += rng.choice([-1, 1])


def _spoil_pairs(rng: random.Random, certificate: Json, variables: list[str]) -> None:
    """One change of a certificate that pairs runs."""
    machine, suffixes, nodes = (certificate[key] for key in ("machine", "suffixes", "nodes"))
    node = rng.choice(nodes)
    moves = [move for each in nodes for move in each["moves"]]
    move = rng.choice(moves) if moves else None
    states, classes = range(len(machine["states"])), range(len(suffixes["able"]))
    match rng.randrange(22):
        case 0:
            node["potential"] = _moved(rng, node["potential"])
        case 1 | 2 if move and move["shift"]:
            i = rng.randrange(2)
            move["shift"][i] = _moved(rng, move["shift"][i])
        case 3 if move:
            both = rng.choice(["1", "-1", "0"])
            move["shift"] = rng.choice([None, [both, both], ["-1", "1"]])
        case 4 | 5 if node["facts"]:
            fact = rng.choice(node["facts"])
            fact[3] = _moved(rng, fact[3])
        case 6 if node["facts"]:
            fact = rng.choice(node["facts"])
            fact[2] = "<" if fact[2] == "<=" else "<="
        case 7 if node["facts"]:
            node["facts"].pop(rng.randrange(len(node["facts"])))
        case 8 if len(variables) > 0:
            ends = [[rng.choice([1, 2]), rng.choice(variables)] for _ in range(2)]
            node["facts"].append([*ends, rng.choice(["<", "<="]), rng.choice(["0", "1", "-1"])])
        case 9 if move and move["after"]:
            move["after"].pop(rng.randrange(len(move["after"])))
        case 10 if move:
            move["after"].append(rng.randrange(len(nodes)))
        case 11 if node["moves"]:
            node["moves"].pop(rng.randrange(len(node["moves"])))
        case 12:
            machine["edges"].pop(rng.randrange(len(machine["edges"])))
        case 13:
            rng.choice(machine["edges"])[rng.choice([0, 3])] = rng.choice(states)
        case 14:
            rng.choice(machine["edges"])[2] = rng.choice(["", "other"])
        case 15:
            machine["accepting"] = rng.sample(states, rng.randint(1, len(states)))
        case 16:
            chosen = rng.choice(suffixes[rng.choice(["able", "sure"])])
            u = rng.choice(states)
            chosen.remove(u) if u in chosen else chosen.append(u)
        case 17 if suffixes["before"]:
            rng.choice(suffixes["before"])[rng.choice([0, 3])] = rng.choice(classes)
        case 18 if suffixes["before"]:
            suffixes["before"].pop(rng.randrange(len(suffixes["before"])))
        case 19:
            chosen = node[rng.choice(["first", "second"])]
            u = rng.choice(states)
            chosen.remove(u) if u in chosen else chosen.append(u)
        case 20 if certificate["initial"]:
            certificate["initial"].pop(rng.randrange(len(certificate["initial"])))
        case 21:
            _spoil_claim(rng, certificate)


def _spoil_claim(rng: random.Random, certificate: Json) -> None:
    match rng.randrange(6):
        case 0:
            certificate["D"] = _moved(rng, certificate["D"])
        case 1:
            certificate["adjacency"] = rng.choice(
                [["0", "1"], ["-1", "0"], ["-2", "1"], ["-1/2", "1/2"], ["1/2", "1"]]
            )
        case 2 if "potentials" in certificate:
            q = rng.choice(sorted(certificate["potentials"]))
            certificate["potentials"][q] = _moved(rng, certificate["potentials"][q])
        case 3 if certificate.get("parts"):
            part = rng.choice(certificate["parts"])
            if part["variables"]:
                part["variables"].pop()
        case 4 if certificate.get("parts"):
            part = rng.choice(certificate["parts"])
            certificate["parts"].remove(part)
            if part["variables"] and rng.random() < 0.5:
                certificate["parts"].append(part | {"variables": part["variables"][1:]})
        case 5:
            certificate["sensitivity"] = rng.choice(["1/2", "2", "0", "-1"])


def compare(rng: random.Random, subjects: list[Subject], mutants: int) -> tuple[Counter[str], list[str]]:
    """How often what was said, and what was said differently."""
    counts: Counter[str] = Counter()
    differ = []
    proved = [s for s in subjects if in_coq(s, s.file) != "not_proved"]
    for k in range(-len(subjects), mutants):
        subject = subjects[k] if k < 0 else rng.choice(proved)
        file = subject.file if k < 0 else spoilt(rng, subject)
        rule, why = in_python(subject, file), in_coq(subject, file)
        kind = "certificate" if k < 0 else "mutant"
        if why == "not_proved":
            counts[f"{kind}: {'refused' if rule else 'accepted'} in Python, no theorem"] += 1
        elif rule == "pair-fact" and not why and not in_python(subject, weakened(file)):
            counts[f"{kind}: true with weaker facts"] += 1
        elif rule == "lift-read" and not why and file["certificates"][0].get("parts") == []:
            counts[f"{kind}: without parts, what only the sample is asked"] += 1
        elif bool(rule) == bool(why):
            counts[f"{kind}: {'refused' if rule else 'accepted'} by both"] += 1
            if rule:
                counts[f"   rule {rule}"] += 1
        else:
            counts[f"{kind}: DIFFERENT"] += 1
            differ.append(
                f"{subject.name}: Python: {rule or 'accepted'}; Coq: {why or 'accepted'}\n{json.dumps(file)}"
            )
    return counts, differ


# Bounds from below


def lower_bounds(rng: random.Random, subjects: list[Subject], mutants: int) -> tuple[Counter[str], list[str]]:
    """The same of certificates of the kind ``lower``.

    The proved checker writes runs out, and judges those. So it may accept what the other one refuses for its
    form; but it accepts no ``D`` above the one that the automaton has, nor that it has none, nor a run on
    real numbers that is impossible in Python.
    """
    counts: Counter[str] = Counter()
    differ = []
    for k in range(-len(subjects), mutants):
        subject = subjects[k] if k < 0 else rng.choice(subjects)
        file = copy.deepcopy(subject.file)
        if k >= 0:
            _spoil_run(rng, file["certificates"][0], len(subject.automaton.transitions))
        if k >= 0 and rng.random() < 0.2:
            del file["certificates"][0]["D"]
            file["certificates"][0] |= {"kind": "violation", "pattern": "growth"}
            why = in_coq(subject, file)
            counts[f"lower as growth: {'not proved' if why else 'proved'}"] += 1
            if not why:
                differ.append(f"{subject.name}: proved to have no D\n{json.dumps(file)}")
            continue
        rule, noise = in_python(subject, file), noise_of(subject, file)
        kind = "lower" if k < 0 else "mutant of lower"
        said = "accepted" if not rule else "refused"
        counts[f"{kind}: {said} in Python, {'proved on ' + noise if noise else 'not proved'}"] += 1
        if noise.startswith("real") and rule == "run-feasible":
            differ.append(f"{subject.name}: possible on real numbers, but not in Python\n{json.dumps(file)}")
        above = Fraction(file["certificates"][0]["D"]) > Fraction(subject.certificate["D"])
        if noise and above:
            differ.append(f"{subject.name}: D is too large, and proved\n{json.dumps(file)}")
    return counts, differ


# Violations

MAKERS: tuple[Callable[[random.Random], symdipa.Automaton], ...] = (
    random_automaton,
    random_linear,
    random_differ,
)


def violation_of(name: str, automaton: symdipa.Automaton, timeout: float) -> Subject | None:
    try:
        file = symdipa.certify(symdipa.check(automaton, timeout=timeout), timeout=timeout)
    except (NothingToCertify, symdipa.SymdipaError):
        return None
    assert isinstance(file, dict)
    found = [c for c in file["certificates"] if c["kind"] == "violation"]
    return Subject(name, automaton, file | {"certificates": found}) if found else None


def random_violations(
    rng: random.Random, count: int, make: Callable[[random.Random], symdipa.Automaton]
) -> Iterator[Subject]:
    found = 0
    while found < count:
        subject = violation_of(f"random {found}", make(rng), 5)
        if subject is not None:
            yield subject
            found += 1


def claimed(subject: Subject, file: Json) -> Claim | None:
    """What is proved, if anything."""
    try:
        accepted = extracted.verify(subject.automaton, json.dumps(file).encode())
    except extracted.NotAccepted:
        return None
    return (accepted.claims + accepted.on_integers)[0]


def said_of(claim: Claim | None) -> str:
    if claim is None:
        return "nothing proved"
    return "proved not to be private" if claim.distinct else "the pattern proved"


FORM = ("leaking-rounds", "shape")
"""What a certificate of a pattern says besides the pattern: after how many rounds nothing changes."""


def violations(rng: random.Random, subjects: list[Subject], mutants: int) -> tuple[Counter[str], list[str]]:
    """Certificates of violations, spoilt ones, and the same of automata that are private.

    These are the automata with a few small changes: those for which a ``D`` is proved that way. Of none it
    may be proved that there is no ``D``; and where Python finds a certificate of a pattern to be false, so
    does the other one.
    """
    counts: Counter[str] = Counter()
    wrong = []
    for k in range(-len(subjects), mutants):
        subject = subjects[k] if k < 0 else rng.choice(subjects)
        file = copy.deepcopy(subject.file)
        if k >= 0:
            _spoil_violation(rng, file["certificates"][0], len(subject.automaton.transitions))
        rule, claim = in_python(subject, file), claimed(subject, file)
        distinct = not rule and verify(subject.automaton, json.dumps(file)).claims[0].distinct
        kind = "violation" if k < 0 else "mutant of a violation"
        here = "refused" if rule else "distinct" if distinct else "not distinct"
        noise = f" on {noise_of(subject, file)}" if claim is not None and claim.distinct else ""
        counts[f"{kind}: {here} in Python, {said_of(claim)}{noise}"] += 1
        if claim is not None and (not rule and claim.distinct and not distinct):
            wrong.append(f"{subject.name}: proved, but not distinct in Python\n{json.dumps(file)}")
        if claim is not None and not claim.distinct and rule and rule not in FORM:
            wrong.append(f"{subject.name}: the pattern is proved, in Python {rule}\n{json.dumps(file)}")
    for _ in range(mutants):
        subject = rng.choice(subjects)
        other = changed(rng, subject.automaton)
        if not _has_bound(other):
            counts["violation of another automaton: nothing is known of that"] += 1
            continue
        for k in range(5):
            file = copy.deepcopy(subject.file) | {"automaton": {"sha256": digest(other)}}
            if k:
                _spoil_violation(rng, file["certificates"][0], len(other.transitions))
            spoilt_one = Subject(subject.name, other, file)
            claim = claimed(spoilt_one, file)
            counts[f"violation of a private automaton: {said_of(claim)}"] += 1
            if claim is not None and not claim.distinct:
                rule = in_python(spoilt_one, file)
                if rule and rule not in FORM:
                    wrong.append(
                        f"{subject.name}: the pattern is proved, in Python {rule}\n{json.dumps(file)}"
                    )
            if claim is not None and claim.distinct:
                text = symdipa.dumps(other)
                wrong.append(f"{subject.name}: private, and proved not to be\n{text}\n{json.dumps(file)}")
    return counts, wrong


def _has_bound(automaton: symdipa.Automaton) -> bool:
    try:
        result = symdipa.weigh(automaton, methods=("alignment",), certified=True, timeout=5)
        file = symdipa.certify(result, timeout=5)
    except (NothingToCertify, symdipa.SymdipaError):
        return False
    assert isinstance(file, dict)
    return any(c["kind"] in UPPER for c in file["certificates"])


def _spoil_violation(rng: random.Random, certificate: Json, transitions: int) -> None:
    run = certificate["run"]
    if "flow" in certificate and rng.random() < 0.5:
        certificate["D"] = "0"
        _spoil_run(rng, certificate, transitions)
        del certificate["D"]
        return
    match rng.randrange(5):
        case 0:
            run[rng.randrange(len(run))] = rng.randrange(transitions)
        case 1 if certificate.get("cycles"):
            rng.choice(certificate["cycles"])[rng.randrange(2)] = rng.randrange(len(run) + 1)
        case 2 if certificate.get("path"):
            path = certificate["path"]
            path[rng.randrange(len(path))] = rng.randrange(len(run))
        case 3 if certificate.get("path"):
            certificate["path"] = [rng.randrange(len(run)) for _ in range(rng.randrange(2, 5))]
        case 4 if "rounds" in certificate:
            certificate["rounds"] = sorted(rng.sample(range(8), 2))


def _spoil_run(rng: random.Random, certificate: Json, transitions: int) -> None:
    """One change of a run or its flow, and of ``D`` as well."""
    flow, run = certificate["flow"], certificate["run"]
    match rng.randrange(7):
        case 0 if flow:
            edge = rng.choice(flow)
            edge["amount"] = _moved(rng, edge["amount"])
        case 1 if flow:
            edge = rng.choice(flow)
            edge[rng.choice(["from", "to"])] = rng.choice([rng.randrange(len(run)), "ground"])
        case 2:
            k = rng.randrange(len(run))
            certificate["differences"][k] = rng.choice(["-2", "-1", "0", "1", "1/2"])
        case 3:
            run[rng.randrange(len(run))] = rng.randrange(transitions)
        case 4 if flow:
            edge = rng.choice(flow)
            edge["repeated"] = not edge.get("repeated", False)
        case 5 if certificate.get("cycles"):
            rng.choice(certificate["cycles"])[rng.randrange(2)] = rng.randrange(len(run) + 1)
    if rng.random() < 0.7:
        certificate["D"] = _moved(rng, certificate["D"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--automata", type=int, default=200)
    parser.add_argument("--wider", type=int, default=0, help="automata beyond the paper's")
    parser.add_argument(
        "--differ", type=int, default=0, help="automata where only some entries differ, or with registers"
    )
    parser.add_argument("--parts", type=int, default=0, help="certificates in parts, of each sort")
    parser.add_argument("--mutants", type=int, default=20000)
    parser.add_argument(
        "--pairs",
        type=int,
        default=0,
        help="automata of which pairs of runs are certified, as many wider ones",
    )
    parser.add_argument("--lower", type=int, default=0, help="mutants of bounds from below")
    parser.add_argument("--violation", type=int, default=0, help="automata that are changed until private")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    subjects = [*examples(), *random_subjects(rng, options.automata)]
    subjects += random_subjects(rng, options.wider, random_linear)
    subjects += random_subjects(rng, options.differ, random_differ)
    if options.parts:
        subjects += subjects_in_parts(rng, subjects, options.parts)
    print(f"{len(subjects)} certificates", flush=True)
    counts, differ = compare(rng, subjects, options.mutants)
    if options.pairs:
        pairs = [*examples_of_pairs(), *random_pairs(rng, options.pairs, random_automaton)]
        pairs += random_pairs(rng, options.pairs, random_linear)
        print(f"{len(pairs)} certificates of pairs", flush=True)
        more, wrong = compare(rng, pairs, options.mutants)
        counts.update({f"pairs: {said}": count for said, count in more.items()})
        differ += wrong
    if options.lower:
        below = [*examples(("lower",)), *random_subjects(rng, options.automata, kinds=("lower",))]
        below += random_subjects(rng, options.wider, random_linear, ("lower",))
        below += random_subjects(rng, options.differ, random_differ, ("lower",))
        more, wrong = lower_bounds(rng, below, options.lower)
        counts.update(more)
        differ += wrong
    if options.violation:
        leaking = [
            subject
            for path in sorted((ROOT / "examples").glob("*/*.dipa"))
            if (subject := violation_of(path.stem, symdipa.load(path), 20)) is not None
        ]
        for make in MAKERS:
            leaking += random_violations(rng, options.automata, make)
        more, wrong = violations(rng, leaking, options.violation)
        counts.update(more)
        differ += wrong
    for said, count in sorted(counts.items()):
        print(f"{count:7} {said}")
    for each in differ[:10]:
        print(each)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
