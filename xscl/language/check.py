"""What a query that reads well may still say wrongly.

Variables that nothing binds, or that two steps bind; bindings where a path may fail to hold
without the query failing (under `or`, in `not()`, in a comparison); steps where they cannot
stand; functions that are not on the list.  Sections 1, 2 and 8 of language.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from heapq import nsmallest

from xscl.language.functions import NUMERIC, misused
from xscl.language.limits import limits
from xscl.language.problems import Problem, place
from xscl.language.syntax import (
    Binary,
    Block,
    Comparison,
    Condition,
    Element,
    Function,
    Insert,
    JSONArray,
    JSONObject,
    JSONValue,
    Literal,
    Name,
    Negative,
    Path,
    Predicate,
    Query,
    Select,
    Side,
    Source,
    Step,
    VariablePath,
    Wrapped,
)

__all__ = ["check"]

_ARITHMETIC = {"+", "-", "*", "div", "mod"}
_OUTSIDE_BLOCKS = {"in SELECT", "in a predicate"}
_SHOWN = 12
_MOST_NAMES = 100
_SUGGESTIONS = 100


def check(query: Query, text: str) -> list[Problem]:
    """All that is wrong with a query, by place; `text` is what the places are in."""
    checking = _Checking(text)
    for block in _blocks(query.source):
        checking.path(block.steps, within="block", against=None)
    predicates = list(_predicates(query.source))
    checking.problems += limits(query.source)
    compared = [path for predicate in predicates for path in _compared(predicate)]
    selected = list(_selected(query.select))
    for path in compared:
        checking.path(path.steps, within="predicate", against="in a predicate")
    for path in selected:
        checking.path(path.steps, within="SELECT", against="in SELECT")
    # All that may be meant: bindings outside blocks were refused.
    names = nsmallest(_MOST_NAMES, checking.bound)
    for path in [*compared, *selected]:
        checking.use(path.variable, names)
    return sorted(checking.problems)


class _Checking:
    """The variables met so far (each with its place), and the problems."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.bound: dict[str, int] = {}
        self.unknown: dict[str, str] = {}
        self.problems: list[Problem] = []

    def note(self, at: int, text: str) -> None:
        self.problems.append(Problem(at, text))

    # Variables.

    def bind(self, variable: Name, against: str | None) -> None:
        """Take note of a binding; `against` says what it stands in where it may not."""
        if against is not None:
            why = ": such a path need not match"
            if against in _OUTSIDE_BLOCKS:
                why = ", only in a block"
            self.note(variable.at, f"`{variable.text}` cannot be bound {against}{why}")
            if against in _OUTSIDE_BLOCKS:
                return
        if variable.text in self.bound:
            first = place(self.text, self.bound[variable.text])
            self.note(variable.at, f"the variable `{variable.text}` is bound already, at {first}")
        else:
            self.bound[variable.text] = variable.at

    def use(self, variable: Name, names: list[str]) -> None:
        """Refuse a variable that nothing binds; `names` are the first that are bound."""
        if variable.text in self.bound:
            return
        if variable.text not in self.unknown:
            self.unknown[variable.text] = self.unknown_variable(variable.text, names)
        self.note(variable.at, self.unknown[variable.text])

    def unknown_variable(self, unknown: str, names: list[str]) -> str:
        problem = f"the variable `{unknown}` is not bound in this query"
        # The search for close names takes its time: not for a thousand errors.
        if len(self.unknown) < _SUGGESTIONS:
            short = [name for name in names if len(name) <= 100]
            for close in get_close_matches(unknown[:100], short, n=1):
                problem += f"; did you mean `{close}`?"
        if names:
            more = ["…"] if len(self.bound) > _SHOWN else []
            shown = [*(f"`{name}`" for name in names[:_SHOWN]), *more]
            problem += f" (bound: {', '.join(shown)})"
        return problem

    # Paths.

    def path(self, steps: tuple[Step, ...], within: str, against: str | None) -> None:
        """Check a path; `within` is what it is a part of: a block, a filter or SELECT."""
        for index, step in enumerate(steps):
            before = steps[index - 1] if index else None
            if before is not None and (before.test == "text()" or before.test.startswith("@")):
                last = "an attribute" if before.test.startswith("@") else "`text()`"
                self.note(step.at, f"nothing follows {last} in a path")
            if step.test == "." and (within != "filter" or index):
                self.note(step.at, "`.` can only be the first step of a path in a filter")
            if step.test == "text()" and within != "filter":
                self.note(
                    step.at, "`text()` can only stand in a filter; end the path at its element"
                )
            if step.variable is not None:
                if step.test == "text()":
                    self.note(
                        step.variable.at, "`text()` cannot be bound; bind the element that holds it"
                    )
                self.bind(step.variable, against)
            self.filters(step, against)

    def filters(self, step: Step, against: str | None) -> None:
        binding: Condition | None = None
        for condition in step.filters:
            if binding is not None:
                for position in _positions(condition):
                    self.note(
                        position,
                        "a position cannot follow a filter that binds a variable; write it before",
                    )
            self.condition(condition, against)
            if binding is None and _binds(condition):
                binding = condition

    # Conditions.

    def condition(self, condition: Condition, against: str | None) -> None:
        match condition:
            case Path(steps):
                self.path(steps, within="filter", against=against)
            case Binary("and", left, right):
                self.condition(left, against)
                self.condition(right, against)
            case Binary(operator, left, right):
                where = against or f"under `{operator}`"
                self.condition(left, where)
                self.condition(right, where)
            case Negative(operand):
                self.condition(operand, against or "under `-`")
            case Function():
                self.problems += misused(condition)
                for argument in condition.arguments:
                    self.condition(argument, against or f"in `{condition.name}()`")


def _blocks(source: Source) -> Iterator[Block]:
    if isinstance(source, Block):
        yield source
    else:
        yield from _blocks(source.left)
        yield from _blocks(source.right)


def _predicates(source: Source) -> Iterator[Predicate]:
    if not isinstance(source, Block):
        yield from _predicates(source.left)
        if source.predicate is not None:
            yield source.predicate
        yield from _predicates(source.right)


def _compared(predicate: Predicate) -> Iterator[VariablePath]:
    if isinstance(predicate, Comparison):
        yield from _varying(predicate.left)
        yield from _varying(predicate.right)
    else:
        for part in predicate.parts:
            yield from _compared(part)


def _varying(side: Side) -> Iterator[VariablePath]:
    while isinstance(side, Wrapped):
        side = side.operand
    if isinstance(side, VariablePath):
        yield side


def _selected(select: Select | JSONValue) -> Iterator[VariablePath]:
    match select:
        case VariablePath():
            yield select
        case Element():
            for parts in (*(value for _, value in select.attributes), select.content):
                for part in parts:
                    if isinstance(part, Insert):
                        yield part.path
                    elif isinstance(part, Element):
                        yield from _selected(part)
        case JSONObject(members):
            for _, value in members:
                yield from _selected(value)
        case JSONArray(items):
            for value in items:
                yield from _selected(value)
        case tuple():
            for item in select:
                yield item.path


def _binds(condition: Condition) -> bool:
    """Whether a filter binds a variable, at any depth."""
    match condition:
        case Path(steps):
            return any(s.variable is not None or any(map(_binds, s.filters)) for s in steps)
        case Binary(_, left, right):
            return _binds(left) or _binds(right)
        case Negative(operand):
            return _binds(operand)
        case Function():
            return any(map(_binds, condition.arguments))
        case Literal():
            return False


def _positions(condition: Condition) -> Iterator[int]:
    """Where a filter asks for a position: as a number, or by `last()`."""
    match condition:
        case Literal(float()) | Negative():
            yield condition.at
        case Binary(operator) if operator in _ARITHMETIC:
            yield condition.at
        case Function(name) if name in NUMERIC:
            yield condition.at
        case _:
            yield from _lasts(condition)


def _lasts(condition: Condition) -> Iterator[int]:
    """The calls of `last()` that mean this filter (those within a path mean the path's)."""
    match condition:
        case Function("last"):
            yield condition.at
        case Function():
            for argument in condition.arguments:
                yield from _lasts(argument)
        case Binary(_, left, right):
            yield from _lasts(left)
            yield from _lasts(right)
        case Negative(operand):
            yield from _lasts(operand)
