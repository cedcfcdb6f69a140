"""Which variables a query binds, and where each of them may be used (docs/semantics.md#predicates).

A predicate sees what is bound in any block to the left of its operator, whatever the groups, and
in the operator's right operand; SELECT sees all.  A sub-query's variables are its own: neither
it nor the query around it sees the other's.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from heapq import nsmallest

from xscl.language.problems import Problem, place
from xscl.language.syntax import Name

__all__ = ["Scope"]

_SHOWN = 12
_MOST_NAMES = 100
_SUGGESTIONS = 100


class Scope:
    """The variables of one query: bound operand by operand, then used.

    `elsewhere` are the variables of the statement's other queries, each with a place in the text.
    """

    def __init__(self, text: str, elsewhere: Mapping[str, int]) -> None:
        self._text = text
        self._elsewhere = elsewhere
        self.bound: dict[str, int] = {}
        self._operand: dict[str, int] = {}
        # The first names by alphabet that are bound in the operands so far, after each of them.
        self._names: list[list[str]] = [[]]
        self._new: list[str] = []
        self._unknown: dict[tuple[str, int], str] = {}

    def bind(self, variable: Name) -> Problem | None:
        """Take note of a binding in the current operand, unless the variable is bound already."""
        if variable.text in self.bound:
            first = place(self._text, self.bound[variable.text])
            problem = f"the variable `{variable.text}` is bound already, at {first}"
            return Problem(variable.at, problem)
        self.bound[variable.text] = variable.at
        self._operand[variable.text] = len(self._names)
        self._new.append(variable.text)
        return None

    def end_operand(self) -> None:
        """Go on to the next operand."""
        self._names.append(nsmallest(_MOST_NAMES, [*self._names[-1], *self._new]))
        self._new = []

    def use(self, variable: Name, reach: int | None = None) -> Problem | None:
        """Refuse a variable that is not bound in the first `reach` operands (None: in any)."""
        reach = len(self._names) - 1 if reach is None else reach
        if self._operand.get(variable.text, reach + 1) <= reach:
            return None
        key = variable.text, reach
        if key not in self._unknown:
            self._unknown[key] = self._unknown_variable(variable.text, self._names[reach])
        return Problem(variable.at, self._unknown[key])

    def _unknown_variable(self, unknown: str, names: list[str]) -> str:
        if unknown in self.bound:
            return (
                f"the variable `{unknown}` is bound only to the right, at "
                f"{place(self._text, self.bound[unknown])}; a predicate sees what is bound to the "
                "left of its operator and in the operator's right operand"
            )
        problem = f"the variable `{unknown}` is not bound in this query"
        if unknown in self._elsewhere:
            problem += (
                f", only in another, at {place(self._text, self._elsewhere[unknown])}: "
                "the variables of a sub-query are its own"
            )
        # The search for close names takes its time: not for a thousand errors.
        elif len(self._unknown) < _SUGGESTIONS:
            short = [name for name in names if len(name) <= 100]
            for close in get_close_matches(unknown[:100], short, n=1):
                problem += f"; did you mean `{close}`?"
        if names:
            more = ["…"] if len(names) > _SHOWN else []
            shown = [*(f"`{name}`" for name in names[:_SHOWN]), *more]
            problem += f" (bound: {', '.join(shown)})"
        return problem
