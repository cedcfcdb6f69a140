"""How queries are cut into cells, and why, in words: for `xscl explain --spark`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from xscl.counts import counted
from xscl.dissection.parts import Dissection
from xscl.language.walk import with_sub_queries
from xscl.spark.joins.needs import Needs, is_middle, needs_of
from xscl.spark.joins.plan import together
from xscl.times import span

__all__ = ["CellsOf", "cells_of", "described"]

_ALONE = "one cell: neither a window nor a key that all of their events have separates these"
_MIDDLE = "refused: CONSISTENCY middle takes matches back; write strong, or weak"


class CellsOf(NamedTuple):
    """Queries that are cut in one way: their names, and how a batch and a stream are cut."""

    queries: list[str]
    batch: str
    stream: str


def cells_of(
    dissections: Sequence[Dissection], shown: Collection[Dissection] | None = None
) -> list[CellsOf]:
    """How queries are cut into cells; those that read what others publish with these.  The ones of
    `shown` are named, or all."""
    names = {one.query.name for one in (dissections if shown is None else shown)}
    found: dict[tuple[str, str], list[str]] = {}
    for part in together(dissections, _streams):
        queries = [one.query for one in part]
        needs = needs_of(queries)
        chain = (
            f", with {counted(len(part), 'query')} that read each other" if len(part) > 1 else ""
        )
        stream = _MIDDLE if needs.timed and any(map(is_middle, queries)) else _of_stream(needs)
        said = _of_batch(needs) + chain, stream
        found.setdefault(said, []).extend(one.name for one in queries if one.name in names)
    return [CellsOf(some, *said) for said, some in found.items() if some]


def described(
    dissections: Sequence[Dissection], shown: Collection[Dissection] | None = None
) -> str:
    """The same as text."""
    lines = ["Cells on Spark: the parts of the documents that one task evaluates", ""]
    for one in cells_of(dissections, shown):
        lines += [", ".join(one.queries), f"  batch   {one.batch}", f"  stream  {one.stream}"]
    return "\n".join(lines)


def _of_batch(needs: Needs) -> str:
    if needs.reach is not None and (needs.timed or needs.derived or needs.width > 1):
        before = f", each with the {span(needs.reach)} before it" if needs.reach else ""
        alone = needs.timed and needs.key is None
        return f"slices of time{before}" + f"; where all is shorter, {_endless(needs)}" * (
            not alone
        )
    return _endless(needs)


def _of_stream(needs: Needs) -> str:
    until = f"; {_retained(needs)}"
    return _endless(needs, "spark.xscl.join.tasks cells") + until


def _retained(needs: Needs) -> str:
    if needs.reach is None:
        return "documents are retained for good"
    return f"documents are retained for {span(needs.reach)}, and the lateness"


def _endless(needs: Needs, number: str = "2 cells a task") -> str:
    """Where time does not cut."""
    if needs.key is not None:
        return f"{number}{needs.by}"
    if needs.timed:
        return _ALONE if needs.reach is None else "one cell: their events have no key in common"
    if needs.derived:
        return "one cell: a published result does not say of which documents it is"
    if needs.width == 1:
        return "each document by itself"
    return f"classes of documents by a hash, of which {needs.width} meet in a cell"


def _streams(dissection: Dissection) -> tuple[list[str], list[str]]:
    """The streams that a query and its sub-queries read, and those that they publish to."""
    read = [stream for one in dissection.everything() for stream in one.streams]
    queries = with_sub_queries(dissection.query)
    return read, [one.publish.text for one in queries if one.publish is not None]
