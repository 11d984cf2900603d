"""The file: what it is, which automaton it is about, and its certificates one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from symdipa.checker.claims import Claim, both_ways, refuse_contradictions
from symdipa.checker.digest import digest
from symdipa.checker.model import is_plain, model_of, unfolds
from symdipa.checker.plain.lower import check_lower
from symdipa.checker.plain.private import check_in_parts, check_private
from symdipa.checker.plain.violation import check_violation
from symdipa.checker.reading import items, members, parse, table, text
from symdipa.checker.relational import check_relational
from symdipa.checker.rules import refuse, shown
from symdipa.checker.wider.flows import check_lower as check_wider_lower
from symdipa.checker.wider.flows import check_violation as check_wider_violation
from symdipa.checker.wider.model import model_of as wider_model_of
from symdipa.checker.wider.private import check_in_parts as check_wider_in_parts
from symdipa.checker.wider.private import check_private as check_wider_private
from symdipa.model.automaton import Automaton

FORMAT, VERSION = "symdipa-certificate", 1

Check = Callable[[Automaton, dict[str, object], str], Claim]
"""Checks a certificate of another kind; the text is its place, for messages."""

Kinds = dict[str, Callable[[dict[str, object], str], Claim]]

ONLY_ALL = ("relational",)
"""Kinds that do not speak of which entries differ, nor of registers."""

ONLY_PLAIN = ("well-formed",)
"""Kinds of certificates that exist for the paper's automata only."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What the certificates of a file prove, in their order, and what two of them prove ``together``."""

    claims: tuple[Claim, ...]
    together: tuple[Claim, ...] = ()


def verify(
    automaton: Automaton,
    certificate: str | bytes | dict[str, object],
    others: Mapping[str, Check] | None = None,
) -> Verified:
    """Check a certificate, a text or its JSON value; raises :class:`CertificateRefused`.

    The certificate is not trusted, nor is the automaton assumed to be valid. Certificates of kind
    ``well-formed`` need a solver: they are refused unless ``others`` can check them, as those of
    :func:`symdipa.evidence.certificates.verify` can.
    """
    value = parse(certificate) if isinstance(certificate, str | bytes) else certificate
    parts = members(value, "the file", ["format", "version", "automaton", "certificates"])
    if parts["format"] != FORMAT or type(parts["version"]) is not int or parts["version"] != VERSION:
        refuse("format", f'the file is not of format "{FORMAT}" and version {VERSION}')
    _check_automaton(automaton, parts["automaton"])
    kinds = _kinds(automaton)
    found = items(parts["certificates"], "certificates")
    if not found:
        refuse("shape", "the file has no certificate")
    claims = []
    for c, item in enumerate(found):
        where = f"certificates[{c}]"
        content = table(item, where)
        kind = text(content.get("kind"), f"{where}.kind")
        if kind in ONLY_PLAIN and not is_plain(automaton):
            refuse("kind", f"{where} is of the kind {kind!r}, which is about the automata of the paper only")
        if kind in ONLY_ALL and unfolds(automaton):
            refuse(
                "kind",
                f"{where} is of the kind {kind!r}, for which every entry may differ, without registers",
            )
        if others and kind in others:
            claims.append(others[kind](automaton, content, where))
        else:
            claims.append(_check(kinds, kind, content, where))
    refuse_contradictions(claims)
    return Verified(tuple(claims), tuple(both_ways(claims)))


def _check_automaton(automaton: Automaton, value: object) -> None:
    about = members(value, "automaton", ["sha256"], ["name"])
    claimed, name = text(about["sha256"], "automaton.sha256"), text(about.get("name", ""), "automaton.name")
    actual = digest(automaton)
    if claimed != actual:
        whose = f"the automaton {shown(name)}" if name else "an automaton"
        refuse(
            "automaton",
            f"the certificate was made for {whose} with digest {shown(claimed[:12])}, not for this one "
            f"({actual[:12]!r})",
        )


def _kinds(automaton: Automaton) -> Kinds:
    """The checks for an automaton, which must obey the rules of the model."""
    if not is_plain(automaton):
        wider = wider_model_of(automaton)
        return {
            "private": partial(check_wider_private, wider),
            "private-in-parts": partial(check_wider_in_parts, wider),
            "lower": partial(check_wider_lower, wider),
            "violation": partial(check_wider_violation, wider),
            "relational": partial(check_relational, wider),
        }
    model = model_of(automaton)
    return {
        "private": partial(check_private, model),
        "lower": partial(check_lower, model),
        "violation": partial(check_violation, model),
        "private-in-parts": partial(check_in_parts, model),
        "relational": partial(check_relational, model),
    }


def _check(kinds: Kinds, kind: str, certificate: dict[str, object], where: str) -> Claim:
    if kind == "well-formed":
        refuse("kind", f"{where} is an invariant, which only a solver can check")
    if kind not in kinds:
        refuse("kind", f"{where} is of the unknown kind {shown(kind)}")
    return kinds[kind](certificate, where)
