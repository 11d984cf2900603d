"""All runs of a program: it is run again and again, each time with other answers.

A run begins like an earlier one, up to a node: so much of it is only repeated. Where two runs pass points
with the same key they are one node of a graph, and only one of them goes on. A node has a tree of what
happens next, in which comparisons branch, until the run passes another point.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from typing import NoReturn

from symdipa.model.errors import InputProblem, InvalidInput, Position
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.parts import Atom
from symdipa.model.validation.comparisons import implies
from symdipa.programs.points import Point
from symdipa.programs.trace import (
    Ask,
    Cut,
    Draw,
    Ending,
    Event,
    Past,
    Program,
    Refused,
    Restart,
    Sites,
    Trace,
    differs,
)

MOST_AT_A_PLACE, MOST_NODES, MOST_NUMBERS = 300, 3_000, 20_000
"""The most nodes with the same place in the program, and in all; the most numbers that are live in nodes with
the same place."""

MOST_IN_A_ROW, MOST_WAYS = 300, 1_000
"""The most questions one after the other between two nodes, and the most ways that they may be answered."""


@dataclass(slots=True)
class Branch:
    """Events, and what comes after them: a comparison, another node, or the end of the run (``None``)."""

    events: list[Event] = field(default_factory=list)
    end: Fork | Goto | None = None
    is_open: bool = True
    """Whether its end is not known yet."""


@dataclass(slots=True)
class Fork:
    """A question, with what happens if the answer is yes and if it is no."""

    question: Ask | Ending
    yes: Branch = field(default_factory=Branch)
    no: Branch = field(default_factory=Branch)


@dataclass(slots=True)
class Goto:
    """The run goes on in a node; ``arrival`` tells what its names were called before."""

    node: int
    arrival: Point


@dataclass(slots=True)
class Node:
    """A point, as the first run passed it, and all that can happen from there to the next ones; ``past`` is
    how it got there."""

    point: Point
    past: Past
    branch: Branch = field(default_factory=Branch)
    ways: int = 1


@dataclass(slots=True)
class _Place:
    """The nodes with one place in the program, and how many numbers are live in them."""

    nodes: list[int] = field(default_factory=list)
    numbers: int = 0


@dataclass(frozen=True, slots=True)
class Graph:
    """All runs of a program; they begin in node 0."""

    nodes: tuple[Node, ...]


def explored(program: Program, limits: Limits = UNLIMITED) -> Graph:
    """All runs of a program.

    Raises :class:`InvalidInput` where it does something that cannot be followed,
    :class:`~symdipa.model.errors.LimitReached`.
    """
    sites = Sites()
    while True:
        search = _Search(program, sites, limits)
        try:
            return search.all()
        except Restart:
            continue
        except Refused as refused:
            problem = InputProblem("program", refused.message, refused.position)
            raise InvalidInput([problem], program.source) from None


Script = tuple[tuple[bool, bool], ...]
"""The answers in a node, and whether something else happens after the other answer (it may be known)."""


class _Search:
    """The graph so far, and the run through it; hears what the run does."""

    def __init__(self, program: Program, sites: Sites, limits: Limits) -> None:
        self.program, self.sites, self.limits = program, sites, limits
        self.doing = f"following {program.name}"
        self.nodes: list[Node] = []
        self.index: dict[Hashable, int] = {}
        self.places: dict[Hashable, _Place] = {}
        self.work: list[tuple[int | None, Script]] = [(None, ())]
        """Where runs are to go on, and what is answered there."""
        self.node = self.at = self.answered = self.forks = 0
        """The node in which the run is, and how many events, answers and questions there were since."""
        self.script: Script = ()
        self.facts: frozenset[Atom] = frozenset()
        self.compared: frozenset[str] = frozenset()
        self.goes_on: dict[int, bool] = {}
        """For the lines of questions the answer after which the last run did not soon end: what grows is
        found by a run that is long."""

    def all(self) -> Graph:
        while self.work:
            self.run(*self.work.pop())
        if not self.nodes:
            raise Refused("it neither reads nor shows anything", "yield what it is to show", None)
        return Graph(tuple(self.nodes))

    def run(self, node: int | None, script: Script) -> None:
        """One run that goes on in a node, answers by the script, and then such that it may be long."""
        self.is_over = False
        self.branch: Branch | None = None
        past = None
        if node is not None:
            self.enter(node)
            past = self.nodes[node].past
        self.script = script
        self.trace = trace = Trace(self, self.sites, self.program.integer, past)
        self.last: tuple[int, bool] | None = None
        try:
            self.program.run(trace)
        except Cut:
            return
        finally:
            trace.is_running = False
            if self.last is not None:
                line, answer = self.last
                self.goes_on[line] = not answer
        if self.is_over:
            raise Refused(
                "the end of a run is caught", "leave out the 'except:' or 'finally:' around it", None
            )
        if self.branch is not None:
            self.branch.is_open = False

    # -------------------------------------------------------------------------------------- what it hears

    def passed(self, point: Point, past: Past) -> None:
        self.go_on()
        known = self.index.get(point.key)
        if self.branch is not None:
            if not self.branch.is_open:
                differs(point.line)
            number = len(self.nodes) if known is None else known
            self.branch.end, self.branch.is_open = Goto(number, point), False
        if known is not None:
            self.is_over = True
            raise Cut
        self.enter(self.new(point, past))

    def happened(self, event: Event) -> None:
        self.go_on()
        branch = self.here(event.line)
        if self.at == len(branch.events) and branch.is_open:
            branch.events.append(event)
        elif self.at == len(branch.events) or branch.events[self.at] != event:
            differs(event.line)
        self.at += 1

    def asked(self, question: Ask | Ending) -> bool:
        self.go_on()
        branch = self.here(question.line)
        if self.answered < len(self.script):
            answer, forks = self.script[self.answered]
        elif isinstance(question, Ask) and (known := self.known(question)) is not None:
            answer, forks = known, False
        else:
            answer, forks = self.goes_on.get(question.line, isinstance(question, Ask)), True
            self.fork(branch, question, not answer)
        if self.answered == len(self.script):
            self.script = (*self.script, (answer, forks))
        self.answered += 1
        if forks:
            self.forks += 1
            fork = branch.end
            if not isinstance(fork, Fork) or fork.question != question or self.at < len(branch.events):
                differs(question.line)
            self.last = question.line, answer
            self.branch, self.at = fork.yes if answer else fork.no, 0
            if isinstance(question, Ask):
                self.facts |= {question.atom if answer else question.negation}
                self.compared |= question.atom.names
        return answer

    def known(self, question: Ask) -> bool | None:
        """The answer, if it follows from earlier ones, which say something of all that it is about."""
        if question.atom.names <= self.compared:
            if implies(self.facts, question.atom, self.program.integer):
                return True
            if implies(self.facts, question.negation, self.program.integer):
                return False
        return None

    def fork(self, branch: Branch, question: Ask | Ending, later: bool) -> None:
        """A new question, of which one answer is left for later."""
        if not branch.is_open:
            differs(question.line)
        branch.end, branch.is_open = Fork(question), False
        self.work.append((self.node, (*self.script, (later, True))))
        here = self.nodes[self.node]
        here.ways += 1
        if self.forks >= MOST_IN_A_ROW:
            self.trace.goes_on_and_on()
        if here.ways > MOST_WAYS:
            words, place = self.trace.at_work()
            raise Refused(
                f"{words} can come out in more than {MOST_WAYS} ways",
                "ask for less at a time: max() for the largest, or a loop that keeps the best value so far",
                place,
            )

    # ------------------------------------------------------------------------------------------- the graph

    def new(self, point: Point, past: Past) -> int:
        """A new node."""
        number = len(self.nodes)
        self.index[point.key] = number
        self.nodes.append(Node(point, past))
        here = self.places.setdefault(point.place, _Place())
        here.nodes.append(number)
        here.numbers += len(point.variables) + len(point.registers)
        if len(self.nodes) > MOST_NODES:
            self.grows(max(self.places.values(), key=lambda place: len(place.nodes)))
        if len(here.nodes) > MOST_AT_A_PLACE or here.numbers > MOST_NUMBERS:
            self.grows(here)
        return number

    def enter(self, node: int) -> None:
        """A run is in a node, with nothing answered there."""
        self.node, self.branch = node, self.nodes[node].branch
        self.at = self.answered = self.forks = 0
        self.facts, self.compared, self.script = frozenset(), frozenset(), ()

    def here(self, line: int) -> Branch:
        if self.branch is None:
            differs(line)
        return self.branch

    def go_on(self) -> None:
        self.limits.check(self.doing)
        if self.is_over:
            raise Cut

    # ---------------------------------------------------------------------------------------------- errors

    def grows(self, place: _Place) -> NoReturn:
        """There are too many nodes: say which variable has too many values."""
        points = [self.nodes[k].point for k in place.nodes]
        values = {name: list(dict.fromkeys(p.shapes.get(name) for p in points)) for name in points[-1].shapes}
        most = max(map(len, values.values()), default=0)
        name = next((name for name in values if len(values[name]) == most and name.isidentifier()), None)
        if name is None or len(values[name]) < 4:
            seen = f"more than {len(points) - 1} states at this place"
            remedy = "let it keep fewer values, or set smaller sizes"
        else:
            few = ", ".join(readable(value) for value in values[name][1:4])
            seen = f"{name} takes ever more values ({few}, ...)"
            remedy = f"let the program end or start over at some value of {name}, or keep it out of the run"
            if len({_numbers_in(self.nodes[k].branch) for k in place.nodes[1:4]}) > 1:
                remedy += (
                    "; a threshold that depends on it is subtracted before the run: let the entries be q - t"
                )
        raise Refused(seen, remedy, Position(points[-1].line, 1))


def _numbers_in(branch: Branch) -> frozenset[Fraction]:
    """The numbers that are added to noise, or to what is compared, in a node."""
    found = {event.mu for event in branch.events if isinstance(event, Draw)}
    if isinstance(branch.end, Fork):
        if isinstance(branch.end.question, Ask):
            asked = branch.end.question.atom
            found |= {asked.low.offset, asked.high.offset}
        found |= _numbers_in(branch.end.yes) | _numbers_in(branch.end.no)
    return frozenset(found)


UNKNOWN = "a noisy value or an input"
"""How messages show a number that is not known."""


def readable(shape: Hashable) -> str:
    """A value of the program as messages show it."""
    match shape:
        case ("number", int()):
            return UNKNOWN
        case (("tuple" | "list") as kind, tuple(parts)):
            inside = ", ".join(_listed(list(map(readable, parts))))
            return f"({inside})" if kind == "tuple" else f"[{inside}]"
        case (int(), inner):
            return readable(inner)
        case ("str", text):
            return repr(text)
        case (str(), value) if not isinstance(value, tuple):
            return str(value)
    return "..."


def _listed(words: list[str]) -> list[str]:
    """The parts of a list, of which many that are not known are counted."""
    found: list[str] = []
    for word, some in groupby(words):
        count = len(list(some))
        found += [f"{count} noisy values or inputs"] if word == UNKNOWN and count > 1 else [word] * count
    return found


def is_plain(shape: Hashable) -> bool:
    """Whether messages can show a value as it is."""
    match shape:
        case (("tuple" | "list"), tuple(parts)):
            return all(map(is_plain, parts))
        case (int(), inner):
            return is_plain(inner)
        case (("int" | "str" | "bool" | "float" | "Fraction" | "NoneType"), _):
            return True
    return False
