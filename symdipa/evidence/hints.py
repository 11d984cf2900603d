"""Changes to an automaton that remove a violation, each of them tried.

A witness suggests a change (at which step, of which variable), and the changed automaton is decided again.
While the pattern is still there, on another run, the same kind of change is made once more. Changes keep the
numbers of the transitions; new ones come last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count

from symdipa.evidence.facts import (
    conflicts,
    link,
    output_words,
    path_ends,
    shown_in_loop,
    step_lines,
    steps_of,
)
from symdipa.evidence.forced import forced
from symdipa.model.automaton import (
    INSAMPLE,
    INSAMPLE_PRIME,
    Automaton,
    Guard,
    Noise,
    Output,
    State,
    Transition,
    Update,
    noise_scale,
    reachable,
    several,
    symbol,
    with_differ,
)
from symdipa.model.patterns import Pattern
from symdipa.model.spelling import enumeration
from symdipa.model.validation import problems
from symdipa.model.validation.samples import SOME_SCALE, scale_text
from symdipa.model.verdict import Result, Status, Verdict, Witness

Decide = Callable[[Automaton], Result | None]
"""Decides a changed automaton; the answer may be "unknown", or ``None`` when there is no time left."""
ONE_ENTRY = "entries=1"
"""The least that can be promised about which entries differ."""
ROUNDS = 8
"""How often one kind of change is made before it is given up."""
MORE_ANSWERS = 3
"""A limit on answers is tried with one answer and with this many."""


@dataclass(frozen=True)
class Edit:
    """Where to make one change: at which transition (of the changed automaton), of which variable."""

    transition: int
    variable: str = ""


@dataclass(frozen=True)
class BranchDiff:
    """A branch before and after; ``before`` is empty for a branch that is new."""

    before: str
    after: str


@dataclass(frozen=True)
class Hint:
    """A change in words, the branches that it touches, and the changed automaton.

    ``outcome`` says in words, with D, whether that is ``private``. ``silent``: with D = 0, so that its
    outputs tell nothing about the inputs. ``lines`` are those of a program that it is about; the branches are
    those of its automaton.
    """

    kind: str
    text: str
    changes: tuple[BranchDiff, ...]
    outcome: str
    private: bool
    automaton: Automaton
    silent: bool = False
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class _ChangeKind:
    """A kind of change: how a witness suggests it, and how it is made."""

    name: str
    suggest: Callable[[Automaton, Witness], tuple[Edit, ...]]
    make: Callable[[Automaton, Edit], Automaton]


def hints(automaton: Automaton, witness: Witness, decide: Decide) -> list[Hint]:
    """Changes after which the automaton is private; if none is found, those that may be a start.

    The last one may be to promise less.
    """
    found: list[Hint] = []
    for kind in _kinds(automaton, witness):
        hint = _tried(automaton, witness, kind, decide)
        if hint is not None and all(hint.changes != other.changes for other in found):
            found.append(hint)
    private = [hint for hint in found if hint.private]
    if not private:
        private = [both for hint in found if (both := _followed(automaton, hint, decide)) is not None]
    else:
        private = [hint for hint in private if not hint.silent] or private
    promise = _one_entry(automaton, witness, decide)
    return [*private, promise] if promise is not None else private or found


def _one_entry(automaton: Automaton, witness: Witness, decide: Decide) -> Hint | None:
    """The same automaton, if it is private where one entry differs: no repair, but a smaller promise."""
    before = automaton.differ
    if before.most == 1:
        return None
    changed = with_differ(automaton, ONE_ENTRY)
    result = decide(changed)
    if result is None or result.verdict is not Verdict.PRIVATE:
        return None
    said = _differ_line(automaton)
    change = BranchDiff("" if before.is_all else said.format(before), said.format(ONE_ENTRY))
    outcome = _outcome(result, witness.pattern)
    return Hint("one-entry", WORDS["one-entry"], (change,), outcome, True, changed, _best(result) == 0)


def _differ_line(automaton: Automaton) -> str:
    """How it is said which entries may differ, with a place for that."""
    if automaton.origin is None:
        return "differ {}"
    return "--differ {}" if automaton.origin.is_c else '@mechanism(differ="{}")'


def _followed(automaton: Automaton, hint: Hint, decide: Decide) -> Hint | None:
    """A change that uncovers another pattern, together with a change against that one."""
    result = decide(hint.automaton)
    if result is None or result.witness is None:
        return None
    for kind in _kinds(hint.automaton, result.witness):
        more = _tried(hint.automaton, result.witness, kind, decide)
        if more is not None and more.private:
            return replace(
                more,
                kind=f"{hint.kind}+{more.kind}",
                text=f"{hint.text} And: {more.text[0].lower()}{more.text[1:]}",
                changes=tuple(_changes(automaton, more.automaton)),
                lines=tuple(sorted({*hint.lines, *more.lines})),
            )
    return None


def _tried(automaton: Automaton, witness: Witness, kind: _ChangeKind, decide: Decide) -> Hint | None:
    """The change of this kind, made as often as the pattern is still there; ``None`` if it does not help."""
    made: list[Edit] = []
    changed, current = automaton, witness
    for _ in range(ROUNDS):
        edits = [edit for edit in kind.suggest(changed, current) if edit not in made]
        for edit in edits:
            changed = kind.make(changed, edit)
        made += edits
        if not edits or problems(changed):
            return None
        result = decide(changed)
        answer = result.patterns[witness.pattern] if result is not None else None
        if answer is None or answer.status is not Status.PRESENT:
            break
        if answer.witness is None:
            return None
        current = answer.witness
    else:
        return None
    private = result is not None and result.verdict is Verdict.PRIVATE
    best, outcome = _best(result), _outcome(result, witness.pattern)
    if private and kind.make is _stop:
        outcome = _for_more_answers(automaton, made, outcome, best is not None, decide)
    text, changes = _text(kind.name, automaton, made), tuple(_changes(automaton, changed))
    origin, moves = automaton.origin, [automaton.transitions[edit.transition] for edit in made]
    lines = {line for move in moves for line in origin.lines(move)} if origin is not None else set()
    silent = private and best == 0
    return Hint(kind.name, text, changes, outcome, private, changed, silent, tuple(sorted(lines)))


def _best(result: Result | None) -> Fraction | None:
    return result.bounds.best if result is not None and result.bounds is not None else None


def _outcome(result: Result | None, gone: Pattern) -> str:
    if result is None or any(found.status is Status.UNKNOWN for found in result.patterns.values()):
        return "whether it is private then was not decided in the time that hints may take"
    if result.verdict is Verdict.PRIVATE:
        best = _best(result)
        if best == 0:
            return "private, D = 0: the outputs tell nothing about the inputs"
        return "private" if best is None else f"private, D = {best}"
    left = [p.title for p, found in result.patterns.items() if found.status is Status.PRESENT]
    return f"no {gone.title} any more, but then there is a {enumeration(left)}"


def _for_more_answers(
    automaton: Automaton, made: Sequence[Edit], once: str, bounded: bool, decide: Decide
) -> str:
    """The outcome for one answer, with a D if ``bounded``, and for a few if it is private then, too."""
    few = decide(limited(automaton, {edit.transition for edit in made}, MORE_ANSWERS))
    if few is None or few.verdict is not Verdict.PRIVATE:
        return f"{once}, if it stops after the first"
    more = _best(few)
    if not bounded or more is None:
        return f"private, if it stops after the first or after {MORE_ANSWERS}"
    return f"{once} if it stops after the first, D = {more} after {MORE_ANSWERS}"


# ------------------------------------------------------------------------------------ making a change


def _with(automaton: Automaton, t: int, *new: Transition, states: Iterable[State] = ()) -> Automaton:
    """Another transition in the place of ``t``, further new ones at the end, perhaps other states."""
    first, *more = new
    moves = (*automaton.transitions[:t], first, *automaton.transitions[t + 1 :], *more)
    return replace(automaton, states=tuple(states) or automaton.states, transitions=moves)


def _fresh(automaton: Automaton, name: str) -> str:
    """A name of a state that is not taken."""
    names = (name if n == 1 else f"{name}_{n}" for n in count(1))
    return next(n for n in names if n not in automaton.index)


def _end(automaton: Automaton) -> str:
    """The name of a terminal state that changes lead to: one that is there already, or a fresh one."""
    if "stop" in automaton.index and not automaton.outgoing[automaton.index["stop"]]:
        return "stop"
    return _fresh(automaton, "stop")


def _stop(automaton: Automaton, edit: Edit) -> Automaton:
    """Taking the transition is the last step."""
    end = _end(automaton)
    states = automaton.states if end in automaton.index else (*automaton.states, State(end))
    t = automaton.transitions[edit.transition]
    return _with(automaton, edit.transition, replace(t, target=end), states=states)


def limited(automaton: Automaton, transitions: set[int], times: int) -> Automaton:
    """The automaton that stops once the transitions were taken so often in all, by copies of its states."""
    end = _end(automaton)
    names = {(q.name, 0): q.name for q in automaton.states}
    taken = {*automaton.index, end}
    for k in range(1, times):
        for q in automaton.states:
            name = next(n for n in (f"{q.name}_{k + 1}{'_' * i}" for i in count()) if n not in taken)
            taken.add(name)
            names[q.name, k] = name
    states = [replace(q, name=names[q.name, k]) for k in range(times) for q in automaton.states]
    if end not in automaton.index:
        states.append(State(end))
    moves = []
    for k in range(times):
        for t, move in enumerate(automaton.transitions):
            after = k + (t in transitions)
            target = end if after == times else names[move.target, after]
            moves.append(replace(move, source=names[move.source, k], target=target))
    return reachable(replace(automaton, states=tuple(states), transitions=tuple(moves)))


def _show_symbol(automaton: Automaton, edit: Edit) -> Automaton:
    """What is shown besides numbers; a new symbol if that is nothing, or the same as in another branch."""
    t = automaton.transitions[edit.transition]
    siblings = (automaton.transitions[i] for i in automaton.outgoing[automaton.index[t.source]])
    shown = {str(sibling.output) for sibling in siblings}
    name = next(n for n in ("oshown" if k == 1 else f"oshown{k}" for k in count(1)) if n not in shown)
    output = _output([part for part in t.output.parts if not part.is_real] or [symbol(name)])
    output = symbol(name) if str(output) in shown else output
    return _with(automaton, edit.transition, replace(t, output=output))


def _output(parts: Sequence[Output]) -> Output:
    return several(*parts) if len(parts) > 1 else parts[0]


def _show_second_sample(automaton: Automaton, edit: Edit) -> Automaton:
    """``insampleprime``, with the noise and the mean of ``insample`` unless the state has its own."""
    t = automaton.transitions[edit.transition]
    state = automaton.state(t.source)
    if not state.d_prime:
        state = replace(state, d_prime=state.d, mu_prime=state.mu)
    states = [state if q.name == state.name else q for q in automaton.states]
    output = _output([INSAMPLE_PRIME if part == INSAMPLE else part for part in t.output.parts])
    return _with(automaton, edit.transition, replace(t, output=output), states=states)


def _add_noise(automaton: Automaton, edit: Edit) -> Automaton:
    """Laplace noise in the state of the transition, as much as the noisiest other state has."""
    name = automaton.transitions[edit.transition].source
    d = min((q.d for q in automaton.states if q.d and q.name != name), default=SOME_SCALE)
    noisy = (replace(q, d=d, noise=Noise.LAPLACE) if q.name == name else q for q in automaton.states)
    return replace(automaton, states=tuple(noisy))


def _reset(automaton: Automaton, edit: Edit) -> Automaton:
    """The register is 0 after the transition."""
    t = automaton.transitions[edit.transition]
    kept = (update for update in t.updates if update.register != edit.variable)
    return _with(automaton, edit.transition, replace(t, updates=(*kept, Update(edit.variable))))


def _do_not_store(automaton: Automaton, edit: Edit) -> Automaton:
    t = automaton.transitions[edit.transition]
    return _with(automaton, edit.transition, replace(t, assign=t.assign - {edit.variable}))


def _pass_by(automaton: Automaton, edit: Edit) -> Automaton:
    """The transition leads past the state behind it, which only draws, to where that one leads."""
    t = automaton.transitions[edit.transition]
    (drawing,) = automaton.outgoing[automaton.index[t.target]]
    return _with(automaton, edit.transition, replace(t, target=automaton.transitions[drawing].target))


def _do_not_compare(automaton: Automaton, edit: Edit) -> Automaton:
    t = automaton.transitions[edit.transition]
    guard = Guard(t.guard.ge - {edit.variable}, t.guard.lt - {edit.variable})
    return _with(automaton, edit.transition, replace(t, guard=guard))


def _redraw(automaton: Automaton, edit: Edit) -> Automaton:
    """A step without input that draws the variable anew, between the transition and its target."""
    t = automaton.transitions[edit.transition]
    drawn = next(
        automaton.state(s.source)
        for s in automaton.transitions
        if edit.variable in s.assign and not automaton.state(s.source).is_input
    )
    name = _fresh(automaton, f"redraw_{edit.variable}")
    redrawn = Transition(name, t.target, symbol("oredrawn"), assign=frozenset({edit.variable}))
    states = (*automaton.states, replace(drawn, name=name))
    return _with(automaton, edit.transition, replace(t, target=name), redrawn, states=states)


# ----------------------------------------------------------------------- what a witness suggests


def _answer_of(automaton: Automaton, witness: Witness, loop: tuple[int, int], wanted: Sequence[int]) -> Edit:
    """The step of a loop to limit: one that compares an input if there is any, rather one of ``wanted``."""
    steps = dict(steps_of(automaton, witness, loop))
    reading = [k for k, t in steps.items() if automaton.state(t.source).is_input]
    guarded = [k for k in reading if not steps[k].guard.is_true]
    choices = [[k for k in wanted if k in guarded], guarded, [k for k in wanted if k in reading], reading]
    best = next((choice for choice in choices if choice), list(steps))
    return Edit(witness.run[best[-1]])


def _limit_low(automaton: Automaton, witness: Witness) -> tuple[Edit, ...]:
    return (_answer_of(automaton, witness, witness.cycles[0], witness.path[:1]),)


def _limit_high(automaton: Automaton, witness: Witness) -> tuple[Edit, ...]:
    return (_answer_of(automaton, witness, witness.cycles[-1], witness.path[-1:]),)


def _limit_loop(automaton: Automaton, witness: Witness) -> tuple[Edit, ...]:
    """The answer of the only loop, which leaks, discloses, or is bounded by what is shown."""
    loop = witness.cycles[0]
    if witness.pattern is Pattern.LEAKING_CYCLE:
        both = conflicts(automaton, witness)
        wanted = [k for k, t in steps_of(automaton, witness, loop) if both & t.assign]
    elif witness.pattern is Pattern.DISCLOSING_CYCLE:
        wanted = shown_in_loop(automaton, witness)
    else:
        wanted = [k for k in witness.path if loop[0] <= k < loop[1]]
    return (_answer_of(automaton, witness, loop, wanted),)


def _keep(automaton: Automaton, witness: Witness) -> tuple[Edit, ...]:
    """All stores of the loop to variables that it compares with."""
    both = conflicts(automaton, witness)
    loop = dict.fromkeys(witness.run[slice(*witness.cycles[0])])
    return tuple(Edit(t, x) for t in loop for x in sorted(automaton.transitions[t].assign & both))


def _draw_before(automaton: Automaton, witness: Witness) -> tuple[Edit, ...]:
    """The steps of the loop that lead to one which only draws what the loop compares with, without input."""
    both = conflicts(automaton, witness)
    loop = list(witness.run[slice(*witness.cycles[0])])
    found = []
    for t, following in zip(loop, [*loop[1:], loop[0]], strict=True):
        move = automaton.transitions[following]
        drawn = both & move.assign and not automaton.state(move.source).is_input
        if drawn and move.target != move.source and not move.output.is_real:
            found.append(Edit(t, ", ".join(sorted(move.assign))))
    return tuple(dict.fromkeys(found))


def _shown(automaton: Automaton, witness: Witness) -> list[int]:
    """The transitions that show the numbers in conflict."""
    if witness.pattern is Pattern.DISCLOSING_CYCLE:
        steps = shown_in_loop(automaton, witness)
    elif automaton.is_plain:
        steps = [path_ends(automaton, witness).shown]
    else:
        order = forced(automaton, witness.run)
        chain = order.chain_of(witness)
        ends = [spot.sample for spot in ((chain[0].low, chain[-1].high) if chain else ())]
        steps = [k for i in ends if i is not None for k, _ in order.released.get(i, ())]
    return list(dict.fromkeys(witness.run[k] for k in steps))


def _second_sample_for_shown(automaton: Automaton, witness: Witness) -> tuple[Edit, ...]:
    moves = {t: automaton.transitions[t] for t in _shown(automaton, witness)}
    return tuple(
        Edit(t)
        for t, move in moves.items()
        if move.output.shows_sample and automaton.state(move.source).is_input
    )


def _symbol_for_shown(automaton: Automaton, witness: Witness) -> tuple[Edit, ...]:
    return tuple(map(Edit, _shown(automaton, witness)))


def _last_uses(automaton: Automaton, witness: Witness) -> tuple[Edit, ...]:
    """The last steps of the loops that add a sum of entries to a mean, one for each sum."""
    found = []
    for cycle in witness.cycles:
        last: dict[str, int] = {}
        for k, t in steps_of(automaton, witness, cycle):
            last.update((register, witness.run[k]) for register, _ in automaton.state(t.source).registers)
        found += [Edit(t, register) for register, t in last.items()]
    return tuple(dict.fromkeys(found))


def _redraw_between(automaton: Automaton, witness: Witness) -> tuple[Edit, ...]:
    """The threshold of the later loop drawn anew on the way into it, if it was drawn without input."""
    low, high = witness.cycles
    earlier, later = sorted((low, high))
    stored = witness.path[-2] if later == high else witness.path[1]
    entering = later[0] - 1
    source = automaton.state(automaton.transitions[witness.run[stored]].source)
    if entering < earlier[1] or stored >= entering or source.is_input:
        return ()
    low_end, high_end = witness.path[:2] if later == low else witness.path[-2:]
    variable = link(automaton, witness.run, low_end, high_end).variable
    return (Edit(witness.run[entering], variable),)


def _without_noise(automaton: Automaton, witness: Witness) -> tuple[Edit, ...]:
    """The steps at the ends of the path with means that inputs move and no noise, or one-sided noise."""
    found: dict[str, Edit] = {}
    for t in (witness.run[k] for k in dict.fromkeys((*witness.path[:1], *witness.path[-1:]))):
        state = automaton.state(automaton.transitions[t].source)
        reads = state.is_input or state.registers
        if reads and state.draws and state.noise is not Noise.LAPLACE:
            found.setdefault(state.name, Edit(t))
    return tuple(found.values())


def _do_not_compare_both(automaton: Automaton, witness: Witness) -> tuple[Edit, ...]:
    """One of the two comparisons of a step outside of the loops that ties the thresholds together."""
    for low, k, high in zip(witness.path, witness.path[1:], witness.path[2:], strict=False):
        if k > max(low, high) and not any(i <= k < j for i, j in witness.cycles):
            return (Edit(witness.run[k], link(automaton, witness.run, k, high).variable),)
    return ()


# -------------------------------------------------------------------------------------- in words


WORDS = {
    "draw-once": "Draw {variables} once, before the loop, and not again in every round (after {places}).",
    "keep": "Do not store in {variables} inside the loop ({places}): compare with what was stored before it.",
    "limit": "Answer {answers} only a fixed number of times, then stop.",
    "limits": "Stop after a fixed number of answers {answers}, counted together.",
    "redraw": "Draw {variable} anew between the two loops (after {place}), so that they do not share a "
    "threshold.",
    "compare-less": "Do not compare the sample of {compared}: that comparison is what ties the thresholds of "
    "the two loops together.",
    "symbol": "Output a symbol instead of the number ({places}).",
    "secret": "Keep the number secret ({places}): output a symbol in its place.",
    "noise": "Add Laplace noise ({places}).",
    "reset": "Begin the sum {variables} anew where it was used ({places}), so that no entry counts for ever.",
    "one-entry": "Promise less: privacy where one entry differs (an event, a record), not all that somebody "
    "contributes.",
    "second-sample": "Answer with insampleprime instead of insample ({places}): a second draw of noise "
    "around the same input, which no comparison has seen.",
}
"""What a hint says, by the name of its kind; ``limits`` and ``secret`` are variants."""

PROGRAM_WORDS = {
    "limit": "Answer {answers} only a fixed number of times: count, and return.",
    "limits": "Return after a fixed number of answers {answers}, counted together.",
    "symbol": "Show only that there is an answer, not the number ({places}).",
    "secret": "Keep the number secret ({places}).",
    "second-sample": "Show the input with fresh noise, {noise}, and not the noisy value that was compared "
    "({places}).",
}
"""What is said otherwise where the automaton was made from a program."""


def _text(name: str, automaton: Automaton, made: Sequence[Edit]) -> str:
    """The changes of the kind with this name in words."""
    moves = [automaton.transitions[edit.transition] for edit in made]
    places = [_place(automaton, move) for move in moves]
    shown = [
        "with a number" if move.output.is_real else output_words(automaton, move.output) or "nothing"
        for move in moves
    ]
    answers = list(dict.fromkeys(f"{output} ({place})" for output, place in zip(shown, places, strict=True)))
    if name == "limit" and len(answers) > 1:
        name = "limits"
    if name == "symbol" and not any(automaton.state(move.source).is_input for move in moves):
        name = "secret"
    words = WORDS if automaton.origin is None else {**WORDS, **PROGRAM_WORDS}
    return words[name].format(
        answers=enumeration(answers),
        places=enumeration(dict.fromkeys(places)),
        place=places[0],
        variables=enumeration(sorted({edit.variable for edit in made})),
        variable=made[0].variable,
        noise=_noise(automaton, moves[0]),
        compared=enumeration(
            f"{place} with {edit.variable}" for place, edit in zip(places, made, strict=True)
        ),
    )


def _place(automaton: Automaton, move: Transition) -> str:
    """Where a change is made: the ends of the transition, or the lines of the program that it passes."""
    return step_lines(automaton, move) or f"{move.source} -> {move.target}"


def _noise(automaton: Automaton, move: Transition) -> str:
    """How a program draws the noise of a step."""
    state, origin = automaton.state(move.source), automaton.origin
    if not state.d or origin is None:
        return ""
    if origin.is_c:
        return f"Lap({noise_scale(state.d).replace('eps', 'epsilon')})"
    return f"{state.noise.value}({1 / state.d})"


def _changes(before: Automaton, after: Automaton) -> Iterator[BranchDiff]:
    """The branches that differ, and one of each further state that draws otherwise."""
    pairs = zip(before.transitions, after.transitions, strict=False)
    told = {move.source for old, move in pairs if move != old}
    for t, move in enumerate(after.transitions):
        if t >= len(before.transitions):
            yield BranchDiff("", _branch(after, move, True))
            continue
        noise = before.state(move.source) != after.state(move.source)
        if move != before.transitions[t] or (noise and move.source not in told):
            told.add(move.source)
            yield BranchDiff(_branch(before, before.transitions[t], noise), _branch(after, move, noise))


def _branch(automaton: Automaton, move: Transition, noise: bool) -> str:
    """A branch as it is written in a file, behind the name of its state and perhaps the noise of that."""
    state = automaton.state(move.source)
    parts = [f"{state.name}{'' if state.is_input else ':non-input'}"]
    if noise:
        parts += [scale_text(state.noise, state.d or Fraction(0)), state.mean_text()]
        second = [scale_text(state.noise_prime, state.d_prime), state.mean_text(second=True)]
        parts += second if state.d_prime else []
    guard = "" if move.guard.is_true else f"if ({move.guard.text(automaton.variables)}) then "
    stores = ", ".join([*(f"{x} := {y}" for x, y in sorted(move.stores)), *map(str, move.updates)])
    action = f"{stores + '; ' if stores else ''}output {move.output}; goto {move.target}"
    return f"({', '.join(parts)}): {guard}{action}"


def _kinds(automaton: Automaton, witness: Witness) -> Sequence[_ChangeKind]:
    """The kinds of change that are tried against the witness, the most natural first."""
    if automaton.is_plain:
        return _KINDS[witness.pattern]
    limits = _KINDS[Pattern.LEAKING_PAIR][:2] if len(witness.cycles) == 2 else (_LIMIT,)
    shown = _OF_NUMBERS.get(witness.pattern, ())
    return (_NOISE, _RESET, *shown, *(limits if witness.cycles else ()))


_NOISE = _ChangeKind("noise", _without_noise, _add_noise)
_RESET = _ChangeKind("reset", _last_uses, _reset)
_LIMIT = _ChangeKind("limit", _limit_loop, _stop)
_SYMBOL = _ChangeKind("symbol", _symbol_for_shown, _show_symbol)
_OF_NUMBERS = {
    Pattern.DISCLOSING_CYCLE: (_SYMBOL,),
    Pattern.PRIVACY_VIOLATING_PATH: (
        _ChangeKind("second-sample", _second_sample_for_shown, _show_second_sample),
        _SYMBOL,
    ),
}
"""Those against numbers that are shown."""
_KINDS = {
    Pattern.LEAKING_CYCLE: (
        _ChangeKind("draw-once", _draw_before, _pass_by),
        _LIMIT,
        _ChangeKind("keep", _keep, _do_not_store),
    ),
    Pattern.LEAKING_PAIR: (
        _ChangeKind("limit", _limit_high, _stop),
        _ChangeKind("limit", _limit_low, _stop),
        _ChangeKind("redraw", _redraw_between, _redraw),
        _ChangeKind("compare-less", _do_not_compare_both, _do_not_compare),
    ),
    **{pattern: (*kinds, _LIMIT) for pattern, kinds in _OF_NUMBERS.items()},
}
"""Those that are tried on a plain automaton."""
