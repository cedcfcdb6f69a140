"""Errors of a query that reads well.

Variables that are used where they are not bound, or that two steps bind; bindings where a path
may fail to hold without the query failing (under `or`, in `not()`, in a comparison); steps where
they are not allowed; functions that are not on the list.  docs/semantics.md#joins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xscl.language.checks.functions import misused
from xscl.language.checks.likeness import ENOUGH, uncompared
from xscl.language.checks.limits import MOST_INSERTIONS, limits, too_many_blocks
from xscl.language.checks.variables import Scope
from xscl.language.conditions import binds, is_number, lasts
from xscl.language.eql.check import composition_problems
from xscl.language.events.check import event_problems
from xscl.language.patterns.check import pattern_problems
from xscl.language.problems import Problem
from xscl.language.syntax import (
    Binary,
    Block,
    Comparison,
    Condition,
    Function,
    Name,
    Negative,
    Path,
    Predicate,
    Query,
    Side,
    Step,
    VariablePath,
    Wrapped,
)
from xscl.language.walk import operands, operators, selected_paths, with_sub_queries

__all__ = ["LATE_POSITION", "check"]

LATE_POSITION = "a position cannot follow a filter that binds a variable; write it before"

_OUTSIDE_BLOCKS = {"in SELECT", "in a predicate"}


def check(query: Query, text: str) -> list[Problem]:
    """All that is wrong with a query, by place; `text` is what the places are in."""
    problem = too_many_blocks(query)
    if problem is not None:
        return [problem]
    elsewhere: dict[str, int] = {}
    checks = [_Checking(part, text, elsewhere) for part in with_sub_queries(query)]
    checks[0].inner = False
    for checking in checks:
        checking.blocks()
    for checking in checks:
        elsewhere |= checking.scope.bound
    for checking in checks:
        checking.joins_and_select()
    return sorted(problem for checking in checks for problem in checking.problems)


class _Checking:
    """One query without its sub-queries, its variables, and the problems."""

    def __init__(self, query: Query, text: str, elsewhere: Mapping[str, int]) -> None:
        self.query = query
        self.text = text
        self.scope = Scope(text, elsewhere)
        self.problems: list[Problem] = []
        self.inner = True

    def note(self, at: int, text: str) -> None:
        self.problems.append(Problem(at, text))

    def blocks(self) -> None:
        for operand in operands(self.query.source):
            self.path(operand.steps, within="block", against=None)
            self.scope.end_operand()
            if self.query.language.timed:
                # Each type's variables are its own: attributes of its events.
                self.scope = Scope(self.text, {})

    def joins_and_select(self) -> None:
        self.problems += limits(self.query)
        self.problems += pattern_problems(self.query, inner=self.inner)
        self.problems += event_problems(self.query, inner=self.inner)
        self.problems += composition_problems(self.query, inner=self.inner)
        for join, reach in operators(self.query.source):
            if join.predicate is not None:
                for path in _compared(join.predicate):
                    self.path(path.steps, within="predicate", against="in a predicate")
                    self.use(path.variable, reach)
        for number, path in enumerate(selected_paths(self.query.select)):
            if number == MOST_INSERTIONS:
                self.note(path.at, f"a SELECT has at most {MOST_INSERTIONS:,} paths")
                break
            self.path(path.steps, within="SELECT", against="in SELECT")
            self.use(path.variable, None)

    # Variables.

    def bind(self, variable: Name, against: str | None) -> None:
        """Take note of a binding; `against` says what it is in where it may not."""
        if against is not None:
            why = ": such a path need not match"
            if against in _OUTSIDE_BLOCKS:
                why = ", only in a block"
            self.note(variable.at, f"`{variable.text}` cannot be bound {against}{why}")
            if against in _OUTSIDE_BLOCKS:
                return
        problem = self.scope.bind(variable)
        if problem is not None:
            self.problems.append(problem)

    def use(self, variable: Name, reach: int | None) -> None:
        problem = self.scope.use(variable, reach)
        source = self.query.source
        if problem is not None and isinstance(source, Block) and not self.scope.bound:
            block = f"{source.stream.text}{'/…' if source.steps else ''}"
            advice = f"as an event query, `FROM FILTER{{}}({block})`, it is an attribute"
            self.note(problem.at, f"{problem.text}; {advice}")
        elif problem is not None:
            self.problems.append(problem)

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
                    step.at, "`text()` is only allowed in a filter; end the path at its element"
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
                positions = [condition] if is_number(condition) else lasts(condition)
                for position in positions:
                    self.note(position.at, LATE_POSITION)
            for call in uncompared(condition):
                self.note(call.at, f"found `similar()` compared with nothing; {ENOUGH}")
            self.condition(condition, against)
            if binding is None and binds(condition):
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
