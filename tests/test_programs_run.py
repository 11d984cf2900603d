"""Mechanisms that run: with secure noise and with that of a seeded generator they show what their automata
show with the same noise; and the noise is what it says."""

from __future__ import annotations

import itertools
import math
import random
import re
import sys
from fractions import Fraction

import pytest
from conftest import ROOT
from programs_lockstep import Tape, Walk, flat
from test_programs_examples import ANSWERS, FOLDER, PUBLIC_ADDED, program

from symdipa import InvalidInput, exponential, laplace, mechanism
from symdipa.model.parts import Noise
from symdipa.programs.automaton import translated
from symdipa.programs.python import samplers
from symdipa.programs.python.samplers import GRID, Exact, Secure, Simulated
from symdipa.programs.values import exact


@mechanism
def svt(queries, *, c=1):
    t = laplace(2)
    count = 0
    for q in queries:
        if q + laplace(4 * c) >= t:
            yield "high"
            count += 1
            if count == c:
                return
        else:
            yield "low"


@mechanism
def noise(x, *, scale=1, one_sided=False):
    for _ in range(4000):
        yield exponential(scale) if one_sided else laplace(scale) + 0 * x


@mechanism(integer=True)
def whole_noise(x, *, one_sided=False):
    for _ in range(4000):
        yield (exponential(2) if one_sided else laplace(2)) + x


@pytest.fixture
def taped(monkeypatch):
    """A tape on which the noise is kept that a run draws; the secure one comes from a seeded generator."""
    tape = Tape(None, False)
    rng = random.Random(5)

    def discrete_laplace(scale):
        p = math.exp(-1 / scale)
        return lambda value: value + sum(s * int(math.log(1 - rng.random()) / math.log(p)) for s in (1, -1))

    monkeypatch.setattr(samplers, "_discrete_laplace", discrete_laplace)
    for source in (Secure, Simulated):
        draw = source.__call__

        def kept(self, kind, scale, draw=draw):
            drawn = draw(self, kind, scale)
            value = drawn.value if isinstance(drawn, Exact) else Fraction(drawn)
            tape.drawn[kind, 1 / exact(scale)].append(value)
            return drawn

        monkeypatch.setattr(source, "__call__", kept)
    return tape


def as_fractions(output):
    parts = output if isinstance(output, tuple) else (output,)
    return tuple(Fraction(part) if isinstance(part, float) else part for part in parts)


def compared(expected, found):
    """The texts of outputs as they are; numbers of floats are close."""
    assert [plain for plain, _ in expected] == [plain for plain, _ in found]
    numbers = ([float(x) for _, many in some for x in many] for some in (expected, found))
    assert next(numbers) == pytest.approx(next(numbers), abs=1e-9)


@pytest.mark.parametrize("way", ["run", "simulate"])
@pytest.mark.parametrize("name", ANSWERS)
def test_a_run_shows_what_the_automaton_shows(name, way, taped):
    followed = program(name)
    translation = translated(followed)
    rng = random.Random(name)
    told = 0
    for turn in range(40):
        entries = [Fraction(rng.randint(-30, 30), 1 if followed.integer else 8) for _ in range(8)]
        inputs = followed.mechanism.inputs
        given = [list(entries)] if len(inputs) == 1 and inputs[0] != "x" else entries[: len(inputs)]
        more = {"seed": turn} if way == "simulate" else {}
        shown = list(getattr(followed.mechanism, way)(*given, eps=1, **more))
        if followed.integer:
            shown = [flat(Fraction(x) if type(x) is int else x) for x in shown]
        else:
            shown = [flat(as_fractions(x)) for x in shown]
        found = Walk(translation.automaton, entries, taped, translation.symbols).outputs(len(shown))
        if name in PUBLIC_ADDED:
            shown, found = ([(plain, []) for plain, _ in some] for some in (shown, found))
        compared(shown, found)
        told += len(shown)
        taped.drawn.clear()
    assert told > 20


def test_the_same_seed_is_the_same_run():
    runs = [tuple(noise.simulate(0, eps=1, seed=seed)) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_a_generator_goes_on_where_it_was():
    import numpy as np

    rng = np.random.default_rng(3)
    assert tuple(noise.simulate(0, eps=1, seed=rng)) != tuple(noise.simulate(0, eps=1, seed=rng))


def near(count, of, share):
    """Whether a count is that of a share, within six standard deviations."""
    return abs(count - of * share) < 6 * math.sqrt(of * share * (1 - share))


@pytest.mark.parametrize("way", ["run", "simulate"])
def test_noise_has_the_scale_that_is_asked_for(way):
    if way == "run":
        pytest.importorskip("opendp")
    for scale, eps in ((1, 1), (3, 0.5)):
        spread = scale / eps
        both = list(getattr(noise, way)(0, eps=eps, scale=scale))
        assert near(sum(x > 0 for x in both), 4000, 0.5)
        assert near(sum(abs(x) > spread for x in both), 4000, math.exp(-1))
        one = list(getattr(noise, way)(0, eps=eps, scale=scale, one_sided=True))
        assert min(one) >= 0
        assert near(sum(x > spread for x in one), 4000, math.exp(-1))


@pytest.mark.parametrize("way", ["run", "simulate"])
def test_noise_of_integers_is_of_integers(way):
    if way == "run":
        pytest.importorskip("opendp")
    p = math.exp(-1 / 2)
    both = list(getattr(whole_noise, way)(7, eps=1))
    assert {type(x) for x in both} == {int}
    assert near(both.count(7), 4000, (1 - p) / (1 + p))
    assert near(both.count(8), 4000, p * (1 - p) / (1 + p))
    one = list(getattr(whole_noise, way)(7, eps=1, one_sided=True))
    assert min(one) == 7 and near(one.count(7), 4000, 1 - p)


def test_secure_noise_lies_on_the_grid_of_the_inputs():
    source = Secure(Fraction(1), False)
    rng = random.Random(1)
    for _ in range(2000):
        a = rng.uniform(-100, 100)
        b = a + rng.choice([-1, 1]) * (1 - rng.random() ** 30)
        if abs(Fraction(a) - Fraction(b)) <= 1:
            on_grid = [source.entry(Fraction(x)).value for x in (a, b)]
            assert abs(on_grid[0] - on_grid[1]) <= 1
            assert all(GRID % x.denominator == 0 for x in on_grid)


def test_secure_noise_is_never_less_than_asked_for(monkeypatch):
    asked = []
    monkeypatch.setattr(samplers, "_discrete_laplace", lambda scale: asked.append(scale) or (lambda x: x))
    for eps in (Fraction(1, 3), Fraction(7, 11), Fraction(10)):
        Secure(eps, False)(Noise.LAPLACE, 3)
        assert 3 * GRID / eps <= asked[-1] <= 3 * GRID / eps * (1 + Fraction(1, 10**15))


def test_numbers_stay_exact_until_they_are_shown():
    third = Exact(Fraction(1, 3))
    assert (3 * third + 0.1 - Fraction(1, 10)).value == 1
    assert (1 - third / 2).value == Fraction(5, 6) and abs(-third) == third
    assert -math.inf < third < math.inf and third == 0.3333333333333333 and not third >= 0.5
    assert max(third, Exact(Fraction(1, 4))) is third
    assert Secure(Fraction(1), False).shown(("x", [third])) == ("x", [float(Fraction(round(GRID / 3), GRID))])
    for wrong in (str, int, float, bool, "{}".format, hash):
        with pytest.raises(TypeError):
            wrong(third)


def test_a_stream_need_not_end():
    pytest.importorskip("opendp")
    assert list(itertools.islice(svt.run(itertools.repeat(-1000), eps=1), 5)) == ["low"] * 5
    assert list(svt.run([-1000, 1000, 1000, 1000], eps=1, c=2)) == ["low", "high", "high"]
    assert list(svt.simulate(itertools.count(-1000, 500), eps=1))[-1] == "high"


@pytest.mark.parametrize("way", ["run", "simulate"])
@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda run: run([1], eps=0), ValueError, "eps is a positive number like 1 or 0.5, not 0"),
        (lambda run: run([1], eps=math.nan), ValueError, "eps is a positive number"),
        (lambda run: run([1], eps="1"), ValueError, "not '1'"),
        (lambda run: run([1]), TypeError, "eps"),
        (lambda run: run(eps=1), TypeError, "svt has these inputs, given by position: queries"),
        (lambda run: run([1], queries=3, eps=1), TypeError, "given by position: queries"),
        (lambda run: run([1], eps=1, b=2), InvalidInput, "svt has no parameter b"),
        (lambda run: run(None, eps=1), ValueError, "queries is a number or a stream of numbers, not None"),
        (lambda run: list(run(["1"], eps=1)), ValueError, "inputs are numbers, not '1'"),
        (lambda run: list(run([math.inf], eps=1)), ValueError, "inputs are numbers, not inf"),
        (lambda run: list(run([True], eps=1)), ValueError, "inputs are numbers, not True"),
        (lambda run: list(run([1], eps=1, c=-1)), ValueError, "a scale is a positive number"),
    ],
)
def test_what_cannot_be_run_is_refused(way, call, error, said, monkeypatch):
    monkeypatch.setattr(samplers, "_discrete_laplace", lambda scale: lambda x: x)
    with pytest.raises(error, match=re.escape(said)):
        call(getattr(svt, way))


def test_integers_are_asked_for():
    with pytest.raises(ValueError, match=r"inputs of this mechanism are integers, not 1\.5"):
        list(whole_noise.simulate(1.5, eps=1))


def test_noise_that_is_too_large_is_refused():
    with pytest.raises(ValueError, match="too large to be drawn"):
        list(svt.run([1], eps=1e-9))


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    monkeypatch.setitem(sys.modules, "opendp", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'symdipa\[run\]'"):
        list(svt.run([1], eps=1))


def test_examples_can_be_run_where_they_lie():
    """No example has the name of a module that Python itself wants."""
    assert not {path.stem for path in FOLDER.glob("*.py")} & set(sys.stdlib_module_names)
    assert ROOT in FOLDER.parents
