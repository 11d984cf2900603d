"""The automaton of a program: the graph of its runs, cut into steps.

A step of an automaton reads an entry or draws a sample or both, branches, stores, and shows one thing. So a
state begins where the program reads or draws, or where it compares or shows what it has after it has shown
something else. What is drawn by programs that show nothing is a step that shows :data:`QUIET`.
"""

from __future__ import annotations

import re
from collections.abc import Container, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count

from symdipa.files.formats.halting import with_halt
from symdipa.model.automaton import Automaton, variables_of
from symdipa.model.errors import InputProblem, InvalidInput, Position
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.parts import INSAMPLE as SHOWN_SAMPLE
from symdipa.model.parts import (
    SAMPLE,
    Atom,
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
from symdipa.model.validation.comparisons import can_hold
from symdipa.programs.explore import Branch, Fork, Goto, Graph, explored, is_plain, readable
from symdipa.programs.points import RESERVED
from symdipa.programs.trace import Draw, Event, Program, Show, Take

QUIET, END = "quiet", "end"
"""The output of a step in which the program shows nothing, and the state where it has ended."""


@dataclass(frozen=True, slots=True)
class Translation:
    """The automaton of a program, and the way back: the lines of its states and transitions, the plain values
    that the program has in a state, and what symbols stand for outputs that are no names."""

    automaton: Automaton
    lines: Mapping[str, int]
    shown_at: tuple[int, ...]
    """For each transition the line of its output, or of its state where it shows nothing."""
    values: Mapping[str, Mapping[str, str]]
    symbols: Mapping[str, Hashable]


def translated(program: Program, limits: Limits = UNLIMITED) -> Translation:
    """The automaton of a program.

    Raises :class:`~symdipa.model.errors.InvalidInput` for a program that cannot be followed, with the line,
    what was seen and what to do; :class:`~symdipa.model.errors.LimitReached`.
    """
    return _Builder(program, explored(program, limits)).built()


# ---------------------------------------------------------------------------------------------------- places


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in the graph: before event ``at`` of a branch, or before its comparison."""

    branch: Branch
    at: int
    node: int

    @property
    def key(self) -> tuple[int, int]:
        return id(self.branch), self.at

    @property
    def next(self) -> Event | Fork | None:
        """What happens next; ``None``: the run ends."""
        if self.at < len(self.branch.events):
            return self.branch.events[self.at]
        return self.branch.end if isinstance(self.branch.end, Fork) else None

    @property
    def line(self) -> int:
        after = self.next
        if after is None:
            return 0
        return after.question.line if isinstance(after, Fork) else after.line


@dataclass(frozen=True, slots=True)
class _Names:
    """What names of a place hold in the middle of a step, in terms of its beginning: samples are variables or
    the sample of the step, sums of inputs are made of registers and the entry of the step."""

    samples: Mapping[str, str]
    sums: Mapping[str, Mapping[str, Fraction]]

    def sample(self, name: str) -> str:
        return self.samples.get(name, name)

    def sum(self, name: str) -> Mapping[str, Fraction]:
        return self.sums.get(name, {name: Fraction(1)})

    def drawn(self, name: str) -> _Names:
        """After the sample of the step was drawn."""
        return replace(self, samples={**self.samples, name: SAMPLE})

    def read(self, name: str) -> _Names:
        """After the entry of the step was read."""
        return replace(self, sums={**self.sums, name: {ENTRY: Fraction(1)}})

    def moved(self, goto: Goto) -> _Names:
        """In a node, by its names."""
        arrival = goto.arrival
        return _Names(
            {new: self.sample(old) for new, old in arrival.variables},
            {new: self.combined(old) for new, old in arrival.registers},
        )

    def combined(self, parts: tuple[tuple[str, Fraction], ...]) -> dict[str, Fraction]:
        found: dict[str, Fraction] = {}
        for name, factor in parts:
            for source, share in self.sum(name).items():
                total = found.pop(source, Fraction(0)) + factor * share
                if total:
                    found[source] = total
        return found


ENTRY = "input "
"""The entry that a step reads (no name of a program)."""


class _Needs:
    """The samples and sums that count from a place on (backward, to a fixpoint)."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.of_node: list[frozenset[str]] = [frozenset() for _ in graph.nodes]
        changed = True
        while changed:
            changed = False
            for k in reversed(range(len(graph.nodes))):
                needs = self.at(graph.nodes[k].branch, 0)
                changed |= needs != self.of_node[k]
                self.of_node[k] = needs

    def at(self, branch: Branch, at: int) -> frozenset[str]:
        needs = self.after(branch)
        for event in reversed(branch.events[at:]):
            needs = _before(event, needs)
        return needs

    def after(self, branch: Branch) -> frozenset[str]:
        end = branch.end
        if isinstance(end, Fork):
            return end.question.atom.names | self.at(end.yes, 0) | self.at(end.no, 0)
        if end is None:
            return frozenset()
        needs = self.of_node[end.node]
        samples = frozenset(old for new, old in end.arrival.variables if new in needs)
        return samples | {name for new, parts in end.arrival.registers if new in needs for name, _ in parts}


def _before(event: Event, needs: frozenset[str]) -> frozenset[str]:
    match event:
        case Take():
            return needs - {event.entry}
        case Draw():
            inputs = {name for name, _ in event.inputs}
            return (needs - {event.sample} | inputs) - {event.reads}
        case Show():
            return needs | {name for names in event.numbers for name in names}


# ------------------------------------------------------------------------------------------------- the steps


@dataclass(frozen=True, slots=True)
class _Step:
    """One way through a step: the comparisons, what is shown, where it leads, and the names there."""

    guard: Guard
    shown: Show | None
    numbers: tuple[tuple[str, ...], ...]
    """What is shown of samples, in terms of the beginning of the step."""
    place: _Place
    names: _Names


class _Builder:
    """Cuts the graph into states and transitions."""

    def __init__(self, program: Program, graph: Graph) -> None:
        self.program, self.graph = program, graph
        self.needs = _Needs(graph)
        self.symbols = _Symbols()
        self.names: dict[tuple[int, int], str] = {}
        self.lines: dict[str, int] = {}
        self.values: dict[str, Mapping[str, str]] = {}
        self.states: list[State] = []
        self.transitions: list[tuple[Transition, int]] = []

    def built(self) -> Translation:
        start = _Place(self.graph.nodes[0].branch, 0, 0)
        self.name(start)
        work = [start]
        for place in work:  # grows
            self.states.append(self.state(place))
            for step in self.steps(place):
                if step.place.next is None and step.shown is None:
                    continue  # the run ends, and nobody sees more of it than that
                if step.place.next is not None and step.place.key not in self.names:
                    work.append(step.place)
                self.transitions.append(self.transition(place, step))
        return self.finished()

    def name(self, place: _Place) -> str:
        """The state that begins at a place."""
        if place.next is None:
            return END
        if place.key not in self.names:
            first = f"line{place.line}"
            count = sum(name == first or name.startswith(f"{first}_") for name in self.names.values())
            name = f"{first}_{count + 1}" if count else first
            self.names[place.key] = name
            self.lines[name] = place.line
            shapes = self.graph.nodes[place.node].point.shapes
            self.values[name] = {
                variable: readable(shape) for variable, shape in shapes.items() if is_plain(shape)
            }
        return self.names[place.key]

    def state(self, place: _Place) -> State:
        """The state that begins at a place: what it reads and draws."""
        name = self.name(place)
        match place.next:
            case Draw() as draw:
                registers = tuple(part for part in draw.inputs if part[0] != draw.reads)
                reads = draw.reads is not None
                return State(name, reads, draw.d, draw.mu, noise=draw.kind, registers=registers)
            case Take():
                return State(name, True, draws=False)
        return State(name, False, draws=False)

    def steps(self, place: _Place) -> Iterator[_Step]:
        """All ways through the step that begins at a place."""
        names = _Names({}, {})
        draw = place.next
        ties = self.program.integer
        if isinstance(draw, Take):
            place, names = replace(place, at=place.at + 1), names.read(draw.entry)
        elif isinstance(draw, Draw):
            if draw.reads is not None:
                names = names.read(draw.reads)
            place, names = replace(place, at=place.at + 1), names.drawn(draw.sample)
            ties = ties or draw.kind is Noise.NONE
        yield from self.ways(place, names, frozenset(), ties, frozenset())

    def ways(
        self,
        place: _Place,
        names: _Names,
        atoms: frozenset[Atom],
        ties: bool,
        passed: frozenset[tuple[tuple[int, int], int]],
    ) -> Iterator[_Step]:
        """The ways on; ``passed`` are the comparisons so far, with the number of atoms then."""
        place, names = self.entered(place, names)
        after = place.next
        if isinstance(after, Fork):
            mark = place.key, len(atoms)
            if mark in passed:
                return  # the program asks the same again and again, and shows nothing more
            for asked, branch in (
                (after.question.atom, after.yes),
                (after.question.atom.negation, after.no),
            ):
                more = atoms | {_renamed(asked, names)}
                if can_hold(guarded(more, ties), self.program.integer):
                    inside = _Place(branch, 0, place.node)
                    yield from self.ways(inside, names, more, ties, passed | {mark})
            return
        shown, numbers = None, tuple[tuple[str, ...], ...]()
        if isinstance(after, Show):
            shown = after
            numbers = tuple(tuple(map(names.sample, each)) for each in after.numbers)
            place, names = self.entered(replace(place, at=place.at + 1), names)
        yield _Step(guarded(atoms, ties), shown, numbers, place, names)

    def entered(self, place: _Place, names: _Names) -> tuple[_Place, _Names]:
        """The place itself, or the beginning of the node where its branch ends there."""
        while place.at == len(place.branch.events) and isinstance(place.branch.end, Goto):
            goto = place.branch.end
            place, names = _Place(self.graph.nodes[goto.node].branch, 0, goto.node), names.moved(goto)
        return place, names

    def transition(self, source: _Place, step: _Step) -> tuple[Transition, int]:
        needs = sorted(self.needs.at(step.place.branch, step.place.at))
        held = {name: step.names.sample(name) for name in needs if name in step.names.samples}
        assign = {name for name, old in held.items() if old == SAMPLE}
        copies = {name: old for name, old in held.items() if old not in (SAMPLE, name)}
        sums = {name: step.names.sum(name) for name in needs if name in step.names.sums}
        updates = [
            self.update(name, parts, source) for name, parts in sums.items() if parts != {name: Fraction(1)}
        ]
        output = symbol(QUIET)
        if step.shown is not None:
            numbers = [tuple(_kept(name, assign, copies) for name in each) for each in step.numbers]
            output = self.symbols.output(step.shown.shape, numbers)
        transition = Transition(
            self.name(source),
            self.name(step.place),
            output,
            step.guard,
            frozenset(assign),
            tuple(copies.items()),
            tuple(updates),
        )
        return transition, step.shown.line if step.shown is not None else source.line

    def update(self, name: str, parts: Mapping[str, Fraction], place: _Place) -> Update:
        """What a register becomes."""
        old = [part for part in parts if part != ENTRY]
        if len(old) > 1 or any(factor != 1 for factor in parts.values()):
            message = (
                f"{name} is a sum of inputs that is made of several sums, or counts inputs differently; "
                "add one input at a time to it, each with the same factor"
            )
            problem = InputProblem("program", message, Position(place.line, 1))
            raise InvalidInput([problem], self.program.source)
        return Update(name, old[0] if old else None, ENTRY in parts)

    # -------------------------------------------------------------------------------------------- the whole

    def finished(self) -> Translation:
        """The automaton without steps after which nothing is shown any more."""
        useful = self.useful()
        kept = [(t, line) for t, line in self.transitions if t.target in useful or t.output != symbol(QUIET)]
        if not any(t.output != symbol(QUIET) for t, _ in kept):
            problem = InputProblem("program", "it shows nothing; yield what it is to show", Position(1, 1))
            raise InvalidInput([problem], self.program.source)
        variables, registers = self.apart([t for t, _ in kept])
        transitions = [_with_names(t, variables, registers) for t, _ in kept]
        reached = {self.states[0].name} | {t.target for t in transitions}
        states = [
            replace(state, registers=tuple((registers[r], k) for r, k in state.registers))
            for state in self.states
            if state.name in reached
        ]
        integer, differ = self.program.integer, self.program.differ
        try:
            automaton = Automaton.build(states, transitions, None, self.program.name, integer, differ)
        except InvalidInput as error:
            raise InvalidInput(error.problems, self.program.source) from None
        return Translation(
            with_halt(automaton, self.program.halt),
            self.lines,
            tuple(line for _, line in kept),
            self.values,
            self.symbols.meanings,
        )

    def useful(self) -> set[str]:
        """The states from which something is shown."""
        found = {t.source for t, _ in self.transitions if t.output != symbol(QUIET)}
        before: dict[str, list[str]] = {}
        for t, _ in self.transitions:
            before.setdefault(t.target, []).append(t.source)
        work = sorted(found)
        for name in work:  # grows
            more = set(before.get(name, ())) - found
            found |= more
            work += sorted(more)
        return found

    def apart(self, transitions: list[Transition]) -> tuple[dict[str, str], dict[str, str]]:
        """What variables and registers are called, so that all are identifiers and none is both."""
        variables = variables_of(transitions)
        registers = {r: None for state in self.states for r, _ in state.registers}
        for update in (update for t in transitions for update in t.updates):
            registers.update(dict.fromkeys([update.register, *filter(None, [update.source])]))
        taken: set[str] = set()
        found: list[dict[str, str]] = []
        for names, stem in ((variables, "noisy"), (registers, "entry")):
            found.append({})
            for name in sorted(names, key=lambda name: not name.isidentifier()):
                found[-1][name] = free(name if name.isidentifier() else stem, taken)
                taken.add(found[-1][name])
        return found[0], found[1]


def _renamed(asked: Atom, names: _Names) -> Atom:
    """A comparison in terms of the beginning of the step."""
    low, high = (
        term if term.name is None else replace(term, name=names.sample(term.name))
        for term in (asked.low, asked.high)
    )
    return atom(low, high, asked.strict)


def _kept(name: str, assign: set[str], copies: dict[str, str]) -> str:
    """Where the value of a name from before the step is after it; it may get another copy."""
    if name == SAMPLE or name not in (assign | copies.keys()):
        return name
    copy = next((new for new, old in copies.items() if old == name), f"shown {name}")
    copies[copy] = name
    return copy


def _with_names(t: Transition, variables: Mapping[str, str], registers: Mapping[str, str]) -> Transition:
    """The transition with other names of variables and registers."""

    def new(name: str) -> str:
        return variables.get(name, name)

    def shown(output: Output) -> Output:
        items = tuple(shown(item) for item in output.items)
        return replace(output, names=tuple(map(new, output.names)), items=items)

    def term(old: Term) -> Term:
        return old if old.name is None else replace(old, name=new(old.name))

    atoms = (atom(term(each.low), term(each.high), each.strict) for each in t.guard.others)
    return replace(
        t,
        output=shown(t.output),
        guard=Guard(frozenset(map(new, t.guard.ge)), frozenset(map(new, t.guard.lt)), frozenset(atoms)),
        assign=frozenset(map(new, t.assign)),
        copies=tuple((new(x), new(y) if isinstance(y, str) else y) for x, y in t.copies),
        updates=tuple(
            replace(u, register=registers[u.register], source=u.source and registers[u.source])
            for u in t.updates
        ),
    )


def free(name: str, taken: Container[str]) -> str:
    """The name, with a number if there is one like it."""
    return next(new for k in count(1) if (new := name if k == 1 else f"{name}{k}") not in taken)


# ----------------------------------------------------------------------------------------------- the outputs


class _Symbols:
    """Symbols for what programs show: different ones for what can be told apart."""

    def __init__(self) -> None:
        self.meanings: dict[str, Hashable] = {}
        self.names: dict[Hashable, str] = {}

    def output(self, shape: Hashable, numbers: list[tuple[str, ...]]) -> Output:
        """What shows ``shape`` with these numbers in it."""
        shown = iter(numbers)
        kind, *rest = shape if isinstance(shape, tuple) else (shape,)
        parts = rest[0] if kind == "tuple" else ()
        if len(parts) > 1 and all(part[0] not in ("tuple", "list") for part in parts):
            items = [self.item(part, shown) for part in parts]
        else:
            items = [self.item(shape, shown), *(_number(names) for names in shown)]
        return items[0] if len(items) == 1 else several(*items)

    def item(self, shape: Hashable, shown: Iterator[tuple[str, ...]]) -> Output:
        if isinstance(shape, tuple) and shape[0] == "number":
            return _number(next(shown))
        return symbol(self.name(shape))

    def name(self, shape: Hashable) -> str:
        """The symbol of something without numbers, or of a structure with places for them."""
        shape = _plain(shape)
        if shape not in self.names:
            name = re.sub(r"\W+", "_", _words(shape).replace("-", "minus "))
            name = name if name.isidentifier() else f"_{name}"
            if name in RESERVED or name == QUIET:
                name += "_"
            self.names[shape] = free(name, self.meanings)
            self.meanings[self.names[shape]] = shape
        return self.names[shape]


def _number(names: tuple[str, ...]) -> Output:
    if len(names) == 2:
        return difference(names[0], names[1])
    return SHOWN_SAMPLE if names[0] == SAMPLE else value(names[0])


def _plain(shape: Hashable) -> Hashable:
    """The structure of an output without what is constant in its numbers."""
    match shape:
        case ("number", *_):
            return ("number",)
        case (("tuple" | "list") as kind, tuple(parts)):
            return kind, tuple(map(_plain, parts))
    return shape


def _words(shape: Hashable) -> str:
    match shape:
        case ("text" | "constant", str(text)):
            return text
        case (("tuple" | "list") as kind, tuple(parts)):
            return "_".join([kind, *map(_words, parts)])
        case (str(kind), *_):
            return kind
    raise AssertionError(shape)
