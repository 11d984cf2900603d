"""Python, and notebooks: all that the commands do, results that show themselves, help that is true."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from base64 import b64decode
from fractions import Fraction
from math import inf

import pytest
from click.testing import CliRunner
from conftest import EXAMPLES, ROOT

import symdipa
from symdipa import log_probability
from symdipa import total_log_probability as probability
from symdipa.interface import showing
from symdipa.interface.cli import cli

SVT, LEAKY = EXAMPLES / "well_formed" / "svt.dipa", EXAMPLES / "leaking_pair" / "a_leakp.dipa"


def printed(*arguments: str) -> str:
    """What a command prints, with the name that Python has for the file."""
    text = CliRunner().invoke(cli, [str(word) for word in arguments]).stdout.rstrip("\n")
    return re.sub(r"^\S*/(\w+)\.dipa", r"\1", text)


def test_printing_a_result_is_the_report_of_the_command():
    assert printed("check", SVT) == str(symdipa.check(symdipa.load(SVT)))
    assert printed("check", LEAKY) == str(symdipa.check(symdipa.load(LEAKY)))
    assert printed("weight", SVT) == str(symdipa.weigh(symdipa.load(SVT)))
    leaky = symdipa.check(symdipa.load(LEAKY))
    assert printed("witness", "--no-hints", LEAKY) == symdipa.text(leaky, "witness")
    with pytest.raises(ValueError, match="no report 'bounds'; there are check, weight, witness"):
        symdipa.text(leaky, "bounds")


def test_a_result_has_one_line_in_a_list():
    results = [symdipa.check(symdipa.load(path)) for path in (SVT, LEAKY)]
    assert repr(results) == (
        "[<Result svt: private, D = 5/4 (corollary bound)>, <Result a_leakp: not private: leaking pair>]"
    )


def test_a_notebook_shows_the_report_and_a_picture(monkeypatch: pytest.MonkeyPatch):
    from symdipa.interface.pictures import automaton as pictures

    result = symdipa.check(symdipa.load(LEAKY))
    shown = result._repr_html_()
    assert "<pre>a_leakp: not private: leaking pair" in shown and "-&gt;" in shown
    (data,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', shown)
    assert b64decode(data).decode() == symdipa.picture(result)
    assert symdipa.picture(result) != symdipa.picture(symdipa.load(LEAKY))

    def too_large(*_: object) -> None:
        raise pictures.PictureTooLarge("too many states")

    monkeypatch.setattr(pictures, "draw", too_large)
    private = symdipa.check(symdipa.load(SVT))
    assert private._repr_html_().endswith("</pre>")


def test_a_page_shows_several_results():
    page = symdipa.report(symdipa.weigh(symdipa.load(SVT)), symdipa.check(symdipa.load(LEAKY)))
    assert page.startswith("<!DOCTYPE html>") and "svt" in page and "a_leakp" in page


def test_every_public_name_is_there_and_says_what_it_is():
    for name in symdipa.__all__:
        value = getattr(symdipa, name)
        if callable(value):
            assert value.__doc__, name
    assert symdipa.in_notebook is showing.in_notebook


def test_the_examples_of_the_package_hold():
    assert doctest.testmod(symdipa).attempted >= 4 and not doctest.testmod(symdipa).failed


@pytest.mark.parametrize("name", ["check", "weigh", "compare"])
def test_a_name_of_a_file_is_no_automaton(name: str):
    with pytest.raises(TypeError, match=r"symdipa\.load reads one from a file"):
        getattr(symdipa, name)(str(SVT))


def test_a_result_is_shown_without_the_commands():
    """Nothing of the command line is loaded for that."""
    code = f"""
    import sys, symdipa
    str(symdipa.check(symdipa.load({str(SVT)!r})))
    assert not any(name.startswith("symdipa.interface.cli") for name in sys.modules)
    """
    program = "\n".join(line.strip() for line in code.splitlines())
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


AUTOMATON = symdipa.load(SVT)
RESULT = symdipa.check(AUTOMATON)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: symdipa.check(AUTOMATON, memory="300M"), TypeError, "memory is a number, not '300M'"),
        (lambda: symdipa.check(AUTOMATON, timeout="2"), TypeError, "timeout is a number, not '2'"),
        (lambda: symdipa.weigh(AUTOMATON, adjacency=5), ValueError, r"an interval like \(-1, 0\), not 5"),
        (lambda: symdipa.weigh(AUTOMATON, adjacency="x,1"), ValueError, r"like \(-1, 0\), not 'x,1'"),
        (lambda: symdipa.weigh(AUTOMATON, "foo"), ValueError, "no method 'foo'"),
        *(
            (lambda f=f: f(AUTOMATON), TypeError, r"a Result is asked for, not Automaton; symdipa\.check")
            for f in (symdipa.text, symdipa.report, symdipa.certify, symdipa.confirm, symdipa.hints,
                      symdipa.refute, symdipa.with_bounds)
        ),
        (lambda: symdipa.picture(3), TypeError, "a Result is asked for, not int"),
        (lambda: symdipa.report([RESULT]), TypeError, "a Result is asked for, not list"),
        (lambda: symdipa.encode(AUTOMATON, "XX", 3), ValueError, "XX"),
        (lambda: symdipa.generate("svt", "2"), TypeError, "svt needs a whole number"),
        (lambda: symdipa.simulate(AUTOMATON, [0, inf]), ValueError, "input 1 is not a finite number"),
        (lambda: symdipa.simulate(AUTOMATON, [0], eps=-1), ValueError, "eps must be positive"),
        (lambda: probability(AUTOMATON, [0], ["obot"], eps="1"), TypeError, "eps is a number"),
        (lambda: probability(AUTOMATON, [0], "obot otop"), TypeError, "a list with a symbol"),
        (lambda: probability(AUTOMATON, [0], ["otpo"]), ValueError, "did you mean otop?"),
        (lambda: log_probability(AUTOMATON, ["q1"], [None]), ValueError, "from 0 to 2, not 'q1'"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_what_the_command_line_takes_is_taken():
    down = symdipa.weigh(AUTOMATON, adjacency="-1,0")
    assert down.bounds.best == symdipa.weigh(AUTOMATON, adjacency=(-1, 0)).bounds.best == Fraction(3, 4)
    assert symdipa.weigh(AUTOMATON, sensitivity=0.1).bounds.best == Fraction(1, 8)
    assert set(symdipa.weigh(AUTOMATON, "exact").bounds.from_above) == {"exact"}
    assert symdipa.encode(AUTOMATON, "LP", 3) == symdipa.encode(AUTOMATON, symdipa.Pattern.LEAKING_PAIR, 3)
    assert repr(symdipa.weigh(AUTOMATON)) == "<Result svt: private, D = 5/4 (optimal)>"
