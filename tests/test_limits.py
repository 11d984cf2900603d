"""Limits: how they narrow, when they hold, and what is raised where they are reached."""

from __future__ import annotations

import pickle
import time

import pytest

from symdipa.model.errors import Limit, LimitReached, OutOfTime, SymdipaError
from symdipa.model.limits import UNLIMITED, Limits


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands still; its first entry is the time."""
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    return clock


def test_limits_begin_when_they_are_made(now: list[float]):
    limits = Limits.of(5, memory=7, bound=3)
    assert (limits.deadline, limits.memory, limits.bound, limits.progress) == (105, 7, 3, None)
    assert limits.left() == 5
    now[0] = 104
    assert limits.left() == 1
    now[0] = 110
    assert limits.left() == 0, "never negative"


def test_nothing_given_is_no_limit_but_that_on_memory(now: list[float], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("symdipa.model.limits.default_memory", lambda: 7)
    assert Limits.of().memory == 7 and Limits() == UNLIMITED
    monkeypatch.setattr("symdipa.model.limits.default_memory", lambda: None)
    assert Limits.of() == UNLIMITED
    assert UNLIMITED.left() is None and not UNLIMITED.hard
    UNLIMITED.check("anything")


@pytest.mark.parametrize(("what", "value"), [("timeout", 0), ("timeout", -1.5), ("memory", 0), ("bound", 0)])
def test_what_is_not_positive_is_refused(what: str, value: float):
    given = {"seconds" if what == "timeout" else what: value}
    with pytest.raises(ValueError, match=f"^{what} must be positive, not {value}$"):
        Limits.of(**given)  # type: ignore[arg-type]


def test_only_time_and_memory_need_someone_who_ends_the_search(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("symdipa.model.limits.default_memory", lambda: None)
    assert Limits.of(1).hard and Limits.of(memory=1).hard
    assert not Limits.of(bound=1, progress=print).hard


def test_within_only_narrows(now: list[float]):
    limits = Limits.of(10, memory=7, bound=3, progress=print)
    assert limits.within(4).deadline == 104
    assert limits.within(60).deadline == 110, "a part has no more time than the whole"
    assert limits.within(None) is limits
    assert limits.within(0).left() == 0
    assert UNLIMITED.within(2).deadline == 102
    narrowed = limits.within(4)
    assert (narrowed.memory, narrowed.bound, narrowed.progress) == (7, 3, print)
    assert limits.deadline == 110, "the limits themselves stay as they are"
    now[0] = 103
    assert limits.within(4).deadline == 107, "counted from now"


def test_a_deadline_is_passed_when_it_is_over(now: list[float]):
    limits = Limits.of(5)
    now[0] = 105
    limits.check("depth 3")
    now[0] = 105.001
    with pytest.raises(OutOfTime) as caught:
        limits.check("depth 3")
    assert caught.value.limit is Limit.TIME and caught.value.doing == "depth 3"
    assert str(caught.value) == "time limit reached at depth 3"


def test_progress_is_heard_while_there_is_time(now: list[float]):
    heard: list[str] = []
    limits = Limits.of(5, progress=heard.append)
    limits.check("depth 1")
    limits.within(1).check("depth 2")
    limits.heard_by(None).check("depth 3")
    now[0] = 106
    with pytest.raises(OutOfTime):
        limits.check("depth 4")
    assert heard == ["depth 1", "depth 2"]
    other: list[str] = []
    UNLIMITED.heard_by(other.append).check("elsewhere")
    assert other == ["elsewhere"] and UNLIMITED.progress is None


def test_limits_cannot_be_changed():
    with pytest.raises(AttributeError):
        UNLIMITED.deadline = 1.0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            LimitReached(Limit.SIZE, "the augmentation has more than 3 nodes"),
            "the augmentation has more than 3 nodes",
        ),
        (LimitReached(Limit.MEMORY, "memory limit reached", "depth 7"), "memory limit reached at depth 7"),
        (OutOfTime(), "time limit reached"),
        (OutOfTime("depth 7"), "time limit reached at depth 7"),
        (
            OutOfTime("depth 7", "time limit reached in the solver"),
            "time limit reached in the solver at depth 7",
        ),
    ],
    ids=str,
)
def test_limits_that_were_reached_travel_between_processes(error: LimitReached, text: str):
    there = pickle.loads(pickle.dumps(error))
    assert type(there) is type(error) and isinstance(there, SymdipaError)
    for said in (error, there):
        assert (said.limit, said.reason, said.doing) == (error.limit, error.reason, error.doing)
        assert str(said) == text
