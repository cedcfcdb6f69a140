"""A drawn query cut off after so many of its conditions, for the nested loops.

The order is the one in which `why` judges: the streams; each block's steps, parents first, each
with its filters; then of each operator, innermost first, that the documents differ, the time, and
the comparisons of one disjunct.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from tests.oracle import patterns
from tests.oracle.as_nested_loops import query_in_loops
from tests.oracle.patterns import joins_of
from tests.oracle.terms import (
    Block,
    Branch,
    Call,
    Condition,
    Document,
    Filter,
    Negation,
    Operation,
    Path,
    Query,
    blocks_of,
)

__all__ = ["Part", "cut"]

Part = tuple[patterns.Query, Sequence[Document]]
"""A query, and the documents that must be a match of it."""


@dataclass
class _Budget:
    """How many conditions may still be taken, and how many there were."""

    left: int
    seen: int = 0

    def take(self) -> bool:
        self.seen += 1
        self.left -= 1
        return self.left >= 0


def cut(
    query: Query, chosen: Sequence[Document], disjunct: int, conditions: int
) -> tuple[list[Part], int]:
    """The parts that all have a match if the first conditions can hold together for the chosen
    documents; and how many conditions there are.  Disjuncts count from 0."""
    budget = _Budget(conditions)
    blocks = blocks_of(query.source)
    streams = [
        str(block.stream) if budget.take() else document.stream
        for block, document in zip(blocks, chosen, strict=True)
    ]
    written = [
        Query(Block(stream, _path(block.path, budget)))
        for stream, block in zip(streams, blocks, strict=True)
    ]
    looped = query_in_loops("q", query, {})
    places = {id(block): place for place, block in enumerate(patterns.blocks_of(looped.source))}
    parts: dict[range, patterns.Source] = {}
    for place, block in enumerate(written):
        alone = query_in_loops("q", block, {}).source
        whole = patterns.blocks_of(looped.source)[place]
        # As soon as an operator is reached the block is whole, and its variables are needed.
        parts[range(place, place + 1)] = whole if budget.left >= 0 else alone
    for owner, joins in enumerate(_comparisons(looped.source, places, disjunct)):
        join = joins_of(looped.source)[owner]
        left, right = (_range(side, places) for side in (join.left, join.right))
        if budget.take():
            sources = parts.pop(left), parts.pop(right)
            apart = patterns.Join(sources[0], "JOIN", sources[1])
            timed = budget.take()
            retained = tuple(comparison for comparison in joins if budget.take())
            if timed:
                apart = patterns.Join(sources[0], join.kind, sources[1], retained, join.window)
            parts[range(left[0], right[-1] + 1)] = apart
        else:
            for _ in (None, *joins):
                budget.take()
    return [
        (patterns.Query("q", source), [chosen[place] for place in where])
        for where, source in parts.items()
    ], budget.seen


# Blocks.


def _path(path: Path, budget: _Budget) -> Path:
    kept = []
    for step in path:
        if step.test != "." and not budget.take():
            _path((replace(step, test="."),), budget)  # its filters count, and go
            continue
        filters = [cut for cut in (_filter(filter, budget) for filter in step.filters) if cut]
        branches = (
            Filter((Branch(below),))
            for filter in step.filters
            for part in filter.parts
            if isinstance(part, Branch)
            if (below := _path(part.path, budget))
        )
        kept.append(replace(step, filters=(*filters, *branches)))
    return tuple(kept)


def _filter(filter: Filter, budget: _Budget) -> Filter | None:
    """The first conjuncts of a filter that bind nothing."""
    every = [each for part in filter.parts for each in _conjuncts(part)]
    own = [each for each in every if not isinstance(each, Branch)]
    if any(map(_asks_last, own)) and own:
        whole = own[0]
        for each in own[1:]:
            whole = Operation("and", whole, each)
        own = [whole]
    kept = [each for each in own if budget.take()]
    if not kept:
        return None
    # A number alone would be a position, which it was not among others.
    return Filter((*kept, *kept) if len(every) > 1 else tuple(kept))


def _conjuncts(part: Condition | Branch) -> Iterator[Condition | Branch]:
    if isinstance(part, Operation) and part.sign == "and":
        yield from _conjuncts(part.left)
        yield from _conjuncts(part.right)
    else:
        yield part


def _asks_last(condition: Condition | Branch) -> bool:
    match condition:
        case Call(name, arguments):
            return name == "last" or any(map(_asks_last, arguments))
        case Operation(_, left, right):
            return _asks_last(left) or _asks_last(right)
        case Negation(operand):
            return _asks_last(operand)
    return False


# Comparisons.


def _range(source: patterns.Source, places: dict[int, int]) -> range:
    blocks = patterns.blocks_of(source)
    return range(places[id(blocks[0])], places[id(blocks[-1])] + 1)


def _comparisons(
    source: patterns.Source, places: dict[int, int], disjunct: int
) -> list[patterns.Conjuncts]:
    """For each operator, innermost first, the comparisons of a disjunct that it is the first to
    have all blocks of."""
    joins = joins_of(source)
    alternatives = [(join.joins, *join.alternatives) for join in joins]
    chosen = list(product(*alternatives))[disjunct]
    bound = {
        variable.name: places[id(block)]
        for block in patterns.blocks_of(source)
        for variable in block.variables
    }
    owned: list[list[tuple[int, int, tuple[patterns.Side, str, patterns.Side]]]]
    owned = [[] for _ in joins]
    for join, comparisons in zip(joins, chosen, strict=True):
        own = _range(join, places)
        middle = _range(join.right, places)[0]
        for place, comparison in enumerate(comparisons):
            names = patterns.Join(join, "JOIN", join, (comparison,)).compared
            needed = {own[0], own[-1], *(bound[name] for name in names)}
            owner = next(i for i, one in enumerate(joins) if needed <= {*_range(one, places)})
            owned[owner].append((middle, place, comparison))
    return [
        tuple(comparison for _, _, comparison in sorted(some, key=lambda c: c[:2]))
        for some in owned
    ]
