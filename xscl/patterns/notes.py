"""Notes on a pattern: costs and meanings that its writer may not have meant (patterns-sase.md,
section 7)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import eq, ge, gt, le, lt, ne

from pattern_stage.pattern import (
    Aggregate,
    Comparison,
    Conjunct,
    Constant,
    Index,
    Length,
    Negative,
    Pattern,
    Read,
    Strategy,
    Term,
)
from pattern_stage.pattern import Arithmetic as Computed
from xscl.language.patterns.walk import atoms, reads
from xscl.language.syntax import Compared, EventPattern, Query
from xscl.patterns.compile import CompiledPattern

__all__ = ["is_single", "notes"]

_SUBTRACTION = re.compile(r".-[0-9]")
_COMPARE = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


def notes(query: Query, compiled: CompiledPattern) -> list[str]:
    """The notes on a query whose source is a pattern; each once."""
    return list(dict.fromkeys(_notes(query, compiled)))


def is_single(pattern: Pattern) -> bool:
    """Whether each event is a match by itself, or none."""
    return len(pattern.components) == 1 and pattern.monotone and not pattern.components[0].kleene


def _notes(query: Query, compiled: CompiledPattern) -> Iterator[str]:
    assert isinstance(query.source, EventPattern)
    pattern = compiled.pattern
    kleene = [at for at, one in enumerate(pattern.components) if one.kleene]
    if pattern.within is None and not is_single(pattern):
        yield "no WITHIN: every event is kept for good, so that state only grows"
    if kleene and pattern.within is None and pattern.strategy is Strategy.SKIP_TILL_ANY_MATCH:
        yield "skip_till_any_match with `+` and no WITHIN: matches grow exponentially"
    for number, conjunct in enumerate(pattern.conjuncts, 1):
        if all(_never(one, compiled.constants) for one in conjunct):
            yield f"conjunct {number} of the condition never holds: it matches nothing"
    for at in kleene:
        name = pattern.components[at].name
        if _without_first(pattern.conjuncts, at):
            yield f"`{name}[i]` is never the first event: say it of `{name}[1]`, too, if meant"
    for attribute in _attributes(query.source):
        if _SUBTRACTION.search(attribute):
            spaced = attribute.replace("-", " - ", 1)
            yield f"`{attribute}` is the name of an attribute: a subtraction is written `{spaced}`"


def _without_first(conjuncts: tuple[Conjunct, ...], at: int) -> bool:
    """Whether a conjunct says something of each event of a component, and none of the first."""
    of_each = False
    for conjunct in conjuncts:
        read = [one for term in _sides(conjunct) for one in _leaves(term) if one.component == at]
        indexes = {one.index for one in read if isinstance(one, Read)}
        if Index.FIRST in indexes:
            return False
        running = any(isinstance(one, Aggregate) and one.previous for one in read)
        of_each = of_each or (Index.EACH in indexes and not running | (Index.PREVIOUS in indexes))
    return of_each


def _sides(conjunct: Conjunct) -> Iterator[Term]:
    for comparison in conjunct:
        yield from (comparison.left, comparison.right)


def _leaves(term: Term) -> Iterator[Read | Aggregate | Length]:
    match term:
        case Computed(_, left, right):
            yield from _leaves(left)
            yield from _leaves(right)
        case Negative(operand):
            yield from _leaves(operand)
        case Read() | Aggregate() | Length():
            yield term


def _never(comparison: Comparison, constants: tuple[str | float, ...]) -> bool:
    """Whether a comparison is false whatever the events are."""
    left, right = comparison.left, comparison.right
    if left == right and not isinstance(left, Constant):
        return comparison.operator in ("!=", "<", ">")
    compare = _COMPARE[comparison.operator]
    if isinstance(left, Length) or isinstance(right, Length):
        other = right if isinstance(left, Length) else left
        if isinstance(other, Constant) and isinstance(bound := constants[other.place], float):
            # It is a whole number, at least 1: these stand for all that are on the same side.
            some = {1.0, 2.0, bound // 1, bound // 1 + 1, bound + 2}
            lengths = [one for one in some if one >= 1 and one.is_integer()]
            if isinstance(left, Length):
                return not any(compare(one, bound) for one in lengths)
            return not any(compare(bound, one) for one in lengths)
    if isinstance(left, Constant) and isinstance(right, Constant):
        first, second = constants[left.place], constants[right.place]
        if isinstance(first, float) and isinstance(second, float):
            return not compare(first, second)
        if isinstance(first, str) and isinstance(second, str) and comparison.operator in "!=":
            return not compare(first, second)
    return False


def _attributes(source: EventPattern) -> Iterator[str]:
    """The names of attributes as written, without quotes."""
    for atom in atoms(source.condition):
        if isinstance(atom, Compared):
            for side in (atom.left, atom.right):
                for read, _ in reads(side):
                    named = read.attribute
                    if named is None and read.variable is not None:
                        yield read.variable.text
                    elif named is not None and not named.quoted:
                        yield from named.steps
