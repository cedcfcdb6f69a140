"""The least likeness that a query asks for, as it is written, to millionths
(docs/likeness.md#measures)."""

from __future__ import annotations

from xscl.xpath_stage.texts.likeness import WHOLE

__all__ = ["NO_LEAST", "millionths"]

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
