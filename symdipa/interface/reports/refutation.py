"""A concrete counterexample to a privacy claim: two adjacent inputs, in numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING

from symdipa.evidence.facts import output_words
from symdipa.interface.reports import words
from symdipa.interface.reports.document import Block, Document, Inset, Section, Table
from symdipa.interface.reports.numbers import intervals, measured, number, power, reaches, times
from symdipa.model.adjacency import TWO_SIDED
from symdipa.model.automaton import Noise
from symdipa.model.spelling import counted

if TYPE_CHECKING:
    from symdipa.evidence.refutation import Refutation
    from symdipa.evidence.refutation.inputs import InputPair
    from symdipa.model.automaton import Automaton

PERIODS = (1, 2)
LONGEST = 60
"""How many rows of steps are shown before the middle is left out."""
REACHED = "D reached"
"""The log-ratio per eps: no smaller D is true."""


def document(found: Refutation | str) -> Document:
    """What is printed below the report; a text instead of a counterexample says why there is none."""
    title = "A concrete counterexample"
    if isinstance(found, str):
        return Document([Section([missing(found)], title)])
    streams = "The two input streams (- where none is read), and the outputs that are observed:"
    return Document(
        [
            Section([claim(found)], title),
            Section([streams, Inset([steps_table(found)])]),
            Section([number_table(found)]),
            Section(whose(found)),
            *_growth(found),
            Section(list(assumed(found))),
        ]
    )


def not_looked_for(reason: str) -> Document:
    """What is printed instead where there is nothing to refute."""
    return Document([Section([f"No two inputs are shown: {reason}."])])


def missing(reason: str) -> str:
    """Why there are no two inputs."""
    return f"No pair of inputs is shown: {reason}. The verdict does not depend on it."


def claim(found: Refutation) -> str:
    """What the two inputs refute, and how clearly."""
    asked = f"{found.exceeds}*eps-privacy at eps = {number(found.eps)}"
    if not found.holds:
        return (
            f"No pair of inputs was found that refutes {asked}: {found.missing}. The verdict does not depend "
            "on it. The best pair that was found:"
        )
    allowed = found.exceeds * found.eps
    loops = "loop is" if len(found.witness.cycles) == 1 else "loops are each"
    taken = f"The {loops} taken {counted(found.rounds, 'time')}, " if found.witness.cycles else ""
    likelier = (
        f"outputs below are {times(found.log_ratio)} times as likely on alpha as on beta. Only"
        if found.log_ratio < inf
        else "outputs below are possible on alpha, but not on beta. Only"
    )
    return (
        f"Refutes {asked}: alpha and beta, two input streams, {_apart(found.automaton)}, and the "
        f"{likelier} exp({number(allowed)}) = {times(float(allowed))} times are allowed, for every outcome, "
        f"however unlikely it is. {taken}{counted(len(found.run), 'step')} in all."
    )


def _apart(automaton: Automaton) -> str:
    """How the two inputs differ, in words."""
    adjacency = automaton.adjacency
    if isinstance(adjacency, str):
        further = "" if adjacency == TWO_SIDED else ", all of them up or all of them down"
        few = f"are such that {automaton.differ.words}, by at most 1{further}"
        return f"differ by at most 1 in each entry{further}" if automaton.differ.is_all else few
    low, high = adjacency
    who = "are such that" if automaton.differ.is_all else f"are such that {automaton.differ.words}, and"
    return f"{who} one minus the other is between {low} and {high} in each entry, in either order"


def steps_table(found: Refutation) -> Table:
    """The unrolled run with both inputs; rounds that look the same are shown once, the middle may be cut."""
    rows = [
        [steps, times if times != "1" else "", *step_cells(found.automaton, found, k)]
        for steps, times, k in _compressed(found)
    ]
    if len(rows) > LONGEST:
        rows[LONGEST // 2 : -LONGEST // 2] = [["...", *[""] * (len(rows[0]) - 1)]]
    head = ("steps", "times", *step_head(found.automaton))
    label = "The two inputs, and the outputs that are observed"
    return Table(rows, head, label, numbers=True, code=(words.PROGRAM,))


def step_head(automaton: Automaton) -> tuple[str, ...]:
    """What the cells of :func:`step_cells` are headed by."""
    where = ("from",) if automaton.origin is None else (words.LINE, words.PROGRAM)
    return (*where, "alpha", "beta", *(("entry",) if automaton.unfolds else ()), "output")


def step_cells(automaton: Automaton, found: Refutation | InputPair, k: int) -> list[str]:
    """Of step ``k`` of a run with two inputs: the state (or the lines of a program), what both read, by how
    much that differs, if not every entry has to, and what is observed."""
    transition = automaton.transitions[found.run[k]]
    where = f" {intervals(found.outputs[k])}" if transition.output.is_real else ""
    a, b = found.alpha[k], found.beta[k]
    read = ["-" if x is None else number(x) for x in (a, b)]
    if automaton.unfolds:
        apart = 0 if a is None or b is None else a - b
        entry = f"differs by {number(apart)}" if apart else "equal"
        read.append(entry if automaton.state(transition.source).is_input else "-")
    place = [transition.source]
    if automaton.origin is not None:
        place = words.program_cells(automaton.origin, transition)
    return [*place, *read, f"{output_words(automaton, transition.output)}{where}" or "-"]


def _compressed(found: Refutation) -> list[tuple[str, str, int]]:
    """Which steps, how often, and one of them, for every row of the table."""
    from symdipa.evidence.refutation.shape import unrolled

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
        end, step = k + length * found.rounds, length * period
        for j in range(k, k + step):
            steps = [str(i + 1) for i in range(j, end, step)]
            count = len(steps)
            if step == 1:
                steps = [f"{j + 1} to {end}"]
            elif count > 3:
                steps[2:-1] = ["..."]
            rows.append((", ".join(steps), str(count), j))
        k = end
    return rows


def _period(found: Refutation, begin: int, length: int) -> int | None:
    """After how many rounds of a cycle the inputs and events repeat, if soon."""

    def look(turn: int) -> Sequence[object]:
        some = slice(begin + turn * length, begin + (turn + 1) * length)
        return (found.alpha[some], found.beta[some], found.outputs[some])

    for period in PERIODS:
        if all(look(turn) == look(turn % period) for turn in range(found.rounds)):
            return period
    return None


def number_table(found: Refutation) -> Table:
    """Both probabilities and their ratio with logarithms and errors."""
    eps = float(found.eps)
    rows = [
        ["Pr[alpha]", power(found.log_prob_alpha), *measured(found.log_prob_alpha, found.error_alpha)],
        ["Pr[beta]", power(found.log_prob_beta), *measured(found.log_prob_beta, found.error_beta)],
        ["ratio", times(found.log_ratio), *measured(found.log_ratio, found.error)],
        [REACHED, "", *measured(found.log_ratio / eps, found.error / eps)],
    ]
    return Table(rows, ("", "", "logarithm", "error"), "The probabilities of these outputs", numbers=True)


def whose(found: Refutation) -> list[Block]:
    """Whose probabilities these are: of the run alone, or of all runs with the outputs."""
    if not found.all_runs:
        return ["Other runs may show these outputs, too: these are the probabilities of this run alone."]
    if found.further:
        return [
            "Other runs show these outputs, too; their probabilities are added. They may read more inputs: "
            f"behind those above, each stream has {counted(len(found.further), 'entry', 'entries')} 0 more."
        ]
    same = "No other run shows these outputs, so the probability of the run is theirs."
    if found.log_ratio == inf:
        return [f"{same} They refute every D."]
    theirs = f"{same} The ratio refutes every D below the one that is reached."
    eps = float(found.eps)
    if found.limit is None:
        return [theirs]
    if reaches(found.log_ratio / eps, found.error / eps, found.limit):
        limit = f"This run cannot pass D = {found.limit}; more rounds can."
    else:
        limit = (
            f"Inputs that are farther from 0 come closer to D = {found.limit}, which this run cannot pass; "
            "more rounds can."
        )
    return [theirs, limit]


def _growth(found: Refutation) -> list[Section]:
    rows = [[str(g.rounds), f"{round(g.log_ratio_per_eps, 6) + 0.0:.6f}"] for g in found.growth]
    table = Table(rows, ("rounds", REACHED))
    return [Section(["How it grows with the number of rounds:", Inset([table])])] if len(rows) > 1 else []


def assumed(found: Refutation) -> Iterator[Block]:
    """What the numbers rest on."""
    automaton = found.automaton
    rests = words.assumed(automaton.adjacency, integer=automaton.integer, differ=automaton.differ)
    yield f"{rests} The probabilities are computed numerically, with the errors that are stated."
    states = (found.automaton.state(found.automaton.transitions[t].source) for t in found.run)
    state = next(
        (q for q in states if q.d and q.noise is Noise.LAPLACE and not found.automaton.integer), None
    )
    if state is not None and state.d is not None:
        yield (
            f"Noise scales are inverse and in units of eps: d = {state.d} of "
            f"{found.automaton.where(state.name)} is Laplace noise of scale {1 / state.d}/eps, "
            f"here {number(1 / (state.d * found.eps))}."
        )
