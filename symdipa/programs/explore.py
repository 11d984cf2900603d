"""All runs of a program: it is run again and again from its start, each time with other answers.

Where two runs pass points with the same key they are one node of a graph, and only one of them goes on. A
node has a tree of what happens next, in which comparisons branch, until the run passes another point.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NoReturn

from symdipa.model.errors import InputProblem, InvalidInput, Position
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.parts import Atom
from symdipa.model.validation.comparisons import implies
from symdipa.programs.points import Point
from symdipa.programs.trace import Ask, Cut, Ending, Event, Program, Refused, Restart, Sites, Trace

MOST_AT_A_PLACE, MOST_NODES = 300, 3_000
"""The most nodes with the same place in the program, and in all."""


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
    """A point, as the first run passed it, and all that can happen from there to the next ones."""

    point: Point
    branch: Branch = field(default_factory=Branch)


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


class _Search:
    """The graph so far, and the run through it; hears what the run does."""

    def __init__(self, program: Program, sites: Sites, limits: Limits) -> None:
        self.program, self.sites, self.limits = program, sites, limits
        self.doing = f"following {program.name}"
        self.nodes: list[Node] = []
        self.index: dict[Hashable, int] = {}
        self.places: dict[Hashable, list[int]] = {}
        self.work: list[tuple[list[bool], list[bool]]] = [([], [])]
        """Answers, and what is known of the points until the last one."""
        self.goes_on: dict[int, bool] = {}
        """For the lines of questions the answer after which the last run did not soon end: what grows is
        found by a run that is long."""

    def all(self) -> Graph:
        while self.work:
            self.run(*self.work.pop())
        if not self.nodes:
            raise Refused("it neither reads nor shows anything", "yield what it is to show", None)
        return Graph(tuple(self.nodes))

    def run(self, script: list[bool], matters: list[bool]) -> None:
        """One run that answers by the script, and then such that it may be long."""
        self.script, self.answers = script, 0
        self.branch: Branch | None = None
        self.at = 0
        self.facts: frozenset[Atom] = frozenset()
        self.is_over = False
        self.trace = trace = Trace(self, self.sites, self.program.integer, matters)
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

    def passed(self, point: Point) -> None:
        self.go_on()
        if self.branch is None:
            self.enter(0 if self.nodes else self.new(point))
        elif self.branch.is_open:
            known = self.index.get(point.key)
            node = self.new(point) if known is None else known
            self.branch.end, self.branch.is_open = Goto(node, point), False
            if known is not None:
                self.is_over = True
                raise Cut
            self.enter(node)
        else:
            end = self.branch.end
            if not isinstance(end, Goto) or self.nodes[end.node].point.key != point.key:
                self.differs(point.line)
            self.enter(end.node)

    def happened(self, event: Event) -> None:
        self.go_on()
        branch = self.here(event.line)
        if self.at == len(branch.events) and branch.is_open:
            branch.events.append(event)
        elif self.at == len(branch.events) or branch.events[self.at] != event:
            self.differs(event.line)
        self.at += 1

    def asked(self, question: Ask | Ending) -> bool:
        self.go_on()
        branch = self.here(question.line)
        if isinstance(question, Ask):
            if implies(self.facts, question.atom, self.program.integer):
                return True
            if implies(self.facts, question.negation, self.program.integer):
                return False
        if branch.is_open:
            branch.end, branch.is_open = Fork(question), False
        fork = branch.end
        if not isinstance(fork, Fork) or fork.question != question or self.at < len(branch.events):
            self.differs(question.line)
        if self.answers == len(self.script):
            first = self.goes_on.get(question.line, isinstance(question, Ask))
            self.work.append(([*self.script, not first], list(self.trace.matters)))
            self.script = [*self.script, first]
        answer = self.script[self.answers]
        self.last = question.line, answer
        self.answers += 1
        if isinstance(question, Ask):
            self.facts |= {question.atom if answer else question.negation}
        self.branch, self.at = fork.yes if answer else fork.no, 0
        return answer

    # ------------------------------------------------------------------------------------------- the graph

    def new(self, point: Point) -> int:
        """A new node."""
        number = len(self.nodes)
        self.index[point.key] = number
        self.nodes.append(Node(point))
        here = self.places.setdefault(point.place, [])
        here.append(number)
        if len(here) > MOST_AT_A_PLACE or len(self.nodes) > MOST_NODES:
            self.grows()
        return number

    def enter(self, node: int) -> None:
        self.branch, self.at, self.facts = self.nodes[node].branch, 0, frozenset()

    def here(self, line: int) -> Branch:
        if self.branch is None:
            self.differs(line)
        return self.branch

    def go_on(self) -> None:
        self.limits.check(self.doing)
        if self.is_over:
            raise Cut

    # ---------------------------------------------------------------------------------------------- errors

    def differs(self, line: int) -> NoReturn:
        """The run does not do what it did before."""
        raise Refused(
            "it does not do the same when it is run again with the same answers",
            "let it depend on nothing but its arguments: not on random numbers, the time, or values that an "
            "earlier run has changed",
            Position(line, 1),
        )

    def grows(self) -> NoReturn:
        """There are too many nodes: say which variable has too many values."""
        place = max(self.places, key=lambda place: len(self.places[place]))
        points = [self.nodes[k].point for k in self.places[place]]
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
        raise Refused(seen, remedy, Position(points[-1].line, 1))


def readable(shape: Hashable) -> str:
    """A value of the program as messages show it."""
    match shape:
        case ("number", int()):
            return "a noisy value or an input"
        case (("tuple" | "list") as kind, tuple(parts)):
            inside = ", ".join(map(readable, parts))
            return f"({inside})" if kind == "tuple" else f"[{inside}]"
        case (int(), inner):
            return readable(inner)
        case ("str", text):
            return repr(text)
        case (str(), value) if not isinstance(value, tuple):
            return str(value)
    return "..."


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
