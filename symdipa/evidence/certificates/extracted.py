"""The checker that is extracted from the proofs in Coq (proofs/README.md), run on a certificate.

It is a program of its own, built by ``proofs/build`` and never shipped: :func:`program` says where it is
looked for. What it accepts is a theorem; what it has no theorem about, it names.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from symdipa.checker import Claim
from symdipa.checker.claims import both_ways, inputs_of
from symdipa.checker.reading import parse, rational, table
from symdipa.files import formats
from symdipa.model.automaton import Automaton
from symdipa.model.errors import SymdipaError

VARIABLE, NAME = "SYMDIPA_COQ_CHECKER", "symdipa-checker"
"""The environment variable with the place of the program, and what it is called on the PATH otherwise."""


class CheckerUnusable(SymdipaError):
    """The program is not there, or cannot be used."""


class NotAccepted(SymdipaError):
    """The program did not accept the certificate.

    ``why`` is ``"refused"``, or ``"not_proved"`` where no theorem is about it; ``other`` says that it is
    about another automaton, ``broken`` that it is no certificate.
    """

    def __init__(self, why: str, message: str, rule: str | None) -> None:
        self.why, self.message = why, message
        self.other, self.broken = rule == "automaton", rule == "json"
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Accepted:
    """What is proved, and about which certificates nothing is.

    ``noise`` says for which: ``"real numbers"``, ``"integers"`` or both. What is proved for integers only,
    of an automaton about real numbers, is in ``on_integers``.
    """

    claims: tuple[Claim, ...]
    on_integers: tuple[Claim, ...]
    together: tuple[Claim, ...]
    left_out: tuple[str, ...]
    noise: tuple[str, ...]


def program() -> str:
    """Where the program is."""
    given = os.environ.get(VARIABLE)
    found = shutil.which(given or NAME)
    if found is None:
        place = (
            f"{VARIABLE} names {given!r}, which is no program" if given else f"there is no {NAME} on the PATH"
        )
        raise CheckerUnusable(
            f"the checker that Coq proved is not built: {place}; run proofs/build and set {VARIABLE}"
        )
    return found


def verify(automaton: Automaton, certificate: bytes, timeout: float | None = None) -> Accepted:
    """What the program proves of an automaton; raises :class:`NotAccepted`."""
    command = program()
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "automaton.json"), Path(folder, "certificate.json")
        first.write_text(formats.json_format.write(automaton), encoding="utf-8")
        second.write_bytes(certificate)
        try:
            done = subprocess.run(
                [command, first, second], capture_output=True, text=True, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            raise CheckerUnusable("the checker that Coq proved was not done in time") from None
        except OSError as error:
            raise CheckerUnusable(f"{command} cannot be run: {error.strerror}") from None
    said = _answer(done)
    for why in ("refused", "not_proved"):
        if why in said:
            raise NotAccepted(why, str(said[why]), str(said.get("rule", "")) or None)
    if said.get("accepted") is not True:
        raise CheckerUnusable(f"{command}: {said.get('unusable', 'it gave no answer')}")
    return _accepted(automaton, certificate, said["certificates"])


def _answer(done: subprocess.CompletedProcess[str]) -> dict[str, object]:
    try:
        value = json.loads(done.stdout)
    except ValueError:
        value = None
    return (
        value if isinstance(value, dict) else {"unusable": done.stderr.strip() or f"status {done.returncode}"}
    )


def _claim(kind: str, content: Mapping[str, object], where: str, differ: str) -> Claim:
    # The paper's patterns are about differences from -1 to 1
    about = {"adjacency": ["-1", "1"], "sensitivity": "1"} | dict(content)
    inputs = inputs_of(about, where, differ)
    if kind == "violation":
        return Claim(kind, inputs=inputs, pattern=str(content["pattern"]), distinct=True)
    bound = rational(content["D"], f"{where}.D")
    if kind == "lower":
        return Claim(kind, bound, inputs, distinct=True)
    return Claim("private", bound, inputs)


def _accepted(automaton: Automaton, certificate: bytes, judged: object) -> Accepted:
    """The numbers are read from the certificate; that they are proved is what the program says."""
    assert isinstance(judged, list)
    found = table(parse(certificate), "the file")["certificates"]
    assert isinstance(found, list)
    claims, on_integers, left_out = [], [], []
    noise = {"real numbers": True, "integers": True}
    for item in judged:
        c = item["certificate"]
        if item["proved"]:
            content = table(found[c], f"certificates[{c}]")
            claim = _claim(item["kind"], content, f"certificates[{c}]", automaton.differ.text)
            if not item["reals"] and not automaton.integer:
                on_integers.append(claim)
                continue
            claims.append(claim)
            noise = {
                "real numbers": noise["real numbers"] and item["reals"],
                "integers": noise["integers"] and item["integers"],
            }
        else:
            left_out.append(f"certificates[{c}]: {item['because']}")
    if not claims and not on_integers:
        raise NotAccepted("not_proved", "; ".join(left_out), None)
    kinds = tuple(kind for kind, proved in noise.items() if proved) if claims else ("integers",)
    return Accepted(tuple(claims), tuple(on_integers), tuple(both_ways(claims)), tuple(left_out), kinds)
