"""Automata written as programs in Python, by hand as it were: a loop over a variable that holds the state."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from symdipa.model.parts import SAMPLE, Noise, OutputKind
from symdipa.model.validation.samples import use_of_sample

HEAD = "from fractions import Fraction\n\nfrom symdipa import exponential, laplace, mechanism\n\n\n"


def written(automaton) -> str:
    """A program that does what an automaton does; it stops where no branch holds."""
    options = f"differ={automaton.differ.text!r}, integer={automaton.integer}"
    lines = [f"{HEAD}@mechanism({options})", f"def {identifier(automaton.name)}(queries):"]
    lines += [f"    state = {automaton.initial!r}", "    while True:"]
    word = "if"
    for state in automaton.states:
        leaving = [t for t in automaton.transitions if t.source == state.name]
        if leaving:
            lines.append(f"        {word} state == {state.name!r}:")
            lines += [f"            {line}" for line in body(state, leaving)]
            word = "elif"
    return "\n".join([*lines, "        else:", "            return", ""])


def with_own_scales(automaton):
    """The automaton with another inverse scale for every sample, by which they can be told apart."""
    states = [
        replace(
            state,
            d=None if state.d is None else Fraction(2 * k + 1, 16),
            d_prime=None if state.d_prime is None else Fraction(2 * k + 2, 16),
        )
        for k, state in enumerate(automaton.states)
    ]
    return replace(automaton, states=tuple(states))


def without_dead_variables(automaton):
    """The automaton without variables that nothing reads."""
    while True:
        read = {name for t in automaton.transitions for name in (*t.reads, *shown(t))}
        fewer = [
            replace(t, assign=t.assign & read, copies=tuple(c for c in t.copies if c[0] in read))
            for t in automaton.transitions
        ]
        if tuple(fewer) == automaton.transitions:
            return automaton
        automaton = replace(automaton, transitions=tuple(fewer))


def shown(t):
    """What a transition shows, after what it stores."""
    return (name for part in t.output.parts for name in part.names)


def identifier(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in f"m_{name}")


def body(state, leaving):
    """What is done in a state, line by line."""
    if state.is_input:
        yield "entry = next(queries)"
    if state.draws and use_of_sample(leaving) is not None:
        yield f"sample = {drawn(state, state.noise, state.d, state.mu)}"
    word = "if"
    for t in leaving:
        if t.guard.is_true:
            yield f"{word.replace('elif', 'else').replace('if', 'if True')}:"
        else:
            yield f"{word} {' and '.join(map(comparison, sorted(t.guard.atoms, key=str)))}:"
        word = "elif"
        for line in branch(state, t):
            yield f"    {line}"
    if not leaving[-1].guard.is_true:
        yield "else:"
        yield "    return"


def branch(state, t):
    if t.output.shows_second:
        yield f"second = {drawn(state, state.noise_prime, state.d_prime, state.mu_prime)}"
    stores = dict.fromkeys(t.assign, "sample") | dict(t.copies)
    sums = {u.register: " + ".join([*filter(None, [u.source]), *["entry"] * u.adds_input]) for u in t.updates}
    all_stores = {**stores, **{r: new or "0" for r, new in sums.items()}}
    if all_stores:
        yield f"{', '.join(all_stores)} = {', '.join(map(text, all_stores.values()))}"
    yield f"yield {', '.join(map(item, t.output.parts))}"
    yield f"state = {t.target!r}"


def text(new):
    return new if isinstance(new, str) else repr(new)


def item(part):
    match part.kind:
        case OutputKind.SYMBOL:
            return repr(part.symbol)
        case OutputKind.INSAMPLE:
            return "sample"
        case OutputKind.INSAMPLE_PRIME:
            return "second"
    return " - ".join(map(value, part.names))


def drawn(state, noise, d, mu):
    terms = ["entry"] * state.is_input + [f"{k!r} * {r}" for r, k in state.registers]
    terms += [repr(mu)] if mu else []
    if noise is not Noise.NONE:
        terms.append(f"{noise.value}({1 / d!r})")
    return " + ".join(terms) or "0"


def comparison(each):
    return f"{term(each.low)} {'<' if each.strict else '<='} {term(each.high)}"


def term(each):
    if each.name is None:
        return repr(each.offset)
    sign = "-" if each.mirrored else ""
    offset = f" + {each.offset!r}" if each.offset else ""
    return f"{sign}{value(each.name)}{offset}"


def value(name):
    return "sample" if name == SAMPLE else name
