"""Sets of profiles, block by block (docs/weights.md, section 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symdipa.bounds.exact.frames import Rows, maximal
from symdipa.bounds.exact.lift import NEVER

ZERO = np.zeros((1, 1), dtype=np.int64)
"""The one profile of a block without tracked values."""


@dataclass(frozen=True)
class Choice:
    """One profile: a row for each block, least entry 0, and the least cost of the prefix in ``total``."""

    total: int
    rows: dict[int, Rows]


@dataclass(frozen=True, eq=False)
class Product:
    """Profiles block by block: every combination of one row of each, and of ``constant``, is reached.

    Blocks without tracked values have no rows; their costs are in ``constant``.
    """

    constant: int
    rows: dict[int, Rows]

    def normal(self) -> Product:
        """The same with the costs that are certain in ``constant``, rows maximal and in a fixed order."""
        constant, rows = self.constant, {}
        for block, some in self.rows.items():
            if len(some) == 1 and not some.min():
                rows[block] = some
                continue
            certain = int(some.min(axis=1).max())
            constant += certain
            rows[block] = maximal(np.where(some >= NEVER, NEVER, some - certain))
        return Product(constant, rows)

    def highest(self) -> Choice:
        """The profile with the highest least entry."""
        rows, total = {}, self.constant
        for block, some in self.rows.items():
            least = some.min(axis=1)
            k = int(least.argmax())
            rows[block], total = lowered(some[k : k + 1]), total + int(least[k])
        return Choice(total, rows)

    def apart_from(self, block: int | None) -> tuple[tuple[int, bytes], ...]:
        """What two products must share so that they may be united in that block."""
        return tuple((b, some.tobytes()) for b, some in sorted(self.rows.items()) if b != block)


def united(products: list[Product]) -> list[Product]:
    """Fewer products for the same profiles: those that differ in one block only become one."""
    blocks: list[int | None] = [*products[0].rows] if products else []
    products = [product.normal() for product in products]
    changed = len(products) > 1
    while changed:
        changed = False
        for block in blocks or [None]:
            groups: dict[tuple[tuple[int, bytes], ...], list[Product]] = {}
            for product in products:
                groups.setdefault(product.apart_from(block), []).append(product)
            if len(groups) < len(products):
                changed = True
                products = [_union(group, block) for group in groups.values()]
    return products


def _union(group: list[Product], block: int | None) -> Product:
    if len(group) == 1:
        return group[0]
    if block is None:
        return max(group, key=lambda product: product.constant)
    some = [product.rows[block] + product.constant for product in group]
    return Product(0, {**group[0].rows, block: np.minimum(np.concatenate(some), NEVER)}).normal()


def lowered(rows: Rows) -> Rows:
    """Every row with least entry 0."""
    return np.where(rows >= NEVER, NEVER, rows - rows.min(axis=1, keepdims=True))


def like(rows: Rows, row: Rows) -> int | None:
    """Of the rows that differ from the given one by a constant the highest."""
    fitting = np.flatnonzero((lowered(rows) == row).all(axis=1))
    if len(fitting) < 2:
        return int(fitting[0]) if len(fitting) else None
    return int(fitting[rows[fitting].min(axis=1).argmax()])
