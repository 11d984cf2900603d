"""What the bytecode of a function tells: which variables are live at a place, and what lies on the stack."""

from __future__ import annotations

import dis
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType

from symdipa.programs.python.marks import LOOP, MARK

ENDS = frozenset(["RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"])
JUMPS = frozenset(
    ["JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_ABSOLUTE", "JUMP_NO_INTERRUPT"]
)
"""Instructions after which the next one is not run."""

EQUALITY = frozenset(["==", "!="])
YIELDS = frozenset(["YIELD_VALUE", "SEND"])


@dataclass(frozen=True, slots=True)
class Place:
    """An instruction: its offset, its position in the source, and the variables that are ``live`` when it has
    been run. (A call is one instruction, though Python 3.11 begins it with another one.)

    ``is_clear``: whether nothing lies on the stack while it runs another function but that one and iterators
    of loops, in a function with marks. ``loop``: the variable that holds the iterator from which it takes the
    next value; ``comprehends``: it does so in a comprehension. ``compares_equal``: whether it is ``==``,
    ``!=`` or ``in``. ``yields``: whether something may be yielded after it if it jumps."""

    offset: int
    position: dis.Positions | None
    live: frozenset[str]
    is_clear: bool
    loop: str | None
    comprehends: bool
    compares_equal: bool
    yields: bool


@lru_cache(maxsize=1024)
def places(code: CodeType) -> dict[int, Place]:
    """What is known of each instruction of a code object, by all offsets that belong to it."""
    instructions = list(dis.get_instructions(code))
    successors = {one.offset: _successors(instructions, k) for k, one in enumerate(instructions)}
    shared = frozenset(code.co_cellvars) | frozenset(code.co_freevars)
    live = _live(instructions, successors)
    before, after, iterators = _depths(instructions)
    ends = [*(one.offset for one in instructions[1:]), len(code.co_code)]
    names = {one.offset: one.opname for one in instructions}
    loops = _iterators(instructions)
    found, begun = {}, 0
    for one, end in zip(instructions, ends, strict=True):
        later = shared.union(*(live[to] for to in successors[one.offset] if to in live))
        yields = _jumps(one) and any(names[to] in YIELDS for to in _reached(successors, one.argval))
        match one.opname:
            case "FOR_ITER":
                below = before.get(one.offset, 0)
            case "SEND" | "YIELD_VALUE" | "RESUME":
                below = before.get(one.offset, 0) - 2
            case _:
                below = after.get(one.offset, 0) - 1
        clear = MARK in code.co_names and one.offset in before and iterators[one.offset] >= set(range(below))
        equal = one.opname == "CONTAINS_OP" or (
            one.opname == "COMPARE_OP" and one.argrepr.removeprefix("bool(").rstrip(")") in EQUALITY
        )
        loop = loops.get(one.offset)
        inner = one.opname == "FOR_ITER" and loop is None
        place = Place(one.offset, one.positions, later, clear, loop, inner, equal, yields)
        starts = begun if one.opname == "CALL" else one.offset
        found.update(dict.fromkeys(range(starts, end, 2), place))
        begun = one.offset if one.opname == "PRECALL" else end
    return found


def _jumps(one: dis.Instruction) -> bool:
    return one.opcode in dis.hasjrel or one.opcode in dis.hasjabs


def _reached(successors: dict[int, list[int]], start: int) -> set[int]:
    """The offsets that are reached from one."""
    found, work = {start}, [start]
    for offset in work:  # grows
        more = set(successors[offset]) - found
        found |= more
        work += more
    return found


def read_names(code: CodeType) -> set[str]:
    """The local variables that a function, or one inside it, reads."""
    found: set[str] = set()
    for one in dis.get_instructions(code):
        found.update(name for name, is_read in _accesses(one) if is_read)
        if one.opname in ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"):
            found.add(one.argval)
    return found.union(*(read_names(each) for each in code.co_consts if isinstance(each, CodeType)))


def _successors(instructions: list[dis.Instruction], k: int) -> list[int]:
    one = instructions[k]
    found = []
    if one.opname not in ENDS | JUMPS and k + 1 < len(instructions):
        found.append(instructions[k + 1].offset)
    if _jumps(one):
        found.append(one.argval)
    return found


def _live(instructions: list[dis.Instruction], successors: dict[int, list[int]]) -> dict[int, frozenset[str]]:
    """The names that are live before each instruction (backward, to a fixpoint)."""
    live: dict[int, frozenset[str]] = {one.offset: frozenset() for one in instructions}
    accesses = {one.offset: _accesses(one) for one in instructions}
    accesses |= {offset: [(held, True)] for offset, held in _iterators(instructions).items()}
    changed = True
    while changed:
        changed = False
        for one in reversed(instructions):
            now = frozenset[str]().union(*(live.get(to, frozenset()) for to in successors[one.offset]))
            for name, is_read in reversed(accesses[one.offset]):
                now = now | {name} if is_read else now - {name}
            if now != live[one.offset]:
                live[one.offset], changed = now, True
    return live


def _iterators(instructions: list[dis.Instruction]) -> dict[int, str]:
    """For the head of every loop the variable that holds its iterator. It counts as one that is read there:
    the iterator lies on the stack."""
    found, held = {}, None
    for one in instructions:
        if one.opname == "STORE_FAST" and one.argval.startswith(LOOP):
            held = one.argval
        elif one.opname == "FOR_ITER" and held is not None:
            found[one.offset] = held
            held = None
    return found


def _accesses(one: dis.Instruction) -> list[tuple[str, bool]]:
    """The local variables that an instruction reads (true) or sets, in this order."""
    if "_FAST" not in one.opname:
        return []
    names = one.argval if isinstance(one.argval, tuple) else (one.argval,)
    kinds = [part for part in one.opname.split("_") if part in ("LOAD", "STORE", "DELETE")]
    return [(name, kind == "LOAD") for name, kind in zip(names, kinds, strict=True)]


def _depths(
    instructions: list[dis.Instruction],
) -> tuple[dict[int, int], dict[int, int], dict[int, frozenset[int]]]:
    """How many values are on the stack before and after each instruction that is reached without an
    exception, and which of them are iterators of loops by their positions."""
    index = {one.offset: k for k, one in enumerate(instructions)}
    before: dict[int, int] = {}
    after: dict[int, int] = {}
    iterators: dict[int, frozenset[int]] = {}
    work: list[tuple[int, int, frozenset[int]]] = [(0, 0, frozenset())]
    while work:
        k, depth, known = work.pop()
        one = instructions[k]
        if one.offset in before:
            continue
        known = frozenset(place for place in known if place < depth)
        if one.opname == "GET_ITER":
            known |= {depth - 1}
        before[one.offset], iterators[one.offset] = depth, known
        after[one.offset] = depth + _effect(one, jump=False)
        if one.opname not in ENDS | JUMPS and k + 1 < len(instructions):
            work.append((k + 1, after[one.offset], known))
        if _jumps(one):
            work.append((index[one.argval], depth + _effect(one, jump=True), known))
    return before, after, iterators


def _effect(one: dis.Instruction, jump: bool) -> int:
    """How many values more there are on the stack after an instruction."""
    if one.opname == "RETURN_GENERATOR":
        return 1  # what is sent when the generator begins, which not all versions count
    argument = one.arg if one.opcode >= dis.HAVE_ARGUMENT else None
    return dis.stack_effect(one.opcode, argument, jump=jump)
