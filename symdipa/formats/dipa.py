"""The text language ``.dipa``: reader and writer.

::

    (q1:non-input,1/4,0): x := insample; output obot; goto q2
    (q2,1/2,0): if (insample < x) then output obot; goto q2
                elseif (insample >= x) then output otop; goto q3

A text is a sequence of states in free layout. The reader cuts it at the state headers and parses each
piece by itself, without recursion, so that one fault hides no other and no nesting is too deep.
``docs/formats.md`` describes the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from symdipa.automaton import (
    INSAMPLE,
    INSAMPLE_PRIME,
    TRUE,
    Automaton,
    Guard,
    Output,
    OutputKind,
    State,
    Transition,
    symbol,
    variables_of,
)
from symdipa.errors import InvalidInput, Position, Problem
from symdipa.formats.branches import MAX_PIECES, first_match
from symdipa.formats.common import Parsed, Report, rational, shown
from symdipa.validation import Place, brief, validate

RESERVED = frozenset(
    ["insample", "insampleprime", "if", "then", "elseif", "else", "output", "goto", "true", "and"]
)
"""Words that cannot name a state, a variable or an output symbol."""

_NAME = re.compile(r"[^\W\d]\w*")
_TOKEN = re.compile(r"[^\W\d]\w*+'?|\.?[0-9][\w.]*|:=|>=|<=|==|!=|&&|\|\||\S")
_COMMENT = re.compile(r"#[^\n]*")
_HEADER = re.compile(r"\(\s*+(?:\w++'?\s*+)?+(?=[:,0-9]|\)\s*+:)")
"""The beginning of a state, or of something that was meant to be one; no guard looks like this."""

_AND = frozenset(["&&", "and", "∧"])
_AT_LEAST = frozenset([">=", ">", "≥"])
_BELOW = frozenset(["<", "<=", "≤"])
_SECOND_SAMPLE = frozenset(["insampleprime", "insample'"])

_EXAMPLE = "(q1,1/4,0): if (insample < x) then output obot; goto q2"


@dataclass(slots=True)
class _Branch:
    """One transition as written, with the offsets of its parts."""

    at: int
    guard: Guard
    guard_at: int
    is_else: bool = False
    assign: frozenset[str] = frozenset()
    assign_at: int = 0
    output: Output = INSAMPLE
    output_at: int = 0
    target: str = ""
    target_at: int = 0


@dataclass(slots=True)
class _Listing:
    """One state as written."""

    at: int
    state: State
    parameters_at: dict[str, int]
    branches: list[_Branch] = field(default_factory=list)


class _Fault(Exception):
    """A syntax error: the rest of the state cannot be read."""

    def __init__(self, rule: str, message: str, offset: int) -> None:
        super().__init__(message)
        self.rule, self.message, self.offset = rule, message, offset


# ----------------------------------------------------------------------------------------------- reader


def parse(text: str, strict: bool = False) -> Parsed:
    """Read a text; with ``strict`` overlapping branches are problems, otherwise notes."""
    text = _COMMENT.sub(lambda match: " " * len(match[0]), text)
    report = Report(text)
    listings = _listings(text, report)
    readable = not report.problems
    if not listings:
        if readable:
            report.add("syntax", f"there is no state in the text; write for instance {_EXAMPLE}", 0)
        return Parsed(None, problems=tuple(report.problems))
    assembly = _Assembly(report, strict)
    for listing in listings:
        assembly.add(listing)
    return assembly.parsed(partial=not readable)


def _listings(text: str, report: Report) -> list[_Listing]:
    """All states of the text, one after the other, as far as they can be read."""
    starts = [match.start() for match in _HEADER.finditer(text)]
    first = starts[0] if starts else len(text)
    if stray := text[:first].strip():
        before = first - len(text[:first].lstrip())
        message = f"expected a state such as {_EXAMPLE}, found {shown(stray)}"
        report.add("syntax", message, before)
    listings = []
    for start, end in pairwise([*starts, len(text)]):
        if report.full:
            break
        listing = _StateParser(text, start, end, report).parse()
        if listing is not None:
            listings.append(listing)
    return listings


class _StateParser:
    """Parses the piece of text that holds one state."""

    def __init__(self, text: str, start: int, end: int, report: Report) -> None:
        tokens = [(match[0], match.start()) for match in _TOKEN.finditer(text, start, end)]
        self.words = [word for word, _ in tokens]
        self.starts = [offset for _, offset in tokens]
        last = self.starts[-1] + len(self.words[-1])
        self.words.append("")  # a sentinel: the end of the piece
        self.starts.append(last)
        self.next = 0
        self.is_last = end == len(text)
        self.report = report

    def parse(self) -> _Listing | None:
        listing = None
        try:
            listing = self.header()
            self.body(listing)
        except _Fault as fault:
            self.report.add(fault.rule, fault.message, fault.offset)
        return listing

    # Helpers over the list of tokens.

    def found(self) -> str:
        word = self.words[self.next]
        if word:
            return shown(word)
        return "the end of the text" if self.is_last else "the next state"

    def expected(self, what: str) -> _Fault:
        return _Fault("syntax", f"expected {what}, found {self.found()}", self.starts[self.next])

    def accept(self, word: str) -> bool:
        if self.words[self.next] == word:
            self.next += 1
            return True
        return False

    def expect(self, word: str, where: str) -> None:
        if self.words[self.next] != word:
            raise self.expected(f"'{word}' {where}")
        self.next += 1

    def name(self, what: str) -> str:
        word, offset = self.words[self.next], self.starts[self.next]
        if word in RESERVED or word == "insample'":
            raise _Fault("name", f"{shown(word)} is a reserved word and cannot be {what}", offset)
        if not _NAME.fullmatch(word):
            hint = " (a name starts with a letter or _)" if word[:1].isdigit() else ""
            raise self.expected(f"{what}{hint}")
        self.next += 1
        return word

    # The header: (name:kind, d, mu, d', mu'):

    def header(self) -> _Listing:
        at = self.starts[0]
        self.expect("(", "before a state")
        name = self.name("the name of a state")
        is_input = self.kind(name) if self.accept(":") else True
        numbers: list[Fraction] = []
        places: list[int] = []
        while self.accept(","):
            places.append(self.starts[self.next])
            numbers.append(self.number())
        self.expect(")", f"after the parameters of state {name}")
        self.expect(":", f"after the header of state {name}")
        if len(numbers) not in (0, 2, 4):
            message = (
                f"state {name} has {len(numbers)} parameters; give 2 (d and mu: inverse noise scale and "
                "mean) or 4 (d, mu, d', mu')"
            )
            raise _Fault("syntax", message, at)
        keys = ["d", "mu", "d_prime", "mu_prime"][: len(numbers)]
        state = State(name, is_input, **dict(zip(keys, numbers, strict=True)))
        return _Listing(at, state, dict(zip(keys, places, strict=True)))

    def kind(self, name: str) -> bool:
        if self.accept("input"):
            return True
        if self.words[self.next : self.next + 3] == ["non", "-", "input"]:
            self.next += 3
            return False
        raise self.expected(f"'input' or 'non-input' after '{name}:'")

    def number(self) -> Fraction:
        """A rational; a malformed one is reported and read as 1, and the parse goes on."""
        start = self.next
        if self.words[self.next] in ("-", "+"):
            self.next += 1
        self.numeral("a number such as 1/4, 0.25 or -3")
        if self.accept("/"):
            self.numeral("a positive number after '/'")
        try:
            return rational("".join(self.words[start : self.next]))
        except ValueError as error:
            self.report.add("number", str(error), self.starts[start])
            return Fraction(1)

    def numeral(self, what: str) -> None:
        """Anything that begins like one; whether it is one, :func:`rational` knows."""
        if not self.words[self.next].lstrip(".")[:1].isdigit():
            raise self.expected(what)
        self.next += 1

    # The body: one unguarded step, or a chain of branches.

    def body(self, listing: _Listing) -> None:
        if self.words[self.next] == "if":
            self.chain(listing)
        elif self.words[self.next]:
            at = self.starts[self.next]
            listing.branches.append(self.step(_Branch(at, TRUE, at)))
        while self.accept(";"):
            pass
        if self.words[self.next]:
            more = not listing.branches[-1].guard.is_true
            what = "'elseif', 'else' or the next state" if more else "the next state"
            raise self.expected(f"{what} after 'goto {listing.branches[-1].target}'")

    def chain(self, listing: _Listing) -> None:
        at = self.starts[self.next]
        self.next += 1
        while True:
            guard_at = self.starts[self.next]
            listing.branches.append(self.step(_Branch(at, self.guard(), guard_at)))
            while self.accept(";"):
                pass
            at = self.starts[self.next]
            if self.accept("elseif"):
                continue
            if not self.accept("else"):
                return
            if not self.accept("if"):
                listing.branches.append(self.step(_Branch(at, TRUE, at, is_else=True)))
                return

    def step(self, branch: _Branch) -> _Branch:
        """``x := insample, y := insample; output o; goto q``"""
        branch.assign_at = self.starts[self.next]
        branch.assign = self.assignments()
        self.expect("output", "after the assignments")
        branch.output_at = self.starts[self.next]
        branch.output = self.output()
        self.expect(";", "after the output")
        self.expect("goto", "after the output")
        branch.target_at = self.starts[self.next]
        branch.target = self.name("the state to go to")
        return branch

    def assignments(self) -> frozenset[str]:
        names: list[str] = []
        while self.words[self.next] != "output":
            if not _NAME.fullmatch(self.words[self.next]) or self.words[self.next] in RESERVED:
                raise self.expected("'output' or an assignment such as 'x := insample'")
            names.append(self.name("a variable"))
            self.expect(":=", f"after the variable {names[-1]}")
            if not self.accept("insample"):
                raise self.expected(f"'insample', the only value that {names[-1]} can store")
            if not self.accept(","):
                self.expect(";", "or ',' after an assignment")
        return frozenset(names)

    def output(self) -> Output:
        word = self.words[self.next]
        if word == "insample":
            self.next += 1
            return INSAMPLE
        if word in _SECOND_SAMPLE:
            self.next += 1
            return INSAMPLE_PRIME
        return symbol(self.name("an output (insample, insampleprime or a name)"))

    # Guards: a conjunction with any number of parentheses, up to ``then``.

    def guard(self) -> Guard:
        at_least: set[str] = set()
        below: set[str] = set()
        opened: list[int] = []
        while True:
            while self.accept("("):
                opened.append(self.starts[self.next - 1])
            if not self.accept("true"):
                self.atom(at_least, below)
            while opened and self.accept(")"):
                opened.pop()
            if self.words[self.next] not in _AND:
                break
            self.next += 1
        if opened and self.words[self.next] in ("then", ""):
            place = self.report.position(opened[-1])
            raise self.expected(f"')' for the '(' at {place.line}:{place.column}")
        self.after_guard()
        return Guard(frozenset(at_least), frozenset(below))

    def after_guard(self) -> None:
        word = self.words[self.next]
        if word in ("||", "|", "or", "∨"):
            message = f"{shown(word)}: a guard is a conjunction; write one branch for each alternative"
            raise _Fault("syntax", message, self.starts[self.next])
        if word == "&":
            raise self.expected("'&&'")
        if word == ")":
            raise self.expected("'then' (this ')' closes nothing)")
        self.expect("then", "or '&&' after a comparison")

    def atom(self, at_least: set[str], below: set[str]) -> None:
        """``insample >= x`` and its relatives; equality has probability 0, so strictness is ignored."""
        left, operator, right = self.words[self.next : self.next + 3] + [""] * max(
            0, self.next + 3 - len(self.words)
        )
        if left == "insample" and operator in _AT_LEAST | _BELOW:
            self.next += 2
            if right[:1] in "-+.0123456789":
                raise self.expected("a variable (a constant goes into the mean of the state)")
            (at_least if operator in _AT_LEAST else below).add(self.name("a variable"))
        elif right == "insample" and operator in _AT_LEAST | _BELOW:
            (below if operator in _AT_LEAST else at_least).add(self.name("a variable"))
            self.next += 2
        else:
            raise self.bad_atom(left, operator)

    def bad_atom(self, left: str, operator: str) -> _Fault:
        offset = self.starts[self.next]
        if left in _SECOND_SAMPLE:
            message = "guards compare insample with variables; insample' can only be output"
            return _Fault("syntax", message, offset)
        if left in ("!", "not", "¬"):
            message = f"{shown(left)}: there is no negation; write insample < x for !(insample >= x)"
            return _Fault("syntax", message, offset)
        if left == "insample":
            self.next += 1
            return self.expected("'>=' or '<' after insample")
        if _NAME.fullmatch(left) and left not in RESERVED and operator in _AT_LEAST | _BELOW:
            self.next += 2
            return self.expected("'insample', which one side of a comparison must be")
        return self.expected("a comparison such as insample >= x")


# ------------------------------------------------------------------------- from listings to an automaton


class _Assembly:
    """Puts the listings together: resolves ordered branches, numbers states and transitions."""

    def __init__(self, report: Report, strict: bool) -> None:
        self.report = report
        self.strict = strict
        self.listings: list[_Listing] = []
        self.transitions: list[Transition] = []
        self.branches: list[_Branch] = []
        self.notes: list[str] = []

    def add(self, listing: _Listing) -> None:
        self.listings.append(listing)
        source = listing.state.name
        for number, (branch, guards) in enumerate(zip(listing.branches, _resolved(listing), strict=True), 1):
            if guards != (branch.guard,):
                self.explain(source, number, branch, guards)
            for guard in guards or ():
                transition = Transition(source, branch.target, branch.output, guard, branch.assign)
                self.transitions.append(transition)
                self.branches.append(branch)

    def explain(self, source: str, number: int, branch: _Branch, guards: tuple[Guard, ...] | None) -> None:
        """A branch is not read as it is written: say so, as a note or, if strict, as a problem."""
        which = f"branch {number} of state {source}"
        if guards is None:
            message = f"{which} overlaps with so many earlier ones that it would be split into more than "
            message += f"{MAX_PIECES} transitions; write guards that exclude each other"
            self.report.add("determinism", message, branch.guard_at)
        elif self.strict and not branch.is_else:
            message = f"{which} overlaps with an earlier one; {_repair(branch.guard, guards)}"
            self.report.add("determinism", message, branch.guard_at)
        elif not branch.is_else or len(guards) != 1:
            line = self.report.position(branch.at).line
            self.notes.append(f"line {line}: {which} {_reading(branch, guards)}")

    def parsed(self, partial: bool) -> Parsed:
        states = [listing.state for listing in self.listings]
        known = {state.name for state in states}
        for transition in self.transitions:
            if transition.target not in known:
                known.add(transition.target)
                states.append(State(transition.target))
        variables = variables_of(self.transitions)
        automaton = Automaton(tuple(states), states[0].name, tuple(self.transitions), variables)
        return Parsed(automaton, self.locate, tuple(self.notes), tuple(self.report.problems), partial)

    def locate(self, place: Place) -> Position | None:
        if place.kind == "transition":
            branch = self.branches[place.index]
            offsets = {
                "guard": branch.guard_at,
                "assign": branch.assign_at,
                "output": branch.output_at,
                "target": branch.target_at,
            }
            return self.report.position(offsets.get(place.part, branch.at))
        if place.kind == "state" and place.index < len(self.listings):
            listing = self.listings[place.index]
            return self.report.position(listing.parameters_at.get(place.part, listing.at))
        return None


def _resolved(listing: _Listing) -> list[tuple[Guard, ...] | None]:
    """The guards of every branch once the chain is read as first match wins.

    A non-input state may not have a choice at all, so its branches are left for validation to refuse.
    """
    guards = [branch.guard for branch in listing.branches]
    if not listing.state.is_input:
        return [(guard,) for guard in guards]
    return first_match(guards)


def _reading(branch: _Branch, guards: tuple[Guard, ...]) -> str:
    if not guards:
        return "can never be taken, because earlier branches cover it; it is dropped"
    overlap = "" if branch.is_else else "overlaps with an earlier one; first match wins, so it "
    if len(guards) == 1:
        added = Guard(guards[0].ge - branch.guard.ge, guards[0].lt - branch.guard.lt)
        return f"{overlap}is read with {brief(added)} added: {brief(guards[0])}"
    return f"{overlap}is split into {len(guards)} transitions: {_alternatives(guards)}"


def _repair(guard: Guard, guards: tuple[Guard, ...]) -> str:
    if not guards:
        return f"earlier branches cover {brief(guard)}, so it can never be taken: remove it"
    return f"to exclude the earlier ones, write {_alternatives(guards)} for {brief(guard)}"


def _alternatives(guards: tuple[Guard, ...]) -> str:
    texts = [brief(guard) for guard in guards[:4]]
    return " or ".join(texts) + (f" or {len(guards) - 4} more" if len(guards) > 4 else "")


# ----------------------------------------------------------------------------------------------- writer


def write(automaton: Automaton) -> str:
    """The automaton as text; reading it back gives the same automaton.

    The language fixes some orders: the initial state comes first, transitions are grouped by their
    source, variables are ordered by first appearance. ``name`` is not written. What the language cannot
    say is an :class:`InvalidInput` that points to JSON.
    """
    validate(automaton)
    faults = list(_inexpressible(automaton))
    if faults:
        raise InvalidInput([Problem("name", fault) for fault in faults], automaton.name or None)
    ordered = [automaton.state(automaton.initial)]
    ordered += [state for state in automaton.states if state.name != automaton.initial]
    lines = [_state_line(automaton, state) for state in ordered[: _lines_needed(automaton, ordered)]]
    return "\n".join(lines) + "\n"


def _lines_needed(automaton: Automaton, ordered: list[State]) -> int:
    """How many states need a line: final states that the reader would add by itself, in order, do not."""
    leaving = {state.name: automaton.outgoing[automaton.index[state.name]] for state in ordered}
    implicit = [state == State(state.name) and not leaving[state.name] for state in ordered]
    count = len(ordered)
    while count > 1 and implicit[count - 1]:
        count -= 1
    listed = {state.name for state in ordered[:count]}
    targets = dict.fromkeys(automaton.transitions[i].target for state in ordered for i in leaving[state.name])
    added = [name for name in targets if name not in listed]
    return count if added == [state.name for state in ordered[count:]] else len(ordered)


def _state_line(automaton: Automaton, state: State) -> str:
    kind = "" if state.is_input else ":non-input"
    numbers = []
    if not (state.d is None and state.d_prime is None):
        numbers += [state.d, state.mu]
    if state.d_prime is not None:
        numbers += [state.d_prime, state.mu_prime]
    header = f"({state.name}{kind}{''.join(f',{number}' for number in numbers)}):"
    leaving = [automaton.transitions[i] for i in automaton.outgoing[automaton.index[state.name]]]
    if not leaving:
        return header
    if len(leaving) == 1 and leaving[0].guard.is_true:
        return f"{header} {_step(automaton, leaving[0])}"
    chain = [
        f"if ({_conjunction(automaton, transition.guard)}) then {_step(automaton, transition)}"
        for transition in leaving
    ]
    return f"{header} {' else'.join(chain)}"


def _conjunction(automaton: Automaton, guard: Guard) -> str:
    index = automaton.variable_index
    atoms = [(index[name], f"insample >= {name}") for name in guard.ge]
    atoms += [(index[name], f"insample < {name}") for name in guard.lt]
    return " && ".join(text for _, text in sorted(atoms)) or "true"


def _step(automaton: Automaton, transition: Transition) -> str:
    names = sorted(transition.assign, key=lambda name: automaton.variable_index[name])
    stored = ", ".join(f"{name} := insample" for name in names)
    return f"{stored}{'; ' if stored else ''}output {transition.output}; goto {transition.target}"


def _inexpressible(automaton: Automaton) -> Iterator[str]:
    advice = "write the automaton as JSON instead"
    kinds = {"state": [state.name for state in automaton.states], "variable": automaton.variables}
    symbols = [t.output.symbol or "" for t in automaton.transitions if t.output.kind is OutputKind.SYMBOL]
    for what, names in {**kinds, "output symbol": symbols}.items():
        for name in dict.fromkeys(names):
            if name in RESERVED or not _NAME.fullmatch(name):
                yield f"the text language cannot express the {what} {name!r}; {advice}"
    for state in automaton.states:
        lost = state.mu_prime if state.d_prime is None else 0
        if lost or (state.d is None and (state.mu or state.d_prime is not None)):
            yield f"the text language cannot leave out one scale of state {state.name}; {advice}"
