"""The bounds on ``D`` as text and as JSON, from a finished result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symdipa.bounds.portfolio import TWO_SIDED, Weighing
from symdipa.evidence.confirmation import Found
from symdipa.evidence.story import columns, enumeration, noise_table
from symdipa.interface.reports.check import json_object, json_step, verdict_text
from symdipa.interface.reports.refutation import json_inputs, measured, number, power, step_cells
from symdipa.model.adjacency import Adjacency
from symdipa.model.options import EVERY_METHOD
from symdipa.model.verdict import Result, Status, Verdict

LONGEST = 12
"""So many steps of a run are listed before the middle is left out."""

WHY = {
    "threshold": "a sample is stored as a threshold",
    "test": "a sample is compared",
    "release": "a number is shown",
}

GRAPHS = {
    "control": "the control graph",
    "eq": "the control graph with which variables are equal",
    "parts": "parts of the automaton",
    "augmentation": "the augmentation",
}

OTHERS = {
    "run": "the run bound",
    "corollary": "the corollary bound",
    "exact": "exact profiles",
    "relational": "relational alignment (experimental)",
}

PROPHECIES = {
    "U": "whether a value is read again",
    "C": "how it is read in loops",
    "K": "how it is read elsewhere",
    "LG": "what loops it bounds",
}


@dataclass(frozen=True)
class Weighed:
    """A check and, unless it found a violation, the bounds on ``D``."""

    result: Result
    weighing: Weighing | None
    pair: Found | None = None
    """Two inputs that come near ``D``, if they were asked for and found."""

    @property
    def verdict(self) -> Verdict:
        """That of the check; where that is open, a bound by alignment is a proof itself.

        Relational alignment is one even where the automaton is not well-formed.
        """
        open_ = self.result.verdict is Verdict.UNKNOWN and not self.result.disagreements
        proved = set() if self.weighing is None else self.weighing.bounds.keys() & {"alignment", "relational"}
        if self.result.verdict is Verdict.NOT_WELL_FORMED:
            return Verdict.PRIVATE if "relational" in proved else self.result.verdict
        return Verdict.PRIVATE if open_ and proved else self.result.verdict

    @property
    def disagreements(self) -> tuple[str, ...]:
        """Contradictions, which are bugs: of engines, or of a pair of inputs with the bound."""
        upper = self.weighing.upper if self.weighing else None
        if self.pair is None or upper is None or not self.pair.refutes(upper):
            return self.result.disagreements
        found = f"two inputs with log-ratio {self.pair.log_ratio_per_eps}*eps refute the bound of {upper}"
        return (*self.result.disagreements, found)


def text(name: str, weighed: Weighed, notes: Sequence[str] = ()) -> str:
    """What ``symdipa weight`` prints for one file."""
    weighing = weighed.weighing
    if weighing is None or (weighed.verdict is not Verdict.PRIVATE and not weighing.bounds):
        lacking = "no D was found" if weighed.verdict is Verdict.NOT_WELL_FORMED else "there is no D"
        lines = [f"{name}: {verdict_text(weighed.result)}; {lacking}"]
        return "\n".join([*lines, *(f"note: {note}" for note in notes)])
    lines = [f"{name}: {headline(weighed, weighing)}"]
    lines += [f"  {line}" for line in meaning(weighed.result, weighing)]
    lines += ["", *_table(weighing)]
    if weighing.by_state:
        lines += ["", "Where it comes from, on the dearest run of the alignment", *_by_state(weighing)]
    noise = noise_table(weighed.result.automaton, _paying(weighing))
    lines += ["", "Noise", *(f"  {line}" for line in noise)]
    if weighed.pair is not None:
        lines += ["", *_pair(weighed.result, weighed.pair, weighing.upper)]
    lines += [f"CONTRADICTION (a bug, please report): {what}" for what in weighed.disagreements]
    return "\n".join([*lines, *(f"note: {note}" for note in notes)])


def _pair(result: Result, found: Found, upper: Fraction | None) -> list[str]:
    """The two inputs that come near ``D``, and how near."""
    rows = [["step", "from", "alpha", "beta", "output"]]
    rows += [[str(k + 1), *step_cells(result.automaton, found.pair, k)] for k in range(len(found.pair.run))]
    if len(rows) > 1 + LONGEST:
        rows[1 + LONGEST // 2 : -LONGEST // 2] = [["...", "", "", "", ""]]
    value, error = measured(found.log_ratio_per_eps, found.error)
    share = f", {100 * found.log_ratio_per_eps / upper:.2f} % of it" if upper else ""
    whose = "of these outputs" if found.all_runs else "of this run alone (other runs show the same outputs)"
    eps = number(found.eps)
    return [
        f"In numbers, at eps = {eps}: the logarithm of the ratio of the probabilities {whose}",
        f"on two adjacent inputs is ({value} {error})*eps{share}; the best of {found.tried} pairs",
        *columns(rows, indent=2),
        *columns(
            [
                ["Pr[alpha]", power(found.log_prob_alpha)],
                ["Pr[beta]", power(found.log_prob_beta)],
            ],
            indent=2,
        ),
    ]


def _json_pair(result: Result, found: Found) -> dict[str, Any]:
    return {
        "eps": float(found.eps),
        **json_inputs(result.automaton, found.pair),
        "log_prob_alpha": found.log_prob_alpha,
        "log_prob_beta": found.log_prob_beta,
        "log_ratio_per_eps": found.log_ratio_per_eps,
        "error": found.error,
        "all_runs": found.all_runs,
        "tried": found.tried,
    }


def _paying(weighing: Weighing) -> list[str] | None:
    names = list(dict.fromkeys(cost.state for cost in weighing.by_state))
    return names[:LONGEST] or None


def headline(weighed: Weighed, weighing: Weighing) -> str:
    upper, lower, method = weighing.upper, weighing.lower, weighing.best
    if upper is None:
        reasons = "; ".join(f"{m}: {why}" for m, why in weighing.missing.items())
        return f"no bound on D was computed ({reasons})"
    how = f"{upper} by {_by(weighing, method)}"
    if weighed.result.well_formed is False:
        return f"private, D = {upper}, by {_by(weighing, method)}"
    if lower is not None and lower > upper:
        return f"D is at most {how}; arguments about single runs give no less than {lower}"
    if not weighing.optimal:
        below = f", at least {lower} by a run of {_steps(weighing)}" if lower is not None else ""
        return f"D is at most {how}{below}"
    told = f"upper {how}, lower {lower} by a run of {_steps(weighing)}"
    if weighed.result.output_distinct:
        return f"D = {upper} (optimal: {told})"
    return f"D = {upper} ({told}; optimal for single runs)"


def _steps(weighing: Weighing) -> str:
    count = len(weighing.flow.run) if weighing.flow is not None else 0
    return f"{count} step{'' if count == 1 else 's'}"


def _by(weighing: Weighing, method: str | None) -> str:
    if method != "alignment" or weighing.alignment is None:
        return OTHERS.get(method or "", "?")
    alignment = weighing.alignment
    words = f"alignment on {GRAPHS[alignment.graph or 'control']}"
    letters = (alignment.lift or "").replace("LG", "*")
    known = [PROPHECIES["LG" if letter == "*" else letter] for letter in letters]
    return f"{words}, split by {', '.join(known)}" if known else words


def adjacency_text(adjacency: Adjacency, sensitivity: Fraction) -> str:
    """The adjacency in words."""
    if isinstance(adjacency, str):
        far = str(sensitivity)
        if adjacency == TWO_SIDED:
            return f"every input may move by up to {far} in either direction"
        return f"the inputs may move by up to {far}, all in one direction"
    low, high = (bound * sensitivity for bound in adjacency)
    return f"every input may move by between {low} and {high}"


def meaning(result: Result, weighing: Weighing) -> Iterator[str]:
    yield f"Adjacent inputs: {adjacency_text(weighing.adjacency, weighing.sensitivity)}."
    yield "Assumed: noise and comparisons in exact real numbers, not floating point."
    if weighing.upper is None:
        return
    yield f"For every eps > 0 it is {_times(weighing.upper)}-differentially private, however long it runs."
    if result.well_formed is False:
        found = (p.title for p, answer in result.patterns.items() if answer.status is Status.PRESENT)
        present = enumeration(found)
        yield f"It is not well-formed ({present}): single runs lose privacy without limit. Other runs"
        yield "with the same outputs make up for that, as runs paired by their outputs prove."
        yield "An observer is taken to see outputs, but not which steps read an input."
        if weighing.upper:
            yield "A smaller constant may do."
    if not weighing.optimal:
        return
    if result.output_distinct:
        yield "No smaller constant will do: the run from below comes as close to it as one likes."
    else:
        yield "Several runs can produce the same outputs: no single run excludes a smaller constant."


def _times(value: Fraction) -> str:
    return "eps" if value == 1 else f"({value})*eps" if value.denominator > 1 else f"{value}*eps"


def _table(weighing: Weighing) -> list[str]:
    return columns(bound_rows(weighing), indent=2)


def bound_rows(weighing: Weighing) -> list[tuple[str, str, str]]:
    """Every bound: its method, its value (``-``: none), and how it is proved or why it is missing."""
    rows = [(m, str(weighing.bounds[m]), _source(weighing, m)) for m in EVERY_METHOD if m in weighing.bounds]
    rows += [(m, "-", weighing.missing[m]) for m in EVERY_METHOD if m in weighing.missing]
    if weighing.lower is not None:
        rows.append(("from below", str(weighing.lower), f"a flow on a run of {_steps(weighing)}"))
    return rows


def _source(weighing: Weighing, method: str) -> str:
    return "the paper's, on the augmentation" if method in ("corollary", "run") else _by(weighing, method)


def _by_state(weighing: Weighing) -> list[str]:
    return columns(cost_rows(weighing), indent=2)


def cost_rows(weighing: Weighing) -> list[tuple[str, str, str, str]]:
    """The steps of the dearest run that cost anything: step, state, cost, why; the middle may be cut."""
    costs = weighing.by_state
    rows = [(f"step {c.position + 1}", c.state, str(c.amount), WHY[c.why]) for c in costs]
    if len(rows) > LONGEST:
        head, tail = rows[: LONGEST // 2], rows[-LONGEST // 2 :]
        between = sum((c.amount for c in costs[LONGEST // 2 : -LONGEST // 2]), Fraction(0))
        gap = ("...", "", str(between), f"{len(rows) - len(head) - len(tail)} steps more")
        rows = [*head, gap, *tail]
    return rows


def json_weight(name: str, weighed: Weighed, notes: Sequence[str] = ()) -> dict[str, Any]:
    """What ``symdipa weight --json`` prints for one file."""
    weighing, result = weighed.weighing, weighed.result
    bounds: dict[str, str | None] = dict.fromkeys((*EVERY_METHOD, "lower"))
    told: dict[str, Any] = {"graph": None, "adjacency": None, "sensitivity": None, "optimal": False}
    by_state: list[dict[str, str]] = []
    run: list[Any] = []
    if weighing is not None:
        bounds |= {method: str(bound) for method, bound in weighing.bounds.items()}
        bounds["lower"] = None if weighing.lower is None else str(weighing.lower)
        adjacency = weighing.adjacency
        alignment = weighing.alignment
        told = {
            "graph": None if alignment is None else alignment.graph,
            "adjacency": adjacency if isinstance(adjacency, str) else [str(end) for end in adjacency],
            "sensitivity": str(weighing.sensitivity),
            "optimal": weighing.optimal,
        }
        by_state = [{"state": c.state, "cost": str(c.amount), "why": c.why} for c in weighing.by_state]

        moves = result.automaton.transitions
        run = [json_step(result.automaton, moves[t]) for t in weighing.run]
    return {
        "file": name,
        "verdict": weighed.verdict.value,
        "bounds": bounds,
        **told,
        "by_state": by_state,
        "run": run,
        "confirmed": None if weighed.pair is None else _json_pair(result, weighed.pair),
        "missing": {} if weighing is None else dict(weighing.missing),
        "seconds": round(result.seconds + (0.0 if weighing is None else weighing.seconds), 6),
        "notes": json_object(name, result, notes)["notes"],
        "error": None,
    }
