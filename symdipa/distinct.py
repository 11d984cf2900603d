"""Output distinction: how much a violation proves (theory, sections 1 and 5)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from symdipa.automaton import Automaton
from symdipa.control import Control
from symdipa.order import OrderState, initial, update
from symdipa.verdict import Witness


def output_distinct(automaton: Automaton) -> bool:
    """Whether transitions of one state have different outputs and at most one outputs a real value."""
    for numbers in automaton.outgoing:
        outputs = [automaton.transitions[t].output for t in numbers]
        symbols = [output for output in outputs if not output.is_real]
        if len(set(symbols)) < len(symbols) or len(outputs) - len(symbols) > 1:
            return False
    return True


def witness_distinct(
    control: Control, witness: Witness, limit: int = 50_000, tick: Callable[[], None] = lambda: None
) -> bool:
    """Whether no other run can produce the outputs of the witness, however often its cycles repeat.

    Follows, along the witness with its cycles repeated, a second run that takes other transitions with
    the same outputs (a real value may be any real value; which steps read an input is not observed). Only
    feasible runs count. When more than ``limit`` pairs were looked at the answer is ``False``, the one
    that claims less. ``tick`` may raise to end the work.
    """
    run, transitions = witness.run, control.automaton.transitions
    back = {j: i for i, j in witness.cycles}
    # A pair: the position in the witness, and control state and order of the other run; ``strayed`` once
    # it has taken another transition than the witness.
    start = (0, control.initial, initial(control.variables), False)
    seen: set[tuple[int, int, OrderState, bool]] = {start}
    queue = deque([start])
    while queue:
        tick()
        position, q, order, strayed = queue.popleft()
        if position == len(run) and strayed:
            return False
        followers = []
        if position in back:
            followers.append((back[position], q, order, strayed))
        if position < len(run):
            asked = transitions[run[position]].output
            for t in control.outgoing[q]:
                output = transitions[t].output
                if output == asked or (output.is_real and asked.is_real):
                    p = control.target[t]
                    after = update(order, control.steps[t], control.live[p])
                    if after is not None:
                        followers.append((position + 1, p, after, strayed or t != run[position]))
        for follower in followers:
            if follower not in seen:
                seen.add(follower)
                queue.append(follower)
        if len(seen) > limit:
            return False
    return True
