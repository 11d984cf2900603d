"""Programs that cannot be followed: each is refused with its line, what was seen and what to do."""

from __future__ import annotations

import textwrap

import pytest

from symdipa import InvalidInput
from symdipa.programs.loading import read_program

HEAD = "from symdipa import exponential, laplace, mechanism\n"

SVT = """\
def svt(queries, *, c=1):
    t = laplace(2)
    for q in queries:
        noisy = q + laplace(4 * c)
        {}
        if noisy >= t:
            yield "high"
            return
        yield "low"
"""


def in_svt(line: str, above: str = "", decorator: str = "@mechanism") -> str:
    """The sparse vector technique with one more line (the eighth of the file, if nothing is above)."""
    lines = textwrap.dedent(line).strip().replace("\n", "\n" + " " * 8)
    return f"{HEAD}{above}{decorator}\n{SVT.format(lines)}"


def body(text: str, above: str = "") -> str:
    return f"{HEAD}{above}@mechanism\n{textwrap.dedent(text).lstrip()}"


CASES = {
    "product": (in_svt("noisy = noisy * t"), 7, "multiplied by a noisy value", "2 * q"),
    "quotient": (in_svt("noisy = noisy / t"), 7, "divided by a noisy value", "q / 2"),
    "number over noise": (in_svt("noisy = 1 / noisy"), 7, "a number is divided by a noisy", "a < 2 * b"),
    "division by zero": (in_svt("noisy = noisy / 0"), 7, "divided by 0", "another number"),
    "power": (in_svt("noisy = noisy ** 2"), 7, "operand of **", "sums, differences"),
    "remainder": (in_svt("noisy = noisy % 2"), 7, "operand of **, //, %", "sums, differences"),
    "floor division": (in_svt("noisy = noisy // 2"), 7, "operand of **, //, %", "sums, differences"),
    "int": (in_svt("noisy = int(noisy)"), 7, "int() of a noisy value", "integer noise"),
    "round": (in_svt("noisy = round(noisy)"), 7, "round() of a noisy value", "integer noise"),
    "floor": (in_svt("noisy = math.floor(noisy)", "import math\n"), 8, "floor() of a noisy value", "integer"),
    "square root": (in_svt("noisy = math.sqrt(noisy)", "import math\n"), 8, "turned into a float", "sums"),
    "float": (in_svt("noisy = float(noisy)"), 7, "turned into a float", "can be left out"),
    "position": (in_svt("x = ['a', 'b'][noisy]"), 7, "used as a position", "compare it"),
    "count": (in_svt("for _ in range(noisy): pass"), 7, "used as a position or a count", "compare it"),
    "condition": (in_svt("if noisy: yield 'x'"), 7, "stands as a condition", "noisy >= 0"),
    "condition of a loop": (in_svt("while noisy: pass"), 7, "stands as a condition", "noisy >= 0"),
    "and": (in_svt("x = noisy and t"), 7, "stands as a condition", "compare it"),
    "equality": (in_svt("if noisy == t: yield 'x'"), 7, "==", "compare with < or >="),
    "inequality": (in_svt("if noisy != t: yield 'x'"), 7, "==", "with the largest so far"),
    "equality of tuples": (in_svt("if (noisy, 1) == (t, 1): yield 'x'"), 7, "==", "compare with < or >="),
    "member of a list": (in_svt("if noisy in [1, 2]: yield 'x'"), 7, "==", "compare with < or >="),
    "key": (in_svt("seen = {noisy: 1}"), 7, "a key of a dictionary", "in a list"),
    "member of a set": (in_svt("seen = {noisy}"), 7, "a member of a set", "in a list"),
    "format": (in_svt("yield f'{noisy}'"), 7, "turned into text", "yield noisy"),
    "str": (in_svt("yield str(noisy)"), 7, "turned into text", "yield noisy"),
    "repr": (in_svt("yield repr(noisy)"), 7, "turned into text", "yield noisy"),
    "text and noise": (in_svt("yield 'x' + noisy"), 7, "type str", "numbers"),
    "None and noise": (in_svt("noisy = noisy + None"), 7, "None on the other", "numbers"),
    "is": (in_svt("if noisy is t: yield 'x'"), 7, "'is' asks", "=="),
    "type": (in_svt("x = type(noisy)"), 7, "type()", "compare values"),
    "isinstance": (in_svt("if isinstance(noisy, float): yield 'x'"), 7, "isinstance()", "compare values"),
    "id": (in_svt("x = id(noisy)"), 7, "id()", "compare values"),
    "print": (in_svt("print(count)"), 7, "print()", "yield it"),
    "input": (in_svt("x = input()"), 7, "input()", "make it one"),
    "open": (in_svt("x = open('x')"), 7, "open()", "make it one"),
    "eval": (in_svt("x = eval('noisy')"), 7, "eval()", "write it out"),
    "exec": (in_svt("exec('x = 1')"), 7, "exec()", "write it out"),
    "locals": (in_svt("x = locals()"), 7, "locals()", "write it out"),
    "iteration": (in_svt("for x in noisy: pass"), 7, "as if it were a list", "stream"),
    "unpacking": (in_svt("x, y = noisy"), 7, "as if it were a list", "stream"),
    "random": (in_svt("x = random.random()", "import random\n"), 8, "random does not do the same", "laplace"),
    "random by name": (in_svt("x = gauss(0, 1)", "from random import gauss\n"), 8, "random", "laplace"),
    "numpy": (in_svt("noisy = np.abs(noisy)", "import numpy as np\n"), 8, "numpy", "laplace"),
    "time": (in_svt("x = time.time()", "import time\n"), 8, "time does not do the same", "parameter"),
    "environment": (in_svt("x = os.environ", "import os\n"), 8, "os does not do the same", "parameter"),
    "threads": (
        in_svt("threading.Thread().start()", "import threading\n"), 8, "threading", "after the other",
    ),
    "import inside": (in_svt("import math"), 7, "in the course of a run", "on top"),
    "global": (in_svt("global n\nn = 1"), 7, "global n lasts", "local variable"),
    "list outside": (in_svt("seen.append(1)", "seen = []\n"), None, "seen was changed", "local variable"),
    "generator outside": (
        in_svt("yield next(seen)", "seen = (i for i in range(9))\n"),
        None, "seen was changed", "local variable",
    ),
    "counter outside": (
        in_svt("yield next(seen)", "import itertools\nseen = itertools.count()\n"),
        None, "seen was changed", "local variable",
    ),
    "item outside": (in_svt("seen['x'] = 1", "seen = {}\n"), 8, "seen is changed", "local variable"),
    "attribute outside": (
        in_svt("box.x = 1", "class Box: pass\nbox = Box()\n"), 9, "box is changed", "local variable",
    ),
    "exceptions": (
        in_svt("try:\n    x = 1\nexcept Exception:\n    pass"), 7, "exceptions are caught", "leave out",
    ),
    "finally": (in_svt("try:\n    x = 1\nfinally:\n    pass"), 7, "exceptions are caught", "leave out"),
    "with": (
        in_svt("with suppress(): pass", "from contextlib import suppress\n"), 8, "'with'", "leave it out",
    ),
    "raise": (in_svt("raise ValueError('no')"), 7, "ValueError is raised: no", "must not end like this"),
    "assert": (in_svt("assert noisy >= t"), 7, "AssertionError is raised", "must not end like this"),
    "mutable default": (
        body("""
            def svt(queries, *, seen=[]):
                for q in queries:
                    seen.append(1)
                    yield q + laplace(1)
        """),
        3, "a default of svt can be changed", "use a tuple",
    ),
    "recursion": (
        body("""
            def svt(queries):
                yield again(next(queries))
        """, "def again(n):\n    return again(n + 1)\n"),
        3, "functions call each other without an end", "a loop instead",
    ),
    "async": (body("async def svt(queries):\n    yield next(queries)\n"), 3, "asynchronous", "without async"),
    "class inside": (in_svt("class Pair:\n    pass"), 7, "the class Pair is made anew", "outside"),
    "sent values": (
        body("""
            def svt(queries):
                for q in queries:
                    x = yield q + laplace(1)
        """),
        5, "what is sent", "stand alone",
    ),
    "returned value": (
        body("""
            def svt(queries):
                yield next(queries) + laplace(1)
                return 1
        """),
        5, "a value is returned", "yield it",
    ),
    "sum of noise compared": (
        body("""
            def svt(queries):
                t = laplace(3)
                for q in queries:
                    x = laplace(1) + laplace(2) + q
                    yield x >= t
        """),
        7, "a sum of noisy values is compared", "one noisy value on each side",
    ),
    "sum of noise shown": (
        body("""
            def svt(queries):
                for q in queries:
                    yield laplace(1) + laplace(2) + q
        """),
        5, "a sum of noisy values is shown", "one by one",
    ),
    "multiple compared": (
        in_svt("if 2 * noisy >= t: yield 'x'"), 7, "multiples of noisy values are compared", "each side",
    ),
    "growing counter": (
        body("""
            def svt(queries):
                i = 0
                for q in queries:
                    i += 1
                    if q + laplace(1) >= 3:
                        yield i
        """),
        None, "i takes ever more values (", "some value of i",
    ),
    "growing list of noise": (
        body("""
            def svt(queries):
                found = []
                for q in queries:
                    found.append(q + laplace(1))
                yield max(found)
        """),
        6, "found takes ever more values ([a noisy value or an input], [2 noisy values or inputs], [3 ",
        "keep it out",
    ),
    "list of an endless stream": (
        body("""
            def svt(queries):
                noisy = [q + laplace(2) for q in queries]
                yield max(noisy)
        """),
        4, "[q + laplace(2) for q in queries] takes ever more entries of queries (1, 2, 3, ...), and shows",
        "--set queries=5, or use each in a loop: for q in queries",
    ),
    "list made by a function": (
        body("""
            def svt(queries):
                yield max(collected(queries))
        """, "def collected(queries):\n    return [q + laplace(2) for q in queries]\n"),
        3, "[q + laplace(2) for q in queries] takes ever more entries of queries", "--set queries=5",
    ),
    "dictionary of an endless stream": (
        body("""
            def svt(queries):
                noisy = {i: q + laplace(2) for i, q in enumerate(queries)}
                yield noisy[0]
        """),
        4, "{i: q + laplace(2) for i, q in enumerate(queries)} takes ever more entries", "--set queries=5",
    ),
    "sum of an endless stream": (
        body("def svt(queries):\n    yield sum(queries) + laplace(1)\n"),
        4, "sum(queries) takes ever more entries of queries (1, 2, 3, ...)", "--set queries=5",
    ),
    "count of an endless stream": (
        body("def svt(queries):\n    yield sum(1 for q in queries)\n"),
        4, "sum(1 for q in queries) takes ever more entries of queries", "--set queries=5",
    ),
    "largest of an endless stream": (
        body("def svt(queries):\n    yield max(q + laplace(2) for q in queries)\n"),
        4, "max(q + laplace(2) for q in queries) takes ever more entries of queries", "--set queries=5",
    ),
    "order of an endless stream": (
        body("def svt(queries):\n    yield sorted(q + laplace(2) for q in queries)\n"),
        4, "sorted(q + laplace(2) for q in queries) takes ever more entries of queries", "--set queries=5",
    ),
    "search in an endless stream": (
        body("def svt(queries):\n    yield any(q + laplace(2) >= 3 for q in queries)\n"),
        4, "any(q + laplace(2) >= 3 for q in queries) takes ever more entries of queries", "for q in queries",
    ),
    "map of an endless stream": (
        body("""
            def svt(queries):
                noisy = map(lambda q: q + laplace(2), queries)
                yield max(noisy)
        """),
        5, "max(noisy) takes ever more entries of queries", "--set queries=5",
    ),
    "rest of an endless stream": (
        body("""
            def svt(queries):
                first, *rest = queries
                yield first + laplace(1)
        """),
        4, "first, *rest takes ever more entries of queries", "--set queries=5",
    ),
    "largest of a generator": (
        body("""
            def svt(queries):
                def noisy():
                    for q in queries:
                        yield q + laplace(2)
                yield max(noisy())
        """),
        7, "max(noisy()) takes ever more entries of queries", "--set queries=5",
    ),
    "loop inside of an expression": (
        body("""
            def svt(queries):
                yield 1 + waited(queries)
        """, "def waited(queries):\n    while next(queries) + laplace(1) > 0:\n        pass\n    return 1\n"),
        8, "waited(queries) takes ever more entries of queries", "for q in queries",
    ),
    "noise without end": (
        body("""
            def svt(queries):
                noise = [laplace(2) for _ in itertools.count()]
                yield next(queries) + noise[0]
        """, "import itertools\n"),
        5, "[laplace(2) for _ in itertools.count()] makes ever more noise (1, 2, 3, ... times)", "let it end",
    ),
    "questions without end": (
        body("""
            def svt(queries):
                noisy = next(queries) + laplace(2)
                yield next(i for i in itertools.count() if noisy < i)
        """, "import itertools\n"),
        6, "next(i for i in itertools.count() if noisy < i) asks ever more questions (1, 2, 3,", "a loop",
    ),
    "too many orders": (
        body("""
            def svt(queries):
                noisy = [next(queries) + laplace(2) for _ in range(7)]
                yield sorted(range(7), key=lambda i: noisy[i])[-1]
        """),
        5, "sorted(range(7), key=lambda i: noisy[i]) can come out in more than 1000 ways", "max() for the",
    ),
    "growing list": (
        body("""
            def svt(queries):
                seen = ()
                for q in queries:
                    seen = (*seen, "x")
                    yield q + laplace(1), len(seen)
        """),
        None, "seen takes ever more values (", "keep it out",
    ),
    "idle loop": (
        body("""
            def svt(queries):
                q = next(queries)
                while True:
                    x = q
                yield x
        """),
        None, "statements were run in which nothing is read", "does this loop end",
    ),
    "nothing shown": (
        body("""
            def svt(queries):
                for q in queries:
                    x = q + laplace(1)
        """),
        None, "it shows nothing", "yield",
    ),
    "thresholds as a second stream": (
        body("""
            def svt(queries, thresholds):
                r = laplace(2)
                for q, t in zip(queries, thresholds):
                    if q + laplace(4) >= t + r:
                        yield "high"
                        return
                    yield "low"
        """),
        6, "a noisy value plus an input without noise is compared", "let the entries be q - t",
    ),
    "threshold of the round": (
        body("""
            def svt(queries):
                r, i = laplace(2), 0
                for q in queries:
                    i += 1
                    if q + laplace(4) >= 3 * i + r:
                        yield "high"
                        return
                    yield "low"
        """),
        7, "i takes ever more values (2, 3, 4, ...)", "before the run: let the entries be q - t",
    ),
    "scale of noise": (in_svt("x = laplace(0)"), 7, "the scale of noise is 0", "positive number"),
    "negative scale": (in_svt("x = laplace(-1)"), 7, "the scale of noise is -1", "positive number"),
    "scale by an input": (
        in_svt("x = laplace(2 * s)").replace("queries,", "queries, s,"),
        7, "the scale of noise is an input", "has a default, as in scale=2",
    ),
    "scale that is an input": (
        in_svt("x = laplace(s)").replace("queries,", "queries, s,"),
        7, "the scale of noise is an input", "stands behind a *",
    ),
    "number over a parameter": (
        in_svt("x = laplace(2 / share)").replace("queries,", "queries, share,"),
        7, "a number is divided by share, which is an input", "has a default",
    ),
    "noisy scale": (in_svt("x = laplace(noisy)"), 7, "the scale of noise is a noisy value", "known"),
    "shown dictionary": (in_svt("yield {'a': 1}"), 7, "a value of type dict is shown", "tuples and lists"),
    "unread parameter": (
        body("""
            def svt(queries, *, c=1):
                for q in queries:
                    yield q + laplace(1)
        """),
        2, "the parameter c is never read", "leave it out",
    ),
    "unset parameter": (
        body("""
            def svt(queries, *, c):
                for q in queries:
                    yield q + laplace(c)
        """),
        2, "the parameter c has no value", "--set c=3",
    ),
    "any parameters": (
        body("""
            def svt(*queries):
                for q in queries:
                    yield q + laplace(1)
        """),
        2, "takes any number of values", "one by one",
    ),
    "length": (
        body("""
            def svt(queries):
                yield len(queries)
        """),
        4, "the length of queries is not known", "--set queries=5",
    ),
    "looped over twice": (
        body("""
            def svt(queries):
                for q in queries:
                    yield q + laplace(1)
                for q in queries:
                    yield q + laplace(1)
        """),
        6, "queries is used again", "iter(queries)",
    ),
    "back in a list": (
        body("""
            def svt(queries):
                x = queries[1] + laplace(1)
                yield x
                yield queries[0] + laplace(1)
        """),
        6, "queries[0] is asked for after queries[1]", "in a variable",
    ),
    "list and stream": (
        body("""
            def svt(queries):
                yield queries[0] + laplace(1)
                yield next(queries) + laplace(1)
        """),
        5, "as a list and as a stream", "one of them",
    ),
    "syntax": (f"{HEAD}@mechanism\ndef svt(queries:\n", 3, "this is not Python", ""),
    "no mechanism": (f"{HEAD}def svt(queries):\n    yield 1\n", None, "no mechanism", "@symdipa.mechanism"),
    "fails to load": (f"{HEAD}import no_such_module\n", 2, "ModuleNotFoundError", "no_such_module"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_program_is_refused_with_its_line_and_a_remedy(name, tmp_path):
    text, line, seen, remedy = CASES[name]
    file = tmp_path / "svt.py"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        read_program(str(file))
    problem = caught.value.problems[0]
    assert seen in problem.message
    assert remedy in problem.message
    if line is not None:
        assert problem.position is not None
        assert problem.position.line == line


def test_all_that_shows_in_the_text_is_told_at_once(tmp_path):
    file = tmp_path / "svt.py"
    file.write_text(in_svt("x = id(noisy)\ny = eval('1')\nz = t is noisy"), encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        read_program(str(file))
    assert [problem.position.line for problem in caught.value.problems] == [7, 8, 9]


def test_settings_noise_and_text_are_told_at_once(tmp_path):
    file = tmp_path / "svt.py"
    text = body("""
        def svt(queries, *, c=1, d):
            t = laplace(scale=2, loc=0)
            print(t)
            for q in queries:
                yield q + laplace() >= t + exponential(1, 2) + symdipa.laplace(1, x=1) + c
    """, "import symdipa\n")  # fmt: skip
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        read_program(str(file), {"e": 1})
    told = [(problem.position.line, problem.message) for problem in caught.value.problems]
    assert [line for line, _ in told] == [3, 3, 5, 6, 8, 8, 8]
    for (_, message), words in zip(
        told,
        [
            "svt has no parameter e",
            "the parameter d is never read",
            "laplace takes a scale and nothing else, as in laplace(2); leave out loc",
            "print()",
            "laplace has no scale; give it one",
            "exponential takes a scale and nothing else, as in exponential(2); leave out 2",
            "leave out x",
        ],
        strict=True,
    ):
        assert words in message


@pytest.mark.parametrize("parameters", ["queries, eps, c=2", "queries, eps=0.5, c=2", "queries, *, eps, c=2"])
def test_eps_is_no_parameter(parameters, tmp_path):
    file = tmp_path / "svt.py"
    text = body(f"""
        def svt({parameters}):
            t = laplace(2 / eps)
            for q in queries:
                yield q + laplace(scale=4 / eps * c) >= t
    """)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        read_program(str(file))
    (told,) = map(str, caught.value.problems)
    assert told == (
        f"3:{9 + parameters.index('eps')}: eps is no parameter of a mechanism: laplace(2) has scale 2/eps, "
        "and the answer is for every eps; leave it out, and put 1 in its place: laplace(2) in line 4 and "
        "laplace(4 * c) in line 6 [setting]"
    )


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        (
            "half = epsilon / 2\n    t = laplace(1 / half)",
            "leave it out, and put 1 in its place; or give it another",
        ),
        ("t = laplace(2)", "leave it out"),
        ("t = max(laplace(1, epsilon) for _ in range(2))", "in its place: laplace(1) in line 4"),
        (
            "t = laplace(1 / (epsilon / 3)) + laplace(3) * epsilon",
            "in its place: laplace(1 / (1 / 3)) in line 4",
        ),
        (
            "\n    ".join(f"t{k} = laplace({k} / epsilon)" for k in range(2, 7)),
            "in its place: laplace(2) in line 4, laplace(3) in line 5, laplace(4) in line 6 and so on",
        ),
    ],
)
def test_how_noise_is_written_without_epsilon(line, remedy, tmp_path):
    file = tmp_path / "svt.py"
    text = f"{HEAD}@mechanism\ndef svt(queries, epsilon):\n    {line}\n    yield next(queries) + laplace(1)\n"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match="epsilon is no parameter") as caught:
        read_program(str(file))
    assert remedy in caught.value.problems[0].message


def test_eps_is_not_set(tmp_path):
    file = tmp_path / "svt.py"
    file.write_text(in_svt("pass"), encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        read_program(str(file), {"eps": 1})
    assert [str(problem) for problem in caught.value.problems] == [
        "2:1: eps is not set: the answer is for every eps [setting]"
    ]


def test_wrong_options_are_told_at_once(tmp_path):
    file = tmp_path / "svt.py"
    decorator = "@mechanism(differ='nobody', integer=3, halt='never', hlt='visible')"
    file.write_text(in_svt("pass", decorator=decorator), encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        read_program(str(file))
    assert [str(problem) for problem in caught.value.problems] == [
        "2:1: which entries differ is all, entries=K, window=W or pattern=RE, not 'nobody' [option]",
        "2:1: integer is True or False, not 3 [option]",
        "2:1: halt is 'hidden' or 'visible', not 'never' [option]",
        "2:1: there is no option 'hlt'; did you mean halt? [option]",
    ]


def test_a_name_is_needed_where_there_are_several(tmp_path):
    file = tmp_path / "two.py"
    names = ("first", "second")
    texts = (f"@mechanism\ndef {name}(q):\n    yield q + laplace(1)\n" for name in names)
    file.write_text(HEAD + "".join(texts), encoding="utf-8")
    with pytest.raises(InvalidInput, match="several mechanisms: first, second; name one"):
        read_program(str(file))
    assert read_program(f"{file}:second").name == "second"
    with pytest.raises(InvalidInput, match="no mechanism secnod is in this file; did you mean second"):
        read_program(f"{file}:secnod")


def test_what_a_program_may_do_all_the_same(tmp_path):
    """Comparisons with infinity, None and texts, and loops with known values."""
    file = tmp_path / "svt.py"
    file.write_text(
        body("""
            def svt(queries, *, k=3):
                best, index = -math.inf, None
                for i in range(k):
                    noisy = next(queries) + laplace(2)
                    if noisy > best and noisy != "x" and noisy is not None:
                        best, index = noisy, i
                yield index
        """, "import math\n"),
        encoding="utf-8",
    )  # fmt: skip
    assert len(read_program(str(file)).states) == 5
