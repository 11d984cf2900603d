"""Templates: known mechanisms with parameters, as commented text with the noise that a stated D takes.

The scales come from the cost of a run as :mod:`symdipa.bounds.alignment` bounds it (formulas beside each
builder); the tests hold every template to the optimal bound that :func:`symdipa.bounds.portfolio.bounds_on`
proves.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from symdipa.files.templates.base import (
    EXPONENTIAL,
    INTEGER,
    LAPLACE,
    Kind,
    Parameter,
    Settings,
    Template,
    Written,
    refused,
    which_differ,
)
from symdipa.files.templates.monitors import band, hysteresis, minmax
from symdipa.files.templates.releases import histogram, known_limit, noisy_max
from symdipa.files.templates.sparse import adaptive, event_svt, numeric_sparse, svt
from symdipa.files.templates.sums import partial_sum, prefix_sums, sliding_sums, smart_sum, tree_sums

__all__ = ["TEMPLATES", "Kind", "Parameter", "Settings", "Template", "Written", "new"]

ABOVE = Parameter("cutoff", Kind.COUNT, 1, "Stop after so many inputs above the threshold.")
OUTSIDE = Parameter("cutoff", Kind.COUNT, 1, "Stop after so many inputs outside.")
THRESHOLD = Parameter("threshold", Kind.NUMBER, Fraction(0), "The threshold before noise is added.")
GAP = Parameter("gap", Kind.FLAG, False, "Also show by how much such an input exceeds the threshold.")
FEW = which_differ("entries=1", "entries", "window")
ANY = which_differ("entries=1", "all", "entries", "window")
EVERY_NOISE = (LAPLACE, EXPONENTIAL, INTEGER)
REDRAW = Parameter("redraw", Kind.FLAG, False, "Draw a new threshold after each input above the old one.")


def _pair(low: int, high: int, help: str) -> Parameter:
    return Parameter("thresholds", Kind.PAIRS, ((Fraction(low), Fraction(high)),), help)


# fmt: off
_TEMPLATES = (
    Template("svt", "sparse vector technique: which inputs are above a threshold",
             ("threshold", "test"), (ABOVE, THRESHOLD, REDRAW, GAP), svt, EVERY_NOISE),
    Template("numeric-sparse",
             "sparse vector technique that shows inputs above the threshold as noisy numbers",
             ("threshold", "test", "release"), (ABOVE, THRESHOLD, REDRAW), numeric_sparse),
    Template("adaptive", "sparse vector technique with a coarse, cheap test before the fine one",
             ("threshold", "test"), (
                 Parameter("cutoff", Kind.COUNT, 1,
                           "The budget pays so many fine answers, or twice as many coarse ones."),
                 THRESHOLD,
                 Parameter("margin", Kind.NUMBER, Fraction(2),
                           "The coarse test asks for so much above the threshold."),
                 GAP,
             ), adaptive, EVERY_NOISE),
    Template("range", "inputs between two thresholds, in one or several dimensions",
             ("threshold", "test"), (
                 Parameter("dimensions", Kind.COUNT, 1, "The inputs are so many coordinates in turn."),
                 _pair(0, 1, "The two thresholds before noise is added; once, or once for each dimension."),
                 OUTSIDE,
             ), band),
    Template("hysteresis", "alarm that rings above one threshold and falls silent below another",
             ("threshold", "test"), (
                 _pair(0, 2, "The lower and the upper threshold before noise is added."),
                 Parameter("cutoff", Kind.COUNT, 1, "Stop after so many alarms."),
             ), hysteresis),
    Template("min-max", "least and largest of the first inputs, then inputs between the two",
             ("stored", "test"), (
                 Parameter("inputs", Kind.COUNT, 3, "So many inputs are read before.", smallest=2),
                 OUTSIDE,
             ), minmax),
    Template("noisy-max", "Report Noisy Max: which of several candidates has the largest noisy score",
             ("scores",), (
                 Parameter("candidates", Kind.COUNT, 3,
                           "So many scores are read, at most 8: for more, D is hard to prove.",
                           smallest=2, largest=8),
                 Parameter("value", Kind.FLAG, False, "Also show the noisy score of the winner."),
             ), noisy_max, EVERY_NOISE),
    Template("known-limit", "which of a few inputs are below a limit that everybody knows",
             ("tests",), (
                 Parameter("inputs", Kind.COUNT, 2, "So many inputs are read."),
                 Parameter("limit", Kind.NUMBER, Fraction(0), "The limit."),
             ), known_limit),
    Template("histogram", "several counts, each shown with noise",
             ("numbers shown",), (
                 Parameter("bins", Kind.COUNT, 3, "So many counts are read."),
                 which_differ("all", "all", "entries", "window"),
             ), histogram),
    Template("event-svt", "sparse vector technique without cutoff, for streams of which few entries differ",
             ("test",), (
                 FEW,
                 Parameter("threshold", Kind.NUMBER, Fraction(0), "The threshold, which everybody may know."),
                 Parameter("value", Kind.FLAG, False, "Also show the noisy number of an input above it."),
             ), event_svt),
    Template("partial-sum", "the sum of the first inputs, shown once",
             ("sum",), (Parameter("inputs", Kind.COUNT, 3, "So many inputs are read."), ANY), partial_sum),
    Template("prefix-sums", "every input with noise, to be added up by whoever sees them",
             ("numbers shown",), (FEW,), prefix_sums),
    Template("smart-sum", "every input with noise, and sums of blocks, for prefix sums with less noise",
             ("inputs", "blocks"), (
                 Parameter("block", Kind.COUNT, 3, "A block has so many inputs.", smallest=2), FEW,
             ), smart_sum),
    Template("tree-sums", "a binary tree of sums over the inputs, and another one after it, for ever",
             ("numbers shown",), (
                 Parameter("depth", Kind.COUNT, 2, "A tree has 2**N inputs.", largest=10), FEW,
             ), tree_sums),
    Template("sliding-sums", "the sum of the last inputs, after every input",
             ("numbers shown",), (
                 Parameter("length", Kind.COUNT, 3, "A sum has so many inputs.", smallest=2, largest=8),
                 which_differ("window=3", "entries", "window"),
             ), sliding_sums),
)
# fmt: on
TEMPLATES: dict[str, Template] = {template.name: template for template in _TEMPLATES}
"""Every template by the name the command line uses."""


def new(name: str, **parameters: Any) -> Written:
    """The mechanism of the template ``name``, with its parameters.

    Beside its own, each template has ``total`` (the exact ``D``), ``eps_split`` (the proportions in which
    ``total`` is divided among its parts), ``sensitivity`` and ``monotone``. Raises
    :class:`symdipa.model.errors.InvalidInput` for an unknown name or parameter, or a bad value.
    """
    if name not in TEMPLATES:
        raise refused("template", f"there is no template {name!r}; the templates are {', '.join(TEMPLATES)}")
    return TEMPLATES[name].new(parameters)
