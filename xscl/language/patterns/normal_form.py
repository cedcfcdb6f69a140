"""The condition of a pattern in conjunctive normal form: a list of conjuncts, each a test or
comparisons joined by OR (docs/semantics.md#conjuncts)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

from xscl.language.syntax import Compared, Demand, Either, Equivalence, Every, Value

__all__ = ["MOST_CONJUNCTS", "conjuncts", "count", "every"]

MOST_CONJUNCTS = 1_000
"""How many conjuncts a pattern may have."""

Clause = tuple[Compared[Value] | Equivalence, ...]


def conjuncts(condition: Demand | None) -> list[Clause]:
    """The conjuncts of a condition, in the order of the text; `count` has judged their number."""
    match condition:
        case None:
            return []
        case Every(parts):
            return [clause for part in parts for clause in conjuncts(part)]
        case Either(parts):
            ways = product(*map(conjuncts, parts))
            return [tuple(atom for clause in way for atom in clause) for way in ways]
        case _:
            return [(condition,)]


def count(condition: Demand | None) -> int:
    """How many conjuncts a condition has; of too many, that there are too many."""
    match condition:
        case None:
            return 0
        case Every(parts):
            return sum(map(count, parts))
        case Either(parts):
            return min(prod(map(count, parts)), 10 * MOST_CONJUNCTS)
        case _:
            return 1


def every(condition: object) -> Iterator[object]:
    """The parts of a condition of any language that must all hold."""
    if isinstance(condition, Every):
        yield from condition.parts
    elif condition is not None:
        yield condition
