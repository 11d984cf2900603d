"""The automaton of a program: the graph of its runs, cut into steps.

A step of an automaton reads an entry or draws a sample or both, branches, stores, and shows one thing. So a
state begins where the program reads or draws, or where it compares or shows what it has after it has shown
something else. Who watches a program sees its outputs, and after which entries they come.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NoReturn

from symdipa.files.formats.halting import with_halt
from symdipa.model.automaton import Automaton
from symdipa.model.errors import InputProblem, InvalidInput, Position
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.parts import (
    INSAMPLE,
    INSAMPLE_PRIME,
    SAMPLE,
    SECOND_SAMPLE,
    Atom,
    Guard,
    Noise,
    Origin,
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
from symdipa.model.validation.comparisons import implies, satisfiable, simplified
from symdipa.programs.automaton.merging import joined
from symdipa.programs.automaton.tidy import Steps, Traced, free, moved, named, pruned, quotient
from symdipa.programs.automaton.unseen import uncounted
from symdipa.programs.explore import Branch, Fork, Goto, Graph, explored, is_plain, readable
from symdipa.programs.points import RESERVED
from symdipa.programs.trace import Ask, Draw, Ending, Event, Program, Show, Take

READ, QUIET = "read", "quiet"
"""The outputs of steps in which the program shows nothing: with an entry that is read, and without."""

MORE, END, ENDED = "more", "end", "ended"
"""Whether an input goes on, as what everybody knows, and the state of a program that has ended."""


@dataclass(frozen=True, slots=True)
class Translation:
    """The automaton of a program, which knows its lines, and what symbols stand for outputs that are no
    names."""

    automaton: Automaton
    symbols: Mapping[str, Hashable]


def translated(program: Program, limits: Limits = UNLIMITED) -> Translation:
    """The automaton of a program.

    Raises :class:`~symdipa.model.errors.InvalidInput` for a program that cannot be followed, with the line,
    what was seen and what to do; :class:`~symdipa.model.errors.LimitReached`.
    """
    return _Builder(program, explored(program, limits), limits).built()


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

    def drawn(self, name: str, sample: str = SAMPLE) -> _Names:
        """After one of the samples of the step was drawn."""
        return replace(self, samples={**self.samples, name: sample})

    def read(self, name: str | None) -> _Names:
        """After the entry of the step was read, if one is."""
        return self if name is None else replace(self, sums={**self.sums, name: {ENTRY: Fraction(1)}})

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


class _Shows:
    """Whether the program shows something from a place on (backward, to a fixpoint)."""

    def __init__(self, graph: Graph) -> None:
        self.of_node = [False] * len(graph.nodes)
        before: list[bool] = []
        while before != self.of_node:
            before = list(self.of_node)
            for k in reversed(range(len(graph.nodes))):
                self.of_node[k] = self.from_here(graph.nodes[k].branch)

    def from_here(self, branch: Branch) -> bool:
        end = branch.end
        if any(isinstance(event, Show) for event in branch.events):
            return True
        if isinstance(end, Fork):
            return self.from_here(end.yes) or self.from_here(end.no)
        return end is not None and self.of_node[end.node]


class _Needs:
    """The samples and sums that count from a place on (backward, to a fixpoint)."""

    def __init__(self, graph: Graph, shows: _Shows) -> None:
        self.graph, self.shows = graph, shows
        self.of_node: list[frozenset[str]] = [frozenset() for _ in graph.nodes]
        changed = True
        while changed:
            changed = False
            for k in reversed(range(len(graph.nodes))):
                needs = self.at(graph.nodes[k].branch, 0)
                changed |= needs != self.of_node[k]
                self.of_node[k] = needs
        for node in graph.nodes:
            self.drop_unused(node.branch)

    def drop_unused(self, branch: Branch) -> None:
        """Leave out samples that do not count."""
        needs, kept = self.after(branch), list[Event]()
        for event in reversed(branch.events):
            if not isinstance(event, Draw) or event.sample in needs:
                kept.append(event)
            elif event.reads is not None:
                kept.append(Take(event.reads, event.line))
            needs = _before(event, needs)
        branch.events[:] = kept[::-1]
        if isinstance(branch.end, Fork):
            self.drop_unused(branch.end.yes)
            self.drop_unused(branch.end.no)

    def at(self, branch: Branch, at: int) -> frozenset[str]:
        needs = self.after(branch)
        for event in reversed(branch.events[at:]):
            needs = _before(event, needs)
        return needs

    def after(self, branch: Branch) -> frozenset[str]:
        end = branch.end
        if isinstance(end, Fork):
            if isinstance(end.question, Ending) and not self.shows.from_here(end.yes):
                return self.at(end.no, 0)
            asked = end.question.atom.names if isinstance(end.question, Ask) else frozenset[str]()
            return asked | self.at(end.yes, 0) | self.at(end.no, 0)
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
            inputs = {name for name, _ in event.inputs} if event.sample in needs else set()
            return (needs - {event.sample} | inputs) - {event.reads}
        case Show():
            return needs | {name for names in event.numbers for name in names}


# ------------------------------------------------------------------------------------------------- the steps


@dataclass(frozen=True, slots=True)
class _Way:
    """How far a run got in a step: the comparisons, which with probability 1 say these ``facts``; the
    questions that it ``passed``, with the number of comparisons then; and the ``lines`` of all that."""

    place: _Place
    names: _Names
    atoms: frozenset[Atom] = frozenset()
    facts: frozenset[Atom] = frozenset()
    passed: frozenset[tuple[tuple[int, int], int]] = frozenset()
    lines: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Step:
    """One way through a step: the comparisons, what is shown, where it leads, and the names there."""

    guard: Guard
    shown: Show | None
    numbers: tuple[tuple[str, ...], ...]
    """What is shown of samples, in terms of the beginning of the step."""
    place: _Place
    names: _Names
    lines: tuple[int, ...]
    """Those of the comparisons, and of what is shown."""
    word: str = QUIET
    """The output where the program shows nothing."""


_OVER = Branch([], None)
"""What follows where nothing does."""

_SILENT = State("", False, draws=False)


class _Builder:
    """Cuts the graph into states and transitions."""

    def __init__(self, program: Program, graph: Graph, limits: Limits) -> None:
        self.program, self.graph, self.limits = program, graph, limits
        self.shows = _Shows(graph)
        self.needs = _Needs(graph, self.shows)
        self.symbols = _Symbols()
        self.names: dict[tuple[int, int], str] = {}
        self.lines: dict[str, int] = {}
        self.seconds: dict[str, int] = {}
        """The line that draws the second sample of a state."""
        self.values: dict[str, Mapping[str, str]] = {}
        self.added: dict[str, Mapping[str, Fraction]] = {}
        self.states: list[State] = []
        self.transitions: list[Traced] = []
        self.ends: set[str] = set()
        """The states from which a run may end, or ask without end, and nobody sees that."""

    def built(self) -> Translation:
        start, _ = self.entered(_Place(self.graph.nodes[0].branch, 0, 0), _Names({}, {}))
        self.name(start)
        work = [start]
        for place in work:  # grows
            state, steps = self.step(place)
            self.states.append(replace(state, name=self.name(place)))
            for step in steps:
                if step.place.next is None and step.shown is None and step.word in (READ, QUIET):
                    self.ends.add(self.name(place))
                    continue  # nobody sees more of the run than that
                if step.place.next is not None and step.place.key not in self.names:
                    work.append(step.place)
                self.transitions.append(self.transition(place, step))
        return self.finished()

    def name(self, place: _Place) -> str:
        """The state that begins at a place."""
        if place.next is None:
            return ENDED
        if place.key not in self.names:
            first = f"line{place.line}"
            count = sum(name == first or name.startswith(f"{first}_") for name in self.names.values())
            name = f"{first}_{count + 1}" if count else first
            self.names[place.key] = name
            self.lines[name] = place.line
            point = self.graph.nodes[place.node].point
            self.added[name] = point.added
            self.values[name] = {
                variable: readable(shape) for variable, shape in point.shapes.items() if is_plain(shape)
            }
        return self.names[place.key]

    def step(self, place: _Place) -> tuple[State, list[_Step]]:
        """What is read and drawn in the step that begins at a place, and all ways through it."""
        if isinstance(place.next, Fork) and isinstance(place.next.question, Ending):
            return State("", False, Fraction(1)), list(self.ending(place.next, place.node))
        begin = _Way(place, _Names({}, {}))
        before = list(self.ways(begin)) if isinstance(place.next, Fork) else [begin]
        heads = {self.head(way) for way in before if way.place.next is not None}
        head = heads.pop() if len(heads) == 1 else _SILENT
        after = [more for way in before for more in self.ways(self.drawn(way, head))]
        longer = [self.with_second(way, head) for way in after]
        second, last = next((found for found in longer if found[0] != head), (head, begin))
        if second != head:
            self.seconds[self.name(place)] = last.lines[-1]
        ties, word = self.program.integer or head.noise is Noise.NONE, READ if head.is_input else QUIET
        chosen = (more if state == second else way for way, (state, more) in zip(after, longer, strict=True))
        return second, [self.cut(way, ties, word) for way in chosen]

    def head(self, way: _Way) -> State:
        """What is read and drawn next, in terms of the beginning of the step."""
        match way.place.next:
            case Draw() as draw:
                mean = self.mean(draw, way.names)
                reads = mean.pop(ENTRY, None) is not None
                return State("", reads, draw.d, draw.mu, noise=draw.kind, registers=tuple(mean.items()))
            case Take():
                return State("", True, draws=False)
        return _SILENT

    def mean(self, draw: Draw, names: _Names) -> dict[str, Fraction]:
        """The inputs in the mean of a sample, in terms of the beginning of the step."""
        return names.read(draw.reads).combined(draw.inputs)

    def drawn(self, way: _Way, head: State) -> _Way:
        """The way, after what is read and drawn at the head of the step."""
        names = way.names
        match way.place.next:
            case Take(entry) if head.is_input:
                names = names.read(entry)
            case Draw() as draw if head.draws:
                names = names.read(draw.reads).drawn(draw.sample)
            case _:
                return way
        return replace(way, place=replace(way.place, at=way.place.at + 1), names=names)

    def with_second(self, way: _Way, head: State) -> tuple[State, _Way]:
        """The head with a second sample around the same inputs, and the way after that, in whose last line it
        is, if one is drawn next, shown at once, and not needed any more; else both as they are."""
        draw, alone = way.place.next, (head, way)
        if not isinstance(draw, Draw) or draw.reads is not None or not head.draws:
            return alone
        around = {**dict(head.registers), **({ENTRY: Fraction(1)} if head.is_input else {})}
        names = way.names.drawn(draw.sample, SECOND_SAMPLE)
        place, names = self.entered(replace(way.place, at=way.place.at + 1), names)
        if self.mean(draw, way.names) != around or not isinstance(place.next, Show):
            return alone
        longer = replace(way, place=place, names=names, lines=(*way.lines, draw.line))
        shown = self.cut(longer, False, QUIET)
        if SECOND_SAMPLE in map(shown.names.sample, self.needs.at(shown.place.branch, shown.place.at)):
            return alone
        return replace(head, d_prime=draw.d, mu_prime=draw.mu, noise_prime=draw.kind), longer

    def ending(self, fork: Fork, node: int) -> Iterator[_Step]:
        """Whether the input goes on: a sample that depends on nothing decides, and everybody sees it."""
        sample, zero = Term(SAMPLE), Term(None)
        for branch, low, high, word in ((fork.no, zero, sample, MORE), (fork.yes, sample, zero, END)):
            place, names = self.entered(_Place(branch, 0, node), _Names({}, {}))
            guard = guarded([atom(low, high, low is sample)], self.program.integer)
            yield _Step(guard, None, (), place, names, (), word)

    def ways(self, way: _Way) -> Iterator[_Way]:
        """The ways on, behind all comparisons that come next."""
        place, names = self.entered(way.place, way.names)
        way, fork = replace(way, place=place, names=names), place.next
        if not isinstance(fork, Fork) or not isinstance(fork.question, Ask):
            yield way
            return
        lines, mark, asked = (*way.lines, place.line), (place.key, len(way.atoms)), fork.question
        if mark in way.passed:
            # the program asks the same again and again, and shows nothing more
            yield replace(way, place=replace(place, branch=_OVER, at=0), lines=lines)
            return
        for new, fact, branch in (
            (asked.atom, asked.atom, fork.yes),
            (asked.atom.negation, asked.negation, fork.no),
        ):
            known = _renamed(fact, names)
            if not satisfiable(way.facts | {known}, self.program.integer):
                continue
            implied = implies(way.facts, known, self.program.integer)
            said = _renamed(new, names) if asked.ties else _without_ties(_renamed(new, names))
            yield from self.ways(
                _Way(
                    _Place(branch, 0, place.node),
                    names,
                    way.atoms if implied else way.atoms | {said},
                    way.facts | {known},
                    way.passed | {mark},
                    lines,
                )
            )

    def cut(self, way: _Way, ties: bool, word: str) -> _Step:
        """The step that ends with a way, after what is shown next, if something is."""
        place, names, lines, shown = way.place, way.names, way.lines, way.place.next
        numbers = tuple[tuple[str, ...], ...]()
        if isinstance(shown, Show):
            numbers = tuple(tuple(map(names.sample, each)) for each in shown.numbers)
            lines = (*lines, place.line)
            place, names = self.entered(replace(place, at=place.at + 1), names)
        guard = simplified(guarded(way.atoms, ties), self.program.integer)
        return _Step(guard, shown if isinstance(shown, Show) else None, numbers, place, names, lines, word)

    def entered(self, place: _Place, names: _Names) -> tuple[_Place, _Names]:
        """The place itself, or the beginning of the node where its branch ends there. An input goes on unless
        its end makes a difference."""
        while place.at == len(place.branch.events):
            end = place.branch.end
            if isinstance(end, Goto):
                place, names = _Place(self.graph.nodes[end.node].branch, 0, end.node), names.moved(end)
            elif (
                isinstance(end, Fork)
                and isinstance(end.question, Ending)
                and not self.shows.from_here(end.yes)
            ):
                place = _Place(end.no, 0, place.node)
            else:
                break
        return place, names

    def transition(self, source: _Place, step: _Step) -> Traced:
        needs = sorted(self.needs.at(step.place.branch, step.place.at))
        held = {name: step.names.sample(name) for name in needs if name in step.names.samples}
        assign = {name for name, old in held.items() if old == SAMPLE}
        copies = {name: old for name, old in held.items() if old not in (SAMPLE, name)}
        sums = {name: step.names.sum(name) for name in needs if name in step.names.sums}
        updates = [
            self.update(name, parts, source) for name, parts in sums.items() if parts != {name: Fraction(1)}
        ]
        output = symbol(step.word)
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
        lines = (source.line, *step.lines)
        return transition, tuple(line for k, line in enumerate(lines) if not k or line != lines[k - 1])

    def update(self, name: str, parts: Mapping[str, Fraction], place: _Place) -> Update:
        """What a register becomes."""
        old = [part for part in parts if part != ENTRY]
        if len(old) > 1 or any(factor != 1 for factor in parts.values()):
            message = (
                f"{name} is a sum of inputs that is made of several sums, or counts inputs differently; "
                "add one input at a time to it, each with the same factor"
            )
            self.refuse(message, place.line)
        return Update(name, old[0] if old else None, ENTRY in parts)

    # -------------------------------------------------------------------------------------------- the whole

    def finished(self) -> Translation:
        """The automaton of all states and transitions."""
        quiet = (symbol(QUIET), symbol(READ))
        every = Steps(tuple(self.states), tuple(self.transitions), self.values, self.added)
        unseen = uncounted(every, quiet, self.ends, self.limits)
        steps = pruned(every, quiet)
        if not steps.transitions:
            self.refuse("it shows nothing; yield what it is to show", 1)
        steps = named(joined(quotient(steps), self.program.integer))
        transitions = [t for t, _ in steps.transitions]
        integer, differ = self.program.integer, self.program.differ
        try:
            automaton = Automaton.build(steps.states, transitions, None, self.program.name, integer, differ)
        except InvalidInput as error:
            raise InvalidInput(error.problems, self.program.source) from None
        kept = automaton.index
        first, last = self.program.extent
        origin = Origin(
            self.program.source or "",
            self.program.text,
            first,
            last,
            {name: line for name, line in self.lines.items() if name in kept},
            dict(steps.transitions),
            steps.values,
            {QUIET: "", **self.symbols.written},
            frozenset([QUIET, READ]),
            unseen,
            *moved(steps),
            seconds={name: line for name, line in self.seconds.items() if name in kept},
        )
        made = replace(automaton, origin=origin).trusted()
        return Translation(with_halt(made, self.program.halt), self.symbols.meanings)

    def refuse(self, message: str, line: int) -> NoReturn:
        raise InvalidInput([InputProblem("program", message, Position(line, 1))], self.program.source)


def _renamed(asked: Atom, names: _Names) -> Atom:
    """A comparison in terms of the beginning of the step."""
    low, high = (
        term if term.name is None else replace(term, name=names.sample(term.name))
        for term in (asked.low, asked.high)
    )
    return atom(low, high, asked.strict)


def _without_ties(asked: Atom) -> Atom:
    """The comparison in the one form, strict or not, that it has where equality has probability 0: its
    opposite has the other one."""
    first = min(asked.names)
    ends = ((asked.low, 1), (asked.high, -1))
    factor = sum(-sign if term.mirrored else sign for term, sign in ends if term.name == first)
    return replace(asked, strict=factor > 0)


def _kept(name: str, assign: set[str], copies: dict[str, str]) -> str:
    """Where the value of a name from before the step is after it; it may get another copy."""
    if name == SAMPLE or name not in (assign | copies.keys()):
        return name
    copy = next((new for new, old in copies.items() if old == name), f"shown {name}")
    copies[copy] = name
    return copy


# ----------------------------------------------------------------------------------------------- the outputs


class _Symbols:
    """Symbols for what programs show: different ones for what can be told apart."""

    def __init__(self) -> None:
        self.meanings: dict[str, Hashable] = {}
        self.names: dict[Hashable, str] = {}

    @property
    def written(self) -> dict[str, str]:
        """The symbols of texts and constants that are not called as these are written."""
        plain = {
            name: _words(shape)
            for name, shape in self.meanings.items()
            if isinstance(shape, tuple) and shape[0] in ("text", "constant")
        }
        return {name: words for name, words in plain.items() if name != words}

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
            if name in RESERVED or name in (READ, QUIET, MORE, END):
                name += "_"
            self.names[shape] = free(name, self.meanings)
            self.meanings[self.names[shape]] = shape
        return self.names[shape]


def _number(names: tuple[str, ...]) -> Output:
    if len(names) == 2:
        return difference(names[0], names[1])
    return {SAMPLE: INSAMPLE, SECOND_SAMPLE: INSAMPLE_PRIME}.get(names[0]) or value(names[0])


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
