"""A concrete counterexample as text, as JSON and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, exp, floor, inf, log, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symdipa.evidence.story import columns, prose
from symdipa.interface.pictures.plotting import STYLE, check_plot, save
from symdipa.interface.reports.check import json_step

if TYPE_CHECKING:
    from symdipa.evidence.probability import Interval
    from symdipa.evidence.refutation import Counterexample, Pair
    from symdipa.model.automaton import Automaton

PERIODS = (1, 2)
LONGEST = 60
"""So many rows of steps are shown before the middle is left out."""


def text(found: Counterexample | str) -> str:
    """The section of the report; a text instead of a counterexample says why there is none."""
    if isinstance(found, str):
        lines = prose(f"No pair of inputs is shown: {found}. The verdict does not depend on it.")
    else:
        lines = [
            *claim(found),
            "",
            "The two input streams (- where none is read), and the outputs that are observed:",
            *(f"  {line}" for line in steps_table(found)),
            "",
            *numbers(found),
            *_growth(found),
            "",
            *assumed(found),
        ]
    return "\n".join(["A concrete counterexample", *(f"  {line}".rstrip() for line in lines)])


def claim(found: Counterexample) -> list[str]:
    asked = f"{found.exceeds}*eps-privacy at eps = {number(found.eps)}"
    if not found.holds:
        return prose(
            f"No pair of inputs was found that refutes {asked}: {found.missing}. The verdict does not depend "
            "on it. The best pair that was found:"
        )
    allowed = found.exceeds * found.eps
    return prose(
        f"Refutes {asked}: alpha and beta, two input streams, differ by at most 1 in each entry, and the "
        f"outputs below are {times(found.log_ratio)} times as likely on alpha as on beta. Only "
        f"exp({number(allowed)}) = {times(float(allowed))} times are allowed, for every outcome, however "
        f"unlikely it is. {_taken(found)}, {len(found.run)} steps in all."
    )


def _taken(found: Counterexample) -> str:
    loops = "loop is" if len(found.witness.cycles) == 1 else "loops are each"
    return f"The {loops} taken {found.rounds} time{'s' if found.rounds > 1 else ''}"


def steps_table(found: Counterexample) -> list[str]:
    """The unrolled run with both inputs; rounds that look the same are shown once."""
    return columns(steps_rows(found))


def steps_rows(found: Counterexample) -> list[list[str]]:
    """The rows of :func:`steps_table`, a head first; the middle of a long one is cut."""
    rows = [["steps", "times", "from", "alpha", "beta", "output"]]
    body = [
        [steps, times if times != "1" else "", *step_cells(found.automaton, found, k)]
        for steps, times, k in _compressed(found)
    ]
    if len(body) > LONGEST:
        body[LONGEST // 2 : -LONGEST // 2] = [["...", "", "", "", "", ""]]
    return rows + body


def step_cells(automaton: Automaton, found: Counterexample | Pair, k: int) -> list[str]:
    """Of step ``k`` of a run with two inputs: the state, what both read, and what is observed."""
    transition = automaton.transitions[found.run[k]]
    window = found.outputs[k]
    output = str(transition.output)
    if transition.output.is_real:
        output = f"{output} {interval(window)}"
    low, high = found.alpha[k], found.beta[k]
    return [
        transition.source,
        "-" if low is None else number(low),
        "-" if high is None else number(high),
        output,
    ]


def _compressed(found: Counterexample) -> list[tuple[str, str, int]]:
    """Which steps, how often, and one of them, for every row of the table."""
    from symdipa.evidence.refutation import unrolled

    places = unrolled(found.witness, found.rounds)
    starts = {i: j - i for i, j in found.witness.cycles}
    rows: list[tuple[str, str, int]] = []
    k = 0
    while k < len(places):
        length = starts.get(places[k][0])
        period = None if length is None or found.rounds < 2 else _period(found, k, length)
        if length is None or period is None:
            rows.append((str(k + 1), "1", k))
            k += 1
            continue
        last = k + length * found.rounds
        for turn in range(period):
            count = len(range(turn, found.rounds, period))
            for j in range(k + turn * length, k + (turn + 1) * length):
                step = length * period
                final = j + 1 + step * (count - 1)
                between = "..., " if count > 3 else ""
                steps = f"{j + 1} to {last}"
                if step > 1:
                    second = f"{j + 1 + step}, " if count > 2 else ""
                    steps = f"{j + 1}, {second}{between}{final}"
                rows.append((steps if count > 1 else str(j + 1), str(count), j))
        k = last
    return rows


def _period(found: Counterexample, begin: int, length: int) -> int | None:
    """After how many rounds of a cycle the inputs and events repeat, if soon."""

    def look(turn: int) -> Sequence[object]:
        some = slice(begin + turn * length, begin + (turn + 1) * length)
        return (found.alpha[some], found.beta[some], found.outputs[some])

    for period in PERIODS:
        if all(look(turn) == look(turn % period) for turn in range(found.rounds)):
            return period
    return None


def numbers(found: Counterexample) -> list[str]:
    return [*columns(number_rows(found)), "", *whose(found)]


def number_rows(found: Counterexample) -> list[list[str]]:
    """Both probabilities and their ratio with logarithms and errors, a head first."""
    eps = float(found.eps)
    rows = [
        ["Pr[alpha]", power(found.log_prob_alpha), *measured(found.log_prob_alpha, found.error_alpha)],
        ["Pr[beta]", power(found.log_prob_beta), *measured(found.log_prob_beta, found.error_beta)],
        ["ratio", times(found.log_ratio), *measured(found.log_ratio, found.error)],
        [REACHED, "", *measured(found.log_ratio / eps, found.error / eps)],
    ]
    return [["", "", "logarithm", "error"], *rows]


def whose(found: Counterexample) -> list[str]:
    """Whose probabilities these are: of the run alone, or of all runs with the outputs."""
    return [line for told in _whose(found) for line in prose(told)]


REACHED = "D reached"
"""The log-ratio per eps: no smaller D is true."""


def _whose(found: Counterexample) -> list[str]:
    if not found.all_runs:
        return ["Other runs may show these outputs, too: these are the probabilities of this run alone."]
    if found.further:
        return [
            "Other runs show these outputs, too; their probabilities are added. They may read more inputs: "
            f"behind those above, both streams go on with {len(found.further)} entries 0."
        ]
    return [
        "No other run shows these outputs, so the probability of the run is theirs. The ratio refutes every "
        "D below the one that is reached.",
        f"Inputs that are farther from 0 come closer to D = {found.limit}, which this run cannot pass; more "
        "rounds can.",
    ]


def _growth(found: Counterexample) -> list[str]:
    if len(found.growth) < 2:
        return []
    rows = [["rounds", REACHED]]
    rows += [[str(g.rounds), f"{round(g.log_ratio_per_eps, 6) + 0.0:.6f}"] for g in found.growth]
    return ["", "How it grows with the number of rounds:", *columns(rows, indent=2)]


def assumed(found: Counterexample) -> list[str]:
    told = [
        "Assumed: noise and comparisons in exact real numbers; each input may move by at most 1, up or down. "
        "The probabilities are computed numerically, with the errors that are stated."
    ]
    used = dict.fromkeys(found.automaton.transitions[t].source for t in found.run)
    state = next((found.automaton.state(q) for q in used if found.automaton.state(q).d), None)
    if state is not None and state.d is not None:
        told.append(
            f"Noise scales are inverse and in units of eps: d = {state.d} of state {state.name} is Laplace "
            f"noise of scale {1 / state.d}/eps, here {number(1 / (state.d * found.eps))}."
        )
    return [line for paragraph in told for line in prose(paragraph)]


# ------------------------------------------------------------------------------------------------------- JSON


def json_inputs(automaton: Automaton, found: Counterexample | Pair) -> dict[str, Any]:
    """A run with two inputs and an output event."""
    return {
        "run": [json_step(automaton, automaton.transitions[t]) for t in found.run],
        "alpha": [None if a is None else float(a) for a in found.alpha],
        "beta": [None if b is None else float(b) for b in found.beta],
        "outputs": [None if window is None else json_interval(window) for window in found.outputs],
    }


def json_object(found: Counterexample) -> dict[str, Any]:
    """The counterexample as ``witness --concrete --json`` has it."""
    automaton = found.automaton
    return {
        "eps": float(found.eps),
        "exceeds": str(found.exceeds),
        **json_inputs(automaton, found),
        "rounds": found.rounds,
        "further_inputs": [float(a) for a in found.further],
        "log_prob_alpha": found.log_prob_alpha,
        "log_prob_beta": found.log_prob_beta,
        "log_ratio": found.log_ratio,
        "error": found.error,
        "all_runs": found.all_runs,
        "limit": str(found.limit),
        "growth": [{"rounds": g.rounds, "log_ratio_per_eps": g.log_ratio_per_eps} for g in found.growth],
        "seconds": round(found.seconds, 3),
    }


def json_fields(found: Counterexample | str | None) -> dict[str, Any]:
    """The fields that ``--concrete`` adds: one of them is ``null`` where there is a witness."""
    if found is None or isinstance(found, str):
        return {"counterexample": None, "counterexample_missing": found, "counterexample_best": None}
    if not found.holds:
        return {
            "counterexample": None,
            "counterexample_missing": found.missing,
            "counterexample_best": json_object(found),
        }
    return {"counterexample": json_object(found), "counterexample_missing": None, "counterexample_best": None}


def json_interval(window: Interval) -> list[float | str]:
    """An interval; infinities as text, which JSON has no numbers for."""
    return [float(end) if abs(end) < inf else ("inf" if end > 0 else "-inf") for end in window]


# ------------------------------------------------------------------------------------ numbers as people write


def number(x: Fraction | float) -> str:
    """A number as short as exactness allows: ``9``, ``-0.25``, ``1/3``."""
    x = Fraction(x)
    if x.denominator == 1:
        return str(x.numerator)
    rest = x.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return f"{float(x):.12g}" if rest == 1 else str(x)


def interval(window: Interval | None) -> str:
    low, high = window or (-inf, inf)
    if (low, high) == (-inf, inf):
        return "(any)"
    left = "(-inf" if low == -inf else f"[{low:g}"
    right = "inf)" if high == inf else f"{high:g}]"
    return f"in {left}, {right}"


DECIMALS = 9


def measured(value: float, error: float) -> tuple[str, str]:
    """A number with its error, which also covers that the number is rounded; the error is rounded up."""
    if value == -inf:
        return "-inf", ""
    return f"{round(value, DECIMALS) + 0.0:.{DECIMALS}f}", f"+- {error_text(error + 0.5 * 10**-DECIMALS)}"


def error_text(error: float) -> str:
    """An error with one digit, rounded up."""
    if error <= 0:
        return "0"
    whole = floor(log10(error))
    digit = ceil(error / 10.0**whole * (1 - 1e-12))
    return f"{digit // 10 or digit}e{whole + digit // 10:+03d}"


def power(logarithm: float) -> str:
    """``exp(logarithm)`` in powers of ten, also where no float reaches."""
    if logarithm == -inf:
        return "0"
    exponent = logarithm / log(10)
    whole = floor(exponent)
    if -4 <= whole < 0:
        return f"{10**exponent:.6f}"
    mantissa = f"{10 ** (exponent - whole):.4f}"
    if mantissa == "10.0000":
        mantissa, whole = "1.0000", whole + 1
    return f"{mantissa}e{whole:+03d}"


def times(logarithm: float) -> str:
    """A ratio from its logarithm."""
    return power(logarithm) if logarithm >= log(1e6) else f"{exp(logarithm):.2f}"


# -------------------------------------------------------------------------------------------------- a picture


def plot(found: Counterexample, name: str, path: Path) -> None:
    """Draw how the ratio grows with the rounds; the suffix of the file, .svg or .png, tells the format."""
    check_plot(path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    with rc_context(STYLE):
        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.add_subplot()
        rounds = [g.rounds for g in found.growth] or [found.rounds]
        values = [g.log_ratio_per_eps for g in found.growth] or [found.log_ratio / float(found.eps)]
        axes.plot(rounds, values, "o-", label=REACHED)
        axes.axhline(float(found.exceeds), linestyle="--", color="0.3", label=f"claimed D = {found.exceeds}")
        axes.set_xlabel("rounds of the loops")
        axes.set_ylabel("D reached: log(Pr[alpha] / Pr[beta]) / eps")
        axes.set_title(f"{Path(name).name} at eps = {number(found.eps)}")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.legend()
        axes.grid(alpha=0.3)
        save(figure, path)
