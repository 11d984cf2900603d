"""Tables from results: a line for each item, medians and spread for each configuration."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass

from symdipa.interface.bench.machine import described
from symdipa.interface.bench.measure import ANSWERED, LIMITS, MEMORY_OUT, SKIPPED, TIME_OUT
from symdipa.interface.bench.plan import Config, Item, Plan
from symdipa.interface.bench.presets import CLAIMS, TOOLS
from symdipa.interface.bench.store import Row, Store
from symdipa.model.patterns import Pattern

PUBLISHED = "published, not measured here"
SIZES = ("variables", "states", "transitions")


@dataclass(frozen=True, slots=True)
class Cell:
    """All measured runs of one item with one configuration: the medians, the spread, and how they ended
    (``None``: not known yet)."""

    item: Item
    config: Config
    outcome: str | None
    runs: int
    median: float | None = None
    least: float | None = None
    most: float | None = None
    peak_mb: float | None = None
    remark: str = ""
    bound: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """An item with its rows and cells; ``trouble`` lists contradictions between engines or with what is
    documented of the item."""

    item: Item
    rows: tuple[Row, ...]
    cells: tuple[Cell, ...]
    trouble: tuple[str, ...]

    @property
    def verdict(self) -> str:
        if self.trouble:
            return "CONTRADICTION"
        said = dict.fromkeys(row["verdict"] for row in self.rows if row["verdict"] not in (None, "unknown"))
        patterns = [p.short for p in Pattern if any(row[p.key] == "present" for row in self.rows)]
        words = " or ".join(verdict.replace("-", " ") for verdict in said)
        return f"{words}: {', '.join(patterns)}" if patterns and words else words

    @property
    def bound(self) -> str:
        from fractions import Fraction

        return min((row["bound"] for row in self.rows if row["bound"]), key=Fraction, default="")

    @property
    def sizes(self) -> list[str]:
        return [next((str(row[c]) for row in self.rows if row[c] is not None), "") for c in SIZES]


def lines(plan: Plan, rows: Iterable[Row]) -> list[Line]:
    """The items of a plan in their order, with what the rows say of them."""
    by_item: dict[str, list[Row]] = {}
    for row in rows:
        by_item.setdefault(row["item"], []).append(row)
    found = []
    for item in plan.items:
        here = by_item.get(item.key, [])
        cells = tuple(_cell(item, config, here) for config in plan.configs)
        found.append(Line(item, tuple(here), cells, tuple(contradictions(item, here))))
    return found


def contradictions(item: Item, rows: Sequence[Row]) -> list[str]:
    """Where rows of one item contradict each other, or what is documented of it."""
    found = []
    for pattern in Pattern:
        present, absent = (_who(rows, pattern.key, said) for said in ("present", "absent"))
        if present and absent:
            found.append(f"{item.key}: {pattern.title} is present for {present} and absent for {absent}")
    private = _who(rows, "verdict", "private")
    bad = [*_who(rows, "verdict", "not-private"), *_who(rows, "verdict", "not-well-formed")]
    if private and bad:
        found.append(f"{item.key}: private for {private}, not so for {bad}")
    bounds = {row["corollary"]: row for row in rows if row["corollary"]}
    if len(bounds) > 1:
        told = "; ".join(f"{bound} by {_title(row)}" for bound, row in bounds.items())
        found.append(f"{item.key}: different corollary bounds: {told}")
    wrong = dict.fromkeys((_title(row), row["wrong"]) for row in rows if row["wrong"])
    found += [f"{item.key}: WRONG by {title}: {words}" for title, words in wrong]
    return [line.replace("['", "").replace("']", "").replace("', '", ", ") for line in found]


def _who(rows: Sequence[Row], column: str, said: str) -> list[str]:
    return list(dict.fromkeys(_title(row) for row in rows if row[column] == said))


def _title(row: Row) -> str:
    return Config(row["engine"], row["encoding"], row["solver"]).title


def _cell(item: Item, config: Config, rows: Sequence[Row]) -> Cell:
    here = [row for row in rows if _title(row) == config.title]
    bad = [row for row in here if row["outcome"] not in (ANSWERED, SKIPPED)]
    measured = [row for row in here if row["phase"] == "measured" and row["outcome"] == ANSWERED]
    shown = bad[:1] or measured
    if not shown:
        skips = [row for row in here if row["outcome"] == SKIPPED]
        return Cell(item, config, SKIPPED if skips else None, 0, remark=skips[0]["remark"] if skips else "")
    times = [row["seconds"] for row in shown if row["seconds"] is not None]
    peaks = [row["peak_mb"] for row in shown if row["peak_mb"] is not None]
    remark = next((row["remark"] for row in shown if row["remark"]), "")
    spread = min(times, default=None), max(times, default=None)
    middle, peak = (statistics.median(values) if values else None for values in (times, peaks))
    outcome, bound = shown[0]["outcome"], shown[-1]["bound"]
    return Cell(item, config, outcome, len(shown), middle, *spread, peak, remark, bound)


# ------------------------------------------------------------------------------------------------ as text


def table(store: Store, fmt: str) -> str:
    """The table of results in a form of :data:`symdipa.interface.bench.TABLES`."""
    plan, found = store.plan, lines(store.plan, store.rows)
    if fmt == "csv":
        return _csv(plan, found)
    head = ["item", *SIZES, "answer", "D", *(["claimed"] if _claims(plan) else [])]
    for config in plan.configs:
        head += [f"{config.title}, s", "MB"]
    head += [f"{name}, s ({PUBLISHED})" for name, _, _ in _tools(plan)]
    body = [_words(line, plan) for line in found]
    return (_latex if fmt == "latex" else _markdown)(head, body, _notes(store, found))


def _tools(plan: Plan) -> Sequence[tuple[str, dict[str, str], str]]:
    """The tools with published numbers of this sweep, if it is a preset."""
    names = {item.published for item in plan.items}
    return [tool for tool in TOOLS if plan.preset is not None and names & set(tool[1])]


def _claims(plan: Plan) -> bool:
    """Whether there is a column for claims."""
    return any(item.claim is not None for item in plan.items)


def _words(line: Line, plan: Plan) -> list[str]:
    words = [line.item.key, *line.sizes, line.verdict, line.bound]
    words += [line.item.claim or ""] if _claims(plan) else []
    for cell in line.cells:
        words += [_seconds(cell, plan), "" if cell.peak_mb is None else f"{cell.peak_mb:.0f}"]
    published = line.item.published or ""
    return [*words, *(numbers.get(published, "") for _, numbers, _ in _tools(plan))]


def _seconds(cell: Cell, plan: Plan) -> str:
    """The time of a cell, or why there is none."""
    if cell.outcome is None:
        return "not run yet"
    if cell.outcome != ANSWERED:
        limits = {TIME_OUT: f"> {plan.seconds:g} s", MEMORY_OUT: f"> {plan.memory / 2**20:.0f} MB"}
        return limits.get(cell.outcome, "-" if cell.outcome == SKIPPED else cell.outcome)
    spread = f" ({number(cell.least)}-{number(cell.most)})" if cell.runs > 1 else ""
    return number(cell.median) + spread + (f", {cell.remark}" if cell.remark else "")


def number(seconds: float | None) -> str:
    """Seconds with three digits or so."""
    if seconds is None:
        return ""
    return f"{seconds:.2f}" if seconds < 10 else f"{seconds:.1f}" if seconds < 100 else f"{seconds:.0f}"


def _notes(store: Store, found: Sequence[Line]) -> list[str]:
    """What stands below a table."""
    plan = store.plan
    each = f"median of {plan.repeat} runs (least-most)" if plan.repeat > 1 else "one run"
    notes = [
        f"Seconds of a whole symdipa check process, {each}, and the peak memory "
        f"of its largest process; limits {plan.seconds:g} s and {plan.memory / 2**20:.0f} MB for a run."
    ]
    outcomes = {cell.outcome for line in found for cell in line.cells}
    if outcomes & {TIME_OUT, MEMORY_OUT}:
        notes.append("A > means that the limit was reached.")
    if SKIPPED in outcomes:
        notes.append("A - means not tried, since a smaller member reached a limit.")
    if any("no D" in cell.remark for line in found for cell in line.cells):
        notes.append("no D: proved private, but a bound on D was not computed.")
    notes += [f"Measured on {described(machine)}." for machine in store.machines]
    at_a_time = {str(session["jobs"]) for session in store.sessions if session.get("jobs")}
    if at_a_time - {"1"}:
        notes.append(f"Runs at a time: {', '.join(sorted(at_a_time))}.")
    if plan.preset == "mechanisms":
        notes += [f"{each}." for each in CLAIMS]
    if tools := _tools(plan):
        notes.append(f"Columns '{PUBLISHED}' are numbers of others, from other machines.")
        notes += [f"{source}." for _, _, source in tools]
    return notes + [f"CONTRADICTION: {trouble}" for line in found for trouble in line.trouble]


def _markdown(head: Sequence[str], body: Sequence[Sequence[str]], notes: Sequence[str]) -> str:
    rows = [[cell.replace("|", "\\|") for cell in row] for row in (head, *body)]
    widths = [max(3, *map(len, column)) for column in zip(*rows, strict=True)]
    texts = {0, 4}
    rule = ["-" * width if k in texts else "-" * (width - 1) + ":" for k, width in enumerate(widths)]
    sides = [str.ljust if column in texts else str.rjust for column in range(len(head))]
    lined = [[side(cell, w) for side, cell, w in zip(sides, row, widths, strict=True)] for row in rows]
    said = ["| " + " | ".join(row) + " |" for row in (lined[0], rule, *lined[1:])]
    return "\n".join([*said, "", *(f"* {note}" for note in notes)])


def _latex(head: Sequence[str], body: Sequence[Sequence[str]], notes: Sequence[str]) -> str:
    columns = "".join("l" if place in (0, 4) else "r" for place in range(len(head)))
    top, *rows = (" & ".join(map(_escaped, row)) + r" \\" for row in (head, *body))
    said = ["% needs \\usepackage{booktabs}", f"\\begin{{tabular}}{{{columns}}}", "\\toprule", top]
    said += ["\\midrule", *rows, "\\bottomrule", "\\end{tabular}", ""]
    return "\n".join([*said, *(f"{_escaped(note)}\\\\" for note in notes)])


_LATEX = {letter: f"\\{letter}" for letter in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", ">": "$>$", "<": "$<$",
}  # fmt: skip


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)


CSV_COLUMNS = (
    "item", "family", "size", *SIZES, "answer", "engine", "encoding", "solver",
    "outcome", "runs", "median_seconds", "least_seconds", "most_seconds", "peak_mb", "bound", "remark",
    "claim",
)  # fmt: skip
"""The columns of the table as CSV, a line for each item and configuration; published numbers come last."""


def _csv(plan: Plan, found: Sequence[Line]) -> str:
    tools = _tools(plan)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    others = [f"{name.lower()}_seconds_published_not_measured_here" for name, _, _ in tools]
    writer.writerow([*CSV_COLUMNS, *others])
    for line in found:
        item = line.item
        published = [numbers.get(item.published or "", "") for _, numbers, _ in tools]
        for cell in line.cells:
            values = (
                item.key, item.family, item.size, *line.sizes, line.verdict, *astuple(cell.config),
                cell.outcome or "not run yet", cell.runs, cell.median, cell.least, cell.most,
                cell.peak_mb, cell.bound, cell.remark, item.claim, *published,
            )  # fmt: skip
            writer.writerow(values)
    return out.getvalue().rstrip("\n")


def reached_limits(found: Sequence[Line]) -> bool:
    """Whether some run has no answer because of a limit."""
    return any(cell.outcome in (*LIMITS, "unknown", SKIPPED) for line in found for cell in line.cells)
