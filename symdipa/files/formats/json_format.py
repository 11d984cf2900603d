"""The interchange format: JSON, lossless, described by ``automaton.schema.json``.

The scanner is our own so that every value knows where it stands, decimals stay exact, and repeated keys
are noticed. It recurses no deeper than :data:`MAX_DEPTH`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from symdipa.files.formats.common import READING, Parsed, Report, eps_in, rational, shown
from symdipa.model.adjacency.differ import ALL, Differ, differ
from symdipa.model.adjacency.letters import DifferError
from symdipa.model.automaton import (
    INSAMPLE,
    INSAMPLE_PRIME,
    TRUE,
    Atom,
    Automaton,
    Guard,
    Noise,
    Output,
    OutputKind,
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
    variables_of,
)
from symdipa.model.errors import Position
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.options import HALTS
from symdipa.model.spelling import similar
from symdipa.model.validation import Place
from symdipa.model.validation.guards import ties_count

FORMAT = "symdipa-automaton"
VERSION = 1
MAX_DEPTH = 32
"""The format needs seven levels of nesting."""

_SPACE = re.compile(r"[ \t\n\r]*+")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*+"')
_NUMERAL = re.compile(r"-?[0-9][0-9.eE+\-]*+")
_WORD = re.compile(r"\w++")
_LITERALS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_REALS = {"insample": INSAMPLE, "insampleprime": INSAMPLE_PRIME}


class Numeral(str):
    """A number as it was written."""


@dataclass(slots=True)
class Node:
    """A JSON value with its offset; ``keys`` holds the offsets of an object's keys."""

    value: str | Numeral | bool | list[Node] | dict[str, Node] | None
    at: int
    keys: dict[str, int] | None = None

    @property
    def kind(self) -> str:
        names = {Numeral: "a number", str: "a text", bool: "true or false", list: "a list", dict: "an object"}
        return names.get(type(self.value), "null")


# ---------------------------------------------------------------------------------------------- scanner


class _Fault(Exception):
    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message, self.offset = message, offset


class _Scanner:
    """Text to :class:`Node`; the first error of syntax ends the scan, repeated keys are only reported."""

    def __init__(self, text: str, report: Report, limits: Limits) -> None:
        self.text = text
        self.report = report
        self.limits = limits
        self.next = 0

    def document(self) -> Node:
        node = self.value(0)
        if self.peek():
            raise self.expected("the end of the text")
        return node

    def peek(self) -> str:
        mark = self.text[self.next : self.next + 1]
        if mark.isspace() and (match := _SPACE.match(self.text, self.next)):
            self.next = match.end()
            return self.text[self.next : self.next + 1]
        return mark

    def expected(self, what: str) -> _Fault:
        rest = _WORD.match(self.text, self.next)
        found = shown(rest[0] if rest else self.peek()) if self.peek() else "the end of the text"
        return _Fault(f"expected {what}, found {found}", self.next)

    def value(self, depth: int) -> Node:
        mark = self.peek()
        if mark in ("{", "[") and depth >= MAX_DEPTH:
            raise _Fault(f"nested deeper than {MAX_DEPTH} levels; the format needs seven", self.next)
        if mark == "{":
            return self.object(depth + 1)
        if mark == "[":
            return self.list(depth + 1)
        if mark == '"':
            at = self.next
            return Node(self.string(), at)
        return self.scalar()

    def string(self) -> str:
        match = _STRING.match(self.text, self.next)
        if not match:
            raise _Fault("this text is not closed by '\"' on its line", self.next)
        literal = match[0]
        if "\\" not in literal:
            self.next = match.end()
            return literal[1:-1]
        try:
            value: str = json.loads(literal)
            value.encode()
        except ValueError:  # a broken escape, or half of a surrogate pair
            raise _Fault(f"{shown(literal)} has a broken escape", self.next) from None
        self.next = match.end()
        return value

    def scalar(self) -> Node:
        at = self.next
        if match := _NUMERAL.match(self.text, at):
            self.next = match.end()
            return Node(Numeral(match[0]), at)
        match = _WORD.match(self.text, at)
        if not match or match[0] not in _LITERALS:
            raise self.expected("a value")
        self.next = match.end()
        return Node(_LITERALS[match[0]], at)

    def list(self, depth: int) -> Node:
        at, items = self.next, list[Node]()
        self.until("]", lambda: items.append(self.value(depth)))
        return Node(items, at)

    def object(self, depth: int) -> Node:
        at, items, keys = self.next, dict[str, Node](), dict[str, int]()
        self.until("}", lambda: self.member(items, keys, depth))
        return Node(items, at, keys)

    def until(self, end: str, part: Callable[[], None]) -> None:
        """Any number of parts with commas between, behind the bracket that opens them, up to ``end``."""
        self.next += 1
        if self.peek() != end:
            part()
            while self.peek() == ",":
                self.limits.check(READING)
                self.next += 1
                part()
        if self.peek() != end:
            raise self.expected(f"',' or '{end}'")
        self.next += 1

    def member(self, items: dict[str, Node], keys: dict[str, int], depth: int) -> None:
        if self.peek() != '"':
            raise self.expected("a key in double quotes")
        at, key = self.next, self.string()
        if self.peek() != ":":
            raise self.expected(f"':' after the key {shown(key)}")
        self.next += 1
        value = self.value(depth)
        if key in items:
            self.report.add("syntax", f"the key {shown(key)} is given twice in one object", at)
        items[key], keys[key] = value, at


# ----------------------------------------------------------------------------------------------- reader


def parse(text: str, strict: bool = False, limits: Limits = UNLIMITED) -> Parsed:
    """Read a text. Transitions have no order in JSON, so overlaps are errors with or without ``strict``."""
    report = Report(text)
    try:
        node = _Scanner(text, report, limits).document()
    except _Fault as fault:
        report.add("syntax", fault.message, fault.offset)
        return Parsed(None, problems=tuple(report.problems))
    reader = _Reader(report)
    automaton = reader.automaton(node)
    problems = tuple(report.problems)
    whole = all(problem.rule == "number" for problem in problems)
    return Parsed(automaton if whole else None, reader.locate, problems=problems, halt=reader.halt)


class _Reader:
    """Nodes to an automaton; goes on after a fault, with a stand-in value, to find all of them."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.root = Node(None, 0)
        self.states: list[Node] = []
        self.transitions: list[Node] = []
        self.ties: set[str] = set()
        """The states in which it makes a difference whether a comparison with ``insample`` is strict."""
        self.halt = ""

    def fault(self, message: str, node: Node) -> None:
        self.report.add("schema", message, node.at)

    def locate(self, place: Place) -> Position | None:
        """Where a place stands in the text; a part that is not given stands where its owner does."""
        if place.kind == "automaton":
            return self.report.position(self.root.at)
        node = (self.states if place.kind == "state" else self.transitions)[place.index]
        key = {"source": "from", "target": "to"}.get(place.part, place.part)
        members = node.value if isinstance(node.value, dict) else {}
        if place.kind == "state" and place.name:
            key = "registers"
        copies = members.get("copies", node) if key == "assign" else node
        return self.report.position(members.get(key, copies).at)

    # The levels of the format, from the outside in.

    def automaton(self, node: Node) -> Automaton:
        self.root = node
        required = ["format", "version", "initial", "states", "transitions"]
        optional = ["name", "variables", "halt", "integer", "differ"]
        members = self.members(node, "the automaton", required, optional)
        self.version(members)
        integer = self.truth(members.get("integer"), "integer", False)
        if halt := members.get("halt"):
            self.halt = self.text(halt, "halt")
            if self.halt not in HALTS:
                self.fault(f'"halt" is {" or ".join(HALTS)}', halt)
        self.states = self.items(members.get("states"), "states")
        self.transitions = self.items(members.get("transitions"), "transitions")
        states = tuple(map(self.state, self.states))
        self.ties = {state.name for state in states if ties_count(state, integer)}
        transitions = tuple(map(self.transition, self.transitions))
        listed = members.get("variables")
        variables = variables_of(transitions) if listed is None else tuple(self.names(listed, "variables"))
        initial = self.text(members.get("initial"), "initial")
        name = self.text(members.get("name"), "name")
        differs = self.differ(members.get("differ"))
        return Automaton(states, initial, transitions, variables, name, integer, differs)

    def differ(self, node: Node | None) -> Differ:
        if node is None:
            return ALL
        try:
            return differ(self.text(node, "differ"))
        except DifferError as error:
            self.report.add("differ", str(error), node.at)
            return ALL

    def version(self, members: dict[str, Node]) -> None:
        name, version = members.get("format"), members.get("version")
        if name and name.value != FORMAT:
            self.fault(f'"format" must be "{FORMAT}"', name)
        if version and (not isinstance(version.value, Numeral) or version.value != str(VERSION)):
            self.fault(f'"version" must be {VERSION}, the only one there is', version)

    def state(self, node: Node) -> State:
        optional = ["input", "draws", "noise", "d", "mu", "noise_prime", "d_prime", "mu_prime", "registers"]
        members = self.members(node, "a state", ["name"], optional)
        name = self.text(members.get("name"), "name")
        is_input = self.truth(members.get("input"), "input", True)
        draws = self.truth(members.get("draws"), "draws", True)
        d, d_prime = (self.scale(members.get(key), key) for key in ("d", "d_prime"))
        mu, mu_prime = (self.number(members.get(key), key) for key in ("mu", "mu_prime"))
        noise, noise_prime = (self.noise(members.get(key), key) for key in ("noise", "noise_prime"))
        registers = self.registers(members.get("registers"))
        return State(name, is_input, d, mu, d_prime, mu_prime, noise, noise_prime, draws, registers)

    def registers(self, node: Node | None) -> tuple[tuple[str, Fraction], ...]:
        if node is None:
            return ()
        if not isinstance(node.value, dict):
            self.fault(f'"registers" must be an object such as {{"s": "2"}}, not {node.kind}', node)
            return ()
        return tuple((name, self.number(factor, name)) for name, factor in node.value.items())

    def noise(self, node: Node | None, key: str) -> Noise:
        known = {noise.value: noise for noise in Noise}
        if node is None:
            return Noise.LAPLACE
        if not isinstance(node.value, str) or node.value not in known:
            self.fault(f'"{key}" must be {_one_of(list(known))}', node)
            return Noise.LAPLACE
        return known[node.value]

    def transition(self, node: Node) -> Transition:
        optional = ["guard", "assign", "copies", "updates"]
        members = self.members(node, "a transition", ["from", "to", "output"], optional)
        source, target = (self.text(members.get(key), key) for key in ("from", "to"))
        assign = frozenset(self.names(members.get("assign"), "assign"))
        copies = tuple(map(self.copy, self.items(members.get("copies"), "copies")))
        updates = tuple(map(self.update, self.items(members.get("updates"), "updates")))
        output = self.output(members.get("output"), "symbol", "real", "value", "difference", "several")
        guard = self.guard(members.get("guard"), source in self.ties)
        return Transition(source, target, output, guard, assign, copies, updates)

    def update(self, node: Node) -> Update:
        members = self.members(node, "an update", ["register"], ["from", "adds_input"])
        source = self.text(members["from"], "from") if "from" in members else None
        adds_input = self.truth(members.get("adds_input"), "adds_input", False)
        return Update(self.text(members.get("register"), "register"), source, adds_input)

    def copy(self, node: Node) -> tuple[str, str | Fraction]:
        members = self.members(node, "a copy", ["variable"], ["from", "constant"])
        if isinstance(node.value, dict) and ("from" in members) == ("constant" in members):
            self.fault('a copy has either "from", a variable, or "constant", a number', node)
        variable = self.text(members.get("variable"), "variable")
        if "from" in members:
            return variable, self.text(members["from"], "from")
        return variable, self.number(members.get("constant"), "constant")

    def guard(self, node: Node | None, ties: bool) -> Guard:
        if node is None:
            return TRUE
        members = self.members(node, "a guard", [], ["ge", "lt", "others"])
        at_least, below = (frozenset(self.names(members.get(key), key)) for key in ("ge", "lt"))
        guard = Guard(at_least, below)
        others = [self.atom(item) for item in self.items(members.get("others"), "others")]
        return guarded([*guard.atoms, *others], ties) if others else guard

    def atom(self, node: Node) -> Atom:
        members = self.members(node, "a comparison", ["low", "high"], ["strict"])
        low, high = (self.term(members.get(key)) for key in ("low", "high"))
        return atom(low, high, self.truth(members.get("strict"), "strict", False))

    def term(self, node: Node | None) -> Term:
        if node is None:
            return Term(None)
        members = self.members(node, "a side of a comparison", [], ["name", "offset", "mirrored"])
        name = self.text(members["name"], "name") if "name" in members else None
        mirrored = self.truth(members.get("mirrored"), "mirrored", False)
        return Term(name, self.number(members.get("offset"), "offset"), mirrored)

    def output(self, node: Node | None, *kinds: str) -> Output:
        if node is None:
            return INSAMPLE
        members = self.members(node, "an output", [], kinds)
        if isinstance(node.value, dict) and len(node.value) != 1:
            forms = {
                "symbol": '{"symbol": NAME}',
                "real": '{"real": NAME}',
                "value": '{"value": VARIABLE}',
                "difference": '{"difference": [VARIABLE, VARIABLE]}',
                "several": '{"several": [OUTPUT, ...]}',
            }
            self.fault(f"an output is either {_one_of([forms[kind] for kind in kinds])}", node)
        if "symbol" in members:
            return symbol(self.text(members["symbol"], "symbol"))
        if "value" in members:
            return value(self.text(members["value"], "value"))
        if "difference" in members:
            names = self.names(members["difference"], "difference")
            if len(names) != 2:
                self.fault('"difference" must be a list of two names', members["difference"])
                return INSAMPLE
            return difference(*names)
        if "several" in members and "several" in kinds:
            items = self.items(members["several"], "several")
            return several(*(self.output(item, *(k for k in kinds if k != "several")) for item in items))
        real = members.get("real")
        if real and (not isinstance(real.value, str) or real.value not in _REALS):
            self.fault('"real" must be "insample" or "insampleprime"', real)
        return _REALS.get(real.value, INSAMPLE) if real and isinstance(real.value, str) else INSAMPLE

    # Values of a certain kind.

    def members(
        self, node: Node, what: str, required: Sequence[str], optional: Sequence[str]
    ) -> dict[str, Node]:
        if not isinstance(node.value, dict) or node.keys is None:
            self.fault(f"{what} must be an object, not {node.kind}", node)
            return {}
        allowed = [*required, *optional]
        for key in node.value:
            if key not in allowed and not self.report.full:
                self.report.add("schema", _unknown_key(key, what, allowed), node.keys[key])
        for key in required:
            if key not in node.value:
                self.fault(f'{what} needs the key "{key}"', node)
        return node.value

    def items(self, node: Node | None, key: str) -> list[Node]:
        if node is None:
            return []
        if isinstance(node.value, list):
            return node.value
        self.fault(f'"{key}" must be a list, not {node.kind}', node)
        return []

    def truth(self, node: Node | None, key: str, default: bool) -> bool:
        if node is None:
            return default
        if not isinstance(node.value, bool):
            self.fault(f'"{key}" must be true or false, not {node.kind}', node)
            return default
        return node.value

    def text(self, node: Node | None, key: str) -> str:
        if node is None:
            return ""
        if isinstance(node.value, str) and not isinstance(node.value, Numeral):
            return node.value
        self.fault(f'"{key}" must be a text in double quotes, not {node.kind}', node)
        return ""

    def names(self, node: Node | None, key: str) -> list[str]:
        return [self.text(item, key) for item in self.items(node, key)]

    def scale(self, node: Node | None, key: str) -> Fraction | None:
        if node is None or node.value is None:
            return None
        if isinstance(node.value, str) and (found := eps_in(node.value)) is not None:
            self.report.add("number", found.message, node.at)
            return found.meant or Fraction(1)
        return self.number(node, key)

    def number(self, node: Node | None, key: str) -> Fraction:
        """A number, 0 if there is none; a malformed one is read as 1, so that nothing follows from it."""
        if node is None:
            return Fraction(0)
        if not isinstance(node.value, str):
            self.fault(f'"{key}" must be a number, best as a text such as "1/4", not {node.kind}', node)
            return Fraction(0)
        try:
            return rational(node.value)
        except ValueError as error:
            self.report.add("number", str(error), node.at)
            return Fraction(1)


def _one_of(choices: Sequence[str]) -> str:
    """``"a", "b" or "c"``, the texts in double quotes unless they have some."""
    *rest, last = [choice if '"' in choice else f'"{choice}"' for choice in choices]
    return f"{', '.join(rest)} or {last}"


def _unknown_key(key: str, what: str, allowed: Sequence[str]) -> str:
    meant = similar(key, allowed)
    hint = f'; did you mean "{meant}"?' if meant else f"; the keys are {', '.join(allowed)}"
    return f"{what} has no key {shown(key)}{hint}"


# ----------------------------------------------------------------------------------------------- writer


def write(automaton: Automaton) -> str:
    """The automaton as JSON, one line for each state and transition; reading it back gives an equal one."""
    head = [
        f'  "format": {_text(FORMAT)}',
        f'  "version": {VERSION}',
        f'  "name": {_text(automaton.name)}',
        f'  "initial": {_text(automaton.initial)}',
        f'  "variables": {_text(list(automaton.variables))}',
        *([f'  "halt": {_text(automaton.halt)}'] if automaton.halt == "hidden" else []),
        *(['  "integer": true'] if automaton.integer else []),
        *([f'  "differ": {_text(automaton.differ.text)}'] if automaton.differ != ALL else []),
        _block("states", [_state(state) for state in automaton.states]),
        _block("transitions", [_transition(automaton, t) for t in automaton.transitions]),
    ]
    return "{\n" + ",\n".join(head) + "\n}\n"


def _block(key: str, items: Iterable[object]) -> str:
    lines = ",\n".join(f"    {_text(item)}" for item in items)
    return f'  "{key}": [\n{lines}\n  ]' if lines else f'  "{key}": []'


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _state(state: State) -> dict[str, object]:
    numbers = {"d": state.d, "mu": state.mu, "d_prime": state.d_prime, "mu_prime": state.mu_prime}
    given: dict[str, object] = {key: str(value) for key, value in numbers.items() if value is not None}
    for scale, mean in (("d", "mu"), ("d_prime", "mu_prime")):
        if scale not in given and given[mean] == "0":
            del given[mean]
    item: dict[str, object] = {"name": state.name, "input": state.is_input}
    if not state.draws:
        item["draws"] = False
    for key, noise in (("noise", state.noise), ("noise_prime", state.noise_prime)):
        if noise is not Noise.LAPLACE:
            item[key] = noise.value
    if state.registers:
        given["registers"] = {name: str(factor) for name, factor in state.registers}
    return item | given


def _transition(automaton: Automaton, transition: Transition) -> dict[str, object]:
    def in_order(names: Iterable[str]) -> list[str]:
        return sorted(names, key=lambda name: (automaton.variable_index.get(name, -1), name))

    guard = transition.guard
    atoms = {"ge": in_order(guard.ge), "lt": in_order(guard.lt)}
    item: dict[str, object] = {"from": transition.source, "to": transition.target}
    if not guard.is_true:
        others = [_atom(each) for each in sorted(guard.others, key=str)]
        item["guard"] = {key: some for key, some in {**atoms, "others": others}.items() if some}
    item["output"] = _output(transition.output)
    if transition.assign:
        item["assign"] = in_order(transition.assign)
    if transition.copies:
        item["copies"] = [
            {"variable": x, **({"from": y} if isinstance(y, str) else {"constant": str(y)})}
            for x, y in transition.copies
        ]
    if transition.updates:
        item["updates"] = list(map(_update, transition.updates))
    return item


def _update(update: Update) -> dict[str, object]:
    source = {} if update.source is None else {"from": update.source}
    adds_input = {"adds_input": True} if update.adds_input else {}
    return {"register": update.register, **source, **adds_input}


def _output(output: Output) -> dict[str, object]:
    if output.kind is OutputKind.SYMBOL:
        return {"symbol": output.symbol}
    if output.kind is OutputKind.VALUE:
        return {"value": output.names[0]}
    if output.kind is OutputKind.DIFFERENCE:
        return {"difference": list(output.names)}
    if output.kind is OutputKind.SEVERAL:
        return {"several": [_output(item) for item in output.items]}
    return {"real": output.kind.value}


def _atom(each: Atom) -> dict[str, object]:
    return {"low": _term(each.low), "high": _term(each.high), "strict": each.strict}


def _term(term: Term) -> dict[str, object]:
    item: dict[str, object] = {} if term.name is None else {"name": term.name}
    if term.offset or term.name is None:
        item["offset"] = str(term.offset)
    if term.mirrored:
        item["mirrored"] = True
    return item
