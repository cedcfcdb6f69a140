"""What is said of likeness in a query: the least that it asks for, to millionths
(docs/likeness.md#measures), and what it may not ask."""

from __future__ import annotations

from collections.abc import Iterator

from xscl.language.syntax import Binary, Condition, Function
from xscl.xpath_stage.texts.likeness import WHOLE

__all__ = ["ENOUGH", "NO_LEAST", "NO_UNLIKENESS", "millionths", "uncompared"]

ENOUGH = "say how alike is enough, as in `similar(x, y) >= 0.6`"

NO_UNLIKENESS = (
    "documents are found by what is alike in them, so that a join cannot ask for what is not; "
    "a pattern can, as in "
    "`EVENT SEQ(S/item a, T/item b) WHERE similar(a.title, b.title) < 0.6`, "
    "and a filter, as in `[similar(title, 'x') < 0.6]`"
)

NO_LEAST = "the least likeness is a number above 0, at most 1, of at most six decimals"


def millionths(value: object) -> int | None:
    """A least likeness in millionths; None for what is none.

    >>> millionths(0.6), millionths(0.1234567), millionths("much")
    (600000, None, None)
    """
    if not isinstance(value, int | float) or not 0 < value <= 1:
        return None
    found = round(value * WHOLE)
    return found if found and found / WHOLE == value else None


def uncompared(condition: Condition) -> Iterator[Function]:
    """The calls of `similar()` in a filter that stand for a condition: alone as a number each would
    be a position, and else true however little is alike."""
    match condition:
        case Function("similar"):
            yield condition
        case Function("not"):
            for argument in condition.arguments:
                yield from uncompared(argument)
        case Binary("and" | "or"):
            yield from uncompared(condition.left)
            yield from uncompared(condition.right)
