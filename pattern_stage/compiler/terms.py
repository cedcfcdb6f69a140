"""The texts of a pattern's conditions over the events of its components
(docs/semantics.md#values-and-missing-attributes)."""

from __future__ import annotations

from itertools import count
from typing import Any

from xscl.pattern_stage.compiler.texts import Texts
from xscl.pattern_stage.pattern import Conjunct
from xscl.pattern_stage.values.terms import Aggregate, Constant, Form, Length, Read
from xscl.pattern_stage.values.texts import TermTexts

__all__ = ["ComponentTexts"]


class ComponentTexts(TermTexts):
    """A subclass provides the places of components' events; with `given`, constants are taken from
    a tuple `C`, at these places."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self.given: list[int] | None = None
        self._fresh = count()

    def conjunct(self, conjunct: Conjunct) -> str:
        """Comparisons joined by OR."""
        return f"({' or '.join(map(self.predicate, conjunct))})"

    def constant(self, constant: Constant, form: Form) -> str:
        return self.texts.constant(constant, form, self.given)

    def wild(self, leaf: Read) -> bool:
        return self.texts.wild(leaf.component)

    def computed(self, leaf: Any) -> str:
        return self.length(leaf) if isinstance(leaf, Length) else self.aggregate(leaf)

    def aggregate(self, aggregate: Aggregate) -> str:
        """An aggregate."""
        raise TypeError(aggregate)

    def length(self, length: Length) -> str:
        """A number of events."""
        raise TypeError(length)

    def fresh(self) -> str:
        return f"v{next(self._fresh)}"
