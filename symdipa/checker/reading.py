"""From text to values of the expected type; whatever else comes is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import NoReturn

from symdipa.checker.rules import refuse, shown

MAX_BITS = 40_000
"""The largest size of a sum of rationals."""

MAX_NUMERAL = 15

NUMERAL = re.compile(r"(-?[0-9]{1,1000})(?:/([0-9]{1,1000}))?")


def parse(text: str | bytes) -> object:
    """The JSON value of a text."""
    try:
        if isinstance(text, bytes):
            text = text.decode()
        return json.loads(
            text,
            object_pairs_hook=_distinct,
            parse_int=_integer,
            parse_float=_no_float,
            parse_constant=_no_float,
        )
    except ValueError as error:
        refuse("json", f"the certificate is not JSON: {error}")
    except RecursionError:
        refuse("json", "the certificate is nested too deeply")


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        refuse("json", "an object has a key twice")
    return found


def _integer(numeral: str) -> int:
    if len(numeral) > MAX_NUMERAL:
        refuse("json", "an integer is too long; rationals are texts")
    return int(numeral)


def _no_float(numeral: str) -> NoReturn:
    refuse("json", f"{shown(numeral)} is no integer; rationals are texts")


def members(
    value: object, where: str, required: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, object]:
    """The members of an object that has the required keys and none but these and the optional ones."""
    if not isinstance(value, dict):
        refuse("shape", f"{where} is not an object")
    for key in required:
        if key not in value:
            refuse("shape", f"{where} has no {key!r}")
    for key in value:
        if key not in required and key not in optional:
            refuse("shape", f"{where} has a key {shown(key)} that the format does not have")
    return value


def table(value: object, where: str) -> dict[str, object]:
    """The members of an object with any texts as keys."""
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        refuse("shape", f"{where} is not an object")
    return value


def items(value: object, where: str, length: int | None = None) -> list[object]:
    """The items of a list (of this length)."""
    if not isinstance(value, list):
        refuse("shape", f"{where} is not a list")
    if length is not None and len(value) != length:
        refuse("shape", f"{where} has {len(value)} items, not {length}")
    return value


def text(value: object, where: str) -> str:
    if not isinstance(value, str):
        refuse("shape", f"{where} is not a text")
    return value


def truth(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        refuse("shape", f"{where} is neither true nor false")
    return value


def number(value: object, where: str, rule: str, end: int) -> int:
    """An integer from 0 on, below ``end``; a number out of range breaks ``rule``."""
    if type(value) is not int:  # a bool is an int to Python
        refuse("shape", f"{where} is not an integer")
    if not 0 <= value < end:
        refuse(rule, f"{where} is {shown(value)}, not one of the {end} numbers from 0 on")
    return value


def numbers(value: object, where: str, rule: str, ends: Sequence[int]) -> tuple[int, ...]:
    """A list of integers, each below its own end."""
    found = items(value, where, len(ends))
    return tuple(number(item, where, rule, end) for item, end in zip(found, ends, strict=True))


def rational(value: object, where: str) -> Fraction:
    """A text such as ``5/4`` as a fraction."""
    match = NUMERAL.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        refuse("rational", f'{where} is {shown(value)}, not a text such as "5/4" of moderate length')
    above, below = match[1], match[2] or "1"
    if not below.strip("0"):
        refuse("rational", f"{where} has the denominator 0")
    return Fraction(int(above), int(below))


def interval(value: object, where: str) -> tuple[Fraction, Fraction]:
    """A list of two rationals."""
    low, high = items(value, where, 2)
    return rational(low, where), rational(high, where)


def bounded(value: Fraction) -> Fraction:
    """The value, if it is not too large to go on with."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        refuse("limit", f"a sum has more than {MAX_BITS} bits")
    return value
