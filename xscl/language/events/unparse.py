"""Event queries back to text: their expressions, conditions and values.

The law: the printed text parses to the printed tree.
"""

from __future__ import annotations

import re

from xscl.language.checks.names import VARIABLE
from xscl.language.syntax import (
    Block,
    Both,
    Call,
    Compared,
    Computed,
    Consistency,
    Duration,
    EventCondition,
    Events,
    Expression,
    Filtered,
    Fold,
    Item,
    Literal,
    Named,
    Next,
    Query,
    Scalar,
    Selected,
    Star,
    SubQuery,
    Truth,
    Window,
    Windowed,
)
from xscl.language.unparse import Wording, literal
from xscl.language.values.unparse import condition_text, value_text

__all__ = ["EventWording", "condition", "level_text", "value", "window_text"]

_UNITS = ((604_800_000_000, "weeks"), (86_400_000_000, "days"), (3_600_000_000, "h"))
_SHORTER = ((60_000_000, "min"), (1_000_000, "s"), (1_000, "ms"))
_NAME = re.compile(f"{VARIABLE}'*")


class EventWording:
    """Prints event queries; `text` is what they were read from.

    Constructors and sub-queries in another language are printed as `…`.
    """

    def __init__(self, text: str) -> None:
        self._blocks = Wording(text)

    def query(self, query: Query, *, inner: bool = False) -> str:
        """An event query; an inner one without SELECT would be a group."""
        source = query.source
        assert isinstance(source, Events)
        text = self.expression(source.expression)
        if isinstance(query.select, tuple):
            text = f"SELECT {', '.join(map(_item, query.select))} FROM {text}"
        elif query.select is not None:
            text = f"SELECT … FROM {text}"
        elif inner or isinstance(source.expression, Block):
            text = f"SELECT * FROM {text}"
        if source.grouping is not None:
            text += f" GROUP BY {', '.join(name.text for name in source.grouping.names)}"
        if source.consistency is not None:
            text += f" CONSISTENCY {level_text(source.consistency)}"
        return text if query.publish is None else f"{text} PUBLISH {query.publish.text}"

    def expression(self, one: Expression, tightness: int = 0) -> str:
        """An expression, in parentheses where it is looser than it must be: 1 left of NEXT and
        FOLD, 2 right of them."""
        match one:
            case Block():
                return self._blocks.block(one)
            case SubQuery(Query(source=Events()) as query):
                return f"({self.query(query, inner=True)})"
            case SubQuery():
                return "(…)"
            case Filtered(asked, operand):
                return f"FILTER{{{_slot(asked)}}}{self._parenthesis(operand)}"
            case Windowed(window, operand):
                return f"WINDOW{{{window_text(window)}}}{self._parenthesis(operand)}"
            case Both(left, right):
                text = f"{self.expression(left)} UNION {self.expression(right, 1)}"
                return f"({text})" if tightness > 0 else text
        sides = self.expression(one.left, 1), self.expression(one.right, 2)
        text = f"{sides[0]} {_link(one)} {sides[1]}"
        return f"({text})" if tightness > 1 else text

    def _parenthesis(self, operand: Expression) -> str:
        text = self.expression(operand)
        return text if isinstance(operand, SubQuery) else f"({text})"


def _link(one: Next | Fold) -> str:
    if isinstance(one, Next):
        return "NEXT" if one.condition is None else f"NEXT{{{condition(one.condition)}}}"
    parts = [_slot(one.condition), _slot(one.continuing), *map(_computed, one.aggregates)]
    return "FOLD{" + ", ".join(parts) + "}"


def _computed(one: Computed) -> str:
    return f"{value(one.value)} AS {one.alias.text}"


def _item(item: Item) -> str:
    assert isinstance(item.path, Selected)
    text = value(item.path.value)  # type: ignore[arg-type]  # that of a pattern is of no event query
    return text if item.alias is None else f"{text} AS {item.alias.text}"


def level_text(consistency: Consistency) -> str:
    """A level of consistency."""
    window = consistency.window
    return consistency.level + ("" if window is None else f" ({window_text(window)})")


def window_text(window: Window) -> str:
    """A length of time."""
    if window.parameter is not None:
        return f":{window.parameter.name} {window.unit}"
    if window.length is None:
        return "INF"
    for length, unit in (*_UNITS, *_SHORTER):
        if window.length and window.length % length == 0:
            return f"{window.length // length} {unit}"
    seconds, rest = divmod(window.length, 1_000_000)
    return f"{seconds}.{rest:06} s"


# Conditions.


def _slot(one: EventCondition | None) -> str:
    return "" if one is None else condition(one)


def condition(one: EventCondition) -> str:
    """A condition."""
    return condition_text(one, _atom)


def _atom(one: Compared[Scalar] | Truth | Call) -> str:
    match one:
        case Compared(operator, left, right):
            return f"{value(left)} {operator} {value(right)}"
        case Truth(true):
            return "TRUE" if true else "FALSE"
        case Call():
            return value(one)


# Values.


def value(one: Scalar | Star) -> str:
    """A value of a condition, or of SELECT."""
    return value_text(one, _leaf)


def _leaf(one: Named | Duration | Window | Star | Call) -> str:
    match one:
        case Named(deco, name, quoted):
            written = name if not quoted and _NAME.fullmatch(name) else literal(Literal(name, 0))
            return written if deco is None else f"{deco}.{written}"
        case Duration(deco):
            return "DUR" if deco is None else f"{deco}.DUR"
        case Window():
            return window_text(one)
        case Star():
            return "*"
        case Call(function, arguments):
            inner = ", ".join(map(value, arguments))
            return f"{function}( {inner})" if inner.startswith(":") else f"{function}({inner})"
