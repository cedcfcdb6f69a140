"""What a query that reads well may still say wrongly.

Variables that nothing binds, or that two steps bind; bindings where a path may fail to hold
without the query failing (under `or`, in `not()`, in a comparison); steps where they cannot
stand; functions that are not on the list.  Sections 1, 2 and 8 of language.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from xscl.language.problems import Problem, enumerated, place
from xscl.language.syntax import (
    Binary,
    Block,
    Condition,
    Element,
    Function,
    Insert,
    Literal,
    Name,
    Negative,
    Path,
    Query,
    Select,
    Source,
    Step,
    VariablePath,
)

__all__ = ["check"]

ARGUMENTS = {
    "contains": (2, 2),
    "count": (1, 1),
    "last": (0, 0),
    "normalize-space": (0, 1),
    "not": (1, 1),
    "number": (0, 1),
    "starts-with": (2, 2),
    "string": (0, 1),
    "string-length": (0, 1),
    "substring-after": (2, 2),
    "substring-before": (2, 2),
}
"""The functions that a filter may call, and how few and how many arguments each takes."""

_NUMERIC_FUNCTIONS = {"count", "last", "number", "string-length"}
_ARITHMETIC = {"+", "-", "*", "div", "mod"}
_IN_SELECT = "in SELECT"
_SHOWN = 12


def check(query: Query, text: str) -> list[Problem]:
    """All that is wrong with a query, by place; `text` is what the places are in."""
    checking = _Checking(text)
    blocks = list(_blocks(query.source))
    for block in blocks:
        checking.path(block.steps, within="block", against=None)
    selected = list(_selected(query.select))
    for path in selected:
        checking.path(path.steps, within="SELECT", against=_IN_SELECT)
    for path in [*_compared(query.source), *selected]:
        checking.use(path.variable)
    return sorted(checking.problems)


class _Checking:
    """The variables met so far (each with its place), and the problems."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.bound: dict[str, int] = {}
        self.problems: list[Problem] = []

    def note(self, at: int, text: str) -> None:
        self.problems.append(Problem(at, text))

    # Variables.

    def bind(self, variable: Name, against: str | None) -> None:
        """Take note of a binding; `against` says what it stands in where it may not."""
        if against is not None:
            why = "" if against == _IN_SELECT else ": such a path need not match"
            self.note(variable.at, f"`{variable.text}` cannot be bound {against}{why}")
            if against == _IN_SELECT:
                return
        if variable.text in self.bound:
            first = place(self.text, self.bound[variable.text])
            self.note(variable.at, f"the variable `{variable.text}` is bound already, at {first}")
        else:
            self.bound[variable.text] = variable.at

    def use(self, variable: Name) -> None:
        if variable.text in self.bound:
            return
        problem = f"the variable `{variable.text}` is not bound in this query"
        names = sorted(self.bound)[:100]
        close = get_close_matches(variable.text[:100], [n for n in names if len(n) <= 100], n=1)
        if close:
            problem += f"; did you mean `{close[0]}`?"
        if names:
            more = ["…"] if len(self.bound) > _SHOWN else []
            shown = [*(f"`{name}`" for name in names[:_SHOWN]), *more]
            problem += f" (bound: {', '.join(shown)})"
        self.note(variable.at, problem)

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
                self.note(step.at, "`text()` can only stand in a filter")
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
                self.function(condition)
                for argument in condition.arguments:
                    self.condition(argument, against or f"in `{condition.name}()`")

    def function(self, call: Function) -> None:
        if call.name not in ARGUMENTS:
            allowed = enumerated((f"`{name}`" for name in ARGUMENTS), "and")
            self.note(call.at, f"the function `{call.name}` is not allowed; allowed are {allowed}")
            return
        least, most = ARGUMENTS[call.name]
        given = len(call.arguments)
        if not least <= given <= most:
            number = f"{least}" if least == most else f"{least} or {most}"
            arguments = "argument" if most == 1 else "arguments"
            self.note(call.at, f"`{call.name}()` takes {number} {arguments}, found {given}")
        elif call.name == "count" and not isinstance(call.arguments[0], Path):
            self.note(call.arguments[0].at, "`count()` counts the nodes of a path, nothing else")


def _blocks(source: Source) -> Iterator[Block]:
    if isinstance(source, Block):
        yield source
    else:
        yield from _blocks(source.left)
        yield from _blocks(source.right)


def _compared(source: Source) -> Iterator[VariablePath]:
    if not isinstance(source, Block):
        yield from _compared(source.left)
        for comparison in source.predicate:
            yield comparison.left
            yield comparison.right
        yield from _compared(source.right)


def _selected(select: Select) -> Iterator[VariablePath]:
    if isinstance(select, Element):
        for parts in (*(value for _, value in select.attributes), select.content):
            for part in parts:
                if isinstance(part, Insert):
                    yield part.path
                elif isinstance(part, Element):
                    yield from _selected(part)
    elif select is not None:
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
        case Function(name) if name in _NUMERIC_FUNCTIONS:
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
