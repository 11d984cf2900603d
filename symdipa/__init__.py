"""symdipa decides whether an online, noisy algorithm (a DiP automaton) is differentially private.

>>> import symdipa
>>> result = symdipa.check(symdipa.generate("svt", 1))
>>> result.verdict, result.bounds.best
(<Verdict.PRIVATE: 'private'>, Fraction(5, 4))
>>> result
<Result svt-1: private, D = 5/4 (corollary bound)>

Printing a result shows its report. Whatever takes an automaton raises :class:`InvalidInput`, with all its
problems, for one that breaks the rules, and ``TypeError`` for anything else (:func:`load` reads a file).

Public names are imported when first used, so that ``import symdipa`` stays instant.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from symdipa.analysis import certify, check, compare, confirm, hints, refute, weigh, with_bounds
    from symdipa.evidence.certificates import verify
    from symdipa.evidence.exports.query import encode
    from symdipa.evidence.probability import log_probability, total_log_probability
    from symdipa.evidence.simulation import simulate
    from symdipa.files.families import generate
    from symdipa.files.formats import dumps, load, loads
    from symdipa.interface.showing import in_notebook, picture, report, text
    from symdipa.model.automaton import (
        INSAMPLE,
        INSAMPLE_PRIME,
        Atom,
        Automaton,
        Guard,
        Noise,
        Output,
        State,
        Term,
        Transition,
        Update,
        atom,
        difference,
        guarded,
        several,
        symbol,
        value,
    )
    from symdipa.model.errors import InputProblem, InvalidInput, Note, NoteKind, Position, SymdipaError
    from symdipa.model.patterns import Pattern
    from symdipa.model.verdict import (
        Answers,
        Bounds,
        PatternResult,
        Result,
        Status,
        Verdict,
        Witness,
    )
    from symdipa.programs.python.mechanism import Mechanism, mechanism
    from symdipa.programs.python.noise import exponential, laplace

_HOME = {
    "analysis": ["certify", "check", "compare", "confirm", "hints", "refute", "weigh", "with_bounds"],
    "evidence.certificates": ["verify"],
    "evidence.exports.query": ["encode"],
    "evidence.probability": ["log_probability", "total_log_probability"],
    "evidence.simulation": ["simulate"],
    "files.families": ["generate"],
    "interface.showing": ["in_notebook", "picture", "report", "text"],
    "model.automaton": [
        "INSAMPLE", "INSAMPLE_PRIME", "Atom", "Automaton", "Guard", "Noise", "Output", "State", "Term",
        "Transition", "Update", "atom", "difference", "guarded", "several", "symbol", "value",
    ],
    "model.errors": ["InvalidInput", "Position", "InputProblem", "Note", "NoteKind", "SymdipaError"],
    "files.formats": ["dumps", "load", "loads"],
    "model.patterns": ["Pattern"],
    "programs.python.mechanism": ["Mechanism", "mechanism"],
    "programs.python.noise": ["exponential", "laplace"],
    "model.verdict": [
        "Answers", "Bounds", "PatternResult", "Result", "Status", "Verdict", "Witness",
    ],
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "INSAMPLE", "INSAMPLE_PRIME", "Answers", "Atom", "Automaton", "Bounds", "Guard", "InputProblem",
    "InvalidInput", "Mechanism", "Noise", "Note", "NoteKind", "Output", "Pattern", "PatternResult",
    "Position", "Result", "State", "Status", "SymdipaError", "Term", "Transition", "Update", "Verdict",
    "Witness", "__version__", "atom", "certify", "check", "compare", "confirm",
    "difference", "dumps", "encode", "exponential", "generate", "guarded", "hints", "in_notebook",
    "laplace", "load", "loads", "log_probability", "mechanism", "picture", "refute", "report", "several",
    "simulate", "symbol", "text", "total_log_probability", "value", "verify", "weigh", "with_bounds",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        value = getattr(import_module(f"symdipa.{_MODULE_OF[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'symdipa' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
