"""Python text that reads an attribute: shared by the nodes, each of which knows where its
attributes are.

Texts are expressions whose value is None where the attribute is missing.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from xscl.pattern_stage.values.terms import Form, Term, is_number
from xscl.pattern_stage.values.texts import NONE

if TYPE_CHECKING:
    from xscl.pattern_stage.layouts import Layouts

__all__ = ["NONE", "ReadContext", "chain", "computed_text"]


class ReadContext:
    """The common context of the texts of one function: the layout of sources, names for
    intermediate values."""

    def __init__(self, layout: Layouts) -> None:
        self.layout = layout
        self._fresh = count()

    def fresh(self) -> str:
        """A variable that is not used yet."""
        return f"v{next(self._fresh)}"


def chain(first: str, second: str, reading: ReadContext) -> str:
    """The first, or the second where the first is missing."""
    if NONE in (first, second):
        return second if first == NONE else first
    variable = reading.fresh()
    return f"({variable} if ({variable} := {first}) is not None else {second})"


def computed_text(place: int, scalar: Term, form: Form, event: str) -> str:
    """A computed attribute, which the event has as its JSON value."""
    text, number = f"{event}[{place}]", is_number(scalar)
    if form is Form.VALUE or number is (form is Form.NUMBER):
        return text
    return f"{'as_number' if form is Form.NUMBER else 'as_text'}({text})"
