"""Graphviz DOT, drawn as in the paper: states that read an input are circles, others boxes."""

from __future__ import annotations

from symdipa.model.automaton import Automaton, Noise, State, Transition
from symdipa.model.validation.samples import scale_text


def write(automaton: Automaton) -> str:
    """The automaton as a DOT digraph."""
    nodes = [
        f"  s{i} [shape={'circle' if state.is_input else 'box'}, label={_quoted(state_lines(state))}];"
        for i, state in enumerate(automaton.states)
    ]
    edges = [
        f"  s{automaton.index[t.source]} -> s{automaton.index[t.target]} "
        f"[label={_quoted(edge_lines(automaton, t))}];"
        for t in automaton.transitions
    ]
    return "\n".join(
        [
            f"digraph {_quoted([automaton.name or 'automaton'])} {{",
            "  rankdir=LR;",
            *([f"  label={_quoted(remarks)};"] if (remarks := about(automaton)) else []),
            "  node [fontname=Helvetica];",
            "  edge [fontname=Helvetica, fontsize=10];",
            "  start [shape=point];",
            *nodes,
            f"  start -> s{automaton.index[automaton.initial]};",
            *edges,
            "}",
            "",
        ]
    )


def about(automaton: Automaton) -> list[str]:
    """What is said of the automaton as a whole, in the lines of its file."""
    integer = ["noise integer"] if automaton.integer else []
    return integer + ([] if automaton.differ.is_all else [f"differ {automaton.differ}"])


def state_lines(state: State) -> list[str]:
    """The label of a state: the name over ``d, mu`` and, if there is a second sample, ``d', mu'``; or over
    ``read`` or ``silent``."""
    if not state.draws:
        return [state.name, "read" if state.is_input else "silent"]
    lines = [state.name]
    second = state.d_prime is not None or state.noise_prime is Noise.NONE
    if second or state.d is not None or state.noise is Noise.NONE:
        lines.append(f"{scale_text(state.noise, state.d)}, {state.mean_text()}")
    if second:
        lines.append(f"{scale_text(state.noise_prime, state.d_prime)}, {state.mean_text(second=True)}")
    return lines


def edge_lines(automaton: Automaton, transition: Transition) -> list[str]:
    """The label of an edge: guard (unless it is ``true``), output, and assignments if there are any."""
    lines = [] if transition.guard.is_true else transition.guard.text(automaton.variables).split(" && ")
    lines.append(f"output {transition.output.text(automaton.variable_index)}")
    stored = sorted(transition.stores, key=lambda pair: automaton.variable_index[pair[0]])
    return lines + [f"{x} := {y}" for x, y in stored] + [*map(str, transition.updates)]


def _quoted(lines: list[str]) -> str:
    """A DOT string of centred lines."""
    escaped = [line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for line in lines]
    return '"' + "\\n".join(escaped) + '"'
