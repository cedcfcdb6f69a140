"""Notes on a pattern: costs and meanings that its writer may not have meant
(docs/semantics.md#refused-patterns)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import inf, nextafter
from operator import eq, ge, gt, le, lt, ne

from xscl.language.patterns.normal_form import conjuncts
from xscl.language.patterns.walk import reads
from xscl.language.syntax import Compared, Equivalence, EventPattern, Query
from xscl.language.values.walk import atoms
from xscl.pattern_stage.pattern import Conjunct, Pattern, Strategy
from xscl.pattern_stage.values.terms import (
    Aggregate,
    Comparison,
    Constant,
    Index,
    Length,
    Read,
    Register,
    leaves,
)
from xscl.patterns.compile import CompiledPattern

__all__ = ["is_single", "never", "never_together", "notes"]

_SUBTRACTION = re.compile(r".-[0-9]")
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
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
    if kleene and pattern.strategy is Strategy.SKIP_TILL_ANY_MATCH:
        over = "and no WITHIN" if pattern.within is None else "is of every choice of events"
        yield f"skip_till_any_match with `+` {over}: matches grow exponentially"
    numbered = [*_numbered(query.source, pattern)]
    for number, conjunct in numbered:
        spared = _may_be_spared(pattern, conjunct)
        if not spared and all(never(one, compiled.constants) for one in conjunct):
            yield f"conjunct {number} of the condition never holds: it matches nothing"
    together = never_together(_plain(numbered, pattern), compiled.constants)
    if together is not None:
        yield "conjuncts {} and {} of the condition never hold together".format(*together)
    for at in kleene:
        name = pattern.components[at].name
        if _without_first(pattern.conjuncts, at):
            yield f"`{name}[i]` is never the first event: say it of `{name}[1]`, too, if meant"
    for attribute in _attributes(query.source):
        if _SUBTRACTION.search(attribute):
            spaced = attribute.replace("-", " - ", 1)
            yield f"`{attribute}` is the name of an attribute: a subtraction is written `{spaced}`"


def _may_be_spared(pattern: Pattern, conjunct: Conjunct) -> bool:
    """Whether there may be matches that need not meet a conjunct: it says something of an event
    that need not be there, or whose attribute need not."""
    return any(
        pattern.components[one.component].any
        or pattern.components[one.component].negated
        or (isinstance(one, Read) and one.index in (Index.EACH, Index.PREVIOUS))
        or (isinstance(one, Aggregate) and one.previous)
        for one in leaves(conjunct)
        if isinstance(one, Read | Aggregate)
    )


def _without_first(conjuncts: tuple[Conjunct, ...], at: int) -> bool:
    """Whether a conjunct says something of each event of a component, and none of the first."""
    of_each = False
    for conjunct in conjuncts:
        reads = [one for one in leaves(conjunct) if isinstance(one, Read | Aggregate | Length)]
        read = [one for one in reads if one.component == at]
        indexes = {one.index for one in read if isinstance(one, Read)}
        if Index.FIRST in indexes:
            return False
        running = any(isinstance(one, Aggregate) and one.previous for one in read)
        of_each = of_each or (Index.EACH in indexes and not running | (Index.PREVIOUS in indexes))
    return of_each


def never(comparison: Comparison, constants: Sequence[str | float]) -> bool:
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


def _numbered(source: EventPattern, pattern: Pattern) -> Iterator[tuple[int, Conjunct]]:
    """The conjuncts that are no tests, by their numbers among all."""
    every = enumerate(conjuncts(source.condition), 1)
    numbers = [number for number, (one, *_) in every if not isinstance(one, Equivalence)]
    return zip(numbers, pattern.conjuncts, strict=True)


def _plain(
    numbered: Iterable[tuple[int, Conjunct]], pattern: Pattern
) -> Iterator[tuple[int, Comparison]]:
    """The conjuncts that every match meets, by their numbers."""
    for number, conjunct in numbered:
        read = [one for one in leaves(conjunct) if isinstance(one, Read)]
        # There may be no `a[i]`, nor any attribute where one event in ANY lacks it.
        lenient = any(
            one.index in (Index.EACH, Index.PREVIOUS) or pattern.components[one.component].any
            for one in read
        )
        if len(conjunct) == 1 and not lenient:
            yield number, conjunct[0]


def never_together(
    comparisons: Iterable[tuple[int, Comparison]], constants: Sequence[str | float]
) -> tuple[int, int] | None:
    """The first two comparisons that contradict each other, by their numbers: of one attribute of
    one event, or of one field of a register, with constants."""
    found: list[tuple[int, Read | Register, str, str | float]] = []
    for number, one in comparisons:
        operator: str = one.operator
        read, other = one.left, one.right
        if isinstance(read, Constant):
            read, operator, other = other, _TURNED.get(operator, operator), read
        if not isinstance(read, Read | Register) or not isinstance(other, Constant):
            continue
        value = constants[other.place]
        for before, same, its_operator, bound in found:
            if same == read and _apart((its_operator, bound), (operator, value)):
                return before, number
        found.append((number, read, operator, value))
    return None


def _apart(one: tuple[str, str | float], other: tuple[str, str | float]) -> bool:
    """Whether no value compares so with both constants."""
    (first, low), (second, high) = one, other
    if isinstance(low, str) or isinstance(high, str):
        # How a text is ordered depends on what it is compared with; what is equal is one.
        return type(low) is type(high) and first == second == "=" and low != high
    less, more = nextafter(min(low, high), -inf), nextafter(max(low, high), inf)
    some = {low, high, low / 2 + high / 2, less, more}
    return not any(_COMPARE[first](v, low) and _COMPARE[second](v, high) for v in some)


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
