"""Filter conditions as XPath 1.0: what stage 1 evaluates (section 2 of the language).

Conditions come from the syntax tree, which holds nothing but the whitelisted subset; bindings
in them are gone or do not matter here.  Equal conditions come out as equal text, so that they
are one filter however they were written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xpath_stage import Filter, encode_name
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

__all__ = [
    "compared_with",
    "conjuncts_of",
    "cost",
    "counts_positions",
    "existence",
    "filters_of",
    "is_number",
    "open_condition",
    "path_expression",
    "relative_path",
    "tag_test",
]

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
_IN_XPATH_1 = {"exists": "boolean", "empty": "not"}
_NUMERIC = {"count", "last", "number", "string-length"}


class _Writer:
    """Writes XPath, giving each namespace a prefix in order of appearance.

    Where parameters may stay `left_open`, each place of one is a variable, `$c0`, `$c1`, ….
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
                return _number(float(value))
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

    Up to the last one that counts positions they are one filter, evaluated from the parent;
    the others are filters of their own, in an order of their own.
    """
    counted = max((i + 1 for i, c in enumerate(conditions) if counts_positions(c)), default=0)
    filters: list[Filter] = []
    if counted:
        writer = _Writer()
        text = writer.test(step.test)
        text += "".join(f"[{writer.condition(c)}]" for c in conditions[:counted])
        filters.append(Filter(text, writer.namespaces, True, *cost(conditions[:counted])))
    rest = set()
    for condition in conditions[counted:]:
        writer = _Writer()
        text = writer.condition(condition)
        rest.add(Filter(text, writer.namespaces, False, *cost([condition])))
    return (*filters, *sorted(rest, key=lambda f: (f.expression, f.namespaces)))


def tag_test(test: str) -> str:
    """A node test as stage 1 knows it: the name of a JSON key that is no XML name, encoded."""
    if test.startswith("@") or test in ("*", ".", "text()"):
        return test
    uri, brace, local = test.rpartition("}")
    # `{}` marks a quoted name that would read as something else.
    return encode_name(local) if uri in ("", "{") else uri + brace + local


def compared_with(
    functions: Sequence[str], operator: str, constant: str | Parameter, at: int
) -> Condition:
    """The condition that a node's string value, under functions, compares with a constant's."""
    node = Path((Step("/", ".", None, (), at),), at)
    if isinstance(constant, str) and not functions and operator in ("=", "!="):
        return Binary(operator, node, Literal(constant, at), at)
    last = Literal(constant, at) if isinstance(constant, str) else constant
    texts = (Literal(" ".join(functions), at), Literal(operator, at))
    return Function("compare", (node, *texts, last), at)


def conjuncts_of(condition: Condition) -> Iterator[Condition]:
    """The parts of a condition that are joined by `and`, in order."""
    if isinstance(condition, Binary) and condition.operator == "and":
        yield from conjuncts_of(condition.left)
        yield from conjuncts_of(condition.right)
    else:
        yield condition


def existence(steps: Sequence[Step]) -> Condition:
    """The condition that a relative path leads to a node."""
    return Path(tuple(steps), steps[0].at)


def relative_path(path: Path) -> Filter:
    """A relative path in the form of a filter, with what it may cost to read its nodes' strings."""
    writer = _Writer()
    text = writer.condition(path)
    searches, pairs, _ = _cost_of(path)
    return Filter(text, writer.namespaces, False, searches, pairs, True)


def open_condition(condition: Condition) -> tuple[Filter, list[Parameter]]:
    """A condition in the form of a filter on variables, and the parameters that these are."""
    parameters: list[Parameter] = []
    writer = _Writer(parameters)
    text = writer.condition(condition)
    return Filter(text, writer.namespaces, False, *cost([condition])), parameters


def path_expression(steps: Sequence[Step]) -> tuple[str, dict[str, str]]:
    """A relative path as XPath 1.0, and the namespaces of its prefixes."""
    writer = _Writer()
    return writer.path(steps), dict(writer.namespaces)


def cost(conditions: Sequence[Condition]) -> tuple[int, bool, bool]:
    """What some conditions may cost, as a Filter says it: searches, pairs, strings."""
    costs = [_cost_of(condition) for condition in conditions]
    searches = max((cost[0] for cost in costs), default=0)
    return searches, any(cost[1] for cost in costs), any(cost[2] for cost in costs)


def _cost_of(condition: Condition) -> tuple[int, bool, bool]:
    match condition:
        case Path():
            # Searches of one path follow each other below the same node, as nested ones do; and
            # a path of several steps goes further down than to the children.
            inner = [cost(step.filters) for step in condition.steps]
            own = sum(step.axis == "//" for step in condition.steps)
            own = own or int(sum(step.test != "." for step in condition.steps) > 1)
            nested = max(cost[0] for cost in inner)
            return own + nested, any(cost[1] for cost in inner), any(cost[2] for cost in inner)
        case Function():
            searches, pairs, strings = cost(condition.arguments)
            # Without an argument it is the node itself that is read.
            reads = condition.name not in ("not", "count", "exists", "empty", "last", "boolean")
            return searches, pairs, strings or reads
        case Negative():
            searches, pairs, _ = _cost_of(condition.operand)
            return searches, pairs, True
        case Binary():
            searches, pairs, strings = cost((condition.left, condition.right))
            level = _LOOSENESS[condition.operator]
            both = isinstance(condition.left, Path) and isinstance(condition.right, Path)
            return searches, pairs or (level in (3, 4) and both), strings or level > 2
        case Literal() | Parameter():
            return 0, False, False


def counts_positions(condition: Condition) -> bool:
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
        case Parameter():
            return condition.number
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
