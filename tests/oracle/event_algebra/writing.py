"""Event queries as texts."""

from __future__ import annotations

from tests.oracle.event_algebra.reading import UNITS
from tests.oracle.event_algebra.syntax import (
    And,
    Block,
    Compare,
    Condition,
    Constructor,
    Declared,
    Dur,
    Expression,
    Filter,
    Fold,
    Function,
    Item,
    Length,
    Next,
    Not,
    Number,
    Operation,
    Or,
    Query,
    Ref,
    Scalar,
    Star,
    String,
    Test,
    Truth,
    Union,
    Window,
)

__all__ = ["query_text", "written"]


def written(text: Declared) -> str:
    """The text of declarations and named queries."""
    declared = [
        f"DECLARE STREAM {stream} ({', '.join(names)})" for stream, names in text.streams.items()
    ]
    queries = [f"-- name: {query.name}\n{query_text(query)}" for query in text.queries]
    return ";\n".join([*declared, *queries])


def query_text(query: Query) -> str:
    parts = []
    if query.items is not None:
        parts.append(f"SELECT {_items(query.items)} FROM")
    parts.append(_expression(query.expression))
    if query.groups:
        parts.append(f"GROUP BY {', '.join(query.groups)}")
    if query.weak:
        parts.append("CONSISTENCY weak")
    if query.publish is not None:
        parts.append(f"PUBLISH {query.publish}")
    return " ".join(parts)


def _items(items: tuple[Item, ...] | Constructor) -> str:
    if not isinstance(items, Constructor):
        return ", ".join(_as(one.value, one.alias) for one in items)
    if items.tag is None:
        return "{" + ", ".join(f'"{to}": {of}' for to, of in items.members) + "}"
    children = "".join(f"<{to}>{{{of}}}</{to}>" for to, of in items.members)
    return f"<{items.tag}>{children}</{items.tag}>"


def _as(value: Scalar, alias: str | None) -> str:
    return _scalar(value) + (f" AS {alias}" if alias else "")


def _expression(expression: Expression) -> str:
    match expression:
        case Block(stream, path, bindings):
            return stream + path + "".join(f"[./{one.path}->{one.name}]" for one in bindings)
        case Filter(condition, operand):
            return f"FILTER{{{_optional(condition)}}}({_inner(operand)})"
        case Window(length, operand):
            text = "INF" if length is None else _scalar(length)
            return f"WINDOW{{{text}}}({_inner(operand)})"
        case Next(condition, left, right):
            braces = "" if condition is None else f"{{{_optional(condition)}}}"
            return f"{_left(left)} NEXT{braces} {_operand(right)}"
        case Fold(condition, continuing, aggregates, left, right):
            computed = ", ".join(_as(*one) for one in aggregates)
            braces = f"{{{_optional(condition)}, {_optional(continuing)}, {computed}}}"
            return f"{_left(left)} FOLD{braces} {_operand(right)}"
        case Union(left, right):
            one = _expression(left) if isinstance(left, Union) else _left(left)
            return f"{one} UNION {_left(right)}"
        case Query():
            return _operand(expression)


def _inner(expression: Expression) -> str:
    """Within existing parentheses."""
    return query_text(expression) if isinstance(expression, Query) else _expression(expression)


def _left(expression: Expression) -> str:
    """Operators lean to the left."""
    return _expression(expression) if isinstance(expression, Next | Fold) else _operand(expression)


def _operand(expression: Expression) -> str:
    if isinstance(expression, Block | Filter):
        return _expression(expression)
    return f"({_inner(expression)})"


def _optional(condition: Condition | None) -> str:
    return "" if condition is None else _condition(condition)


def _condition(condition: Condition) -> str:
    match condition:
        case Truth(value):
            return str(value).upper()
        case Not(operand):
            return f"NOT {_part(operand)}"
        case And(parts):
            return " AND ".join(map(_part, parts))
        case Or(parts):
            return " OR ".join(map(_part, parts))
        case Test(name, left, right):
            return f"{name}({_scalar(left)}, {_scalar(right)})"
        case Compare(sign, left, right):
            return f"{_scalar(left)} {sign} {_scalar(right)}"


def _part(condition: Condition) -> str:
    text = _condition(condition)
    return f"({text})" if isinstance(condition, And | Or | Not) else text


def _scalar(term: Scalar) -> str:
    match term:
        case Number(value, per_cent):
            return f"{value * 100:g}%" if per_cent else f"{value:g}"
        case String(value):
            return "'" + value.replace("'", "''") + "'"
        case Length(value, unit):
            return f"{value / UNITS[unit]:g} {unit}"
        case Star():
            return "*"
        case Ref(deco, name):
            return f"{deco}.{name}" if deco else name
        case Dur(deco):
            return f"{deco}.DUR" if deco else "DUR"
        case Operation(sign, None, right):
            return f"-{_factor(right)}"
        case Operation(sign, left, right):
            assert left is not None
            return f"{_factor(left)} {sign} {_factor(right)}"
        case Function(name, arguments):
            shown = name.upper() if name in ("count", "sum", "avg", "argmax", "argmin") else name
            return f"{shown}({', '.join(map(_scalar, arguments))})"
    raise AssertionError(term)


def _factor(term: Scalar) -> str:
    return f"({_scalar(term)})" if isinstance(term, Operation) else _scalar(term)
