"""Templates for streams of which few entries differ: exactly the stated D comes out."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from click.testing import CliRunner
from test_templates import divided, invoke, weighed

from symdipa import analysis
from symdipa.files import formats, templates
from symdipa.interface.cli import cli
from symdipa.model.automaton import with_differ
from symdipa.model.errors import InvalidInput
from symdipa.model.verdict import Verdict

SHAPES = {
    "event-svt": [{}, {"differ": "entries=4"}, {"differ": "window=3", "value": True}, {"noise": "integer"}],
    "histogram": [
        {"differ": "entries=1"},
        {"bins": 4, "differ": "window=2"},
        {"bins": 2, "differ": "entries=5"},
    ],
    "partial-sum": [
        {},
        {"inputs": 5, "differ": "all"},
        {"inputs": 4, "differ": "window=2"},
        {"noise": "integer"},
    ],
    "prefix-sums": [{}, {"differ": "entries=3"}, {"differ": "window=6"}],
    "smart-sum": [
        *({"block": block} for block in (2, 3, 6)),
        *({"block": 2, "differ": "entries=3"}, {"block": 3, "differ": "window=2"}),
        *({"block": 3, "differ": "window=7"}, {"block": 2, "differ": "window=4", "noise": "integer"}),
    ],
    "tree-sums": [
        *({"depth": depth} for depth in (1, 2, 3, 4)),
        *({"depth": 2, "differ": "entries=2"}, {"depth": 2, "differ": "window=3"}),
    ],
    "sliding-sums": [
        *({}, {"length": 2, "differ": "entries=1"}, {"length": 4, "differ": "window=4"}),
        *({"length": 3, "differ": "entries=2"}, {"length": 3, "differ": "window=5", "noise": "integer"}),
    ],
}
CASES = [(name, shape) for name, shapes in SHAPES.items() for shape in shapes]


@pytest.mark.parametrize("monotone", [False, True], ids=["two-sided", "monotone"])
@pytest.mark.parametrize(("name", "shape"), CASES, ids=str)
def test_the_stated_total_comes_out_and_is_optimal(name, shape, monotone):
    for split in ((1, 1), (2, 7)):
        written = templates.new(name, **shape, **divided(name, split), monotone=monotone)
        found = weighed(written, written.text)
        assert (found.best, found.lower) == (1, 1), split


def test_random_parameters():
    chance = random.Random("differ")

    def number():
        return Fraction(chance.randint(1, 12), chance.randint(1, 12))

    for _ in range(30):
        name, shape = chance.choice(CASES)
        written = templates.new(
            name,
            **shape,
            **divided(name, [number(), number()]),
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


@pytest.mark.parametrize(("name", "shape"), CASES, ids=str)
def test_the_text_is_the_automaton_and_says_what_it_is(name, shape):
    written = templates.new(name, **shape, total=2, sensitivity=2, monotone=True)
    read, made = formats.loads(written.text, strict=True), written.automaton
    assert not read.notes
    assert (read.states, read.transitions, read.variables) == (made.states, made.transitions, made.variables)
    assert read.differ == made.differ == written.settings.differ
    head, *blocks = written.text.split("\n\n")
    said = " ".join(head.replace("\n# ", " ").split())
    assert "all of them up or all of them down" in said
    if shape.get("differ") == "all":
        assert "two adjacent inputs differ by at most 2 in each entry" in said
    else:
        assert f"of two adjacent inputs {made.differ.words}, by at most 2" in said
        assert f"\ndiffer {made.differ}\n" in f"{head}\n"
    assert "`symdipa weight --adjacency monotone --sensitivity 2` prints D = 2 (optimal)" in said
    ends = "done" in made.index
    assert len(blocks) == len(made.states) - ends
    for block, state in zip(blocks, made.states, strict=False):
        comment, _, code = block.partition(f"\n({state.name}")
        assert code and all(line.startswith("# ") for line in comment.splitlines())
    assert max(map(len, written.text.splitlines())) <= 102


@pytest.mark.parametrize(
    ("name", "parameters", "scales"),
    [
        # Wang, Ding, Kifer, Zhang, "CheckDP", smart sum: scale 1/eps throughout for 2*eps, one entry differs.
        ("smart-sum", {"total": 2}, ["1", "1", "1"]),
        # Chan, Shi, Song, "Private and continual release of statistics": log2(T) + 1 levels.
        ("tree-sums", {"depth": 2}, ["1/3"] * 7),
        # Kellaris and others, "Differentially private event sequences over infinite streams": w entries.
        ("prefix-sums", {"differ": "window=4"}, ["1/4"]),
        ("sliding-sums", {}, ["1/9"]),
        ("event-svt", {"differ": "entries=3"}, ["1/3"]),
        ("partial-sum", {"inputs": 2, "differ": "entries=5"}, ["1/2"]),
        ("histogram", {"bins": 2, "differ": "entries=1"}, ["1", "1"]),
        # Of 7 in a row at least 2 are the last ones of blocks of 3: 5 * 1 + 7 * 1 = 12.
        ("smart-sum", {"differ": "window=7", "total": 12}, ["1", "1", "1"]),
    ],
)
def test_the_scales(name, parameters, scales):
    states = templates.new(name, **parameters).automaton.states
    assert [state.d for state in states if state.d is not None] == [Fraction(d) for d in scales]


def test_a_tree_shows_every_node_once_and_an_entry_is_in_one_of_each_level():
    made = templates.new("tree-sums", depth=3).automaton
    sums = [state.name for state in made.states if not state.is_input]
    assert sums == ["sum1_2", "sum3_4", "sum1_4", "sum5_6", "sum7_8", "sum5_8", "sum1_8"]
    assert [state.name for state in made.states if state.is_input] == [f"leaf{i}" for i in range(1, 9)]


@pytest.mark.parametrize("name", sorted(set(SHAPES) - {"histogram"}))
def test_one_more_entry_that_differs_costs_as_much_again(name):
    made = templates.new(name, differ="entries=1").automaton
    bounds = analysis.weigh(with_differ(made, "entries=2")).bounds
    assert (bounds.best, bounds.lower) == (2, 2)


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("prefix-sums", {"differ": "all"}, "all is not entries=K or window=W, for which the noise is known"),
        ("event-svt", {"differ": "pattern=(=~)*"}, "pattern=(=~)* is not entries=K or window=W"),
        ("histogram", {"differ": "pattern=~="}, "is not all or entries=K or window=W"),
        ("tree-sums", {"differ": "entries=0"}, "entries= is followed by a whole number from 1 on"),
        ("tree-sums", {"differ": 3}, "3 is not which entries differ"),
        ("svt", {"differ": "entries=1"}, "svt has no such parameter"),
    ],
)
def test_bad_entries_are_refused(name, parameters, words):
    with pytest.raises(InvalidInput) as caught:
        templates.new(name, **parameters)
    (problem,) = caught.value.problems
    assert problem.rule == "differ" and words in problem.message


@pytest.mark.parametrize(
    ("name", "parameters", "rule"),
    [
        ("smart-sum", {"block": 1}, "block"),
        ("sliding-sums", {"length": 9}, "length"),
        ("tree-sums", {"depth": 11}, "depth"),
        ("event-svt", {"noise": "integer", "threshold": "1/2"}, "threshold"),
        ("event-svt", {"noise": "exponential"}, "noise"),
    ],
)
def test_other_bad_parameters_are_refused(name, parameters, rule):
    with pytest.raises(InvalidInput) as caught:
        templates.new(name, **parameters)
    assert [problem.rule for problem in caught.value.problems] == [rule]


def test_the_option_arrives(tmp_path):
    target = tmp_path / "made.dipa"
    done = invoke("new", "smart-sum", "--block", "4", "--differ", "window=6", "-o", str(target))
    assert done.exit_code == 0
    assert target.read_text() == templates.new("smart-sum", block=4, differ="window=6").text
    shown = invoke("weight", str(target)).stdout
    assert shown.startswith(f"{target}: private, D = 1 (optimal)\n")
    refused = CliRunner().invoke(cli, ["new", "smart-sum", "--differ", "all"])
    assert refused.exit_code == 2 and "Invalid value for '--differ': all is not" in refused.stderr
