"""Rules about samples: their parameters, where they are drawn, and what integer noise asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from symdipa.model.parts import (
    BEYOND,
    SAMPLE,
    AutomatonParts,
    Noise,
    State,
    Transition,
    computable,
    noise_scale,
)
from symdipa.model.validation.places import Finding, Place, arrow, by_source, number

SOME_SCALE = Fraction(1, 2)
"""What a message proposes for an inverse scale where there is none to go by."""


def parameters(automaton: AutomatonParts) -> Iterator[Finding]:
    """Parameters are rationals, scales are not negative, and positive where a sample of theirs matters."""
    outgoing = by_source(automaton)
    for i, state in enumerate(automaton.states):
        if not state.draws:
            yield from _no_parameters(state, i)
            continue
        leaving = [automaton.transitions[k] for k in outgoing.get(state.name, [])]
        shown = any(transition.output.shows_second for transition in leaving)
        yield from _scale(state, i, "d", use_of_sample(leaving))
        yield from _scale(state, i, "d_prime", "insampleprime is output" if shown else None)
        for part, mean in (("mu", state.mu), ("mu_prime", state.mu_prime)):
            if not isinstance(mean, Fraction):
                yield Place("state", i, part), _inexact(state, part, mean)
            elif not computable(mean):
                yield Place("state", i, part), _beyond(state, part)


def _no_parameters(state: State, i: int) -> Iterator[Finding]:
    """A state that draws nothing has no noise and no mean."""
    given = {
        "d": state.d,
        "d_prime": state.d_prime,
        "mu": state.mu or state.registers or None,
        "mu_prime": state.mu_prime or None,
    }
    noises = {"d": state.noise, "d_prime": state.noise_prime}
    part = next((p for p, value in given.items() if value is not None), None)
    part = part or next((p for p, noise in noises.items() if noise is not Noise.LAPLACE), None)
    if part:
        kind = "read" if state.is_input else "silent"
        yield (
            Place("state", i, part),
            f"state {state.name} is {kind} and draws no sample, so it has no noise and no mean: write "
            f"({state.name}:{kind}), or make it {'an input' if state.is_input else 'a non-input'} state",
        )


def _scale(state: State, i: int, part: str, use: str | None) -> Iterator[Finding]:
    second = part == "d_prime"
    value, noise = (state.d_prime, state.noise_prime) if second else (state.d, state.noise)
    place, shown = Place("state", i, part), "d'" if second else part
    if noise is Noise.NONE:
        if value is not None:
            message = f"{shown} of state {state.name} is given, but a sample without noise (inf) has no scale"
            yield place, f"{message}: leave it out, or the inf"
    elif value is None:
        if use:
            needs = f"state {state.name} needs {shown} > 0, because {use}; {shown} is not given"
            yield place, f"{needs}: write {_with_scales(state, second)}"
    elif not isinstance(value, Fraction):
        yield place, _inexact(state, part, value)
    elif value < 0:
        message = f"{shown} of state {state.name} is {number(value)}; it must not be negative"
        yield place, message
    elif value == 0 and use:
        remedy = f"a larger {shown} is less noise, and no noise is written inf"
        yield place, f"{shown} of state {state.name} is 0; it must be positive, because {use} ({remedy})"
    elif not computable(value):
        yield place, _beyond(state, shown)


def _with_scales(state: State, second: bool) -> str:
    """The header that the state needs: with its own ``d`` and ``mu``, also for the ``second`` sample."""
    missing = state.d is None and state.noise is not Noise.NONE
    d = state.d if isinstance(state.d, Fraction) else SOME_SCALE
    mu = state.mu if isinstance(state.mu, Fraction) else Fraction(0)
    first = scale_text(state.noise, number(d))
    other = scale_text(state.noise_prime, number(d if d > 0 else SOME_SCALE))
    numbers = [first, number(mu)] + [other, number(mu)] * second
    kind = "" if state.is_input else ":non-input"
    header = f"({state.name}{kind}, {', '.join(numbers)})"
    return f"for instance {header}" if missing else header


def scale_text(noise: Noise, d: Fraction | str | None) -> str:
    """Noise as in a header: ``1/4``, ``exp 1/4``, ``inf``."""
    if noise is Noise.NONE:
        return "inf"
    scale = "-" if d is None else str(d)
    return f"exp {scale}" if noise is Noise.EXPONENTIAL else scale


def _beyond(state: State, part: str) -> str:
    return f"{part} of state {state.name} {BEYOND}"


def use_of_sample(leaving: Iterable[Transition]) -> str | None:
    """What the sample of a state is good for; ``None`` if it does not matter."""
    for transition in leaving:
        if transition.guard.compares_sample:
            return "its sample is compared"
        if transition.assign:
            return f"its sample is stored in {min(transition.assign)}"
        if transition.output.shows_sample:
            return "its sample is output"
        for names in transition.output.differences:
            if SAMPLE in names:
                return f"{' - '.join(names)} is output"
    return None


def _inexact(state: State, part: str, value: object) -> str:
    return (
        f"{part} of state {state.name} is {value!r} of type {type(value).__name__}; parameters are exact: "
        "give a fractions.Fraction"
    )


# ------------------------------------------------------------------------------------ where nothing is drawn


def sample(automaton: AutomatonParts) -> Iterator[Finding]:
    """A state that draws no sample compares, stores and shows none."""
    drawing = {state.name: state.draws for state in automaton.states}
    kinds = {state.name: "read" if state.is_input else "silent" for state in automaton.states}
    for i, transition in enumerate(automaton.transitions):
        if drawing.get(transition.source, True):
            continue
        which = f"state {transition.source} is {kinds[transition.source]} and draws no sample"
        if transition.guard.compares_sample:
            message = "insample cannot be compared there: compare stored values, or let the state draw"
            yield Place("transition", i, "guard"), f"{which}, so {message}"
        if transition.assign:
            message = (
                f"{min(transition.assign)} cannot store insample there: store it in the step that draws it"
            )
            yield Place("transition", i, "assign"), f"{which}, so {message}"
        output = transition.output
        if output.shows_sample or output.shows_second or any(SAMPLE in pair for pair in output.differences):
            shown = "insampleprime" if output.shows_second and not output.shows_sample else SAMPLE
            message = f"{shown} cannot be output there: output a stored value, or let the state draw"
            yield Place("transition", i, "output"), f"{which}, so {message}"


# ------------------------------------------------------------------------------------------- integer noise


def integers(automaton: AutomatonParts) -> Iterator[Finding]:
    """With integer noise all means, constants and offsets are integers."""
    if not automaton.integer:
        return
    for i, state in enumerate(automaton.states):
        for part, mean in (("mu", state.mu), ("mu_prime", state.mu_prime)):
            if isinstance(mean, Fraction) and mean.denominator > 1:
                yield (
                    Place("state", i, part),
                    f"{part} of state {state.name} is {number(mean)}, but noise is integer and so are means; "
                    f"write {_neighbours(mean)}, or leave out 'noise integer'",
                )
        for name, factor in state.registers:
            if isinstance(factor, Fraction) and factor.denominator > 1:
                yield (
                    Place("state", i, "mu", name),
                    f"the factor {number(factor)} of register {name} in state {state.name} is no integer, "
                    f"but noise is, and so are means; write {_neighbours(factor)}, or leave out "
                    "'noise integer'",
                )
    for i, transition in enumerate(automaton.transitions):
        for each in sorted(transition.guard.others, key=str):
            offset = each.high.offset - each.low.offset
            if offset.denominator > 1:
                yield (
                    Place("transition", i, "guard"),
                    f"{each} of {arrow(transition)} has the constant {number(abs(offset))}, but noise is "
                    f"integer and so are constants; write {_neighbours(abs(offset))}, or leave out "
                    "'noise integer'",
                )
        for name, new in transition.copies:
            if isinstance(new, Fraction) and new.denominator > 1:
                yield (
                    Place("transition", i, "assign"),
                    f"{arrow(transition)} stores {number(new)} in {name}, but noise is integer and so are "
                    f"constants; write {_neighbours(new)}, or leave out 'noise integer'",
                )


def _neighbours(value: Fraction) -> str:
    below = value.numerator // value.denominator
    return f"{below} or {below + 1}"


# -------------------------------------------------------------------------------------------------- doubts

FAR_ABOVE = 10
"""How many times the next smaller inverse scale the largest is, if it is far above the others."""


def little_noise(automaton: AutomatonParts) -> str | None:
    """Whether scales are so small that they may be upside down: all inverse scales that matter are above 1,
    or one is and is far above all others. Samples without noise are as they are meant."""
    outgoing = by_source(automaton)
    scales = []
    for state in automaton.states:
        leaving = [automaton.transitions[i] for i in outgoing.get(state.name, ())]
        if state.d and use_of_sample(leaving):
            scales.append((state.d, "d", state.name, state.noise))
        if state.d_prime and any(transition.output.shows_second for transition in leaving):
            scales.append((state.d_prime, "d'", state.name, state.noise_prime))
    if not scales:
        return None
    largest, which, name, noise = max(scales, key=lambda scale: scale[0])
    others = [d for d, *_ in scales if d != largest]
    here = f"{which} = {number(largest)} of state {name}"
    if min(d for d, *_ in scales) > 1:
        what = f"every d is above 1, and {here} means"
    elif largest > 1 and largest >= FAR_ABOVE * max(others):
        what = f"{here} is far above the others and means"
    else:
        return None
    kind = "exponential" if noise is Noise.EXPONENTIAL else "Laplace"
    upside_down = f"noise of scale {noise_scale(1 / largest)} is written {1 / largest}"
    return f"{what} {kind} noise of scale {noise_scale(largest)}; {upside_down}"
