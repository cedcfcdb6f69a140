r"""Notes on a pattern in EQL: costs and meanings that its writer may not have meant
(docs/semantics.md#refused-eql-queries)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from xscl.language.eql.check import conjuncts, variables_of
from xscl.language.eql.scopes import chained, inner_parts
from xscl.language.eql.unparse import condition, structure_text
from xscl.language.eql.walk import events_of, name_of
from xscl.language.syntax import (
    Alternatives,
    Block,
    Compared,
    Composition,
    Contained,
    Either,
    EventOf,
    Every,
    Not,
    Occurring,
    Qualified,
    Quantified,
    Repeated,
    Structure,
)
from xscl.language.values.walk import leaves

__all__ = ["notes"]


def notes(source: Composition) -> list[str]:
    """The notes on a pattern, each once."""
    parts = [*conjuncts(source)]
    placed = [_placed(source.pattern, variables_of(part)) for part, _ in parts]
    found = [*_of_patterns(source.pattern, [part for part, _ in parts])]
    for (part, filters), place in zip(parts, placed, strict=True):
        found += _of_conjunct(source.pattern, part, place)
        if place.branch and not filters:
            text = condition(part)
            found.append(f"`{text}` is of one branch of `|`: it skips there, as in FILTER")
    filtered = [place for (_, filters), place in zip(parts, placed, strict=True) if filters]
    found += _of_iterations(source.pattern, filtered)
    return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class _Place:
    """The last part that a conjunct is of; the variables of those before it that it may read; and
    whether that is a branch of a union."""

    last: Structure
    before: frozenset[str]
    branch: bool = False
    reads_before: bool = False
    """Whether it names any of them."""


def _placed(structure: Structure, names: frozenset[str], *, branch: bool = False) -> _Place:
    operands, exceptions = chained(structure)
    for right, judged in exceptions:
        own = _names(right)
        if names & own:
            if names <= own:
                return _placed(right, names)
            return _Place(right, _all(operands[:judged]), reads_before=True)
    concerned = [place for place, one in enumerate(operands) if names & _names(one)]
    last = operands[concerned[-1]]
    if len(concerned) > 1:
        return _Place(last, _all(operands[: concerned[-1]]), reads_before=True)
    # A variable may be of several branches: then the union is meant as a whole.
    parts = [part for part in inner_parts(last) if names & _names(part)]
    if len(parts) == 1 and names <= _names(parts[0]):
        return _placed(parts[0], names, branch=isinstance(last, Alternatives))
    alone = len(operands) == 1 and isinstance(last, EventOf)
    return _Place(last, frozenset(), branch and alone)


def _names(structure: Structure) -> frozenset[str]:
    return frozenset(cast(str, name_of(one)) for one in events_of(structure))


def _all(operands: Iterable[Structure]) -> frozenset[str]:
    return frozenset().union(*map(_names, operands))


def _shown(structure: Structure, tightness: int = 0) -> str:
    """A pattern by its variables."""
    return structure_text(structure, lambda one: cast(str, name_of(one)), tightness)


def _chains(structure: Structure) -> Iterator[Structure]:
    """A pattern, the chains in its operands and exceptions, and so on."""
    yield structure
    operands, exceptions = chained(structure)
    for part in (inner for one in operands for inner in inner_parts(one)):
        yield from _chains(part)
    for right, _ in exceptions:
        yield from _chains(right)


def _of_patterns(pattern: Structure, parts: list[Qualified]) -> Iterator[str]:
    timed = {name for part in parts if isinstance(part, Occurring) for name in variables_of(part)}
    for chain in _chains(pattern):
        operands, exceptions = chained(chain)
        first = operands[0]
        for right, judged in exceptions:
            if judged == 1 and _is_instant(first):
                problem = "kills nothing: no time lies inside of one event without a `start`"
                yield f"`\\ {_shown(right, 2)}` behind `{_shown(first)}` alone {problem}"
        grows = len(operands) > 1 or isinstance(first, Repeated)
        if grows and not _is_timed(first, timed):
            yield (
                f"no OCCURS WITHIN with `{_shown(first)}`: what begins with it is kept for good, "
                "so that state only grows"
            )


def _is_timed(operand: Structure, timed: set[str]) -> bool:
    """Whether each event that an operand begins with has a time by which something else occurs."""
    if isinstance(operand, Alternatives):
        return all(_is_timed(one, timed) for one in operand.parts)
    return not timed.isdisjoint(_names(operand))


def _is_instant(operand: Structure) -> bool:
    """Whether what an operand takes is one event of a stream."""
    if isinstance(operand, Alternatives):
        return all(map(_is_instant, operand.parts))
    return isinstance(operand, EventOf) and isinstance(operand.block, Block)


def _of_conjunct(pattern: Structure, part: Qualified, place: _Place) -> Iterator[str]:
    repeated = {
        name
        for chain in _chains(pattern)
        for one in chained(chain)[0]
        if isinstance(one, Repeated)
        for name in _names(one)
    }
    for atom, negated in _atoms(part):
        for leaf in _quantified(atom):
            text, name = condition(cast(Qualified, atom)), cast(str, _variable(leaf))
            if negated:
                yield (
                    f"`NOT {text}`: over no event {leaf.quantifier} makes a comparison true, and "
                    "NOT of it false; turn the comparison around"
                )
            single = name not in repeated and name not in place.before
            if single and leaf.quantifier == "PREV":
                yield f"`{text}` always holds: `{name}` has no event before this one"


def _atoms(one: Qualified, *, negated: bool = False) -> Iterator[tuple[object, bool]]:
    match one:
        case Not(operand):
            yield from _atoms(operand, negated=True)
        case Every(parts) | Either(parts):
            for part in parts:
                yield from _atoms(part, negated=negated)
        case _:
            yield one, negated


def _quantified(atom: object) -> Iterator[Quantified]:
    if isinstance(atom, Compared | Contained):
        for side in (atom.left, atom.right):
            yield from (one for one in leaves(side) if isinstance(one, Quantified))


def _variable(one: Quantified) -> str | None:
    return None if one.read.variable is None else one.read.variable.text


def _of_iterations(pattern: Structure, filtered: list[_Place]) -> Iterator[str]:
    bounded = {id(place.last) for place in filtered if place.reads_before}
    for chain in _chains(pattern):
        for operand in chained(chain)[0][1:]:
            if isinstance(operand, Repeated) and id(operand) not in bounded:
                one, all_ = _shown(operand.operand), _shown(operand)
                yield (
                    f"`{all_}` behind `;` finds what `{one}` finds; a FILTER over it and what "
                    "stands before takes all up to the first that passes"
                )
