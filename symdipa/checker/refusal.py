"""How a certificate is refused: by the first rule that it breaks."""

from __future__ import annotations

from typing import NoReturn

from symdipa.checker.rules import RULES
from symdipa.model.errors import SymdipaError


class CertificateRefused(SymdipaError):
    """A certificate that proves nothing: ``rule`` is the one of :data:`RULES` that ``message`` tells of."""

    def __init__(self, rule: str, message: str) -> None:
        if rule not in RULES:
            raise AssertionError(f"no rule {rule!r}")
        self.rule, self.message = rule, message
        super().__init__(rule, message)

    def __str__(self) -> str:
        return f"{self.message} [{self.rule}]"


def refuse(rule: str, message: str) -> NoReturn:
    raise CertificateRefused(rule, message)


def shown(value: object) -> str:
    """Something of a certificate in a message, never long."""
    text = repr(value) if isinstance(value, str | int | bool | None) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:40]}... ({len(text)} characters)"
