"""Walks over a pattern of EQL, in the order of the text."""

from __future__ import annotations

from collections.abc import Iterator

from xscl.language.syntax import (
    Alternatives,
    Block,
    EventOf,
    Excepted,
    Repeated,
    Sequenced,
    Structure,
)

__all__ = ["events_of", "name_of"]


def events_of(structure: Structure) -> Iterator[EventOf]:
    """The events of a pattern, those of its exceptions, too."""
    # Not by recursion: a chain of exceptions may be longer than Python's stack.
    left = [structure]
    while left:
        match left.pop():
            case EventOf() as event:
                yield event
            case Sequenced(parts) | Alternatives(parts):
                left += reversed(parts)
            case Repeated(operand):
                left.append(operand)
            case Excepted(one, other):
                left += (other, one)


def name_of(event: EventOf) -> str | None:
    """The variable of an event: of a bare stream without one its name; None where a block wants
    one."""
    if event.variable is not None:
        return event.variable.text
    block = event.block
    return block.stream.text if isinstance(block, Block) and not block.steps else None
