"""Functions of C as mechanisms: what is understood, what is refused, and that numbers are those of C."""

from __future__ import annotations

import shutil
from fractions import Fraction
from random import Random

import pytest
from c_programs import compiled_outputs, outputs, random_function, random_mechanism, walked
from conftest import ROOT

import symdipa
from symdipa.model.errors import InvalidInput
from symdipa.model.verdict import Verdict
from symdipa.programs import c
from symdipa.programs.loading import read_program

HEAD = "void f(float q[], int size, float epsilon, int N)\n{\n"
SAID = '"PRECONDITION: ALL_DIFFER; ASSUME(N > 0)";'
SHOW = "CHECKDP_OUTPUT(1);"


def function(*lines: str, said: str = SAID) -> str:
    """A function whose annotation is in line 3 and whose first line is line 4."""
    return "\n".join([HEAD + said, *lines, "}"])


def problems(text: str, **given: object) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        c.read(text, given=given, source="f.c")
    return [str(problem) for problem in caught.value.problems]


def refused(text: str, place: str, words: str, **given: object) -> None:
    found = problems(text, **given)
    assert any(one.startswith(place) and words in one for one in found), found


STATEMENTS = {
    "switch (N) { case 1: break; }": ("4:1", "write if (...) {...} else if"),
    "goto end; end: ;": ("4:1", "goto is not understood; write while and if"),
    "end: N;": ("4:1", "labels are not understood"),
    "float x[5];": ("4:7", "x is an array; only the stream is one"),
    "float *x;": ("4:7", "x is a pointer; use a variable"),
    "static int x = 0;": ("4:12", "every run starts afresh"),
    "int x = 1; int x = 2;": ("4:16", "x is declared twice"),
    "struct p y;": ("4:10", "numbers are int or float"),
    "typedef int number;": ("4:13", "typedef is not understood"),
    "enum {A, B};": ("4:1", "use numbers"),
    "int g(int y);": ("4:5", "write their code here"),
    "y = 3;": ("4:1", "there is no variable y; declare it"),
    "sise = 3;": ("4:1", "there is no variable sise; did you mean size?"),
    "q[0] = 3;": ("4:1", "entries cannot be assigned"),
    "N = 4;": ("4:1", "the parameter N cannot be assigned"),
    "q = 4;": ("4:1", "q is the stream, which cannot be assigned"),
    "int x, y; x = y = 3;": ("4:15", "write two statements"),
    "int x = 6; x ^= 2;": ("4:12", "^ is not understood (it is no power in C)"),
    "int x = 6 & 3;": ("4:9", "&& is the logical one"),
    "int x = ~6;": ("4:10", "! negates"),
    "int x = 1 << 3;": ("4:9", "multiply"),
    "break;": ("4:1", "break is in no loop"),
    "continue;": ("4:1", "continue is in no loop"),
    "float x = q;": ("4:11", "one entry of it is q[i]"),
    "float x = q[0][1];": ("4:11", "the stream has one index"),
    "float x = N[2];": ("4:11", "N is no array"),
    "float x = q[q[0]];": ("4:13", "q[0] says which entry is read"),
    "float x = q[Lap(1 / epsilon)];": ("4:13", "says which entry is read"),
    "int x = 5; int y = x++;": ("4:20", "write a statement of its own"),
    "float x = *q;": ("4:12", "pointers are not understood"),
    "float x = (float) 3;": ("4:11", "casts are not understood"),
    "float x = exp(2);": ("4:11", "the only noise is Lap(scale)"),
    "float x = rand();": ("4:11", "the only noise is Lap(scale)"),
    "float x = foo(2);": ("4:11", "write its code here"),
    "float x = fabs(1, 2);": ("4:11", "fabs takes 1 number, not 2"),
    "float x = fmin(1);": ("4:11", "fmin takes 2 numbers, not 1"),
    "float x = Lap();": ("4:11", "Lap takes the scale"),
    "float x = Lap(0, 1 / epsilon);": ("4:11", "Lap takes the scale"),
    "float x = Lap(q[0]);": ("4:15", "the scale depends on q[0]"),
    "Lap(1 / epsilon);": ("4:1", "what Lap returns is not used"),
    "CHECKDP_OUTPUT();": ("4:1", "shows one number, not 0"),
    "CHECKDP_OUTPUT(1, 2);": ("4:1", "shows one number, not 2"),
    "int x = CHECKDP_OUTPUT(1);": ("4:9", "a statement of its own"),
    "3;": ("4:1", "this statement does nothing"),
    "if (N = 3) { }": ("4:5", "== compares"),
    'int x = "abc";': ("4:9", "a text is no number"),
    "int x = 'a';": ("4:9", "write a number"),
    "int x = (1, 2);": ("4:10", "comma operator"),
    "int x = {1};": ("4:10", "lists of values"),
    "int x = sizeof(int);": ("4:9", "sizeof is not understood"),
    "int x = q.a;": ("4:9", "structures are not understood"),
    'int x = 1; "CHECK: epsilon";': ("4:12", "annotations stand at the beginning"),
    "int x = 089;": ("4:", "octal"),
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements_that_are_not_understood(statement):
    place, words = STATEMENTS[statement]
    refused(function(statement, SHOW), place, words)


FILES = {
    "": ("1:1", "no function is defined here"),
    "int x;": ("1:5", "x is outside of the function"),
    "struct s {int a;};\n": ("1:8", "this is outside of the function"),
    "#define N 5\n": ("1:1", "make it a parameter of the function and give it with --set"),
    "  #ifdef X\n#endif\n": ("1:3", "no preprocessor runs here"),
    "void f(float q[], float epsilon) { /* open }": ("1:36", "this comment is not closed"),
    "void f(float q[], float epsilon) { CHECKDP_OUTPUT(1) }": ("1:54", "'}' cannot stand here"),
    "void f(float q[], float epsilon) {\n  CHECKDP_OUTPUT(1);": ("2:21", "the file ends here"),
    "void f(float q[], float epsilon) { int x; x = ; }": ("1:47", "';' cannot stand here"),
    'void f(float q[], float epsilon) { "open }': ("1:36", "this text is not closed"),
    "void f(float q[], float epsilon) { int x = 3 @ 4; }": ("1:46", "illegal character '@'"),
    "void f(float q[], int size) { CHECKDP_OUTPUT(1); }": ("1:6", "no parameter is the budget"),
    "void f(float q[], float r[], float epsilon) { return 1; }": ("1:25", "r is a second stream, besides q"),
    "void f(float q[], int n, int n, float epsilon) { return 1; }": ("1:30", "two parameters n"),
    "void f(float q[], char *s[], float epsilon) { return 1; }": ("1:25", "numbers are int or float"),
    "void f(float q[], float epsilon, ...) { return 1; }": ("1:34", "name every parameter"),
    "void f(float q[], int, float epsilon) { return 1; }": ("1:19", "this parameter has no name"),
    "void f(q, epsilon) float q[]; float epsilon; { }": ("1:6", "inside of the parentheses"),
    "void f(float q[], float epsilon) { }": ("1:6", "nothing is ever shown"),
    f"int f(float epsilon) {{ return {'(' * 200}1{')' * 200}; }}": ("1:", "nested more than"),
    "int f(float epsilon) { return 1; } int g(float epsilon) { return 1; }": ("", "as FILE.c:f"),
}


@pytest.mark.parametrize("text", FILES, ids=lambda text: text[:50])
def test_files_that_are_not_understood(text):
    refused(text, *FILES[text])


ANNOTATIONS = {
    "PRECONDITION: ALL_DIFER": ("3:16", "did you mean ALL_DIFFER?"),
    "PRECONDITION: ASSUME(N > 0)": ("3:15", "which entries differ?"),
    "PRECONDITION: ALL_DIFFER; ONE_DIFFER": ("3:28", "keep one"),
    "PRECONDITION: ALL_DIFFER; ASSUME(N > )": ("3:35", "'N >' is no expression"),
    "PRECONDITION: ALL_DIFFER; ASSUME(M > 0)": ("3:35", "there is no variable M"),
    "PRECONDITION: ALL_DIFFER; ASSUME(q[0] > 0)": ("3:35", "there is no variable q"),
    "PRECONDITION: ALL_DIFFER; ASSUME(N > 0) && x": ("3:28", "is not understood"),
    "PRECONDITION: ALL_DIFFER; ASSUME(N > 3); ASSUME(N < 2)": ("3:35", "ASSUME(N > 3) does not hold: N = 1"),
    "TYPES: q: <*, *>; size: <0, *>": ("3:20", "size is a number that may differ"),
    "TYPES: q: <0, 0>": ("3:9", "entries of q differ by 0 here"),
    "TYPES: foo: <0,0>": ("3:9", "there is no parameter foo"),
    "TYPES: q <*,*>": ("3:9", "write name: <0, 0>"),
    "CHECK: epsilon; 2": ("3:8", "CHECK is one bound"),
    "CHECK:": ("3:8", "CHECK is one bound"),
    "CHECK: 2": ("3:9", "no positive multiple of epsilon"),
    "CHECK: epsilon + 1": ("3:9", "depends on how large epsilon is"),
    "CHECKS: epsilon": ("3:2", "did you mean CHECK?"),
    "hello": ("3:2", "annotations are TYPES, PRECONDITION, CHECK"),
}


@pytest.mark.parametrize("said", ANNOTATIONS)
def test_annotations_that_are_not_understood(said):
    place, words = ANNOTATIONS[said]
    given = {} if "ASSUME(N > 3)" in said else {"N": 1}
    refused(function("return Lap(N / epsilon);", said=f'"{said}";'), place, words, **given)


@pytest.mark.parametrize(
    ("given", "place", "words"),
    [
        ({"N": "x"}, "1:", "N = 'x' is no number"),
        ({"N": "1.5"}, "1:", "N is an int, which 1.5 is not"),
        ({"N": "-1"}, "3:", "ASSUME(N > 0) does not hold: N = -1"),
        ({"n": "1"}, "", "there is no parameter n; did you mean N?"),
        ({"szie": "5"}, "", "there is no parameter szie; did you mean size?"),
        ({"epsilon": "1"}, "", "epsilon is the budget"),
        ({"q": "1"}, "", "q is the stream"),
    ],
)
def test_values_of_parameters_that_cannot_be(given, place, words):
    refused(function("return Lap(N / epsilon);"), place, words, **given)


def test_all_problems_are_found_at_once():
    text = function("x = 1;", "int y = foo(z) + (3 & w);", "goto a;", "if (q) { y = 'c'; }", SHOW)
    assert [problem.partition(" ")[0] for problem in problems(text)] == [
        "4:1:",
        "5:9:",
        "5:23:",
        "6:1:",
        "7:5:",
    ]


# ------------------------------------------------------------------------------- what shows while it runs


RUNS = {
    "int x = 5 / 2;\nreturn x;": ("4:", "5 / 2 divides integers, so C cuts off"),
    "int x = 2.5;\nreturn x;": ("4:", "x is an int, so C cuts off what 5/2 has behind the point"),
    "int x = 3 / 0;\nreturn x;": ("4:", "3 is divided by 0"),
    "float x = 2.5;\nreturn x % 2;": ("5:", "% has 5/2 on one side, which is no int"),
    "int x;\nreturn x + 1;": ("5:8", "x has no value yet"),
    "return epsilon;": ("4:", "epsilon is shown"),
    "return 1 + epsilon;": ("4:", "depends on how large epsilon is"),
    "if (N < epsilon) { return 1; }\nreturn 2;": ("4:", "depends on how large epsilon is"),
    "return Lap(2);": ("4:8", "the scale of noise is 2, which does not depend on epsilon"),
    "return Lap(2 * epsilon);": ("4:8", "the scale of noise is 2*epsilon"),
    "return Lap((N - 3) / epsilon);": ("4:8", "the scale of noise is"),
    "float x = Lap(1 / epsilon);\nreturn Lap(x);": ("5:8", "the scale of noise is a noisy value"),
    "return q[-1];": ("4:8", "q[-1] is read; entries begin with 0"),
    "return q[1.0];": ("4:8", "has an index that is no int"),
    "return q[7];": ("4:8", "q[7] is read, but there are 5 entries"),
    "float x = Lap(1 / epsilon);\nreturn x * x;": ("5:", "multiplied by"),
    "float x = Lap(1 / epsilon);\nreturn 1 / x;": ("5:", "divided by"),
    "float x = Lap(1 / epsilon);\nreturn q[0] * q[1];": ("5:", "multiplied by"),
    "float x = Lap(1 / epsilon);\nif (x == 0) { return 1; }\nreturn 2;": ("5:", "probability 0"),
    "float x = Lap(1 / epsilon);\nif (x) { return 1; }\nreturn 2;": ("5:", "probability 0"),
    "float x = Lap(1 / epsilon);\nif (x > epsilon) { return 1; }\nreturn 2;": ("5:", "> has epsilon"),
    "float x = Lap(1 / epsilon);\nfloat y = Lap(1 / epsilon);\nreturn x + y;": ("6:", "a sum of"),
    "int n = 0;\nwhile (q[n] + Lap(1 / epsilon) > n) { n = n + 1; CHECKDP_OUTPUT(n); }\nreturn 1;": (
        "5:",
        "q[5] is read, but there are 5 entries",
    ),
    "int n = 0;\nwhile (Lap(1 / epsilon) > 0) { n = n + 1; }\nreturn n;": ("5:", "n takes ever more values"),
}


@pytest.mark.parametrize("lines", RUNS)
def test_runs_that_cannot_be_followed(lines):
    place, words = RUNS[lines]
    found = c.read(function(lines), given={"size": 5, "N": 2})
    with pytest.raises(InvalidInput) as caught:
        c.automaton(found)
    (problem,) = map(str, caught.value.problems)
    assert problem.startswith(place)
    assert words in problem


# ---------------------------------------------------------------------------------------- runs on numbers


ENTRIES = [Fraction(k, 2) for k in (3, -1, 0, 5, -4, 2, 1)]
NOISE = [Fraction(k, 2) for k in (1, -3, 4, 0, -2, 7, 5, -5, -1, 3)]


def test_numbers_are_those_of_a_c_compiler(tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler here")
    texts = [random_function(seed, f"f{seed}") for seed in range(150)]
    found = compiled_outputs(texts, ENTRIES, NOISE, tmp_path)
    for text, wanted in zip(texts, found, strict=True):
        assert outputs(text, ENTRIES, NOISE, size=len(ENTRIES)) == wanted, text
    assert len({tuple(one) for one in found}) > 100


@pytest.mark.parametrize("seed", range(20))
def test_the_automaton_shows_what_the_program_shows(seed):
    text, rnd = random_mechanism(seed), Random(seed)
    try:
        found = c.automaton(c.read(text, given={"size": 3}))
    except InvalidInput as error:
        assert "is made of several sums" in str(error)
        return
    for _ in range(30):
        entries = [Fraction(rnd.randint(-4000, 4000), 997) for _ in range(3)]
        noise = [Fraction(rnd.randint(-3000, 3000), 991) for _ in range(24)]
        wanted, shown = outputs(text, entries, noise, size=3), walked(found, entries, noise)
        assert len(shown) == len(wanted), text
        assert all(one in (None, other) for one, other in zip(shown, wanted, strict=True)), text


# ------------------------------------------------------------------------------------- answers, and readings


SPARSE = """
int sparse(float q[], int size, float epsilon, float T, int NN)
{
  "TYPES: epsilon: <0, 0>; size: <0, 0>; q: <*, *>; T: <0, 0>; NN: <0, 0>";
  "PRECONDITION: %s; ASSUME(NN > 0); ASSUME(NN <= size)";
  "CHECK: epsilon";
  float threshold = Lap(2 / epsilon) + T;
  int count = 0;
  for (int i = 0; i < size && count < NN; i++) {
    float noise = Lap(%s * NN / epsilon);
    if (q[i] + noise >= threshold) {
      CHECKDP_OUTPUT(%s);
      count++;
    } else {
      CHECKDP_OUTPUT(0);
    }
  }
}
"""


def weighed(text: str, **given: object):
    found = c.read(text, given=given)
    return symdipa.weigh(c.automaton(found).automaton, adjacency=found.adjacency)


@pytest.mark.parametrize(
    ("parts", "given", "best"),
    [
        (("ALL_DIFFER", 4, 1), {}, 1),
        (("ALL_DIFFER", 4, 1), {"NN": 2}, 1),
        (("ALL_DIFFER", 4, 1), {"NN": 1, "size": 5}, 1),
        (("ALL_DIFFER", 4, "q[i] + noise - threshold"), {}, 1),
        (("INCREASING", 2, 1), {}, 1),
        (("DECREASING", 2, 1), {"size": 3}, 1),
        (("ALL_DIFFER", 2, 1), {"size": 5}, Fraction(3, 2)),
        (("ONE_DIFFER", 2, 1), {}, Fraction(1, 2)),
    ],
)
def test_sparse_vectors(parts, given, best):
    result = weighed(SPARSE % parts, **given)
    assert result.verdict is Verdict.PRIVATE
    assert result.bounds.best == result.bounds.lower == best


def test_the_automaton_is_the_usual_one():
    automaton = c.automaton(c.read(SPARSE % ("ALL_DIFFER", 4, 1))).automaton
    assert symdipa.dumps(automaton).splitlines() == [
        "(line7:non-input,1/2,0): threshold := insample; output quiet; goto line10",
        "(line10,1/4,0):",
        "    if (insample >= threshold) then output _1; goto ended",
        "    elseif (insample < threshold) then output _0; goto line10",
    ]


def test_what_the_annotations_say():
    found = c.read(SPARSE % ("ONE_DIFFER", 4, 1))
    assert (found.differ, found.adjacency, found.claim) == ("entries=1", "two-sided", 1)
    found = c.read(SPARSE % ("DECREASING", 4, 1))
    assert (found.differ, found.adjacency) == ("all", "-1,0")
    found = c.read(
        function("return q[0] + Lap(N / epsilon);", said='"CHECK: N * epsilon / 2.0";'), given={"N": 3}
    )
    assert (found.differ, found.claim) == ("all", Fraction(3, 2))


def notes(text: str, **given: object) -> list[str]:
    return [str(note) for note in c.automaton(c.read(text, given=given)).automaton.read_notes]


def test_values_that_are_taken_are_noted():
    text = SPARSE % ("ALL_DIFFER", 4, 1)
    assert notes(text) == [
        "2:54: T is not given: 0 is taken; --set T=... gives it",
        "2:61: NN is not given: 1 is taken; --set NN=... gives it",
    ]
    assert notes(text, T=1, NN=1, size=3) == []
    assert "there is no parameter K" in notes(text, T=1, NN=1, K=3)[0]


SUMS = """
void sums(float q[], int size, float epsilon, float T, int M) {
  "PRECONDITION: ONE_DIFFER; ASSUME(T < size); ASSUME(M > 1)";
  float total = 0;
  int i = 0;
  while (i <= T) {
    total = total + q[i];
    if ((i + 1) %% M == 0) {
      CHECKDP_OUTPUT(total + Lap(1 / epsilon));
      %s
    }
    i = i + 1;
  }
}
"""


def test_a_position_without_end_is_known_by_its_remainder():
    once = c.automaton(c.read(SUMS % "total = 0;"))
    assert len(once.automaton.states) == 2
    assert weighed(SUMS % "total = 0;").bounds.best == 1
    assert weighed(SUMS % "total = 0;", M=7).bounds.best == 1
    assert len(c.automaton(c.read(SUMS % "total = 0;", given={"M": 7})).automaton.states) == 7
    assert weighed(SUMS % "").verdict is Verdict.NOT_PRIVATE


def test_a_bound_has_the_largest_value_that_is_allowed():
    assert weighed(SUMS % "", size=6).bounds.best == 3
    assert weighed(SUMS % "", size=6, T=2).bounds.best == 1
    (first, _) = notes(SUMS % "", size=6)
    assert first == "2:53: T is not given: 5 is taken (the largest value with T < size); --set T=... gives it"


def test_comparisons_with_a_position_without_end():
    text = function(
        "int i = 0;",
        "while (i < size) {",
        "  float noise = Lap(1 / epsilon);",
        "  if (i < 3 || i == N) { CHECKDP_OUTPUT(q[i] + noise); } else { CHECKDP_OUTPUT(0); }",
        "  i = i + 1;",
        "}",
    )
    # Entries differ by 1 each, and those at 0, 1, 2 and N are shown.
    assert weighed(text, N=5).bounds.best == 4
    assert weighed(text, N=2).bounds.best == 3
    with pytest.raises(InvalidInput, match="no end to positions"):
        c.automaton(c.read(text.replace("CHECKDP_OUTPUT(0)", "CHECKDP_OUTPUT(i)"), given={"N": 5}))
    with pytest.raises(InvalidInput, match="no end to positions"):
        c.automaton(c.read(text, given={"N": 10_001}))


def test_entries_are_kept_as_long_as_they_are_wanted():
    text = """void f(float q[], int size, float epsilon) {
      for (int i = 1; i < size; i++) { CHECKDP_OUTPUT(q[i] + Lap(1 / epsilon)); %s }
    }"""
    assert weighed(text % "").verdict is Verdict.NOT_PRIVATE
    again = "CHECKDP_OUTPUT(q[i - 1] + Lap(2 / epsilon));"
    assert weighed(text % again, size=3).bounds.best == 2 + Fraction(2, 2)
    automaton = c.automaton(c.read(text % again)).automaton
    assert automaton.registers
    two_passes = """void f(float q[], int size, float epsilon) {
      "PRECONDITION: ONE_DIFFER";
      for (int i = 0; i < size; i++) { CHECKDP_OUTPUT(q[i] + Lap(1 / epsilon)); }
      for (int i = 0; i < size; i++) { CHECKDP_OUTPUT(q[i] + Lap(3 / epsilon)); }
    }"""
    assert weighed(two_passes, size=3).bounds.best == Fraction(4, 3)


@pytest.mark.parametrize("index", ["0 * i", "i * 2", "N - i"])
def test_entries_of_any_index(index):
    text = function(
        f"for (int i = 0; i < size; i++) {{ CHECKDP_OUTPUT(q[{index}] + Lap(1 / epsilon)); }}",
        said='"PRECONDITION: ONE_DIFFER";',
    )
    assert weighed(text.replace("i < size", "i < 3"), N=2).bounds.best == (3 if index == "0 * i" else 1)
    with pytest.raises(InvalidInput):
        c.automaton(c.read(text, given={"N": 2}))


def test_an_index_may_go_down():
    text = function(
        "for (int i = N; i >= 0; i--) { CHECKDP_OUTPUT(q[i] + Lap(1 / epsilon)); }",
        said='"PRECONDITION: ONE_DIFFER";',
    )
    assert weighed(text, N=3).bounds.best == 1
    assert outputs(text, [Fraction(k) for k in range(4)], [Fraction(0)] * 2, N=3) == [3, 2, 1, 0]


def test_entries_that_are_not_used_are_passed_over():
    text = """void f(float q[], int size, float epsilon) {
      "PRECONDITION: ONE_DIFFER";
      for (int i = 0; i < size; i += 3) { CHECKDP_OUTPUT(q[i] + Lap(1 / epsilon)); }
    }"""
    automaton = c.automaton(c.read(text)).automaton
    assert sorted((s.is_input, s.draws) for s in automaton.states if s.name != "end") == [
        (True, False),
        (True, False),
        (True, True),
    ]
    assert weighed(text).bounds.best == 1


def test_what_does_not_matter_is_not_computed():
    text = function(
        "int count = 0; float sum = 0; float best = 0;",
        "for (int i = 0; i < size; i++) {",
        "  float noise = Lap(1 / epsilon);",
        "  count++;  sum += q[i];",
        "  if (noise > best) { best = noise; }",
        "  CHECKDP_OUTPUT(N);",
        "}",
    )
    assert len(c.automaton(c.read(text, given={"N": 1})).automaton.states) == 1


def test_known_conditions_come_first():
    text = function(
        "float x = Lap(1 / epsilon);",
        "int yes = 0;",
        "if (q[0] + x > 0 || N == 1) { yes = 1; }",
        "if (N == 2 && q[0] + x > 0) { yes = 1; }",
        "return yes;",
    )
    automaton = c.automaton(c.read(text, given={"N": 1})).automaton
    assert [str(t.output) for t in automaton.transitions] == ["_1"]
    assert weighed(text, N=1).bounds.best == 0


def test_nothing_is_shown_while_the_stream_goes_on():
    text = function(
        "float sum = 0;", "for (int i = 0; i < size; i++) sum += q[i];", "return sum + Lap(N / epsilon);"
    )
    assert notes(text, N=1) == ["nothing is ever shown: the stream has no end; --set size=5 gives it one"]
    assert weighed(text, N=1).bounds.best == 0
    assert weighed(text, N=1, size=4).bounds.best == 4


SHADOW = """int shadow(float epsilon, int size, float q[]) {
  "ALL_DIFFER; assume(size > 0);";
  "epsilon: <0, 0>; size: <0, 0>; q: <*, *>";
  %s out = 0;
  for (int i = 0; i < size; i++) { out = q[i] + Lap(2.0 / epsilon, "ALIGNED; 1;"); }
  return out;
}
"""


def test_lists_of_shadowdp():
    """Every entry counts where they are listed; else only the last value is shown."""
    assert weighed(SHADOW % "float", size=4).bounds.best == 2
    assert notes(SHADOW % "float", size=4) == [
        "every value that out gets is an output, as in the lists of ShadowDP"
    ]
    other = (SHADOW % "float").replace("out", "last")
    assert weighed(other, size=4).bounds.best == Fraction(1, 2)
    assert notes(other, size=4) == []


def test_an_int_may_hold_noise():
    text = function("int x = q[0] + Lap(N / epsilon);", "return x;")
    assert notes(text, N=1) == ["4:9: an int is read as a real number: x holds a noisy value"]
    assert weighed(text, N=1).bounds.best == 1


def test_a_function_is_chosen_by_name():
    two = "int f(float q[], float epsilon) { return 1; } int g(float q[], float epsilon) { return 2; }"
    assert c.read(two, "g").name == "g"
    with pytest.raises(InvalidInput, match="there is no function 'h'; there are f, g"):
        c.read(two, "h")


def test_names_of_inner_blocks_are_their_own():
    text = function(
        "int x = 1;", "{ int x = 2; { int x = 3; CHECKDP_OUTPUT(x); } CHECKDP_OUTPUT(x); }", "return x;"
    )
    assert outputs(text, [], N=1) == [3, 2, 1]


# ------------------------------------------------------------------------- the files of CheckDP and ShadowDP


PEERS = ROOT.parent / "shared" / "peer"
"""Where the files are, if they are here: they are not part of this project."""

LEAKS, OPEN = "not private", "not well-formed"
FIVE = {"size": 5, "NN": 1}
SILENT = 0
"""The bound on ``D`` of what shows nothing, as it never ends."""

ANSWERS = {
    "checkdp/adaptivesparsevector.c": (1, 1),
    "checkdp/badadaptivesparsevector.c": (OPEN, Fraction(13, 8)),
    "checkdp/badgapsparsevector.c": (LEAKS, Fraction(5, 4)),
    "checkdp/badnoisymax.c": (SILENT, Fraction(5, 2)),
    "checkdp/badpartialsum.c": (SILENT, 2),
    "checkdp/badsmartsum.c": (LEAKS, LEAKS),
    "checkdp/badsparsevector1.c": (LEAKS, LEAKS),
    "checkdp/badsparsevector2.c": (LEAKS, Fraction(5, 2)),
    "checkdp/badsparsevector3.c": (Fraction(7, 4), Fraction(7, 4)),
    "checkdp/gapsparsevector.c": (1, 1),
    "checkdp/noisymax.c": (SILENT, 1),
    "checkdp/numsparsevector.c": (1, 1),
    "checkdp/partialsum.c": (SILENT, 1),
    "checkdp/smartsum.c": (2, 2),
    "checkdp/sparsevector.c": (1, 1),
    "checkdp/svt_decreasing.c": (1, 1),
    "checkdp/svt_increasing.c": (1, 1),
    "shadowdp/gapsparsevector.c": (1, 1),
    "shadowdp/noisymax.c": (SILENT, 1),
    "shadowdp/numsparsevector.c": (1, 1),
    "shadowdp/numsparsevectorN.c": (1, 1),
    "shadowdp/partialsum.c": (SILENT, 1),
    "shadowdp/prefixsum.c": (1, 1),
    "shadowdp/smartsum.c": (2, 2),
    "shadowdp/sparsevector.c": (1, 1),
    "shadowdp/sparsevectorN.c": (1, 1),
}
"""The best bound on ``D`` without parameters, and with :data:`FIVE`."""


def peer(name: str) -> str:
    if not (PEERS / name).exists():
        pytest.skip("the files of CheckDP and ShadowDP are not here")
    return (PEERS / name).read_text(encoding="utf-8")


def answer(text: str, **given: object) -> object:
    result = weighed(text, **given)
    if result.verdict is Verdict.NOT_PRIVATE:
        return LEAKS
    if result.verdict is Verdict.NOT_WELL_FORMED:
        return OPEN
    assert result.bounds.best == result.bounds.lower
    return result.bounds.best


@pytest.mark.parametrize("name", ANSWERS)
def test_files_of_checkdp_and_shadowdp(name):
    text = peer(name)
    assert (answer(text), answer(text, **FIVE)) == ANSWERS[name]


def test_all_their_files_are_here():
    if not PEERS.exists():
        pytest.skip("the files of CheckDP and ShadowDP are not here")
    found = {f"{path.parent.name}/{path.name}" for path in PEERS.glob("*dp/*.c")}
    assert found == ANSWERS.keys()


@pytest.mark.parametrize(
    ("name", "given", "wanted"),
    [
        ("badsparsevector1", {"size": 1}, Fraction(1, 2)),
        ("badsparsevector1", {"size": 2}, LEAKS),
        ("badsparsevector3", {"NN": 2}, Fraction(13, 4)),
        ("badsmartsum", {"T": 0, "M": 2}, 1),
        ("badsmartsum", {"T": 1, "M": 2}, LEAKS),
        ("badsmartsum", {"T": 2, "M": 4, "size": 5}, 1),
        ("badsmartsum", {"T": 3, "M": 4, "size": 5}, LEAKS),
        ("smartsum", {"M": 3}, 2),
        ("sparsevector", {"NN": 3}, 1),
    ],
)
def test_files_of_checkdp_with_other_parameters(name, given, wanted):
    assert answer(peer(f"checkdp/{name}.c"), **given) == wanted


def test_the_command_knows_the_claim_and_who_is_adjacent(run, tmp_path):
    file = tmp_path / "svt.c"
    file.write_text(SPARSE % ("INCREASING", 2, 1), encoding="utf-8")
    done = run("check", str(file), "--set", "size=3", "--set", "T=0", "--set", "NN=1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "private, D = 1" in done.stdout
    assert "all of them up or all of them" in done.stdout
    file.write_text(SPARSE % ("ALL_DIFFER", 2, 1), encoding="utf-8")
    for command in ("check", "weight"):
        done = run(command, str(file))
        assert done.returncode == 1
        assert "above the budget of 1: a run proves that D is at least 3/2" in done.stdout
    assert run("check", str(file), "--max-weight", "2").returncode == 0
    done = run("weight", "--adjacency", "monotone", str(file))
    assert done.returncode == 0
    done = run("check", "--differ", "entries=1", str(file))
    assert (done.returncode, "one entry differs" in done.stdout) == (0, True)


def test_the_command_says_what_is_wrong(run, tmp_path):
    file = tmp_path / "svt.c"
    file.write_text(function("y = 3;", "return x;"), encoding="utf-8")
    done = run("check", str(file), "--set", "N=1")
    assert done.returncode == 2
    assert [line.partition(" ")[0] for line in done.stderr.splitlines()] == [f"{file}:4:1:", f"{file}:5:8:"]
    done = run("check", f"{file}:g")
    assert "there is no function 'g'" in done.stderr
    assert run("check", str(tmp_path / "none.c")).returncode == 2


# ---------------------------------------------------------------------------------------- in words of C

LOOP = "int i = 0; while (i < size) {{ {} i = i + 1; }}"
UNLUCKY = LOOP.format("if (q[i] + Lap(1 / epsilon) > 0) { if (N > 5) { CHECKDP_OUTPUT(1); } }")
NOISY = "float x = q[0] + Lap(1 / epsilon);"


@pytest.mark.parametrize(
    ("line", "given", "said"),
    [
        (UNLUCKY, {"N": 1}, "4:5: no run comes to an output with N=1; --set gives other parameters"),
        (UNLUCKY, {"N": 1, "size": 3}, "4:5: no run comes to an output with N=1, size=3; --set gives"),
        (LOOP.format("CHECKDP_OUTPUT(q[i]);"), {"size": 0}, "4:5: no run comes to an output with size=0"),
        (f"{NOISY} CHECKDP_OUTPUT(x % 2);", {}, "% has a noisy value on one side; sums, differences"),
        ("CHECKDP_OUTPUT(5 % q[0]);", {}, "% has an input on one side; sums, differences"),
        (f"{NOISY} CHECKDP_OUTPUT(q[x]);", {}, "q[...] has a noisy value as its index; which entry is read"),
        (f"{NOISY} if (x == 3) {{ CHECKDP_OUTPUT(1); }}", {}, "compare with < or >= (only where noise is"),
        (f"{NOISY} if (x) {{ CHECKDP_OUTPUT(1); }}", {}, "compare with < or >= (only where noise is"),
        (f"{NOISY} CHECKDP_OUTPUT(x * x);", {}, "a noisy value is multiplied by a noisy value"),
        (f"{NOISY} CHECKDP_OUTPUT(1 / x);", {}, "a number is divided by a noisy value"),
        (f"{NOISY} CHECKDP_OUTPUT(Lap(x / epsilon));", {}, "/ has epsilon on one side"),
        ("int c = 0; " + LOOP.format("c = c + 1; CHECKDP_OUTPUT(q[i] + c);"), {}, "c takes ever more values"),
    ],
)
def test_nothing_is_said_in_words_of_python(line, given, said):
    with pytest.raises(InvalidInput) as caught:
        c.automaton(c.read(function(line, said='"PRECONDITION: ALL_DIFFER";'), given=given, source="f.c"))
    (problem,) = caught.value.problems
    assert said in str(problem)
    assert not any(word in str(problem) for word in ("yield", "divmod", "laplace(", "@mechanism", "except:"))


def test_what_is_refused_before_anything_is_shown_is_told():
    text = function(LOOP.format("if (q[i] + Lap(3) > 0) { CHECKDP_OUTPUT(1); }"))
    with pytest.raises(InvalidInput, match="the scale of noise is 3, which does not depend on epsilon"):
        c.automaton(c.read(text, given={"N": 1}, source="f.c"))


def test_a_hint_for_a_file_with_a_large_suffix_is_one_for_c(tmp_path):
    file = tmp_path / "FOREVER.C"
    file.write_text(
        function(LOOP.format("CHECKDP_OUTPUT(q[i] + Lap(1 / epsilon));"), said='"PRECONDITION: ALL_DIFFER";'),
        encoding="utf-8",
    )
    hints = symdipa.hints(symdipa.check(read_program(str(file))))
    changes = [change.after for hint in hints for change in hint.changes]
    assert "--differ entries=1" in changes and not any("@mechanism" in change for change in changes)


def test_a_variable_is_called_after_the_first_of_those_that_hold_it(tmp_path):
    """Not after any of them: certificates are about one automaton, whichever process reads the file."""
    names = "hgfedcba"
    path = tmp_path / "same.c"
    lines = [f"float {name} = 0;" for name in names]
    lines += ["float t = Lap(2 / epsilon);", *(f"{name} = t;" for name in names)]
    lines += [f"if (q[0] + Lap(4 / epsilon) >= {name}) {{ CHECKDP_OUTPUT(1); }}" for name in names]
    path.write_text(function(*lines, "CHECKDP_OUTPUT(0);"), encoding="utf-8")
    assert read_program(str(path), {"size": 3}).variables == ("a",)
