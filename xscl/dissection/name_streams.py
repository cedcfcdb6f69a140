"""The streams that the blocks of a query read.

The results of a sub-query are a stream of their own, named after the query and the sub-query's
place in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from xscl.dissection.draft import Draft
from xscl.language.syntax import Block, Query, SubQuery
from xscl.language.walk import operands
from xscl.stream_names import internal_name

__all__ = ["name_streams", "sub_query_names"]


def name_streams(draft: Draft) -> Draft:
    """Adds the stream of each block."""
    inner = (internal_name(name) for name, _ in sub_query_names(draft.query))
    streams = tuple(
        operand.stream.text if isinstance(operand, Block) else next(inner)
        for operand in operands(draft.query.source)
    )
    return draft._replace(streams=streams)


def sub_query_names(query: Query) -> Iterator[tuple[str, SubQuery]]:
    """The sub-queries of a query, each with a name."""
    inner = (operand for operand in operands(query.source) if isinstance(operand, SubQuery))
    for number, operand in enumerate(inner, 1):
        yield f"{query.name}({number})", operand
