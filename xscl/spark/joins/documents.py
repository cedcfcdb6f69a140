"""Documents on their way into cells: each is read once, and only those continue in which some query
finds what it asks of a document (stage 1, in every task the one evaluator)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from xscl.counts import counted
from xscl.documents.attributes import first_member, reached, text_of_member, text_of_node
from xscl.errors import DocumentError
from xscl.evaluation.stage_one import Preview
from xscl.pattern_stage.values.terms import Attribute
from xscl.spark.columns import batch_of
from xscl.spark.joins.cells import Cells, Keys
from xscl.spark.joins.columns import DUPLICATE, READ
from xscl.spark.joins.engines import engine_for
from xscl.spark.joins.plan import Group, Queries
from xscl.xpath_stage import MalformedDocument, json_value, parse

__all__ = [
    "CellWarning",
    "Part",
    "Reading",
    "envelope",
    "part_of",
    "parts_of",
    "streams_of_events",
    "warn_of_one_cell",
]

_SHOWN = 5


class CellWarning(UserWarning):
    """Queries of events are one cell, where several tasks could have shared the work."""


@dataclass(frozen=True, slots=True)
class Part:
    """A group of queries with its cells, which are numbered from `first` on, and the streams whose
    late documents and duplicates are counted in these cells: no other ones count them again."""

    group: Group
    cells: Cells
    first: int
    counted: frozenset[str]


def parts_of(groups: Iterable[Group], cells_of: Callable[[Group], Cells]) -> list[Part]:
    """Groups of queries with their cells, numbered one after the other."""
    parts: list[Part] = []
    first, before = 0, frozenset[str]()
    for group in groups:
        parts.append(Part(group, cells_of(group), first, group.streams - before))
        first += parts[-1].cells.count
        before |= group.streams
    return parts


def part_of(parts: Sequence[Part], cell: int) -> Part:
    """The part that has a cell of all of them."""
    return next(part for part in parts if cell < part.first + part.cells.count)


def streams_of_events(parts: Iterable[Part]) -> frozenset[str]:
    """The streams whose documents are events."""
    return frozenset().union(*[one.group.streams for one in parts if one.group.needs.timed])


def warn_of_one_cell(parts: Iterable[Part]) -> None:
    """Warns of queries of events that one task of several evaluates alone."""
    for part in parts:
        if part.group.needs.timed and part.cells.count == 1:
            names = sorted(part.group.queries or ())
            said = f" ({', '.join(names[:_SHOWN])}{', …' * (len(names) > _SHOWN)})" if names else ""
            which = counted(len(names), "query") if names else "the queries"
            warnings.warn(
                f"{which}{said} of events in one cell, so in one task: "
                "`xscl explain --spark` shows why",
                CellWarning,
                stacklevel=4,
            )


@dataclass(frozen=True)
class Reading:
    """Rows of envelopes into rows of `READ`, for `mapInArrow`."""

    queries: Queries
    parts: Sequence[Part]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows, _ in self.read(batches):
            yield batch_of(rows, READ)

    def read(
        self, batches: Iterable[pa.RecordBatch]
    ) -> Iterator[tuple[list[tuple[Any, ...]], list[int]]]:
        """For each batch its rows of `READ`, and the times of all documents that could be read,
        also of those that are of no use."""
        for batch in batches:
            rows: list[tuple[Any, ...]] = []
            times: list[int] = []
            for named, document, found in self._previewed(batch):
                if isinstance(found, DocumentError):
                    rows.append((_first_cell(self.parts, *named[:3]), *named, found.problem))
                    continue
                times.append(found.time)
                if found.of_use:
                    rows.append((self._cells(document, found.time), *named, None))
            yield rows, times

    def readable(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of envelopes that can be read, for `mapInArrow`."""
        for batch in batches:
            outcomes = [found for _, _, found in self._previewed(batch)]
            good = [not isinstance(one, DocumentError) for one in outcomes]
            yield batch.filter(pa.array(good, pa.bool_()))

    def _previewed(
        self, batch: pa.RecordBatch
    ) -> Iterator[tuple[list[Any], Mapping[str, Any], Preview | DocumentError]]:
        """For each row its columns, its document, and how that is taken in or why it cannot be
        read."""
        events = streams_of_events(self.parts)
        read: list[tuple[list[Any], Mapping[str, Any], DocumentError | None]] = []
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            *named, problem, again = row
            try:
                if problem is not None or again:
                    problem = DUPLICATE if problem is None else problem
                    raise DocumentError(problem, stream=named[0], document=str(named[1]))
                read.append((named, envelope(*named, decoded=named[0] in events), None))
            except DocumentError as error:
                read.append((named, {}, error))
        good = [document for _, document, error in read if error is None]
        previews = iter(engine_for(self.queries).previews(good))
        for named, document, refused in read:
            yield named, document, next(previews) if refused is None else refused

    def _cells(self, document: Mapping[str, Any], time: int) -> list[int]:
        stream, id = document["stream"], document["id"]
        found: list[int] = []
        for part in self.parts:
            if stream not in part.group.streams:
                continue
            cells = part.cells
            if isinstance(cells, Keys):
                to = cells.of_key(_value_of(cells.key, document))
            else:
                to = cells.of((stream, id), time)
            found += [part.first + cell for cell in to]
        return found


def _first_cell(
    parts: Sequence[Part], stream: str, id: str | None, time: int | None
) -> Sequence[int]:
    """The cell that says of a document that it is skipped."""
    return [part.cells.owner([(stream, str(id))], time or 0) for part in parts[:1]]


def _value_of(attribute: Attribute, document: Mapping[str, Any]) -> str | None:
    """The text of an attribute of a document that can be read, None where it has none."""
    if (xml := document.get("xml")) is not None:
        node = next(reached((parse(xml), None), {}, attribute), None)
        return None if node is None else text_of_node(node)
    if attribute.attribute is not None:
        return None
    value = document.get("json")
    if isinstance(value, bytes):
        value = json_value(value)
    return text_of_member(first_member(value, attribute.steps))


def envelope(
    stream: str,
    id: str | None,
    time: int | None,
    start: int | None,
    xml: str | None,
    json: str | None,
    *,
    decoded: bool = False,
) -> Mapping[str, object]:
    """The envelope of a row, with a JSON value `decoded` or as text; raises DocumentError where it
    lacks what each task would make up differently, or the value is none."""
    for name, value in (("id", id), ("timestamp", time)):
        if value is None:
            raise DocumentError(f"its `{name}` is null", stream=stream, document=str(id))
    assert time is not None
    document: dict[str, object] = {"stream": stream, "id": id}
    document["timestamp"] = _seconds(time)
    if start is not None:
        document["start"] = _seconds(start)
    if xml is not None:
        document["xml"] = xml
    elif json is not None:
        document["json"] = _decoded(stream, str(id), json) if decoded else json.encode()
    return document


def _decoded(stream: str, id: str, json: str) -> object:
    try:
        value = json_value(json.encode())
    except MalformedDocument as error:
        raise DocumentError(str(error), stream=stream, document=id) from error
    # A text in place of a value would be read as JSON once more.
    return json.encode() if isinstance(value, str) else value


def _seconds(time: int) -> float:
    # Whole seconds are exact, however many.
    return time / 1_000_000 if time % 1_000_000 else time // 1_000_000
