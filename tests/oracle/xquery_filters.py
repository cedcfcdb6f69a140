"""Writes paths and their filters as XQuery whose functions spell out XPath 1.0's rules.

XPath 1.0 converts as it goes: a node set is its first node's string, or its existence, and a
comparison with one holds if it holds for one of its nodes.  XQuery would raise an error or cast
otherwise, so every conversion is written, and nothing is left to XQuery's own comparisons but
strings with strings, doubles with doubles and booleans with booleans.  The functions that convert
are in functions.xq.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count
from typing import Literal

from tests.oracle.json_trees import escaped_name
from tests.oracle.terms import (
    Branch,
    Call,
    Condition,
    Filter,
    Negation,
    Number,
    Operation,
    Step,
    Text,
)

__all__ = ["filters_in_xquery", "path_in_xquery", "quoted", "test_in_xquery"]

Type = Literal["nodes", "text", "number", "truth"]

_TYPES: dict[str, Type] = {
    "count": "number",
    "last": "number",
    "number": "number",
    "string-length": "number",
    "lower-case": "text",
    "normalize-space": "text",
    "string": "text",
    "substring-after": "text",
    "substring-before": "text",
    "upper-case": "text",
}
_ORDERS = ("<", "<=", ">", ">=")
_fresh = count()


def quoted(text: str) -> str:
    """A string literal."""
    escaped = text.replace("&", "&amp;").replace('"', '""').replace("\r", "&#xD;")
    return f'"{escaped}"'


def test_in_xquery(test: str) -> str:
    """A node test; a quoted one is a JSON key."""
    if test[0] in "'\"":
        return escaped_name(test[1:-1].replace(test[0] * 2, test[0]))
    return test


test_in_xquery.__test__ = False  # type: ignore[attr-defined]


def path_in_xquery(path: Sequence[Step], context: str) -> str:
    """A path from a context, its bindings left out."""
    written = context
    for step in path:
        name = "self::node()" if step.test == "." else test_in_xquery(step.test)
        axis = "/" if step.test == "." else step.axis
        written += axis + name + filters_in_xquery(step.filters)
    return written


def filters_in_xquery(filters: Sequence[Filter]) -> str:
    """Predicates for the conditions of the filters, without their bindings."""
    written = ""
    for filter in filters:
        conditions = [part for part in filter.parts if not isinstance(part, Branch)]
        if len(filter.parts) == 1 and conditions and type_of(conditions[0]) == "number":
            written += f"[position() = {_number(conditions[0])}]"
        elif conditions:
            written += f"[{' and '.join(map(_truth, conditions))}]"
    return written


def type_of(condition: Condition) -> Type:
    """What a condition evaluates to."""
    match condition:
        case tuple():
            return "nodes"
        case Text():
            return "text"
        case Number() | Negation():
            return "number"
        case Operation(sign):
            return "number" if re.fullmatch(r"[-+*]|div|mod", sign) else "truth"
        case Call(name):
            return _TYPES.get(name, "truth")


def _written(condition: Condition) -> str:
    match condition:
        case tuple():
            return f"({path_in_xquery(condition, '.')})"
        case Text(value):
            return quoted(value)
        case Number(written):
            return f"xs:double('{written}')"
        case Negation(operand):
            return f"(- {_number(operand)})"
        case Call():
            return _call(condition)
        case Operation("and" | "or" as sign, left, right):
            return f"({_truth(left)} {sign} {_truth(right)})"
        case Operation(sign, left, right) if type_of(condition) == "number":
            return f"({_number(left)} {sign} {_number(right)})"
        case Operation():
            return _comparison(condition)


def _truth(condition: Condition) -> str:
    written = _written(condition)
    match type_of(condition):
        case "nodes":
            return f"exists({written})"
        case "text":
            return f"({written} != '')"
        case "number":
            return f"local:holds({written})"
        case "truth":
            return written


def _number(condition: Condition) -> str:
    written = _written(condition)
    match type_of(condition):
        case "nodes":
            return f"local:number(local:first({written}))"
        case "text":
            return f"local:number({written})"
        case "number":
            return written
        case "truth":
            return f"local:double({written})"


def _text(condition: Condition) -> str:
    written = _written(condition)
    match type_of(condition):
        case "nodes":
            return f"local:first({written})"
        case "text":
            return written
        case "number":
            return f"local:text({written})"
        case "truth":
            return f"string({written})"


def _call(call: Call) -> str:
    arguments = call.arguments
    match call.name:
        case "last":
            return "xs:double(last())"
        case "not":
            return f"not({_truth(arguments[0])})"
        case "count":
            return f"xs:double(count({_written(arguments[0])}))"
        case "exists" | "empty":
            return f"{call.name}({_written(arguments[0])})"
        case "number":
            return _number(arguments[0]) if arguments else "local:number(string(.))"
        case "string":
            return _text(arguments[0]) if arguments else "string(.)"
        case "string-length":
            text = _text(arguments[0]) if arguments else "string(.)"
            return f"xs:double(string-length({text}))"
        case "normalize-space":
            return f"normalize-space({_text(arguments[0]) if arguments else 'string(.)'})"
    return f"{call.name}({', '.join(map(_text, arguments))})"


def _comparison(comparison: Operation) -> str:
    """Existential over nodes; as booleans, numbers or strings, in this order of precedence,
    numbers first where the operator orders."""
    sign, left, right = comparison.sign, comparison.left, comparison.right
    types = {type_of(left), type_of(right)}
    if "truth" in types:
        convert = _number if sign in _ORDERS else _truth
        if sign in _ORDERS:
            # A node set compared with a boolean is its existence, and that is 0 or 1.
            pair = [
                f"local:double({_truth(s)})" if type_of(s) == "nodes" else _number(s)
                for s in (left, right)
            ]
            return f"({pair[0]} {sign} {pair[1]})"
        return f"({convert(left)} {sign} {convert(right)})"
    numeric = "number" in types or sign in _ORDERS
    ranges, sides = [], []
    for side in (left, right):
        if type_of(side) == "nodes":
            variable = f"$n{next(_fresh)}"
            ranges.append(f"{variable} in {_written(side)}")
            value = f"string({variable})"
            sides.append(f"local:number({value})" if numeric else value)
        else:
            sides.append(_number(side) if numeric else _text(side))
    written = f"{sides[0]} {sign} {sides[1]}"
    return f"(some {', '.join(ranges)} satisfies {written})" if ranges else f"({written})"
