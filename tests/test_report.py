"""Reports from results that are put together by hand: no engine is needed."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from conftest import EXAMPLES

from symdipa.evidence.facts import link, output_clashes
from symdipa.files import formats
from symdipa.interface.reports import check as report
from symdipa.interface.reports import objects, weight
from symdipa.interface.reports.document import as_lines, as_text
from symdipa.interface.reports.story import story
from symdipa.interface.reports.words import assumed, clash_text, noise
from symdipa.model.errors import InputProblem, Note, NoteKind, Position
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import (
    Answers,
    Bounds,
    PatternResult,
    Result,
    Source,
    Status,
    Verdict,
    Witness,
)

LP = Pattern.LEAKING_PAIR


def example(name):
    return formats.load(EXAMPLES / name)


def result_for(name, verdict, witness=None, **changes):
    """A result as an engine would give it: the witness's pattern is present, the others absent."""
    patterns = {
        p: PatternResult(
            p,
            Status.PRESENT if witness and p is witness.pattern else Status.ABSENT,
            engine="explicit",
            method="explicit",
            sizes={"order states": 12},
        )
        for p in Pattern
    }
    fields = {
        "automaton": example(name),
        "verdict": verdict,
        "answers": Answers((patterns,)),
        "bounds": None,
        "output_distinct": True,
        "strongly_feasible": True,
        "witness": witness,
        "distinct": None if witness is None else verdict is Verdict.NOT_PRIVATE,
        "engine": "explicit",
        "encoding": None,
        "seconds": 0.25,
    }
    return Result(**{**fields, **changes})


def text_of(*arguments, **options):
    return as_text(report.document(*arguments, **options))


def story_text(automaton, witness):
    return " ".join(as_lines(story(automaton, witness).happens))


def noise_lines(*arguments):
    return as_lines(noise(*arguments))


def with_status(result, status, reason=None, sizes=None):
    """The same four patterns, all with one status."""
    return {p: PatternResult(p, status, "z3", reason=reason, sizes=sizes or {}) for p in result.patterns}


A_LEAKP = "leaking_pair/a_leakp.dipa"
A_LEAKP_WITNESS = Witness(LP, (0, 1, 2, 3, 4, 5), ((4, 5), (2, 3)), (4, 1, 5, 0, 2))


def test_private_names_the_bound():
    weight = Bounds({"corollary": Fraction(5, 4)}, source=Source.FALLBACK)
    result = result_for("well_formed/svt.dipa", Verdict.PRIVATE, bounds=weight)
    lines = text_of("svt.dipa", result).splitlines()
    assert lines[0] == "svt.dipa: private, D = 5/4 (corollary bound)"
    assert "(5/4)*eps-differentially private" in lines[1]
    assert "  note: the bound on D was computed by: explicit-state fallback" in lines


@pytest.mark.parametrize(
    ("weight", "shown"),
    [
        (Bounds({"corollary": Fraction(1), "run": Fraction(11, 12)}), "private, D = 11/12 (run bound)"),
        (Bounds({"corollary": Fraction(1), "run": Fraction(1)}), "private, D = 1 (corollary bound)"),
        (Bounds(), "private, D not computed"),
        (None, "private, D not computed"),
    ],
)
def test_the_smallest_bound_is_the_one_that_is_shown(weight, shown):
    result = result_for("well_formed/svt.dipa", Verdict.PRIVATE, bounds=weight)
    assert report.verdict_text(result) == shown


def test_quiet_is_one_line():
    result = result_for(A_LEAKP, Verdict.NOT_PRIVATE, A_LEAKP_WITNESS)
    assert text_of("a.dipa", result, ["a note"], verbosity=-1) == "a.dipa: not private: leaking pair"


def test_leaking_pair_tells_both_loops_and_the_chain_between_them():
    result = result_for(A_LEAKP, Verdict.NOT_PRIVATE, A_LEAKP_WITNESS)
    text = text_of("a.dipa", result)
    assert "Loop A, q3 -> q3 (step 5), and loop B, q2 -> q2 (step 3)" in text
    assert [line.strip() for line in text.splitlines() if line.startswith("    sample")] == [
        "sample 5 < sample 2   step 5 asks for insample < x2, stored in step 2",
        "sample 2 <= sample 6  step 6 asks for insample >= x2, stored in step 2",
        "sample 6 < sample 1   step 6 asks for insample < x1, stored in step 1",
        "sample 1 <= sample 3  step 3 asks for insample >= x1, stored in step 1",
    ]
    assert "Outputs of the run: oinit oinit (otop)* obot (otop)* obot" in text
    assert any(line.split()[:3] == ["5", "A", "q3"] for line in text.splitlines())


def test_leaking_cycle_tells_what_is_stored_and_compared():
    automaton = example("leaking_cycle/lc_example.dipa")
    told = "\n".join(
        as_lines(story(automaton, Witness(Pattern.LEAKING_CYCLE, (0, 1, 2, 3), ((2, 4),))).happens)
    )
    assert "The loop q3 -> q4 -> q3 (steps 3 and 4) can go round for ever" in told
    assert "x2: stored in step 4, compared with in steps 3 and 4" in told
    assert "oinit oinit (obot obot)*" in told


def test_disclosing_cycle_tells_which_step_shows_a_number():
    automaton = example("disclosing_cycle/dc_example.dipa")
    told = " ".join(
        as_lines(story(automaton, Witness(Pattern.DISCLOSING_CYCLE, (0, 1, 2), ((2, 3),))).happens)
    )
    assert "each round outputs a noisy input. Nothing limits how many are shown" in told


@pytest.mark.parametrize(
    ("name", "witness", "words"),
    [
        (
            "svt_releases_sample.dipa",
            Witness(Pattern.PRIVACY_VIOLATING_PATH, (0, 1, 2), ((1, 2),), (1, 0, 2)),
            "every noisy value of step 2 below the noisy value of step 3, and step 3 outputs that very value",
        ),
        (
            "svt_releases_threshold.dipa",
            Witness(Pattern.PRIVACY_VIOLATING_PATH, (0, 1), ((1, 2),), (1, 0)),
            "every noisy value of step 2 below the noisy value of step 1, and step 1 outputs that very value",
        ),
    ],
)
def test_violating_path_tells_which_number_bounds_the_loop(name, witness, words):
    automaton = example(f"privacy_violating_path/{name}")
    assert words in story_text(automaton, witness)


def test_violating_path_from_a_shown_sample_up_to_a_loop():
    text = """
    (a:non-input, 1, 0): x := insample; output insample; goto b
    (b, 1, 0): if (insample >= x) then output otop; goto b elseif (insample < x) then output obot; goto c
    """
    witness = Witness(Pattern.PRIVACY_VIOLATING_PATH, (0, 1), ((1, 2),), (0, 1))
    told = story_text(formats.loads(text), witness)
    assert "every noisy value of step 2 above the noisy value of step 1, and step 1 outputs" in told


def test_a_wrong_chain_is_refused():
    automaton = example(A_LEAKP)
    with pytest.raises(AssertionError, match="no comparison puts position 2 below position 0"):
        link(automaton, A_LEAKP_WITNESS.run, 2, 0)


def test_not_well_formed_says_what_is_not_decided_and_why():
    witness = Witness(Pattern.LEAKING_CYCLE, (0, 1), ((0, 2),))
    result = result_for("leaking_cycle/a_nwf.dipa", Verdict.NOT_WELL_FORMED, witness, output_distinct=False)
    text = text_of("a_nwf.dipa", result)
    assert text.startswith("a_nwf.dipa: not well-formed, privacy not decided: leaking cycle\n")
    assert "state q2: several branches output otop" in text
    assert "No D is large enough" not in text


def test_a_distinct_witness_is_enough_and_the_report_says_so():
    result = result_for(A_LEAKP, Verdict.NOT_PRIVATE, A_LEAKP_WITNESS, output_distinct=False)
    assert "no other run shows the outputs of this one" in text_of("a.dipa", result)


def test_several_states_that_are_not_output_distinct_are_cut_short():
    branches = "\n".join(
        f"(q{i}, 1, 0): if (insample < x) then output o; goto q{i + 1} "
        f"elseif (insample >= x) then output o; goto q{i + 1}"
        for i in range(1, 8)
    )
    automaton = formats.loads(f"(q0:non-input, 1, 0): x := insample; output o; goto q1\n{branches}")
    assert len(list(output_clashes(automaton))) == 7
    result = result_for(A_LEAKP, Verdict.NOT_WELL_FORMED, automaton=automaton, output_distinct=False)
    assert "and 4 more states" in text_of("x", result)


def test_two_real_outputs_are_a_clash():
    automaton = formats.loads(
        "(a:non-input, 1, 0): x := insample; output o; goto b\n"
        "(b, 1, 0, 1, 0): if (insample < x) then output insample; goto c "
        "elseif (insample >= x) then output insampleprime; goto c"
    )
    told = [clash_text(automaton, clash) for clash in output_clashes(automaton)]
    assert told == ["state b: several branches output a number"]
    result = result_for(A_LEAKP, Verdict.NOT_WELL_FORMED, automaton=automaton, output_distinct=False)
    text = text_of("x", result)
    assert "cannot be told apart by it" in text and "go to another state that" in text
    assert "output the same symbol" not in text


def test_symbols_and_numbers_of_one_state_are_told_together():
    automaton = formats.loads(
        "(a:non-input, 1, 0): x := insample, y := insample; output o; goto b\n"
        "(b, 1, 0): if (insample < x && insample < y) then output insample; goto c "
        "elseif (insample < x && insample >= y) then output insample; goto c "
        "elseif (insample >= x && insample < y) then output o; goto c else output o; goto c"
    )
    (clash,) = output_clashes(automaton)
    assert clash_text(automaton, clash) == "state b: several branches output o and a number"
    assert (clash.outputs, clash.numbers) == (("o",), True)


def rows(result, verbosity=0):
    """The lines of the table of patterns, by pattern."""
    lines = as_lines([report.pattern_table(result, verbosity > 0)])
    return {line[:23].strip(): line[24:] for line in lines}


@pytest.mark.parametrize(
    ("engine", "method", "shown"),
    [
        ("explicit", "explicit", "absent   explicit"),
        ("dataflow", "static", "absent   static"),
        ("z3", "static", "absent   z3 static"),
        ("minisat", "pdr", "absent   minisat pdr"),
    ],
)
def test_the_table_names_engine_and_method(engine, method, shown):
    patterns = {p: PatternResult(p, Status.ABSENT, engine, method) for p in Pattern}
    assert rows(result_for(A_LEAKP, Verdict.PRIVATE, answers=Answers((patterns,))))[LP.title] == shown


def test_the_table_shows_every_engine_that_was_asked():
    def both(second):
        first = PatternResult(LP, Status.PRESENT, "explicit", "explicit", sizes={"order states": 1})
        answers = Answers(({LP: first}, {LP: second}))
        result = result_for(A_LEAKP, Verdict.NOT_PRIVATE, A_LEAKP_WITNESS, answers=answers)
        return rows(result)[LP.title], rows(result, 1)[LP.title]

    short, long = both(PatternResult(LP, Status.PRESENT, "z3", "bounded", sizes={"depth": 3, "clauses": 7}))
    assert short == "present  explicit; z3 bounded"
    assert long == "present  explicit (1 order state) 0.00 s; z3 bounded (depth 3, 7 clauses) 0.00 s"
    short, _ = both(PatternResult(LP, Status.UNKNOWN, "z3", reason="time limit"))
    assert short == "present  explicit; z3 undecided (time limit)"
    short, _ = both(PatternResult(LP, Status.ABSENT, "z3", "pdr"))
    assert short == "present  explicit present; z3 pdr absent"


def test_a_bound_that_was_not_computed_is_not_stated():
    notes = (Note(NoteKind.NO_BOUND, "more than 7 nodes"), Note(NoteKind.NO_PAIRING, "; other"))
    text = text_of("a", result_for("well_formed/svt.dipa", Verdict.PRIVATE, notes=notes))
    first, rest = text.split("\n", 1)
    assert first == "a: private, D not computed"
    assert "for some D that does not depend on eps and was not computed: more than 7 nodes." in " ".join(
        rest.split()
    )
    assert rest.count("more than 7 nodes") == 1
    assert "note: relational alignment found no bound on D; other" in rest


def test_unknown_says_why_and_how_far():
    result = result_for(A_LEAKP, Verdict.UNKNOWN)
    patterns = with_status(result, Status.ABSENT)
    patterns[LP] = PatternResult(
        LP, Status.UNKNOWN, "z3", reason="time limit of 10 s reached", sizes={"depth": 17}
    )
    text = text_of("a.dipa", result_for(A_LEAKP, Verdict.UNKNOWN, answers=Answers((patterns,))))
    assert text.startswith("a.dipa: unknown: leaking pair undecided (time limit of 10 s reached)\n")
    assert "leaking pair: got as far as depth 17" in text


def test_a_long_reason_leaves_the_first_line_short():
    result = result_for(A_LEAKP, Verdict.UNKNOWN)
    patterns = dict(result.patterns)
    patterns[LP] = PatternResult(LP, Status.UNKNOWN, "z3", reason="because " * 10)
    unknown = result_for(A_LEAKP, Verdict.UNKNOWN, answers=Answers((patterns,)))
    text = text_of("a.dipa", unknown)
    assert text.splitlines()[0] == "a.dipa: unknown: leaking pair undecided (the reason is below)"
    assert "because because" in text and "because because" in text_of("a.dipa", unknown, verbosity=-1)


def test_several_reasons_leave_the_first_line_short():
    result = result_for(A_LEAKP, Verdict.UNKNOWN)
    patterns = {
        p: PatternResult(p, Status.UNKNOWN, "z3", reason=f"reason {p.short}") for p in result.patterns
    }
    text = text_of("a.dipa", result_for(A_LEAKP, Verdict.UNKNOWN, answers=Answers((patterns,))))
    assert text.splitlines()[0] == "a.dipa: unknown: all four patterns undecided (the reasons are below)"
    assert all(f"reason {p.short}" in text for p in Pattern)
    alone = text_of(
        "a.dipa", result_for(A_LEAKP, Verdict.UNKNOWN, answers=Answers((patterns,))), verbosity=-1
    )
    assert alone == "a.dipa: unknown: all four patterns undecided (leaking cycle: reason LC)"


def test_unknown_because_patterns_were_skipped():
    result = result_for(A_LEAKP, Verdict.UNKNOWN)
    patterns = {**with_status(result, Status.SKIPPED), LP: result.patterns[LP]}
    notes = (Note(NoteKind.NOT_ASKED, "LC, DC, PV"),)
    text = text_of("a", result_for(A_LEAKP, Verdict.UNKNOWN, answers=Answers((patterns,)), notes=notes))
    assert text.count("not asked for") == 1
    assert "not asked for leaking cycle, disclosing cycle and privacy violating path" in text.splitlines()[0]
    assert "--timeout" not in text


def test_unknown_though_no_pattern_occurs():
    """As of a program without its patterns whose bounds on D were looked for by one method, in vain."""
    result = result_for(A_LEAKP, Verdict.UNKNOWN)
    expected = "a.dipa: unknown: no pattern occurs, but only a bound on D proves privacy here"
    assert text_of("a.dipa", result).splitlines()[0] == expected


def test_a_disagreement_is_loud():
    one, other = PatternResult(LP, Status.ABSENT, "explicit"), PatternResult(LP, Status.PRESENT, "z3")
    result = result_for(A_LEAKP, Verdict.UNKNOWN, answers=Answers(({LP: one}, {LP: other})))
    text = text_of("a.dipa", result)
    assert text.startswith("a.dipa: ENGINES DISAGREE")
    assert "leaking pair: absent says explicit; present says z3" in text
    assert "please report" in text


def test_comparison_gives_agreement_first_and_a_row_for_every_answer():
    plain = result_for(A_LEAKP, Verdict.NOT_PRIVATE, A_LEAKP_WITNESS)
    ghost = PatternResult(LP, Status.PRESENT, "z3", "bounded", "ghost", sizes={"depth": 6}, seconds=1.5)
    marks = PatternResult(LP, Status.UNKNOWN, "z3", None, "marks", reason="time limit")
    answers = Answers((plain.patterns, {LP: ghost}, {LP: marks}))
    result = result_for(A_LEAKP, Verdict.NOT_PRIVATE, A_LEAKP_WITNESS, answers=answers)
    lines = as_text(report.comparison("a.dipa", result)).splitlines()
    assert lines[0] == "a.dipa: no disagreement, 1 of 6 answers unknown: not private: leaking pair"
    assert [line.split()[:2] for line in lines[-2:]] == [["z3", "ghost"], ["z3", "marks"]]
    assert "depth 6" in lines[-2] and "1.500" in lines[-2]


def test_a_comparison_without_an_answer_says_unknown_once():
    found = {
        pattern: PatternResult(pattern, Status.UNKNOWN, "explicit", reason="time limit")
        for pattern in Pattern
    }
    result = result_for(A_LEAKP, Verdict.UNKNOWN, answers=Answers((found,)))
    assert as_text(report.comparison("a.dipa", result)).splitlines()[0] == (
        "a.dipa: no disagreement, 4 of 4 answers unknown: all four patterns undecided (time limit)"
    )


@pytest.mark.parametrize(
    ("adjacency", "sensitivity", "words"),
    [
        ("two-sided", 1, "each entry may differ by at most 1, up or down."),
        ("two-sided", Fraction(1, 2), "each entry may differ by at most 1/2, up or down."),
        ("monotone", 2, "entries may differ by at most 2, all of them up or all of them down."),
        (
            (Fraction(-1), Fraction(0)),
            3,
            "one stream minus the other is between -3 and 0 in each entry, in either order.",
        ),
    ],
)
def test_every_report_says_in_the_same_words_which_inputs_are_adjacent(adjacency, sensitivity, words):
    bounds = Bounds({"alignment": Fraction(2)}, adjacency=adjacency, sensitivity=Fraction(sensitivity))
    result = result_for("well_formed/svt.dipa", Verdict.PRIVATE, bounds=bounds)
    told = " ".join(as_text(weight.document("a.dipa", result)).split())
    said = "Assumed: noise and comparisons in exact real numbers, not floating point. Adjacent input streams "
    assert f"{said}have equally many entries, and {words}" in told
    assert assumed(adjacency, sensitivity) in told
    assert assumed() in " ".join(text_of("a.dipa", result).split())


def test_d_0_says_what_that_means():
    bounds = Bounds({"alignment": Fraction(0)}, lower=Fraction(0))
    result = result_for("well_formed/svt.dipa", Verdict.PRIVATE, bounds=bounds)
    for text in (text_of("a.dipa", result), as_text(weight.document("a.dipa", result))):
        assert "The outputs do not depend on the inputs" in text and "0*eps" not in text


def test_json_follows_the_contract():
    result = result_for(
        A_LEAKP,
        Verdict.NOT_PRIVATE,
        A_LEAKP_WITNESS,
        bounds=Bounds({"corollary": Fraction(5, 4)}),
        notes=(Note(NoteKind.READ_AS, "2 of x", Position(1, 2)), Note(NoteKind.NO_PAIRING, "; second")),
    )
    found = json.loads(json.dumps(objects.check("a.dipa", result, ["third"])))
    assert found["file"] == "a.dipa"
    assert found["verdict"] == "not-private"
    assert found["patterns"] == {
        "leaking-cycle": "absent",
        "leaking-pair": "present",
        "disclosing-cycle": "absent",
        "privacy-violating-path": "absent",
    }
    assert found["weight"] == {
        "corollary": "5/4", "run": None, "counting": None, "alignment": None, "exact": None,
        "relational": None,
    }  # fmt: skip
    assert found["output_distinct"] is True and found["strongly_feasible"] is True
    assert found["witness"]["pattern"] == "leaking-pair"
    assert found["witness"]["run"][5] == {
        "from": "q3",
        "to": "q4",
        "guard": "insample >= x2 && insample < x1",
        "output": "obot",
        "assign": [],
    }
    assert found["witness"]["cycles"] == [[4, 5], [2, 3]]
    assert found["witness"]["path"] == [4, 1, 5, 0, 2]
    assert found["engine"] == "explicit"
    assert set(found["method"].values()) == {"explicit"}
    assert found["seconds"] == 0.25
    no_pairs = "relational alignment found no bound on D; second"
    assert found["notes"] == ["1:2: branch 2 of x", no_pairs, "third"]
    assert found["error"] is None


def test_json_of_an_unusable_file_has_all_problems():
    problems = [InputProblem("syntax", "one", Position(2, 3)), InputProblem("file", "two")]
    found = objects.error("a.dipa", problems)
    assert found["verdict"] == "error"
    assert {k: found["error"][k] for k in ("message", "line", "column")} == {
        "message": "one",
        "line": 2,
        "column": 3,
    }
    assert [e["message"] for e in found["errors"]] == ["one", "two"]
    ordinary = objects.check("a.dipa", result_for(A_LEAKP, Verdict.NOT_PRIVATE, A_LEAKP_WITNESS))
    assert set(ordinary) == set(found) - {"errors"}


def test_problem_lines_have_the_form_editors_know():
    problems = [InputProblem("syntax", "one", Position(2, 3)), InputProblem("file", "two")]
    assert list(report.problem_lines("a.dipa", problems)) == ["a.dipa:2:3: one", "a.dipa: two"]


@pytest.mark.parametrize(
    ("state", "rows"),
    [
        ("q, 1/4, 0", ["q  d = 1/4  Laplace noise of scale 4/eps around the input"]),
        ("q, 2/3, -1/2", ["q  d = 2/3  Laplace noise of scale 3/(2*eps) around the input - 1/2"]),
        ("q:non-input, 1, 2", ["q  d = 1  Laplace noise of scale 1/eps around 2"]),
        ("q, 0, 0", []),
        ("q, 0, 0, 1/8, 1", []),
    ],
)
def test_noise_is_told_beside_the_parameter(state, rows):
    assert noise_lines(formats.loads(f"({state}): output o; goto r")) == rows


def test_the_noise_of_a_second_sample_is_told_where_it_is_shown():
    automaton = formats.loads("(q, 1/2, 0, 1/8, 1): x := insample; output insampleprime; goto r")
    assert noise_lines(automaton) == [
        "q  d = 1/2   Laplace noise of scale 2/eps around the input",
        "q  d' = 1/8  Laplace noise of scale 8/eps around the input + 1 (insampleprime)",
    ]
    assert noise_lines(automaton, ["r"]) == []


def test_a_long_table_of_noise_is_cut():
    lines = [f"(q{i}, 1, {i}): x := insample; output o; goto q{i + 1}" for i in range(30)]
    rows = noise_lines(formats.loads("\n".join(lines)))
    assert rows[-1] == "and 6 more" and len(rows) == 25


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_report_says_what_is_assumed(verdict):
    violated = verdict in (Verdict.NOT_PRIVATE, Verdict.NOT_WELL_FORMED)
    result = result_for(A_LEAKP, verdict, A_LEAKP_WITNESS if violated else None)
    if verdict is Verdict.UNKNOWN:
        result = replace(result, answers=Answers((with_status(result, Status.UNKNOWN),)))
    text = " ".join(text_of("a", result).split())
    assert "exact real numbers, not floating point" in text
    assert "each entry may differ by at most 1, up or down" in text
    assert "Assumed" not in text_of("a", result, verbosity=-1)
    assumed = {"arithmetic": "real", "differ": "all", "adjacency": "two-sided", "sensitivity": "1"}
    assert objects.check("a", result)["assumed"] == assumed | {"halt": "hidden"}
