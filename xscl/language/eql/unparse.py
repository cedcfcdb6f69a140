r"""EQL back to text: patterns, qualifications and values.

The law: the printed text parses to the printed tree.
"""

from __future__ import annotations

from collections.abc import Callable

from xscl.language.events.unparse import level_text, window_text
from xscl.language.patterns.unparse import read
from xscl.language.syntax import (
    Alternatives,
    Compared,
    Composition,
    Contained,
    EventOf,
    Excepted,
    Item,
    Occurring,
    Qualification,
    Qualified,
    Quantified,
    Query,
    Read,
    Repeated,
    Selected,
    Sequenced,
    Star,
    Structure,
    SubQuery,
    Value,
)
from xscl.language.unparse import Wording
from xscl.language.values.unparse import condition_text, value_text

__all__ = ["CompositionWording", "condition", "structure_text"]


class CompositionWording:
    """Prints EQL queries; `text` is what they were read from.

    Constructors and sub-queries in another language are printed as `…`.
    """

    def __init__(self, text: str) -> None:
        self._blocks = Wording(text)

    def query(self, query: Query) -> str:
        """A query."""
        source = query.source
        assert isinstance(source, Composition)
        pattern = structure_text(source.pattern, self.event, 1)
        if isinstance(query.select, tuple):
            pattern = f"SELECT {', '.join(map(_item, query.select))} FROM {pattern}"
        elif query.select is not None:
            pattern = f"SELECT … FROM {pattern}"
        else:
            pattern = f"SELECT * FROM {pattern}"
        if source.qualifications:
            pattern += f" WHERE {', '.join(map(qualification, source.qualifications))}"
        if source.consistency is not None:
            pattern += f" CONSISTENCY {level_text(source.consistency)}"
        return pattern if query.publish is None else f"{pattern} PUBLISH {query.publish.text}"

    def event(self, event: EventOf) -> str:
        """A block or a sub-query, with its variable where it has one."""
        block = event.block
        text = self._blocks.block(block)  # type: ignore[arg-type]  # what is nested is a sub-query
        if isinstance(block, SubQuery) and isinstance(block.query.source, Composition):
            text = f"({self.query(block.query)}){text.removeprefix('(…)')}"
        return text if event.variable is None else f"{text} {event.variable.text}"


def structure_text(one: Structure, event: Callable[[EventOf], str], tightness: int = 0) -> str:
    r"""A pattern, in parentheses where it is looser than it must be: 1 outside of all and alongside
    `;`, 2 right of `\\`, 3 alongside `|`, 4 before `+`."""
    match one:
        case EventOf():
            return event(one)
        case Repeated(operand):
            level, text = 3, f"{structure_text(operand, event, 4)}+"
        case Alternatives(parts):
            level, text = 2, " | ".join(structure_text(part, event, 3) for part in parts)
        case Excepted(left, right):
            sides = structure_text(left, event, 1), structure_text(right, event, 2)
            level, text = 1, " \\ ".join(sides)
        case Sequenced(parts):
            level, text = 0, "; ".join(structure_text(part, event, 1) for part in parts)
    return f"({text})" if level < tightness else text


def qualification(one: Qualification) -> str:
    """One of WHERE."""
    text = condition(one.condition)
    if not one.filters:
        return text
    # `(:` would begin a comment.
    return f"FILTER( {text})" if text.startswith(":") else f"FILTER({text})"


def condition(one: Qualified) -> str:
    """A predicate."""
    return condition_text(one, _atom)


def _atom(one: Compared[Value] | Contained | Occurring) -> str:
    match one:
        case Compared(operator, left, right):
            return f"{_value(left)} {operator} {_value(right)}"
        case Contained(left, right):
            return f"{_value(left)} CONTAINS {_value(right)}"
        case Occurring(first, second, window):
            return f"({first.text}, {second.text}) OCCURS WITHIN {window_text(window)}"


def _value(one: object) -> str:
    return value_text(one, _leaf)


def _leaf(one: Read | Quantified | Star) -> str:
    match one:
        case Quantified(quantifier, inner):
            return f"{quantifier}({read(inner)})"
        case Read():
            return read(one)
    return "*"


def _item(item: Item) -> str:
    assert isinstance(item.path, Selected)
    text = _value(item.path.value)
    return text if item.alias is None else f"{text} AS {item.written or item.alias.text}"
