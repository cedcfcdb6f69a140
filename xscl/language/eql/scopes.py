r"""The variables of a pattern: those that a match has, and those of exceptions, each with what it
may be compared with (docs/semantics.md#reading-eql).

A chain has its operands from left to right, whatever the brackets around `;` and `\` are.  An
exception belongs to those up to its own place: a comparison with it reads them and its own events.
"""

from __future__ import annotations

from dataclasses import dataclass

from xscl.language.checks.names import VARIABLE, NamePattern
from xscl.language.eql.walk import events_of, name_of
from xscl.language.syntax import (
    Alternatives,
    EventOf,
    Excepted,
    Repeated,
    Sequenced,
    Structure,
)

__all__ = ["Excluded", "Scopes", "bound_again", "chained", "inner_parts", "is_variable"]

Operand = frozenset[str]

_VARIABLE = NamePattern(rf"{VARIABLE}'*")


@dataclass(frozen=True, slots=True)
class Excluded:
    """An exception: its own variables, those of the operands that it is judged on, those of its
    whole chain, and how many exceptions it is in."""

    own: Operand
    before: Operand
    chain: Operand
    depth: int


class Scopes:
    """The variables of a pattern."""

    def __init__(self, pattern: Structure) -> None:
        self.exceptions: dict[str, Excluded] = {}
        self.matched = self._visible(pattern, 0)

    def has(self, name: str) -> bool:
        """Whether there is a variable of a name: a stream alone is none where its name has a `-`
        or a `.`."""
        return (name in self.matched or name in self.exceptions) and is_variable(name)

    def _visible(self, structure: Structure, depth: int) -> Operand:
        """The variables of a chain of its own, without those of exceptions."""
        parts, exceptions = chained(structure)
        operands: list[Operand] = []
        for part in parts:
            inner = inner_parts(part)
            names = [_named(part)] if not inner else [self._visible(one, depth) for one in inner]
            operands.append(frozenset().union(*names))
        chain = frozenset().union(*operands)
        for right, judged in exceptions:
            own = self._visible(right, depth + 1)
            excluded = Excluded(own, frozenset().union(*operands[:judged]), chain, depth)
            self.exceptions |= dict.fromkeys(own, excluded)
        return chain


def is_variable(name: str) -> bool:
    """Whether a variable may have a name."""
    return _VARIABLE.of(name).fullmatch(name) is not None


def chained(structure: Structure) -> tuple[list[Structure], list[tuple[Structure, int]]]:
    """The operands of a chain (events, unions and iterations), and its exceptions, each with how
    many operands it is judged on."""
    match structure:
        case Sequenced(parts):
            operands: list[Structure] = []
            exceptions: list[tuple[Structure, int]] = []
            for part in parts:
                others, more = chained(part)
                exceptions += [(right, len(operands) + judged) for right, judged in more]
                operands += others
            return operands, exceptions
        case Excepted(left, right):
            operands, exceptions = chained(left)
            return operands, [*exceptions, (right, len(operands))]
    return [structure], []


def inner_parts(operand: Structure) -> tuple[Structure, ...]:
    """The chains in an operand of one: the branches of a union, what is repeated."""
    match operand:
        case Alternatives(parts):
            return parts
        case Repeated(inner):
            return (inner,)
    return ()


def _named(structure: Structure) -> Operand:
    assert isinstance(structure, EventOf)
    name = name_of(structure)
    return frozenset(() if name is None else (name,))


def bound_again(pattern: Structure) -> list[EventOf]:
    """The events whose variable another one has that is no other branch of the same union, or
    that is where only one of the two is of an exception."""
    again: list[EventOf] = []
    _bind(pattern, frozenset(), again)
    return again


def _bind(structure: Structure, taken: Operand, again: list[EventOf]) -> dict[str, bool]:
    """The variables of a structure, each with whether it is of an exception in that."""
    bound: dict[str, bool] = {}
    match structure:
        case EventOf():
            bound = dict.fromkeys(_named(structure), False)
            if taken & bound.keys():
                again.append(structure)
        case Repeated(operand):
            return _bind(operand, taken, again)
        case Sequenced(parts):
            for part in parts:
                bound |= _bind(part, taken | bound.keys(), again)
        case Excepted(left, right):
            bound = _bind(left, taken, again)
            bound |= dict.fromkeys(_bind(right, taken | bound.keys(), again), True)
        case Alternatives(parts):
            for part in parts:
                barred = {name for name, excluded in bound.items() if excluded}
                inner = _bind(part, taken | barred, again)
                both = {name for name in bound.keys() - barred if inner.get(name)}
                again += [one for one in events_of(part) if _named(one) & both]
                bound |= inner
    return bound
