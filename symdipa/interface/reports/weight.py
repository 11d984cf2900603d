"""The bounds on ``D``, from a finished check and the bounds that were computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from symdipa.bounds.portfolio import EVERY_METHOD, TWO_SIDED, Weighing
from symdipa.evidence.confirmation import Found
from symdipa.interface.reports.check import guarantee, verdict_text
from symdipa.interface.reports.document import (
    Block,
    Document,
    Headline,
    Lines,
    Notes,
    Paragraph,
    Section,
    Table,
    Tone,
    Verse,
    tone_of,
)
from symdipa.interface.reports.numbers import measured, number, power
from symdipa.interface.reports.refutation import step_cells
from symdipa.interface.reports.words import noise
from symdipa.model.adjacency import Adjacency
from symdipa.model.spelling import enumeration
from symdipa.model.verdict import Result, Status, Verdict

LONGEST = 12
"""How many steps of a run are listed before the middle is left out."""

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


def document(name: str, weighed: Weighed, notes: Sequence[str] = ()) -> Document:
    """What ``symdipa weight`` prints for one file."""
    weighing = weighed.weighing
    noted = Section([Notes(notes)], flush=True)
    if weighing is None or (weighed.verdict is not Verdict.PRIVATE and not weighing.bounds):
        lacking = "no D was found" if weighed.verdict is Verdict.NOT_WELL_FORMED else "there is no D"
        return Document([noted], Headline(name, f"{verdict_text(weighed.result)}; {lacking}", tone(weighed)))
    words = bound_text(weighed, weighing)
    if weighed.result.well_formed is False and weighing.bounds:  # no verdict of the check that says so
        words = f"private, {words}"
    sections = [Section(meaning(weighed.result, weighing)), Section([bound_table(weighing)])]
    if weighing.by_state:
        sections.append(
            Section([cost_table(weighing)], "Where it comes from, on the dearest run of the alignment")
        )
    sections.append(Section(noise(weighed.result.automaton, _paying(weighing)), "Noise"))
    if weighed.pair is not None:
        sections.append(_pair(weighed.result, weighed.pair, weighing.upper))
    wrong = [f"CONTRADICTION (a bug, please report): {what}" for what in weighed.disagreements]
    sections += [Section([Lines(wrong)], flush=True), noted]
    return Document(sections, Headline(name, words, tone(weighed)))


def tone(weighed: Weighed) -> Tone:
    return tone_of(weighed.verdict, weighed.disagreements)


def _pair(result: Result, found: Found, upper: Fraction | None) -> Section:
    """The two inputs that come near ``D``, and how near."""
    rows = [[str(k + 1), *step_cells(result.automaton, found.pair, k)] for k in range(len(found.pair.run))]
    if len(rows) > LONGEST:
        rows[LONGEST // 2 : -LONGEST // 2] = [["...", "", "", "", ""]]
    value, error = measured(found.log_ratio_per_eps, found.error)
    share = f", {100 * found.log_ratio_per_eps / upper:.2f} % of it" if upper else ""
    whose = "of these outputs" if found.all_runs else "of this run alone (other runs show the same outputs)"
    title = (
        f"In numbers, at eps = {number(found.eps)}: the logarithm of the ratio of the probabilities {whose}\n"
        f"on two adjacent inputs is ({value} {error})*eps{share}; the best of {found.tried} pairs"
    )
    steps = Table(rows, ("step", "from", "alpha", "beta", "output"))
    chances = [["Pr[alpha]", power(found.log_prob_alpha)], ["Pr[beta]", power(found.log_prob_beta)]]
    return Section([steps, Table(chances)], title)


def _paying(weighing: Weighing) -> list[str] | None:
    names = list(dict.fromkeys(cost.state for cost in weighing.by_state))
    return names[:LONGEST] or None


def bound_text(weighed: Weighed, weighing: Weighing) -> str:
    """The bounds in one line."""
    upper, lower, method = weighing.upper, weighing.lower, weighing.best
    if upper is None:
        reasons = "; ".join(f"{m}: {why}" for m, why in weighing.missing.items())
        return f"no bound on D was computed ({reasons})"
    how = f"{upper} by {_by(weighing, method)}"
    if weighed.result.well_formed is False:
        return f"D = {upper}, by {_by(weighing, method)}"
    if lower is not None and lower > upper:
        return f"D is at most {how}; arguments about single runs give no less than {lower}"
    if not weighing.optimal:
        below = f", at least {lower} by a run of {_steps(weighing)}" if lower is not None else ""
        return f"D is at most {how}{below}"
    proofs = f"upper {how}, lower {lower} by a run of {_steps(weighing)}"
    if weighed.result.output_distinct:
        return f"D = {upper} (optimal: {proofs})"
    return f"D = {upper} ({proofs}; optimal for single runs)"


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


def meaning(result: Result, weighing: Weighing) -> list[Block]:
    """What the best bound means, and what it rests on."""
    blocks: list[Block] = [
        Verse([f"Adjacent inputs: {adjacency_text(weighing.adjacency, weighing.sensitivity)}."]),
        Paragraph("Assumed: noise and comparisons in exact real numbers, not floating point."),
    ]
    if weighing.upper is None:
        return blocks
    blocks.append(guarantee(weighing.upper))
    if result.well_formed is False:
        found = (p.title for p, answer in result.patterns.items() if answer.status is Status.PRESENT)
        blocks.append(
            Verse(
                [
                    f"It is not well-formed ({enumeration(found)}): single runs lose privacy without limit. "
                    "Other runs",
                    "with the same outputs make up for that, as runs paired by their outputs prove.",
                    "An observer is taken to see outputs, but not which steps read an input.",
                ]
            )
        )
        if weighing.upper:
            blocks.append(Paragraph("A smaller constant may do."))
    if weighing.optimal and result.output_distinct:
        blocks.append(
            Paragraph("No smaller constant will do: the run from below comes as close to it as one likes.")
        )
    elif weighing.optimal:
        blocks.append(
            Paragraph("Several runs can produce the same outputs: no single run excludes a smaller constant.")
        )
    return blocks


def bound_table(weighing: Weighing) -> Table:
    """Every bound: its method, its value (``-``: none), and how it is proved or why it is missing."""
    rows = [(m, str(weighing.bounds[m]), _source(weighing, m)) for m in EVERY_METHOD if m in weighing.bounds]
    rows += [(m, "-", weighing.missing[m]) for m in EVERY_METHOD if m in weighing.missing]
    if weighing.lower is not None:
        rows.append(("from below", str(weighing.lower), f"a flow on a run of {_steps(weighing)}"))
    return Table(rows, ("bound", "value", "how"), "Bounds on D", silent=True)


def _source(weighing: Weighing, method: str) -> str:
    return "the paper's, on the augmentation" if method in ("corollary", "run") else _by(weighing, method)


def cost_table(weighing: Weighing) -> Table:
    """The steps of the dearest run that cost anything; the middle may be cut."""
    costs = weighing.by_state
    rows = [(f"step {c.position + 1}", c.state, str(c.amount), WHY[c.why]) for c in costs]
    if len(rows) > LONGEST:
        head, tail = rows[: LONGEST // 2], rows[-LONGEST // 2 :]
        between = sum((c.amount for c in costs[LONGEST // 2 : -LONGEST // 2]), Fraction(0))
        gap = ("...", "", str(between), f"{len(rows) - len(head) - len(tail)} steps more")
        rows = [*head, gap, *tail]
    return Table(rows, ("step", "state", "cost", "why"), "Costs of steps", silent=True)
