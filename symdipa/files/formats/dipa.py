"""The text language ``.dipa``: reader and writer.

::

    (q1:non-input,1/4,0): x := insample; output obot; goto q2
    (q2,1/2,0): if (insample < x) then output obot; goto q2
                elseif (insample >= x) then output otop; goto q3

:mod:`symdipa.files.formats.dipa_grammar` parses; here ordered branches are resolved and states and
transitions are numbered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from symdipa.files.formats.branches import MAX_PIECES, first_match
from symdipa.files.formats.common import READING, Parsed, Report
from symdipa.files.formats.dipa_grammar import EXAMPLE, FATAL, NAME, RESERVED, Arm, Listing, parse_listings
from symdipa.model.automaton import Automaton, Guard, OutputKind, State, Transition, validated, variables_of
from symdipa.model.errors import InputProblem, InvalidInput, Note, NoteKind, Position
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.spelling import Dictionary
from symdipa.model.validation import Place, brief, misspelt, misspelt_targets, never_stored

_STORED = re.compile(r"([^\W\d]\w*)\s*:?=(?!=)")
"""What looks like an assignment, in the rawest of texts."""

LONGEST_LINE = 100
"""A state whose branches make a longer line is written with one branch a line."""


def parse(text: str, strict: bool = False, limits: Limits = UNLIMITED) -> Parsed:
    """Read a text; with ``strict`` overlapping branches are problems, otherwise notes."""
    report = Report(text)
    halt, listings = parse_listings(text, report, limits)
    readable = not any(problem.rule in FATAL for problem in report.problems)
    if not listings:
        if not report.problems:
            report.add("syntax", f"there is no state in the text; write for instance {EXAMPLE}", 0)
        return Parsed(None, problems=tuple(report.problems))
    assembly = _Assembly(report, strict, halt)
    for listing in listings:
        limits.check(READING)
        assembly.add(listing)
    assembly.doubt_targets()
    assembly.doubt_outputs()
    if not readable:
        assembly.blame_variables(text)
    return assembly.parsed(partial=not readable)


# ------------------------------------------------------------------------- from listings to an automaton


class _Assembly:
    """Puts the listings together: resolves ordered branches, numbers states and transitions."""

    def __init__(self, report: Report, strict: bool, halt: str) -> None:
        self.report, self.strict, self.halt = report, strict, halt
        self.listings: list[Listing] = []
        self.transitions: list[Transition] = []
        self.branches: list[Arm] = []
        self.notes: list[Note] = []

    def add(self, listing: Listing) -> None:
        self.listings.append(listing)
        source = listing.state.name
        numbered = [(i, branch) for i, branch in enumerate(listing.branches, 1) if not branch.faulty]
        written = [branch.guard for _, branch in numbered]
        # A non-input state may not have a choice at all: its branches are left for validation to refuse.
        resolved = first_match(written) if listing.state.is_input else [(guard,) for guard in written]
        for (number, branch), guards in zip(numbered, resolved, strict=True):
            if guards != (branch.guard,):
                self.explain(source, number, branch, guards)
            for guard in guards or ():
                transition = Transition(source, branch.target, branch.output, guard, branch.assign)
                self.transitions.append(transition)
                self.branches.append(branch)

    def explain(self, source: str, number: int, branch: Arm, guards: tuple[Guard, ...] | None) -> None:
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
            branch_of = f"{number} of state {source}"
            if guards:
                self.note(NoteKind.READ_AS, f"{branch_of} {_reading(branch, guards)}", branch.guard_at)
            else:
                self.note(NoteKind.NEVER_TAKEN, branch_of, branch.guard_at)

    def note(self, kind: NoteKind, text: str, offset: int) -> None:
        self.notes.append(Note(kind, text, self.report.position(offset)))

    def doubt(self, kind: NoteKind, text: str, offset: int) -> None:
        """Something is likely to be misspelt: say so, as a note or, if strict, as a problem."""
        if self.strict:
            self.report.add("structure", Note(kind, text).sentence, offset)
        else:
            self.note(kind, text, offset)

    def all_branches(self) -> Iterator[Arm]:
        return (branch for listing in self.listings for branch in listing.branches)

    def doubt_targets(self) -> None:
        """A target that is not listed ends the run: was another state meant?"""
        names = [listing.state.name for listing in self.listings]
        listed, dictionary = set(names), Dictionary(names)
        for target, meant in self.misspelt_targets(names).items():
            listed.add(target)
            offset = next(branch.target_at for branch in self.all_branches() if branch.target == target)
            self.report.add("structure", misspelt(target, meant, f"'({target}):'"), offset)
        for branch in self.all_branches():
            name = branch.target
            if name and name not in listed:
                listed.add(name)
                if (close := dictionary.closest(name)) is not None:
                    text = f"{name} is only a target, so the run ends there; did you mean {close}? "
                    text += f"(if not, list it: '({name}):')"
                    self.doubt(NoteKind.ONLY_A_TARGET, text, branch.target_at)

    def misspelt_targets(self, names: list[str]) -> dict[str, str]:
        """Targets that stand for a state which nothing reaches; none where a target could not be read."""
        targets: dict[str, list[str]] = {}
        for listing in self.listings:
            targets.setdefault(listing.state.name, []).extend(arm.target for arm in listing.branches)
        unread = any("" in several for several in targets.values())
        return {} if unread else misspelt_targets(names[0], names, targets)

    def doubt_outputs(self) -> None:
        """Any name is an output symbol: was a sample meant, or the value of a variable?"""
        dictionary = Dictionary(["insample", "insampleprime"])
        stored = {name for branch in self.all_branches() for name in branch.assign}
        seen: set[str] = set()
        for branch in self.all_branches():
            name = branch.output.symbol or ""
            if name not in seen:
                seen.add(name)
                if name in stored:
                    text = f"{name} is a symbol, not what the variable {name} stores: only the samples of a "
                    text += "step can be output (insample, insampleprime); rename one of them"
                    self.doubt(NoteKind.ODD_OUTPUT, text, branch.output_at)
                elif meant := dictionary.closest(name):
                    text = f"{name} is a symbol like any other; did you mean {meant}?"
                    self.doubt(NoteKind.ODD_OUTPUT, text, branch.output_at)

    def blame_variables(self, text: str) -> None:
        """Misspelt variables of a text that could be read in part only (else validation finds them)."""
        stored = set(_STORED.findall(text))
        dictionary = Dictionary(sorted(stored))
        for branch in self.all_branches():
            for name, offset in branch.reads.items():
                if name not in stored and (meant := dictionary.closest(name)):
                    stored.add(name)
                    self.report.add("initialization", never_stored(name, meant), offset)

    def parsed(self, partial: bool) -> Parsed:
        states = [listing.state for listing in self.listings]
        known = {state.name for state in states}
        for transition in self.transitions:
            if transition.target not in known:
                known.add(transition.target)
                states.append(State(transition.target))
        variables = variables_of(self.transitions)
        notes, initial = tuple(self.notes), states[0].name
        automaton = Automaton(tuple(states), initial, tuple(self.transitions), variables, read_notes=notes)
        return Parsed(automaton, self.locate, tuple(self.report.problems), partial, self.halt)

    def locate(self, place: Place) -> Position | None:
        if place.kind == "transition":
            branch = self.branches[place.index]
            offsets = {
                "guard": branch.reads.get(place.name, branch.guard_at),
                "assign": branch.assign_at,
                "output": branch.output_at,
                "target": branch.target_at,
            }
            return self.report.position(offsets.get(place.part, branch.at))
        if place.kind == "state" and place.index < len(self.listings):
            listing = self.listings[place.index]
            return self.report.position(listing.parameters_at.get(place.part, listing.at))
        return None


def _reading(branch: Arm, guards: tuple[Guard, ...]) -> str:
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


@dataclass(frozen=True, slots=True)
class Remarks:
    """Comments for a text, as lines without ``#``: above all states, and above single ones by their names."""

    head: tuple[str, ...] = ()
    states: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def write(automaton: Automaton, remarks: Remarks | None = None) -> str:
    """The automaton as text; reading it back gives the same automaton.

    The language fixes some orders: the initial state comes first, transitions are grouped by their
    source, variables are ordered by first appearance. ``name`` is not written. What the language cannot
    say is an :class:`InvalidInput` that points to JSON.
    """
    validated(automaton)
    faults = list(_inexpressible(automaton))
    if faults:
        raise InvalidInput([InputProblem("name", fault) for fault in faults], automaton.name or None)
    ordered = [automaton.state(automaton.initial)]
    ordered += [state for state in automaton.states if state.name != automaton.initial]
    remarks = remarks or Remarks()
    lines = _comment(remarks.head) + [f"halt {automaton.halt}"] * (automaton.halt == "hidden")
    for state in ordered[: _lines_needed(automaton, ordered)]:
        said = remarks.states.get(state.name)
        lines += ["", *_comment(said)] if said else []
        lines.append(_state_line(automaton, state))
    return "\n".join(lines) + "\n"


def _comment(lines: Iterable[str]) -> list[str]:
    return [f"# {line}".rstrip() for line in lines]


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
    dictionary = Dictionary(listed)
    doubted = any(dictionary.closest(name) for name in added)  # if it were not listed
    return count if added == [state.name for state in ordered[count:]] and not doubted else len(ordered)


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
    line = f"{header} {' else'.join(chain)}"
    return line if len(line) <= LONGEST_LINE else f"{header}\n    " + "\n    else".join(chain)


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
            if name in RESERVED or not NAME.fullmatch(name):
                yield f"the text language cannot express the {what} {name!r}; {advice}"
    for state in automaton.states:
        lost = state.mu_prime if state.d_prime is None else 0
        if lost or (state.d is None and (state.mu or state.d_prime is not None)):
            yield f"the text language cannot leave out one scale of state {state.name}; {advice}"
