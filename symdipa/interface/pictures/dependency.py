"""The dependency graph of a witness as a picture: every sample above those that it is forced to exceed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from symdipa.evidence.facts import Steps, compared_along, compared_words, link
from symdipa.evidence.forced import Forced, Spot, Tie, forced
from symdipa.interface.markup import Markup, element
from symdipa.interface.pictures.automaton import LONGEST_NAME, loop_classes, loop_text
from symdipa.interface.pictures.layered import Box, LabelledEdge, Point, Route, TooLarge, layered
from symdipa.interface.pictures.svg import LINE, Drawing, behind, curve, cut, head, lines_at, text_width
from symdipa.interface.reports.words import EQUAL_MEAN, link_text, mean_text, relation_text
from symdipa.model.automaton import Automaton, OutputKind
from symdipa.model.parts import SAMPLE
from symdipa.model.patterns import Pattern
from symdipa.model.spelling import enumeration
from symdipa.model.verdict import Witness
from symdipa.runs.control import control_graph
from symdipa.runs.witness import dependency_graph

MOST_STEPS = 60
"""Of runs with more steps only the dependency path and its neighbours are drawn."""

MOST_NUMBERS = 12
"""How many samples are listed at most whose means differ."""


@dataclass(frozen=True)
class _Node:
    """A sample that ``step`` draws, or a constant (``None``), with its text."""

    step: int | None
    words: tuple[str, ...]
    on_path: bool


@dataclass(frozen=True)
class _Edge:
    """What forces the node ``low`` below the node ``high``, at a step if at any; ``both``: they are tied."""

    low: int
    high: int
    step: int | None
    label: str
    title: str
    on_path: bool
    both: bool = False


@dataclass
class _Graph:
    """What is drawn; ``top`` is the highest node of the path. ``free`` samples are tied to nothing."""

    nodes: list[_Node] = field(default_factory=list)
    edges: list[_Edge] = field(default_factory=list)
    top: int = 0
    free: int = 0
    cut: bool = False


def draw(automaton: Automaton, witness: Witness) -> Drawing:
    """The samples that comparisons of the run tie, larger ones higher, with the dependency path marked. After
    a leaking cycle one more round is shown, where it compares with what it stored."""
    again = witness.run[slice(*witness.cycles[-1])] if witness.pattern is Pattern.LEAKING_CYCLE else ()
    run = witness.run + again
    graph = (_plain if automaton.is_plain else _wider)(automaton, witness, run)
    if not graph.edges:
        untied = "No comparison of this run ties two of its samples."
        return Drawing(0, 0, (), (untied, *_apart(automaton, witness)))
    boxes = [Box(text_width(node.words) / 2 + 8, LINE * len(node.words) / 2 + 5) for node in graph.nodes]
    # From the larger sample down to the smaller one: so larger ones are higher.
    drawn = [LabelledEdge(e.high, e.low, text_width([e.label]) + 8, LINE + 2) for e in graph.edges]
    try:
        layout = layered(boxes, drawn, graph.top)
    except TooLarge:
        return Drawing(0, 0, (), ("The dependency graph of this run is too large to draw.",))
    elements = [
        element(
            "g",
            element("title", edge.title),
            element("path", d=curve(route.turned()), class_="line"),
            *_heads(edge, route),
            behind(*route.label, text_width([edge.label]) + 4, LINE),
            lines_at(*route.label, [edge.label]),
            class_=f"tie{' path' if edge.on_path else ''}",
            data_later=edge.step,
        )
        for edge, route in zip(graph.edges, layout.routes, strict=True)
    ]
    for node, box, at in zip(graph.nodes, boxes, layout.centres, strict=True):
        elements.append(_node(witness, node, box, at))
    remarks = ["Two arrowheads: a difference that is shown ties both."] if _ties(graph) else []
    remarks += ["Only the samples around the dependency path are drawn."] if graph.cut else []
    if graph.free and not graph.cut:
        remarks.append(f"{graph.free} other sample{'s are' if graph.free > 1 else ' is'} tied to nothing.")
    return Drawing(layout.width, layout.height, tuple(elements), tuple(remarks))


def _apart(automaton: Automaton, witness: Witness) -> Iterator[str]:
    """Which samples have means that differ, where there is no picture that says so."""
    alike: dict[str, list[str]] = {}
    for k, text in enumerate(_means(automaton, witness, witness.run)):
        if text and text != EQUAL_MEAN:
            alike.setdefault(text, []).append(str(k + 1))
    for text, numbers in alike.items():
        if len(numbers) > MOST_NUMBERS:
            numbers[MOST_NUMBERS - 1 :] = [f"{len(numbers) - MOST_NUMBERS + 1} more"]
        yield f"Sample{'s' if len(numbers) > 1 else ''} {enumeration(numbers)}: {text}."


def _ties(graph: _Graph) -> bool:
    return any(edge.both for edge in graph.edges)


def _heads(edge: _Edge, route: Route) -> Iterator[Markup]:
    """An arrowhead at the larger sample, where the route begins; at both if they are tied."""
    down = 1 if route.falls else -1
    yield head(route.start, 0, -down)
    if edge.both:
        yield head(route.end, 0, down)


def _plain(automaton: Automaton, witness: Witness, run: Sequence[int]) -> _Graph:
    """The dependency graph by its definition, whose nodes are steps."""
    over = dependency_graph(control_graph(automaton), run).over
    edges = [(i, j) for i, targets in enumerate(over) for j in sorted(targets)]
    on_path = set(pairwise(witness.path))
    tied = sorted({k for edge in edges for k in edge} | set(witness.path))
    graph, steps = _Graph(cut=len(tied) > MOST_STEPS), Steps(automaton, run)
    if graph.cut:
        near = {k for edge in edges if set(edge) & set(witness.path) for k in edge} | set(witness.path)
        tied = sorted(sorted(near, key=lambda k: (k not in witness.path, k))[:MOST_STEPS])
    number = {k: n for n, k in enumerate(tied)}
    for k in tied:
        words = tuple(_node_text(automaton, witness, run, k))
        graph.nodes.append(_Node(k, words, k in witness.path))
    for edge in edges:
        if edge[0] in number and edge[1] in number:
            tie = link(automaton, run, *edge)
            label = cut(f"{tie.sign} {tie.variable}", LONGEST_NAME)
            relation = relation_text(automaton, run, tie)
            title = f"{relation}: {link_text(automaton, run, steps, tie)}"
            low, high = (number[k] for k in edge)
            graph.edges.append(_Edge(low, high, max(edge), label, title, edge in on_path))
    graph.top = number[witness.path[-1]] if witness.path else 0
    graph.free = len(set(range(len(run))) - set(tied))
    return graph


def _wider(automaton: Automaton, witness: Witness, run: Sequence[int]) -> _Graph:
    """What the run forces in numbers: also constants and negatives are nodes."""
    order = forced(automaton.told, run)
    means = _means(automaton, witness, run)
    chain = order.chain_of(witness)
    ties = [tie for tie in order.ties if tie.low != tie.high]
    ties += [tie for tie in chain if tie not in ties and not (tie.both and tie.turned in ties)]
    ends = [(tie.low, tie.high) for tie in ties]
    path = {spot for tie in chain for spot in (tie.low, tie.high)}
    spots = list(dict.fromkeys(spot for pair in ends for spot in pair))
    graph, steps = _Graph(cut=len(spots) > MOST_STEPS), Steps(automaton, witness.run)
    if graph.cut:
        near = dict.fromkeys(spot for pair in ends if set(pair) & path for spot in pair)
        spots = [*path, *(spot for spot in near if spot not in path)][:MOST_STEPS]
    spots.sort(key=lambda spot: (order.step(spot) is not None, order.step(spot), spot))
    number = {spot: n for n, spot in enumerate(spots)}
    for spot in spots:
        words = tuple(_spot_text(automaton, witness, run, order, spot, means))
        graph.nodes.append(_Node(order.step(spot), words, spot in path))
    on_path = {*chain, *(tie.turned for tie in chain if tie.both)}
    for tie in ties:
        if tie.low in number and tie.high in number:
            by = compared_words(automaton, tie.text)
            by = by if tie.step is None else f"{steps.subject(_step(witness, tie.step))} {by}"
            title = f"{order.relation(tie)}: {by}"
            ends_of = number[tie.low], number[tie.high]
            graph.edges.append(_Edge(*ends_of, tie.step, _label(tie), title, tie in on_path, tie.both))
    graph.top = number[chain[-1].high] if chain else 0
    drawn = {spot.sample for spot in spots}
    graph.free = len({i for i, _ in enumerate(order.system.samples)} - drawn)
    return graph


def _means(automaton: Automaton, witness: Witness, run: Sequence[int]) -> list[str]:
    """What the means of the samples of each step do in two adjacent inputs, where the automaton unfolds and
    they depend on inputs."""
    if not witness.letters:
        return []
    letters = [witness.letters[_step(witness, k)] for k in range(len(run))]
    states = [automaton.state(automaton.transitions[t].source) for t in run]
    return [
        mean_text(step) if state.draws and (state.is_input or state.registers) else ""
        for state, step in zip(states, compared_along(automaton, run, letters), strict=True)
    ]


def _label(tie: Tie) -> str:
    """What a tie says, short."""
    words = tie.text.removeprefix("asks for ").removeprefix(f"{SAMPLE} ")
    return cut(words, LONGEST_NAME)


def _step(witness: Witness, k: int) -> int:
    """The step of the witness at a position of its run with one more round of the loop."""
    return k if k < len(witness.run) else k - len(witness.run) + witness.cycles[-1][0]


def _where(witness: Witness, k: int) -> tuple[int, str]:
    """The step of the witness, and in which loop it is, if in any."""
    step = _step(witness, k)
    return step, loop_text(witness, step) if k == step else " again"


def _node_text(automaton: Automaton, witness: Witness, run: Sequence[int], k: int) -> list[str]:
    step, where = _where(witness, k)
    move = automaton.transitions[run[k]]
    stored = ", ".join(sorted(move.assign))
    lines = [f"sample {step + 1}{where}", cut(f"drawn in {automaton.place(move.source)}", LONGEST_NAME)]
    lines += [cut(f"stored in {stored}", LONGEST_NAME)] if stored else []
    return lines + (["shown as a number"] if move.output.kind is OutputKind.INSAMPLE else [])


def _spot_text(
    automaton: Automaton,
    witness: Witness,
    run: Sequence[int],
    order: Forced,
    spot: Spot,
    means: Sequence[str],
) -> Iterator[str]:
    k = order.step(spot)
    if k is None or spot.sample is None:
        yield order.name(spot)
        yield "a constant"
        return
    step, where = _where(witness, k)
    second = "second " if order.system.samples[spot.sample].second else ""
    if spot.mirrored:
        yield f"-({second}sample {step + 1}{where})"
        yield "its negative"
        return
    move = automaton.transitions[run[k]]
    yield f"{second}sample {step + 1}{where}"
    yield cut(f"drawn in {automaton.place(move.source)}", LONGEST_NAME)
    if means and means[k]:
        yield cut(means[k], LONGEST_NAME)
    if move.assign and not second:
        yield cut(f"stored in {', '.join(sorted(move.assign))}", LONGEST_NAME)
    for at, _ in order.released.get(spot.sample, ())[:1]:
        yield "shown as a number" if at == k else f"shown in {Steps(automaton, run).one(_step(witness, at))}"


def _node(witness: Witness, node: _Node, box: Box, at: Point) -> Markup:
    loops = [] if node.step is None else loop_classes(witness, [_step(witness, node.step)])
    class_ = "state sample" + "".join(loops) + (" path" if node.on_path else "")
    shape = element(
        "rect", x=at.x - box.rx, y=at.y - box.ry, width=2 * box.rx, height=2 * box.ry, rx=7.0, class_="shape"
    )
    words = lines_at(at.x, at.y, node.words, strong=1)
    return element("g", shape, words, class_=class_, data_step=node.step)
