"""What a sweep is to run: items (members of families, files) x configurations x rounds, as plain data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

from symdipa.files.families import FAMILIES, LARGEST, Family
from symdipa.model.errors import SymdipaError
from symdipa.model.options import ENCODINGS

MOST_SIZES = 10_000


class BadSweep(SymdipaError):
    """A sweep that cannot be run, or results that cannot be used; the text says why."""


def sizes(text: str) -> tuple[int, ...]:
    """The numbers of a list like ``1,2,5,10:80:10``, ascending; ``FIRST:LAST[:STEP]`` includes the last.
    Raises :class:`BadSweep` with the part that is wrong."""
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,9})(?::([0-9]{1,9})(?::([0-9]{1,9}))?)?\s*", part)
        where = f"{part.strip()!r} in the sizes {text!r}"
        if match is None:
            raise BadSweep(f"{where} is not a number like 10 or a range FIRST:LAST:STEP like 10:80:10")
        first = int(match[1])
        last, step = int(match[2] or first), int(match[3] or 1)
        if step < 1:
            raise BadSweep(f"{where}: the step must be at least 1")
        if last < first:
            raise BadSweep(f"{where} ends below its beginning")
        if len(found) + (last - first) // step >= MOST_SIZES:
            raise BadSweep(f"{where}: more than {MOST_SIZES} sizes")
        found.update(range(first, last + 1, step))
    return tuple(sorted(found))


@dataclass(frozen=True, slots=True)
class Expected:
    """What is known of an item: its patterns (by their keys in JSON; ``None``: not told), its verdict, its
    corollary bound, and the smallest D."""

    patterns: tuple[str, ...] | None
    verdict: str
    bound: str | None = None
    least: str | None = None

    def contradicted_by(
        self, patterns: Mapping[str, str], verdict: str, bound: str | None, best: str | None = None
    ) -> str:
        """How an answer contradicts it, with its corollary bound and its best one; empty if it does not."""
        if self.patterns is not None:
            for name, said in patterns.items():
                if said in ("present", "absent") and (said == "present") is not (name in self.patterns):
                    return f"{name} is said to be {said}"
        undecided = ("unknown",) if self.patterns is not None else ("unknown", "not-well-formed")
        if verdict not in (self.verdict, *undecided):
            return f"the verdict is {verdict}"
        if bound is not None and self.bound is not None and bound != self.bound:
            return f"the corollary bound is {bound} instead of {self.bound}"
        if best is not None and self.least is not None and Fraction(best) < Fraction(self.least):
            return f"a bound on D is {best}, and D is {self.least}"
        return ""


@dataclass(frozen=True, slots=True)
class Item:
    """One automaton: member ``size`` of ``family``, or the ``file`` whose copy in the results is ``stored``.

    ``key`` is its name in tables and results, ``published`` the one for published numbers. A file with a
    ``problem`` cannot be read. In a file that is a program it is that of the function ``program``, with
    ``settings`` like ``size=5``; ``claim`` is the D that its authors claim, and a run has to decide it.
    """

    key: str
    family: str | None = None
    size: int | None = None
    file: str | None = None
    stored: str | None = None
    sha256: str | None = None
    expected: Expected | None = None
    published: str | None = None
    problem: str | None = None
    program: str | None = None
    settings: tuple[str, ...] = ()
    claim: str | None = None


def documented(family: Family) -> Expected:
    """What a family says of all its members."""
    patterns = tuple(sorted(pattern.key for pattern in family.patterns))
    return Expected(patterns, "not-private" if patterns else "private")


def member(family: str, size: int) -> Item:
    """The item of a family, with what the family documents of it. Raises :class:`BadSweep`."""
    known = FAMILIES.get(family)
    if known is None:
        raise BadSweep(f"there is no family {family!r}; the families are {', '.join(FAMILIES)}")
    if not known.smallest <= size <= LARGEST:
        limits = f"from {known.smallest} to {LARGEST}"
        raise BadSweep(f"{family} needs numbers ({known.size}) {limits}, not {size}")
    key, expected = f"{family} {size}", documented(known)
    if known.bound is not None:
        expected = replace(expected, bound=str(known.bound(size)))
    return Item(key, family=family, size=size, expected=expected, published=key)


@dataclass(frozen=True, slots=True)
class Config:
    """One way to decide. ``encoding`` and ``solver`` are ``None`` where they do not matter or are usual."""

    engine: str
    encoding: str | None = None
    solver: str | None = None

    @property
    def title(self) -> str:
        parts = [self.engine, *([self.encoding] if self.encoding else [])]
        return "/".join(parts) + (f" on {self.solver}" if self.solver else "")

    @property
    def arguments(self) -> list[str]:
        """Its options for ``symdipa check``."""
        return [word for name, value in asdict(self).items() if value for word in (f"--{name}", value)]


def configs(engines: Sequence[str], encodings: Sequence[str], solvers: Sequence[str]) -> tuple[Config, ...]:
    """The combinations, each once: enumeration has neither encoding nor solver."""
    usual = len(encodings) == 1 and encodings[0] == ENCODINGS[0]
    found = [
        Config(engine)
        if engine == "explicit"
        else Config(engine, None if usual else encoding, None if solver == "default" else solver)
        for engine, encoding, solver in product(engines, encodings, solvers)
    ]
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Task:
    """One run: the ``repetition`` (from 1) of an item with a configuration, measured or to warm up."""

    item: Item
    config: Config
    phase: str
    repetition: int

    @property
    def id(self) -> str:
        return f"{self.item.key}|{self.config.title}|{self.phase}|{self.repetition}"


@dataclass(frozen=True)
class Plan:
    """A whole sweep.

    ``seconds`` and ``memory`` (bytes) are the limits of a run, ``seed`` is that of Python's hashes in it.
    ``warmup`` runs of the first item with each configuration have the machine read files and libraries. With
    ``skip``, members of a family beyond one that reached a limit are not tried.
    """

    items: tuple[Item, ...]
    configs: tuple[Config, ...]
    seconds: float = 60.0
    memory: int = 2**31
    warmup: int = 1
    repeat: int = 3
    seed: int = 0
    skip: bool = True
    preset: str | None = None

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """All runs in their order: configurations take turns, so that a busy machine is busy for all."""
        return tuple(
            Task(item, config, phase, repetition)
            for place, item in enumerate(self.items)
            for phase, times in (("warm-up", 0 if place else self.warmup), ("measured", self.repeat))
            for repetition in range(1, times + 1)
            for config in self.configs
        )

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Plan:
        """The plan that :meth:`as_json` wrote. Raises ``KeyError``, ``TypeError`` or ``ValueError``."""
        settings = {entry.name: data[entry.name] for entry in fields(cls)}
        settings["items"] = tuple(_item(entry) for entry in data["items"])
        settings["configs"] = tuple(Config(**entry) for entry in data["configs"])
        return cls(**settings)

    def differs_from(self, other: Plan) -> list[str]:
        """What is not the same, in the words of the command line."""
        words = {"items": "files or members", "configs": "engines, encodings or solvers"}
        words["seconds"] = "--timeout"
        names = [f.name for f in fields(self) if getattr(self, f.name) != getattr(other, f.name)]
        return [words.get(name, f"--{name}") for name in names]


def _item(data: Mapping[str, Any]) -> Item:
    expected = data["expected"]
    if expected is not None:
        patterns = expected["patterns"]
        expected = Expected(**{**expected, "patterns": None if patterns is None else tuple(patterns)})
    return Item(**{**data, "expected": expected, "settings": tuple(data.get("settings", ()))})


def unique(items: Iterable[Item]) -> tuple[Item, ...]:
    """The items, each once. Raises :class:`BadSweep` where two different ones have one name."""
    found: dict[str, Item] = {}
    for item in items:
        if found.setdefault(item.key, item) != item:
            raise BadSweep(f"two different inputs are called {item.key}")
    return tuple(found.values())
