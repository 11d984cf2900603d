"""Adjacency automata against the definition of the words that they allow."""

from __future__ import annotations

import random
import re
from itertools import combinations

import differ_words as judge
import pytest

from symdipa.model.adjacency.differ import ALL, differ

TEXTS = [
    "all",
    *(f"entries={k}" for k in range(1, 7)),
    *(f"window={w}" for w in range(1, 7)),
    "pattern==*~=*",
    "pattern=(=|~=)*",
    "pattern=(~={3,})*",
    "pattern=()",
    "pattern=~|",
    "pattern=(=~){2}",
    "pattern=(= = ~?)* ~{0,2}",
    "pattern=~{0}=",
    "pattern=(~|==){0,0}",
]


def drawn(count: int) -> list[str]:
    rng = random.Random(15)
    return [f"pattern={judge.random_text(rng, rng.choice((1, 2, 3, 4)))}" for _ in range(count)]


def follow(moves, word: str):
    state = 0
    for letter in word:
        state = moves[state][judge.LETTERS.index(letter)]
        if state is None:
            return None
    return state


def same_words(first, second) -> bool:
    """Whether two automata, all states of which allow what led there, allow the same words."""
    seen, todo = {(0, 0)}, [(0, 0)]
    for p, q in todo:  # grows while it is walked
        for there in zip(first[p], second[q], strict=True):
            if (there[0] is None) != (there[1] is None):
                return False
            if there[0] is not None and there not in seen:
                seen.add(there)
                todo.append(there)
    return True


def started(moves, state: int):
    """The automaton with another initial state."""
    turn = [state, *(p for p in range(len(moves)) if p != state)]
    place = {p: n for n, p in enumerate(turn)}
    return [tuple(None if q is None else place[q] for q in moves[p]) for p in turn]


def check(text: str) -> None:
    moves, truth = differ(text).moves, judge.moves(text)
    assert same_words(moves, truth), text
    order = [0]
    for p in order:  # every state is there for a word, in the order of words
        order += dict.fromkeys(q for q in moves[p] if q is not None and q not in order)
    assert order == list(range(len(moves))), text
    for p, q in combinations(range(len(moves)), 2):
        assert not same_words(started(moves, p), started(moves, q)), (text, p, q)


@pytest.mark.parametrize("text", TEXTS)
def test_exactly_these_words_and_no_state_too_many(text):
    check(text)
    moves = differ(text).moves
    for word in judge.words(8):
        assert (follow(moves, word) is not None) == judge.allows(text, word), word


def test_random_expressions():
    for text in drawn(3000):
        check(text)


def test_the_definitions_of_the_rows():
    """The judge itself: counting, and Python's own regular expressions."""
    for word in judge.words(9):
        places = [i for i, letter in enumerate(word) if letter == "~"]
        spread = places[-1] - places[0] + 1 if places else 0
        assert judge.allows("all", word)
        for k in range(1, 5):
            assert judge.allows(f"entries={k}", word) == (len(places) <= k)
            assert judge.allows(f"window={k}", word) == (spread <= k)


def test_the_judge_matches_as_python_does():
    """A word is allowed exactly if a continuation matches; the shortest has no state twice."""
    compared = 0
    for text in drawn(1000):
        expression = text.removeprefix("pattern=").replace(" ", "")
        if len(judge.moves(text)) > 7 or len(expression) > 12:
            continue
        written = re.compile(expression.replace(".", "~").replace("~", "[=~]"))
        matched = [word for word in judge.words(8) if written.fullmatch(word)]
        begun = {word[:n] for word in matched for n in range(3)}
        for word in judge.words(2):
            assert judge.allows(text, word) == (word in begun), (text, word)
        compared += 1
    assert compared > 500


def test_equal_words_have_equal_automata():
    """Texts are in one class by the words that they allow, and in one by their automata: the same classes."""
    classes: dict[object, str] = {}
    for text in drawn(1500):
        classes.setdefault(differ(text).moves, text)
    found = list(classes.items())
    assert len(found) > 120
    for (moves, text), (others, other) in combinations(found[:250], 2):
        assert not same_words(judge.moves(text), judge.moves(other)), (text, other, moves, others)


def test_rows_as_patterns():
    assert differ("pattern=~*").moves == ALL.moves
    for k in range(1, 6):
        assert differ(f"pattern=(=*~){{0,{k}}}=*").moves == differ(f"entries={k}").moves
        assert differ(f"pattern==*~{{0,{k}}}=*").moves == differ(f"window={k}").moves


def test_most_is_the_most_that_a_word_has():
    """If no cycle has an entry that may differ, a word has fewer of them than there are states."""
    endless = 0
    for text in [*TEXTS, *drawn(1500)]:
        moves = judge.moves(text)
        size = len(moves)
        best = {0: 0}
        highest = 0
        for _ in range(size * (size + 2)):
            following: dict[int, int] = {}
            for p, count in best.items():
                for q, more in zip(moves[p], (0, 1), strict=True):
                    if q is not None:
                        following[q] = max(following.get(q, 0), count + more)
            best = following
            highest = max(highest, *best.values(), 0)
        endless += highest >= size
        assert differ(text).most == (None if highest >= size else highest), text
    assert endless > 300
