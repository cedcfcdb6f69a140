"""Filter conditions as XPath 1.0: what stage 1 evaluates (section 2 of the language).

Conditions come from the syntax tree, which holds nothing but the whitelisted subset; bindings
in them are gone or do not matter here.  Equal conditions come out as equal text, so that they
are one filter however they were written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from xpath_stage import Filter
from xscl.language.syntax import Binary, Condition, Function, Literal, Negative, Path, Step

__all__ = ["existence", "filters_of", "is_number", "path_expression"]

_LOOSENESS = {
    "or": 1,
    "and": 2,
    "=": 3,
    "!=": 3,
    "<": 4,
    "<=": 4,
    ">": 4,
    ">=": 4,
    "+": 5,
    "-": 5,
    "*": 6,
    "div": 6,
    "mod": 6,
}
_NUMERIC = {"count", "last", "number", "string-length"}
_NCNAME = re.compile(r"[^\W\d][\w.\-]*")


class _Writer:
    """Writes XPath, giving each namespace a prefix in order of appearance."""

    def __init__(self) -> None:
        self._prefixes: dict[str, str] = {}

    @property
    def namespaces(self) -> tuple[tuple[str, str], ...]:
        return tuple((prefix, uri) for uri, prefix in self._prefixes.items())

    def condition(self, condition: Condition, tightness: int = 0) -> str:
        match condition:
            case Path():
                return self.path(condition.steps)
            case Literal(value=str(value)):
                return _quoted(value)
            case Literal(value=value):
                return _number(float(value))
            case Function():
                arguments = ", ".join(self.condition(a) for a in condition.arguments)
                return f"{condition.name}({arguments})"
            case Negative():
                return f"-{self.condition(condition.operand, 7)}"
            case Binary():
                level = _LOOSENESS[condition.operator]
                left = self.condition(condition.left, level)
                right = self.condition(condition.right, level + 1)
                text = f"{left} {condition.operator} {right}"
                return f"({text})" if level < tightness else text

    def path(self, steps: Sequence[Step]) -> str:
        """A relative path; its first step is reached from the context node."""
        text = ""
        for index, step in enumerate(steps):
            if step.axis == "//":
                text += "//" if index else ".//"
            elif index:
                text += "/"
            text += self.step(step)
        return text

    def step(self, step: Step) -> str:
        # XPath's `.` takes no filters.
        test = "self::node()" if step.test == "." and step.filters else self.test(step.test)
        return test + "".join(f"[{self.condition(condition)}]" for condition in step.filters)

    def test(self, test: str) -> str:
        if test in (".", "text()"):
            return test
        attribute, name = ("@", test[1:]) if test.startswith("@") else ("", test)
        uri, _, local = name.rpartition("}")
        if local == "*" or (not uri and _NCNAME.fullmatch(local)):
            return attribute + local
        if uri == "{*":
            return f"{attribute}*[local-name() = {_quoted(local)}]"
        if not _NCNAME.fullmatch(local):
            named = f"local-name() = {_quoted(local)} and namespace-uri() = {_quoted(uri[1:])}"
            return f"{attribute}*[{named}]"
        prefix = self._prefixes.setdefault(uri[1:], f"n{len(self._prefixes)}")
        return f"{attribute}{prefix}:{local}"


def filters_of(step: Step, conditions: Sequence[Condition]) -> tuple[Filter, ...]:
    """The filters of a step's node, given the conditions that bind nothing, in order.

    Up to the last one that counts positions they are one filter, evaluated from the parent;
    the others are filters of their own, in an order of their own.
    """
    counted = max((i + 1 for i, c in enumerate(conditions) if _counts(c)), default=0)
    filters: list[Filter] = []
    if counted:
        writer = _Writer()
        text = writer.test(step.test)
        text += "".join(f"[{writer.condition(c)}]" for c in conditions[:counted])
        filters.append(Filter(text, writer.namespaces, positional=True))
    rest = set()
    for condition in conditions[counted:]:
        writer = _Writer()
        rest.add(Filter(writer.condition(condition), writer.namespaces))
    return (*filters, *sorted(rest, key=lambda f: (f.expression, f.namespaces)))


def existence(steps: Sequence[Step]) -> Condition:
    """The condition that a relative path leads to a node."""
    return Path(tuple(steps), steps[0].at)


def path_expression(steps: Sequence[Step]) -> tuple[str, dict[str, str]]:
    """A relative path as XPath 1.0, and the namespaces of its prefixes."""
    writer = _Writer()
    return writer.path(steps), dict(writer.namespaces)


def _counts(condition: Condition) -> bool:
    """Whether a filter depends on its node's position: it is a number, or asks for `last()`."""
    return is_number(condition) or _asks_last(condition)


def is_number(condition: Condition) -> bool:
    """Whether a condition's value is a number: alone as a filter, it would be a position."""
    match condition:
        case Literal():
            return not isinstance(condition.value, str)
        case Function():
            return condition.name in _NUMERIC
        case Negative():
            return True
        case Binary():
            return _LOOSENESS[condition.operator] >= 5
        case Path():
            return False


def _asks_last(condition: Condition) -> bool:
    """Whether `last()` stands in a condition's own context (not in a filter of a path in it)."""
    match condition:
        case Function():
            return condition.name == "last" or any(_asks_last(a) for a in condition.arguments)
        case Negative():
            return _asks_last(condition.operand)
        case Binary():
            return _asks_last(condition.left) or _asks_last(condition.right)
        case _:
            return False


def _quoted(text: str) -> str:
    """A string literal; XPath 1.0 has no escapes, so both quotes in one need `concat`."""
    if "'" not in text:
        return f"'{text}'"
    if '"' not in text:
        return f'"{text}"'
    parts = ', "\'", '.join(f"'{part}'" for part in text.split("'"))
    return f"concat({parts})"


def _number(value: float) -> str:
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    text = f"{value:.17f}".rstrip("0")
    return text + "0" if text.endswith(".") else text
