"""The content of a composite's match: what SELECT reads of the events of a variable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any

from xscl.language import syntax
from xscl.matches.pattern_form import PatternForm
from xscl.matches.pattern_values import OPERATIONS, Operation, Read, Values
from xscl.pattern_stage.values.numbers import number_of

if TYPE_CHECKING:
    from xscl.language.syntax import Query
    from xscl.matches.pattern_form import Taken
    from xscl.patterns.compile_composition import CompiledComposition

__all__ = ["CompositionForm"]

_OPERATIONS: Mapping[str, Operation] = {
    **OPERATIONS,
    "/": lambda dividend, divisor: dividend / divisor if divisor else nan,
}


class CompositionForm(PatternForm):
    """The common part of the matches of a composition."""

    def __init__(self, query: Query, compiled: CompiledComposition) -> None:
        self.stream = None if query.publish is None else query.publish.text
        self._query = query
        self._names = compiled.names

    @cached_property
    def _values(self) -> Values:
        return _CompositeValues(self._names)


class _CompositeValues(Values):
    """`v.x` of all events of a variable that have it, in order; in arithmetic of the last one;
    `PREV(v.x)` of the last but one."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(names, ())

    def reader(self, value: Any) -> Read:
        """A function from a match to a value of SELECT."""
        if isinstance(value, syntax.Quantified):
            return self._nodes(
                value.read, slice(-2, -1) if value.quantifier == "PREV" else slice(None)
            )
        return super().reader(value)

    @property
    def operations(self) -> Mapping[str, Operation]:
        """What is divided by 0 is no number."""
        return _OPERATIONS

    def _number(self, value: Any) -> Callable[[Taken], float]:
        if isinstance(value, syntax.Quantified):
            nodes = self.reader(value)
            return lambda taken: next((number_of(one.string()) for one in nodes(taken)), nan)
        if isinstance(value, syntax.Read):
            value = replace(value, index="last")
        return super()._number(value)
