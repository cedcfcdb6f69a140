"""The cost of a filter, as stage 1 bounds it: nested searches, pairs of nodes, strings."""

from __future__ import annotations

from collections.abc import Sequence

from xscl.language.conditions import ARITHMETIC
from xscl.language.syntax import Binary, Condition, Function, Literal, Negative, Parameter, Path

__all__ = ["cost"]

_COMPARING = frozenset({"=", "!=", "<", "<=", ">", ">="})
_WITHOUT_STRINGS = frozenset({"not", "count", "exists", "empty", "last", "boolean"})


def cost(conditions: Sequence[Condition]) -> tuple[int, bool, bool]:
    """The cost of some conditions, as `Filter` has it: searches, pairs, strings.

    >>> from xscl.language import parse
    >>> [query], _ = parse("S//a[.//b[c//d] = e]")
    >>> cost(query.source.steps[0].filters)
    (2, True, True)
    """
    costs = [_cost_of(condition) for condition in conditions]
    searches = max((cost[0] for cost in costs), default=0)
    return searches, any(cost[1] for cost in costs), any(cost[2] for cost in costs)


def _cost_of(condition: Condition) -> tuple[int, bool, bool]:
    match condition:
        case Path():
            # Searches of one path follow each other below the same node, as nested ones do; and a
            # path of several steps goes further down than to the children.
            inner = [cost(step.filters) for step in condition.steps]
            own = sum(step.axis == "//" for step in condition.steps)
            own = own or int(sum(step.test != "." for step in condition.steps) > 1)
            nested = max(cost[0] for cost in inner)
            return own + nested, any(cost[1] for cost in inner), any(cost[2] for cost in inner)
        case Function():
            searches, pairs, strings = cost(condition.arguments)
            # Without an argument it reads the node itself.
            return searches, pairs, strings or condition.name not in _WITHOUT_STRINGS
        case Negative():
            searches, pairs, _ = _cost_of(condition.operand)
            return searches, pairs, True
        case Binary():
            searches, pairs, strings = cost((condition.left, condition.right))
            compares = condition.operator in _COMPARING
            both = isinstance(condition.left, Path) and isinstance(condition.right, Path)
            reads = compares or condition.operator in ARITHMETIC
            return searches, pairs or (compares and both), strings or reads
        case Literal() | Parameter():
            return 0, False, False
