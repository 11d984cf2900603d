"""The product with who may differ: its paths are the runs of the automaton with what entries do in them."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pytest
from random_differ import random_differ

from symdipa.analysis import check
from symdipa.files.formats import loads
from symdipa.model.errors import InvalidInput
from symdipa.model.parts import ZERO, Form
from symdipa.runs.control import control_graph
from symdipa.runs.control.unfolding import ENTRY, unfolding

F = Fraction
LONGEST = 4


def runs(automaton, length=LONGEST):
    """All paths of at most so many transitions."""
    found, ends = [()], [((), automaton.initial)]
    for _ in range(length):
        ends = [
            ((*run, t), automaton.transitions[t].target)
            for run, state in ends
            for t in automaton.outgoing[automaton.index[state]]
        ]
        found += [run for run, _ in ends]
    return found


def paths(found):
    """The paths of a product: as transitions of the automaton, letters, and known differences."""
    return {
        (
            tuple(found.origin[t] for t in run),
            tuple(found.letters[t] for t in run),
            tuple(found.automaton.transitions[t].difference for t in run),
        )
        for run in runs(found.automaton)
    }


def is_allowed(automaton, word):
    """Whether the entries that are read may differ as a word over ``=`` and ``~`` says."""
    state = 0
    for letter in filter(None, word):
        state = automaton.differ.after(state, letter)
        if state is None:
            return False
    return True


def differences(automaton, run, letters):
    """Of each step the difference of its means, ``None`` if nothing is known of it."""
    held, found = {}, []
    for t, letter in zip(run, letters, strict=True):
        move = automaton.transitions[t]
        state = automaton.state(move.source)
        entry = ENTRY.get(letter, ZERO)
        mean = entry if state.is_input else ZERO
        for register, factor in state.registers:
            mean = mean.plus(held[register], factor)
        moved = state.draws and (state.is_input or bool(state.registers))
        found.append(mean if moved and letter != "~" else None)
        held |= {
            update.register: (held[update.source] if update.source else ZERO).plus(
                entry, F(int(update.adds_input))
            )
            for update in move.updates
        }
    return tuple(found)


def some_automata(count, seed):
    made = 0
    for k in range(seed, seed + 4 * count):
        automaton = random_differ(random.Random(k))
        try:
            if automaton.unfolds:
                check(automaton, timeout=0.001)
        except InvalidInput:
            continue
        if automaton.unfolds:
            made += 1
            yield automaton
        if made == count:
            return


def test_paths_of_the_product_are_runs_with_allowed_letters_and_their_differences():
    seen = 0
    for automaton in some_automata(60, 3000):
        found = unfolding(automaton)
        known = set(runs(automaton))
        for run, letters, told in paths(found):
            assert run in known
            word = ["~" if letter in ("-", "+") else letter for letter in letters]
            assert is_allowed(automaton, word)
            for t, letter in zip(run, letters, strict=True):
                assert bool(letter) == automaton.state(automaton.transitions[t].source).is_input
            assert told == differences(automaton, run, letters)
            seen += any(letter in ("-", "+") for letter in letters)
    assert seen > 100


def test_all_allowed_ways_to_differ_are_covered():
    """An equal entry may stand for one that may differ only where it moves nothing, and ends stand for it."""
    compared = 0
    for automaton in some_automata(60, 5000):
        known = {(run, letters) for run, letters, _ in paths(unfolding(automaton))}
        letters_of = {}
        for run, letters in known:
            letters_of.setdefault(run, []).append(letters)
        for run in runs(automaton):
            reads = [automaton.state(automaton.transitions[t].source).is_input for t in run]
            for word in product(*(("=", "~") if read else ("",) for read in reads)):
                if not is_allowed(automaton, word):
                    continue
                compared += 1
                assert any(
                    all(
                        letter in ("~", "-", "+")
                        or letter == asked
                        or (letter == "=" and asked == "~" and moves_nothing(automaton, run, k))
                        for k, (letter, asked) in enumerate(zip(letters, word, strict=True))
                    )
                    for letters in letters_of.get(run, [])
                ), (run, word)
    assert compared > 1000


def moves_nothing(automaton, run, k):
    """Whether the entry of a step is not drawn around, and added to nothing that a mean has later on."""
    move = automaton.transitions[run[k]]
    if automaton.state(move.source).draws:
        return False
    carrying = {update.register for update in move.updates if update.adds_input}
    for run_on in runs_from(automaton, move.target):
        held = set(carrying)
        for t in run_on:
            following = automaton.transitions[t]
            if held & {register for register, _ in automaton.state(following.source).registers}:
                return False
            changed = {update.register for update in following.updates}
            held = (held - changed) | {u.register for u in following.updates if u.source in held}
    return True


def runs_from(automaton, state, length=6):
    ends = [((), state)]
    for _ in range(length):
        yield from (run for run, _ in ends)
        ends = [
            ((*run, t), automaton.transitions[t].target)
            for run, here in ends
            for t in automaton.outgoing[automaton.index[here]]
        ]


def test_both_ends_stand_for_an_entry_that_a_sum_keeps():
    text = """
        differ entries=1
        (read:read): s := input; output read; goto show
        (show:non-input, 1, s): output insample; goto end
    """
    found = unfolding(loads(text))
    assert sorted(found.letters) == ["", "", "", "+", "-", "="]
    told = {move.difference for move in found.automaton.transitions if move.source.startswith("show")}
    assert told == {ZERO, Form(F(1), F(0)), Form(F(0), F(1))}


def test_an_equal_entry_is_left_out_where_it_allows_no_more():
    text = """
        (a, 1, 0): output insample; goto b
        (b:read): s := input; output read; goto c
        (c:non-input, 1, s): output insample; goto d
    """
    assert set(unfolding(loads(text)).letters) == {"~", "-", "+", ""}


def test_no_entry_is_read_where_a_pattern_has_ended():
    text = """
        differ pattern=~~
        (a, 1, 0): output insample; goto b
        (b, 1, 0): output insample; goto c
        (c, 1, 0): output insample; goto d
    """
    found = unfolding(loads(text))
    assert {found.automaton.transitions[t].source for t in range(len(found.letters))} == {"a", "b"}


def test_steps_of_a_plain_automaton_stay_plain():
    text = """
        differ entries=1
        (t:non-input, 1/2, 0): x := insample; output drawn; goto q
        (q, 3/4, 0): if (insample < x) then output low; goto q else output high; goto q
    """
    control = control_graph(loads(text))
    assert not control.is_plain and control.variable_names == ("x",)
    assert all(control.begins) and set(control.letters) == {"", "=", "~"}


@pytest.mark.parametrize("noise", ["exp 1", "inf"])
def test_values_of_equal_and_of_other_entries_are_told_apart_where_ways_meet(noise):
    """A run through either of two equal states: the value stored is rigid in one of them only."""
    text = f"""
        differ entries=1
        (p, {noise}, 1): if (insample < 5) then x := insample; output o1; goto q else output o2; goto end
        (q, exp 1/2, 0): if (insample >= -x) then output o3; goto r
        (r:silent): if (x < -2) then output o4, x; goto end else output o5; goto end
    """
    answer = check(loads(text))
    assert not answer.contradictions and answer.verdict.value == "not-private"
