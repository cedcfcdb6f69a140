"""Python text that reads an attribute: what nodes share who say where theirs stand.

Texts are expressions whose value is None where the attribute is missing.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from pattern_stage.algebra.terms import Call, Column, Constant, Scalar
from pattern_stage.pattern import Form

if TYPE_CHECKING:
    from pattern_stage.algebra.layout import Layout

__all__ = ["MISSING", "NUMERIC", "Reading", "chain", "computed_text", "is_number"]

MISSING = "None"

NUMERIC = frozenset(["string-length", "number", "abs", "min", "max", "kept", "count", "sum", "avg"])
"""The functions and aggregates whose value is a number."""


class Reading:
    """What the texts of one function share: the layout of sources, names for values between."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._fresh = count()

    def fresh(self) -> str:
        """A variable that is not yet used."""
        return f"v{next(self._fresh)}"


def chain(first: str, second: str, reading: Reading) -> str:
    """The first, or the second where that is missing."""
    if MISSING in (first, second):
        return second if first == MISSING else first
    variable = reading.fresh()
    return f"({variable} if ({variable} := {first}) is not None else {second})"


def is_number(scalar: Scalar) -> bool | None:
    """Whether a term is a number by its form, or a text; None: whatever the attribute is."""
    match scalar:
        case Constant(number=number):
            return number
        case Call("argmax" | "argmin") | Column():
            return None
        case Call(function):
            return function in NUMERIC
        case _:
            return True


def computed_text(place: int, scalar: Scalar, form: Form, event: str) -> str:
    """A computed attribute, which stands in the event as its JSON value."""
    text, number = f"{event}[{place}]", is_number(scalar)
    if form is Form.VALUE or number is (form is Form.NUMBER):
        return text
    return f"{'as_number' if form is Form.NUMBER else 'as_text'}({text})"
