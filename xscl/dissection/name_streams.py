"""The streams that the blocks of a query read.

The results of a sub-query are a stream of their own, named after the query and the sub-query's
place in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from xscl.dissection.draft import Draft
from xscl.language.events.walk import is_inlined
from xscl.language.syntax import Block, Query, SubQuery
from xscl.language.walk import operands
from xscl.stream_names import internal_name

__all__ = ["name_streams", "publishing_names", "read_blocks", "sub_query_names"]


def name_streams(draft: Draft) -> Draft:
    """Adds the stream of each block."""
    inner = (internal_name(name) for name, _ in sub_query_names(draft.query))
    streams = tuple(
        operand.stream.text if isinstance(operand, Block) else next(inner)
        for operand in read_blocks(draft.query)
    )
    return draft._replace(streams=streams)


def read_blocks(query: Query) -> Iterator[Block | SubQuery]:
    """The blocks and sub-queries that a query reads, in order of the text.  In an event query they
    include the event queries written in place."""
    inlines = query.language.schemas
    left = [iter([*operands(query.source)])]
    while left:
        operand = next(left[-1], None)
        if operand is None:
            left.pop()
        elif inlines and isinstance(operand, SubQuery) and is_inlined(operand):
            left.append(iter([*operands(operand.query.source)]))
        else:
            yield operand


def sub_query_names(query: Query) -> Iterator[tuple[str, SubQuery]]:
    """The sub-queries of a query, each with a name, without event queries written in place."""
    inner = (operand for operand in read_blocks(query) if isinstance(operand, SubQuery))
    for number, operand in enumerate(inner, 1):
        yield f"{query.name}({number})", operand


def publishing_names(query: Query) -> Iterator[tuple[str, Query]]:
    """The event queries written in place of one that publish, each with a name."""
    left = [*operands(query.source)] if query.language.schemas else []
    number = 0
    while left:
        operand = left.pop(0)
        if not isinstance(operand, SubQuery) or not is_inlined(operand):
            continue
        if operand.query.publish is None:
            left = [*operands(operand.query.source), *left]
        else:
            number += 1
            yield f"{query.name}(PUBLISH {number})", operand.query
