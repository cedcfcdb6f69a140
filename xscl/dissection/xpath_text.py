"""Filter conditions as the XPath 1.0 text that stage 1 evaluates (docs/semantics.md#filters).

Conditions come from the syntax tree, which contains only the whitelisted subset; bindings in them
are gone or do not matter here.  Equal conditions come out as equal text, so that they are one
filter however they were written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from xscl.dissection.condition_cost import cost
from xscl.language.conditions import LOOSENESS, counts_positions
from xscl.language.problems import Unbound
from xscl.language.syntax import (
    Binary,
    Condition,
    Function,
    Literal,
    Negative,
    Parameter,
    Path,
    Step,
)
from xscl.xpath_stage import Filter, Test, decimal_text, encode_name

__all__ = [
    "compared_with",
    "filters_of",
    "in_order",
    "open_condition",
    "path_expression",
    "positional",
    "relative_path",
    "tag_test",
]

TestT = TypeVar("TestT", bound=Test)

_IN_XPATH_1 = {"exists": "boolean", "empty": "not"}


class _Writer:
    """Writes XPath, giving each namespace a prefix in order of appearance.

    Where parameters may stay `left_open`, each occurrence of one is a variable, `$c0`, `$c1`, ….
    """

    def __init__(self, left_open: list[Parameter] | None = None) -> None:
        self._prefixes: dict[str, str] = {}
        self._left_open = left_open

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
                # By these digits libxml2 reads what it reads in a document.
                return decimal_text(float(value))
            case Parameter(name):
                if self._left_open is None:
                    raise Unbound(name)
                self._left_open.append(condition)
                return f"$c{len(self._left_open) - 1}"
            case Function():
                arguments = ", ".join(self.condition(a) for a in condition.arguments)
                return f"{_IN_XPATH_1.get(condition.name, condition.name)}({arguments})"
            case Negative():
                return f"-{self.condition(condition.operand, 7)}"
            case Binary():
                level = LOOSENESS[condition.operator]
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
        test = tag_test(test)
        attribute, name = ("@", test[1:]) if test.startswith("@") else ("", test)
        uri, _, local = name.rpartition("}")
        if local == "*" or not uri:
            return attribute + local
        if uri == "{*":
            return f"{attribute}*[local-name() = {_quoted(local)}]"
        prefix = self._prefixes.setdefault(uri[1:], f"n{len(self._prefixes)}")
        return f"{attribute}{prefix}:{local}"


def filters_of(step: Step, conditions: Sequence[Condition]) -> tuple[Filter, ...]:
    """The filters of a step's node, given the conditions that bind nothing, in order.

    Up to the last one that counts positions they are one filter, evaluated from the parent; the
    others are separate filters, in a canonical order.
    """
    counted = positional(conditions)
    filters: list[Filter] = []
    if counted:
        writer = _Writer()
        text = writer.test(step.test)
        text += "".join(f"[{writer.condition(c)}]" for c in conditions[:counted])
        filters.append(Filter(text, writer.namespaces, True, *cost(conditions[:counted])))
    for condition in conditions[counted:]:
        writer = _Writer()
        text = writer.condition(condition)
        filters.append(Filter(text, writer.namespaces, False, *cost([condition])))
    return in_order(filters)


def in_order(tests: Iterable[TestT]) -> tuple[TestT, ...]:
    """The tests of a node, each once: positions as they were written, then the others in a
    canonical order."""

    def key(test: Test) -> tuple[bool, str, object]:
        if isinstance(test, Filter):
            return False, test.expression, test.namespaces
        return True, repr(test), ()

    each = dict.fromkeys(tests)
    counted = [test for test in each if isinstance(test, Filter) and test.positional]
    return (*counted, *sorted((test for test in each if test not in counted), key=key))


def positional(conditions: Sequence[Condition]) -> int:
    """The number of conditions up to and including the last one that counts positions."""
    return max((i + 1 for i, c in enumerate(conditions) if counts_positions(c)), default=0)


def tag_test(test: str) -> str:
    """A node test as stage 1 knows it: the name of a JSON key that is no XML name, encoded."""
    if test.startswith("@") or test in ("*", ".", "text()"):
        return test
    if test.startswith("{}"):
        # A quoted name that would read as something else; it may have braces of its own.
        return encode_name(test[2:])
    return test if "}" in test else encode_name(test)


def compared_with(
    functions: Sequence[str], operator: str, constant: str | Parameter, at: int
) -> Condition:
    """The condition that compares a node's string value, under functions, with a constant's."""
    node = Path((Step("/", ".", None, (), at),), at)
    if isinstance(constant, str) and not functions and operator in ("=", "!="):
        return Binary(operator, node, Literal(constant, at), at)
    last = Literal(constant, at) if isinstance(constant, str) else constant
    texts = (Literal(" ".join(functions), at), Literal(operator, at))
    return Function("compare", (node, *texts, last), at)


def relative_path(path: Path) -> Filter:
    """A relative path in the form of a filter, with the cost of reading its nodes' strings."""
    writer = _Writer()
    text = writer.condition(path)
    searches, pairs, _ = cost((path,))
    return Filter(text, writer.namespaces, False, searches, pairs, True)


def open_condition(condition: Condition) -> tuple[Filter, list[Parameter]]:
    """A condition in the form of a filter on variables, and the parameters of these."""
    parameters: list[Parameter] = []
    writer = _Writer(parameters)
    text = writer.condition(condition)
    return Filter(text, writer.namespaces, False, *cost([condition])), parameters


def path_expression(steps: Sequence[Step]) -> tuple[str, dict[str, str]]:
    """A relative path as XPath 1.0, and the namespaces of its prefixes."""
    writer = _Writer()
    return writer.path(steps), dict(writer.namespaces)


def _quoted(text: str) -> str:
    """A string literal; XPath 1.0 has no escapes, so both quotes in one need `concat`."""
    if "'" not in text:
        return f"'{text}'"
    if '"' not in text:
        return f'"{text}"'
    parts = ', "\'", '.join(f"'{part}'" for part in text.split("'"))
    return f"concat({parts})"
