"""Templates: the noise is such that exactly the stated D comes out, and no smaller one is true."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from click.testing import CliRunner

from symdipa import analysis
from symdipa.bounds.portfolio import bounds_on
from symdipa.checker import verify
from symdipa.files import formats, templates
from symdipa.files.templates import TEMPLATES
from symdipa.interface.cli import cli
from symdipa.model.errors import InvalidInput
from symdipa.model.verdict import Verdict
from symdipa.runs.problem import Problem

SHAPES = {
    "svt": [
        *({"cutoff": 1}, {"cutoff": 4}, {"cutoff": 3, "redraw": True}),
        *({"cutoff": 1, "gap": True}, {"cutoff": 2, "redraw": True, "gap": True}),
        *({"cutoff": 3, "noise": "exponential"}, {"cutoff": 2, "redraw": True, "noise": "exponential"}),
        *({"cutoff": 2, "gap": True, "noise": kind} for kind in ("exponential", "integer")),
    ],
    "numeric-sparse": [
        *({"cutoff": 1}, {"cutoff": 3}, {"cutoff": 2, "redraw": True}),
        {"cutoff": 2, "noise": "integer"},
    ],
    "adaptive": [
        *({"cutoff": 1}, {"cutoff": 3}, {"cutoff": 2, "gap": True}),
        *({"cutoff": 2, "noise": "exponential"}, {"cutoff": 2, "gap": True, "noise": "integer"}),
    ],
    "range": [{}, {"dimensions": 3}, {"dimensions": 2, "cutoff": 3}, {"noise": "integer"}],
    "hysteresis": [{}, {"cutoff": 3}, {"noise": "integer"}],
    "noisy-max": [
        *({"candidates": 2}, {"candidates": 3}, {"candidates": 4}),
        *({"candidates": 2, "value": True}, {"candidates": 4, "value": True}),
        *({"candidates": 2, "noise": "exponential"}, {"candidates": 3, "noise": "exponential"}),
        *({"candidates": 3, "noise": "integer"}, {"candidates": 3, "value": True, "noise": "integer"}),
    ],
    "known-limit": [{"inputs": 1}, {"inputs": 3, "limit": "-1/2"}, {"inputs": 2, "noise": "integer"}],
    "histogram": [{"bins": 1}, {"bins": 4}, {"bins": 2, "noise": "integer"}],
    "min-max": [{"inputs": n, "cutoff": c} for n, c in ((2, 1), (3, 2), (4, 1), (5, 1), (6, 1))],
}
"""What changes the states and branches; all other parameters change numbers only."""

SPLITS = [(1, 1, 1), (1, 2, 5), (7, 1, 2)]
CASES = [(name, shape) for name, shapes in SHAPES.items() for shape in shapes]


def invoke(*arguments, stdin=None):
    return CliRunner().invoke(cli, list(arguments), input=stdin)


def divided(name, shares):
    """The parameter that divides the total, if there is anything to divide."""
    parts = len(TEMPLATES[name].parts)
    return {"eps_split": shares[:parts]} if parts > 1 else {}


def weighed(written: templates.Written, text: str | None = None):
    """The bounds with what the settings say of the inputs, of the automaton that the text describes."""
    automaton = written.automaton if text is None else formats.loads(text, strict=True)
    adjacency = "monotone" if written.settings.monotone else "two-sided"
    sensitivity = written.settings.sensitivity
    return bounds_on(Problem.of(automaton), adjacency=adjacency, sensitivity=sensitivity)


def test_every_template_is_tried():
    from test_differ_templates import SHAPES as OF_FEW_ENTRIES

    assert set(SHAPES) | set(OF_FEW_ENTRIES) == set(TEMPLATES)


@pytest.mark.parametrize("monotone", [False, True], ids=["two-sided", "monotone"])
@pytest.mark.parametrize(("name", "shape"), CASES, ids=str)
def test_the_stated_total_comes_out_and_is_optimal(name, shape, monotone):
    for split in SPLITS:
        written = templates.new(name, **shape, **divided(name, split), monotone=monotone)
        found = weighed(written, written.text)
        assert (found.best, found.lower) == (1, 1), split


def test_random_parameters():
    chance = random.Random("templates")

    def number():
        return Fraction(chance.randint(1, 12), chance.randint(1, 12))

    for _ in range(30):
        name, shape = chance.choice(CASES)
        written = templates.new(
            name,
            **shape,
            **divided(name, [number() for _ in range(3)]),
            total=number(),
            sensitivity=chance.randint(1, 12) if shape.get("noise") == "integer" else number(),
            monotone=chance.random() < 0.5,
        )
        found = weighed(written, written.text)
        assert found.best == found.lower == written.weight == written.settings.total


@pytest.mark.parametrize(("name", "shape"), CASES, ids=str)
def test_engines_say_private(name, shape):
    written = templates.new(name, **shape)
    for engine in ("explicit", "z3"):
        assert analysis.check(written.automaton, engine).verdict is Verdict.PRIVATE
    assert analysis.check(written.automaton).output_distinct or name == "noisy-max"


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_checker_accepts_the_bounds(name):
    written = templates.new(name, total="5/3")
    claims = verify(written.automaton, analysis.certify(analysis.weigh(written.automaton))).claims
    above, below = (claim.bound for claim in claims)
    assert below == Fraction(5, 3)
    # Of three candidates, the bound comes from exact profiles, which are no certificate.
    assert above == below or name == "noisy-max"


@pytest.mark.parametrize(("name", "shape"), CASES, ids=str)
def test_the_text_is_the_automaton_and_says_what_it_is(name, shape):
    most = 2 if shape.get("noise") == "integer" else "1/2"
    written = templates.new(name, **shape, total=2, sensitivity=most, monotone=True)
    read, made = formats.loads(written.text, strict=True), written.automaton
    assert not read.read_notes
    assert (read.states, read.transitions, read.variables) == (made.states, made.transitions, made.variables)
    assert read.integer is made.integer is (most == 2)
    head, *blocks = written.text.split("\n\n")
    said = " ".join(head.replace("\n# ", " ").split())
    assert f"differ by at most {most} in each entry, all of them up or all of them down" in said
    assert f"`symdipa weight --adjacency monotone --sensitivity {most}` prints D = 2 (optimal)" in said
    for block, state in zip(blocks, made.states, strict=False):
        comment, _, code = block.partition(f"\n({state.name}")
        assert code and all(line.startswith("# ") for line in comment.splitlines())
        assert ("Noise of scale" in comment) is state.draws
    assert len(blocks) == len(made.states) - 1  # all but the last, in which it ends
    assert max(map(len, written.text.splitlines())) <= 102


@pytest.mark.parametrize(
    ("name", "parameters", "scales"),
    [
        # Lyu, Su, Li, "Understanding the sparse vector technique", algorithms 1, 2 and 7, for c = 3.
        ("svt", {}, ["1/2", "1/12", "1/12", "1/12"]),
        ("svt", {"redraw": True}, ["1/6", "1/12"] * 3),
        ("numeric-sparse", {}, ["1/3", "1/18", "1/18", "1/18"]),
        # Counts: half of the noise is enough where they change in one direction.
        ("svt", {"monotone": True}, ["1/2", "1/6", "1/6", "1/6"]),
        # Dwork, Roth, "The algorithmic foundations of differential privacy", Claim 3.9: counts, scale 1/eps.
        ("noisy-max", {"monotone": True}, ["1"] * 4),
        ("noisy-max", {}, ["1/2"] * 4),
        ("histogram", {}, ["1/3"] * 3),
    ],
)
def test_the_scales_are_the_published_ones(name, parameters, scales):
    cutoff = {"cutoff": 3} if "cutoff" in {p.name for p in TEMPLATES[name].parameters} else {}
    states = templates.new(name, **cutoff, **parameters).automaton.states
    assert [state.d for state in states if state.d is not None] == [Fraction(d) for d in scales]


def test_monotone_numbers_and_comparisons_are_not_all_paid_at_once():
    # If inputs rise, the larger of comparison and number counts; if they fall, both, without the threshold.
    rising = templates.new("numeric-sparse", eps_split=(5, 1, 1), monotone=True, total=6)
    assert [s.d for s in rising.automaton.states[:2]] == [5, 1]
    falling = templates.new("numeric-sparse", eps_split=(1, 5, 5), monotone=True, total=10)
    assert [s.d for s in falling.automaton.states[:2]] == [1, 5]
    assert [weighed(each).best for each in (rising, falling)] == [6, 10]


def test_the_adaptive_budget_is_spent_exactly_in_every_way():
    made = templates.new("adaptive", cutoff=3).automaton
    assert made.transitions[0].target == "coarse6"
    scales = {state.name: state.d for state in made.states}
    assert {scales[n] for n in scales if n.startswith("fine")} == {2 * scales["coarse6"]}
    answers: dict[str, set[tuple[int, int]]] = {"done": {(0, 0)}}  # from here on: coarse ones, fine ones
    for left in range(1, 7):
        found = set()
        for name in (f"coarse{left}", f"fine{left}"):
            for step in made.transitions:
                if step.source == name and step.output.symbol in ("far_above", "above"):
                    fine = step.output.symbol == "above"
                    found |= {(c + (not fine), f + fine) for c, f in answers[step.target]}
        answers[f"coarse{left}"] = found
    assert answers["coarse6"] == {(6, 0), (4, 1), (2, 2), (0, 3)}


def test_means_are_where_they_were_asked_for():
    written = templates.new("range", dimensions=2, thresholds=[(0, 1), (3, 5)])
    assert [state.mu for state in written.automaton.states[:4]] == [0, 1, 3, 5]
    states = {s.name: s for s in templates.new("adaptive", threshold=7, margin="5/2").automaton.states}
    assert (states["draw"].mu, states["coarse2"].mu, states["fine2"].mu) == (7, Fraction(-5, 2), 0)


@pytest.mark.parametrize(
    ("name", "parameters", "rule", "words"),
    [
        ("svt", {"cutoff": 0}, "cutoff", "0 is not a whole number from 1 to 10000"),
        ("svt", {"cutoff": 2.5}, "cutoff", "2.5 is not a whole number"),
        ("svt", {"cutoff": True}, "cutoff", "True is not a whole number"),
        ("svt", {"total": "some"}, "total", "'some' is not a positive exact number"),
        ("svt", {"total": None}, "total", "None is not"),
        ("svt", {"threshold": float("nan")}, "threshold", "nan is not"),
        ("svt", {"eps_split": 3}, "eps_split", "3 is not"),
        ("svt", {"eps_split": (1, 2, 3)}, "eps_split", "1:2:3 is not 2 positive numbers, threshold : test"),
        ("numeric-sparse", {"eps_split": (1, 0, 3)}, "eps_split", "threshold : test : release"),
        ("range", {"thresholds": [(1, 1)]}, "thresholds", "1 is not below 1"),
        ("range", {"thresholds": [1]}, "thresholds", "is not one or more pairs"),
        ("range", {"dimensions": 3, "thresholds": [(0, 1)] * 2}, "thresholds", "give it once, or for each"),
        ("hysteresis", {"thresholds": [(0, 1)] * 2}, "thresholds", "there is one pair"),
        ("min-max", {"inputs": 1}, "inputs", "from 2 to"),
        ("svt", {"noise": "gauss"}, "noise", "'gauss' is not one of laplace, exponential, integer"),
        ("range", {"noise": "exponential"}, "noise", "is not one of laplace, integer"),
        ("noisy-max", {"noise": "exponential", "value": True}, "noise", "must not be shown"),
        ("svt", {"noise": "integer", "sensitivity": "1/2"}, "sensitivity", "1/2 is no integer"),
        ("svt", {"noise": "integer", "threshold": "1/2"}, "", "noise is added to 1/2, no integer"),
        ("known-limit", {"noise": "integer", "limit": "1/2"}, "limit", "1/2 is no integer"),
        ("range", {"dimensions": 200, "cutoff": 200}, "", "more than 10000 states"),
        ("svt", {"margin": 1}, "margin", "svt has no such parameter; it has cutoff, threshold"),
        ("vst", {}, "template", "there is no template 'vst'; the templates are svt, "),
    ],
)
def test_bad_parameters_are_refused(name, parameters, rule, words):
    with pytest.raises(InvalidInput) as caught:
        templates.new(name, **parameters)
    (problem,) = caught.value.problems
    assert problem.rule == rule and words in problem.message


# ------------------------------------------------------------------------------------------ command line


@pytest.mark.parametrize("options", [(), ("--monotone", "--sensitivity", "3/2")], ids=str)
@pytest.mark.parametrize("name", TEMPLATES)
def test_weight_prints_what_new_says(tmp_path, name, options):
    target = tmp_path / "made.dipa"
    done = invoke("new", name, "--total", "7/5", *options, "-o", str(target))
    assert (done.exit_code, done.stdout) == (0, "")
    wrote, said = done.stderr.splitlines()
    assert wrote == f"wrote the mechanism {name} to {target}"
    command, _, promised = said.partition(" will print ")
    assert promised == "D = 7/5 (optimal)"
    printed = invoke(*command.split()[1:])
    assert printed.exit_code == 0
    assert printed.stdout.splitlines()[0] == f"{target}: private, {promised}"


@pytest.mark.parametrize(
    "asked",
    [
        *("svt --gap --noise exponential --monotone", "svt --gap --noise integer --sensitivity 2"),
        *("adaptive --gap --cutoff 2", "noisy-max --value", "known-limit --inputs 3 --limit 5/2"),
    ],
)
def test_options_of_the_wider_model_arrive(tmp_path, asked):
    target = tmp_path / "made.dipa"
    done = invoke("new", *asked.split(), "-o", str(target))
    assert done.exit_code == 0
    command, _, promised = done.stderr.splitlines()[1].partition(" will print ")
    assert promised == "D = 1 (optimal)"
    assert invoke(*command.split()[1:]).stdout.splitlines()[0] == f"{target}: private, {promised}"


def test_standard_output_is_a_file():
    done = invoke("new", "svt", "--cutoff", "3", "--eps-split", "1:2")
    assert done.stdout == templates.new("svt", cutoff=3, eps_split=(1, 2)).text
    assert done.stderr == "symdipa weight FILE will print D = 1 (optimal)\n"
    again = invoke("check", "-q", "--strict", "-", "--format", "dipa", stdin=done.stdout)
    assert again.stdout == "<stdin>: private, D = 1 (corollary bound)\n"


def test_all_options_arrive():
    done = invoke(
        *("new", "range", "--dimensions", "2", "--thresholds", "-1,1/2", "--thresholds", "0,2.5"),
        *("--cutoff", "2", "--eps-split", "1:3", "--total", "2", "--sensitivity", "3", "--monotone"),
    )
    thresholds = [(-1, Fraction(1, 2)), (0, Fraction(5, 2))]
    settings = {"eps_split": (1, 3), "total": 2, "sensitivity": 3, "monotone": True}
    wanted = templates.new("range", dimensions=2, thresholds=thresholds, cutoff=2, **settings)
    assert done.stdout == wanted.text


@pytest.mark.parametrize("name", TEMPLATES)
def test_help_and_list_name_everything(name):
    assert f"\n{name} " in "\n" + invoke("new", "--list").stdout
    assert f"\n  {name} " in invoke("new", "--help").stdout
    shown = invoke("new", name, "--help").stdout
    for parameter in TEMPLATES[name].every_parameter:
        assert f"--{parameter.name.replace('_', '-')} " in shown
    assert len(TEMPLATES[name].parts) == 1 or " : ".join(TEMPLATES[name].parts) in " ".join(shown.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "needs a TEMPLATE; symdipa new --list shows them"),
        (["rnage"], "there is no template 'rnage'; did you mean range?"),
        (["nothing"], "there are svt, numeric-sparse"),
        (["svt", "--cutoff", "0"], "Invalid value for '--cutoff': 0 is not a whole number from 1"),
        (["svt", "--cutoff", "many"], "'many' is not a valid integer"),
        (["svt", "--eps-split", "1:2:3"], "Invalid value for '--eps-split': 1:2:3 is not 2 positive"),
        (["svt", "--eps-split", "1:"], "'' is not a number"),
        (["svt", "--total", "-1"], "Invalid value for '--total': -1 is not positive"),
        (["svt", "--total", "1/0"], "'1/0' is not a number"),
        (["svt", "--noise", "gauss"], "'gauss' is not one of 'laplace', 'exponential', 'integer'"),
        (["svt", "--sensitivity", "0"], "Invalid value for '--sensitivity': 0 is not positive"),
        (["range", "--thresholds", "2,1"], "Invalid value for '--thresholds': 2 is not below 1"),
        (["range", "--thresholds", "2"], "'2' is not a pair like 0,1"),
        (["range", "--dimensions", "999", "--cutoff", "999"], "more than 10000 states"),
        (["svt", "-o", "a.json"], "the name a.json says json"),
        (["svt", "-o", "no/such/folder.dipa"], "cannot write"),
        (["svt", "--dimensions", "2"], "No such option '--dimensions'"),
        (["svt", "extra"], "unexpected extra argument"),
    ],
    ids=str,
)
def test_wrong_usage_is_status_2(arguments, words):
    done = invoke("new", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr
