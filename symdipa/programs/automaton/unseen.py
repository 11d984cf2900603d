"""Whether what a program shows tells how many of its steps show nothing.

An automaton shows every step, so it shows more than a program that steps unseen. What is proved private about
it holds for the program as well. A violation does if what is seen of the program, its outputs and after which
entries they come, tells how many steps there are (docs/programs.md).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from typing import NamedTuple

from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.parts import Output
from symdipa.programs.automaton.tidy import Steps

Node = tuple[str, bool]
"""A state of the automaton, and whether the entry that a step from it reads has been read."""

ENTRY = "an entry is read"


class Arc(NamedTuple):
    """What happens in one step: what is seen of it (``None``: nothing), where it leads, in which line."""

    seen: Hashable | None
    target: Node
    line: int


def uncounted(
    steps: Steps, quiet: Collection[Output], ends: Collection[str], limits: Limits = UNLIMITED
) -> tuple[int, ...]:
    """The line from which a run may go on unseen, and the one that may show something then, or what comes
    next; none if what is seen tells how many steps there are.

    ``quiet`` are the outputs of steps that show nothing. From the states in ``ends`` a run may end unseen.
    Whether comparisons can come out that way is not asked. Raises
    :class:`~symdipa.model.errors.OutOfTime`.
    """
    found = _Unseen(steps, quiet, ends)
    seen = {(found.start, found.start): None}
    for p, q in (work := list(seen)):
        limits.check("following a program")
        if lines := found.lines(p, q):
            return lines
        more = [pair for pair in found.after(p, q) if pair not in seen]
        seen.update(dict.fromkeys(more))
        work += more
    return ()


class _Unseen:
    """What may come after unseen steps."""

    def __init__(self, steps: Steps, quiet: Collection[Output], ends: Collection[str]) -> None:
        reading = {state.name for state in steps.states if state.is_input}
        first = steps.states[0].name
        self.start: Node = first, first not in reading
        self.ends: set[Node] = {(name, True) for name in ends}
        self.leaving: dict[Node, list[Arc]] = {}
        for t, lines in steps.transitions:
            seen = None if t.output in quiet else t.output.shape
            arc = Arc(seen, (t.target, t.target not in reading), lines[-1])
            self.leaving.setdefault((t.source, True), []).append(arc)
            if t.source in reading:
                self.leaving[t.source, False] = [Arc(ENTRY, (t.source, True), lines[0])]
        self.before: dict[Node, list[Node]] = {}
        """From where unseen steps lead to a node."""
        for node, arc in ((node, arc) for node, arcs in self.leaving.items() for arc in arcs):
            if arc.seen is None:
                self.before.setdefault(arc.target, []).append(node)
        nodes = dict.fromkeys(
            [*self.leaving, *(arc.target for arcs in self.leaving.values() for arc in arcs)]
        )
        self.first = self._first(nodes)
        self.silent = self._silent(nodes)

    def _first(self, nodes: Iterable[Node]) -> dict[Node, set[Hashable]]:
        """What may be seen next, after any number of unseen steps."""
        first: dict[Node, set[Hashable]] = {node: {arc.seen for arc in self.seen(node)} for node in nodes}
        for node in (work := list(first)):
            for earlier in self.before.get(node, ()):
                if not first[node] <= first[earlier]:
                    first[earlier] |= first[node]
                    work.append(earlier)
        return first

    def _silent(self, nodes: Iterable[Node]) -> set[Node]:
        """Where a run may end, or go on for ever, without anything seen."""
        left = {node: len(self.leaving.get(node, ())) - len(self.seen(node)) for node in nodes}
        done = [node for node, unseen in left.items() if not unseen]
        for node in done:  # grows while it is walked
            for earlier in self.before.get(node, ()):
                left[earlier] -= 1
                if not left[earlier]:
                    done.append(earlier)
        found = {node for node in left if left[node] or self.may_end(node)}
        for node in (work := list(found)):
            more = set(self.before.get(node, ())) - found
            found |= more
            work += more
        return found

    def seen(self, node: Node) -> list[Arc]:
        return [arc for arc in self.leaving.get(node, ()) if arc.seen is not None]

    def may_end(self, node: Node) -> bool:
        return node in self.ends or node not in self.leaving

    def lines(self, p: Node, q: Node) -> tuple[int, ...]:
        """The lines of an unseen step from ``p``, and of one from ``q``, that only their number may tell
        apart."""
        for ahead in self.leaving.get(p, ()):
            if ahead.seen is None:
                for arc in self.seen(q):
                    if arc.seen in self.first[ahead.target] or ahead.target in self.silent:
                        return ahead.line, arc.line
                if self.may_end(q) and ahead.target in self.silent:
                    return (ahead.line,)
        return ()

    def after(self, p: Node, q: Node) -> Iterator[tuple[Node, Node]]:
        """Where both may be after one more step each, of which the same is seen."""
        for one in self.leaving.get(p, ()):
            for other in self.leaving.get(q, ()):
                if one.seen == other.seen:
                    yield one.target, other.target
