"""A second stage alongside the join stage, which counts the documents of each stream in windows of
time: it reads the same batches, retains documents and strings of its own, and reports when time
passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, cast

import duckdb
import pytest

from xscl.dissection.dissect import dissect
from xscl.documents.arrivals import Arrivals
from xscl.documents.composites import Composite, Computed, OperatorRow
from xscl.documents.document import Document
from xscl.documents.events import EventNodes
from xscl.documents.intake import Intake
from xscl.documents.retention import Retention
from xscl.errors import DocumentError
from xscl.evaluation.evaluation import Evaluation
from xscl.evaluation.second_stage import WitnessStage, longest_reach
from xscl.join_stage import Accepted, Batch, ChannelTuple, JoinProcessor, Wanted
from xscl.language import parse
from xscl.matches.forms import MatchForm, Sides
from xscl.matches.match import Match, ReportedMatch
from xscl.pattern_stage.plan.outputs import Outputs
from xscl.queries.catalogue import Catalogue
from xscl.queries.levels.event_types import EventTypes
from xscl.queries.levels.pattern_levels import PatternLevels
from xscl.queries.stage_registration import QueryReader, StageRegistration
from xscl.queries.subscription import Subscription
from xscl.queries.wiring import Wiring
from xscl.xpath_stage import Strings, XPathEvaluator, double_of, likeness

SECOND = 1_000_000
WINDOW = 10 * SECOND
QUERY = 1_000_000
"""The number of the stage's query."""


@dataclass
class Rows:
    rows: Sequence[tuple[Any, ...]]

    def by_query(self) -> Iterator[tuple[int, Sequence[tuple[Any, ...]]]]:
        return ((query, [tuple(row)]) for query, *row in self.rows)

    def counts(self) -> Mapping[int, int]:
        return Counter(row[0] for row in self.rows)


class WindowCounts:
    """Counts of documents, and of different strings in them, by stream and window of time."""

    def __init__(self) -> None:
        self.version = 0
        self.batches: list[tuple[Batch, str]] = []
        self._documents: dict[int, dict[str, list[int]]] = {}
        self._strings: dict[int, set[int]] = {}

    tuples: Sequence[ChannelTuple] = ()

    def accept(self, accepts: Sequence[Accepted]) -> None: ...

    def change(
        self,
        gone: Sequence[int],
        moved: Sequence[tuple[int, int | None]],
        unvalued: Sequence[int],
    ) -> None: ...

    def begin(self, batch: Batch) -> None:
        self.batches.append((batch, repr(batch)))
        for number, time, stream, _ in batch.documents:
            if stream == "counts":
                continue
            by_stream = self._documents.setdefault(time // WINDOW, {})
            by_stream.setdefault(stream, []).append(number)
        for number, _, strings in batch.witnesses:
            stored = self._strings.setdefault(batch.times[number] // WINDOW, set())
            stored.update(string for string in strings if string is not None)

    def review(self, batch: Batch, queries: Collection[int]) -> None: ...

    def restore(self, batch: Batch, queries: Collection[int] = ()) -> None:
        self.begin(batch)

    def rejoin(self, queries: Collection[int]) -> None: ...

    def outputs(self, wanted: Wanted) -> Iterator[Rows]:
        yield from ()

    def counts(self) -> Mapping[int, int]:
        return {}

    def advance(
        self, watermark: int | None, *, ended: bool = False
    ) -> Iterator[tuple[Sequence[Rows], Sequence[Outputs]]]:
        passed = [
            window
            for window in sorted(self._documents)
            if watermark is not None and (window + 1) * WINDOW <= watermark
        ]
        if passed:
            yield [Rows([self._row(window)]) for window in passed], ()

    def _row(self, window: int) -> tuple[Any, ...]:
        by_stream, strings = self._documents.pop(window), self._strings.pop(window, set())
        return QUERY, (window + 1) * WINDOW, len(strings), by_stream

    def reach(self, spine: int) -> int:
        return WINDOW

    def evict(
        self, watermark: int | None, documents: Sequence[int], *, exact: bool = False
    ) -> None: ...

    def unstored_strings(self, *, exact: bool = False) -> Mapping[int, str]:
        return {}

    def strings_stored(self, strings: Collection[int]) -> set[int]:
        return {string for stored in self._strings.values() for string in stored}.intersection(
            strings
        )

    def drop_strings(self, strings: Sequence[int]) -> None:
        assert not self.strings_stored(strings)


class CountReader:
    """Any number of documents for each stream, and values that no node has."""

    distinct = True

    def read(
        self, rows: Iterable[tuple[Any, ...]], composites: Mapping[int, Composite]
    ) -> Iterator[OperatorRow]:
        for time, strings, by_stream in rows:
            yield OperatorRow(
                documents=tuple(number for some in by_stream.values() for number in some),
                codes=(),
                strings=(),
                computed=Computed(
                    variables=(),
                    bound=(),
                    start=time - WINDOW,
                    time=time,
                    values=(strings, *((stream, len(some)) for stream, some in by_stream.items())),
                ),
            )


class Counting(Subscription):
    """A query of the stage."""

    def matches(
        self, rows: Iterable[OperatorRow], held: Mapping[int, Document], sides: Sides
    ) -> list[Match]:
        return [self._match(row, [held[number] for number in row.documents]) for row in rows]

    def _match(self, found: OperatorRow, documents: Sequence[Document]) -> Match:
        assert found.computed is not None
        strings, *counts = cast(tuple[Any, ...], found.computed.values)
        result = f"<window><strings>{strings}</strings>" + "".join(
            f"<{stream}>{count}</{stream}>" for stream, count in counts
        )
        reported = ReportedMatch(
            id=f"window {found.computed.time}",
            stream=self.wiring.stream,
            time=found.known_at(documents) / SECOND,
            documents=tuple(document.id for document in documents),
            streams=tuple(document.stream for document in documents),
            nodes=(),
            bindings={},
            result=f"{result}</window>",
            json=False,
            markup=f"{result}</window>",
        )
        return Match(self.name, reported)


class Stages:
    """An evaluation over the join stage and, on request, the one that counts."""

    def __init__(self, *queries: str, counting: bool = True) -> None:
        self.counts = WindowCounts()
        connection = duckdb.connect()
        self.close = connection.close
        self.join = JoinProcessor(lambda: connection, double_of, likeness)
        counts = (self.counts,) if counting else ()
        stages: tuple[WitnessStage, ...] = (self.join, *counts)
        self.strings = Strings()
        xpath = XPathEvaluator(self.strings)
        registered = StageRegistration(xpath, self.join.registry, longest_reach(stages))
        nodes = EventNodes(xpath.attribute_name)
        patterns = PatternLevels(
            EventTypes(registered), nodes, lambda one: self.intake.retained[one]
        )
        self.queries = Catalogue(xpath, registered, patterns, lambda one: None)
        self.intake = Intake(0, Retention(self.queries.reach))
        errors: list[DocumentError] = []
        self.evaluation = Evaluation(
            xpath, stages, counts, self.strings, self.queries, self.intake, errors.append
        )
        parsed, wrong = parse(";\n".join(queries))
        assert not wrong
        for query in parsed:
            self.queries.add(dissect(query), since=0, on_match=None)
        self._count(parsed[0])

    def _count(self, like: Any) -> None:
        dissection = dissect(like)
        wiring = Wiring(
            source=dissection,
            feeds=("counts",),
            cancel=lambda one: None,
            inner=(),
            form=MatchForm(dissection.query.select, "counts", (), ()),
        )
        owner = Counting("counts", wiring, QUERY, 0, None)
        self.queries.stages._readers[QUERY] = QueryReader(owner, CountReader())

    def read(self, *documents: tuple[str, float, str]) -> Arrivals:
        self.evaluation.follow_queries()
        return self.evaluation.read([*map(envelope, documents)], raising=True)

    def publish(self, *documents: tuple[str, float, str]) -> list[tuple[str, float, Any]]:
        _, deliveries = self.evaluation.publish(self.read(*documents))
        return [(match.query, match.time, match.documents) for _, match in deliveries]


def envelope(document: tuple[str, float, str]) -> dict[str, object]:
    stream, time, xml = document
    return {"stream": stream, "id": f"{stream}{time:g}", "timestamp": time, "xml": xml}


JOIN = "-- name: joined\nS//a->x FOLLOWED BY {x = y, 2 s} T//b->y"
READ = "-- name: read\ncounts//window[S = 2]"
DOCUMENTS = [
    ("S", 1.0, "<a>v</a>"),
    ("S", 2.0, "<a>w</a>"),
    ("T", 3.0, "<b>v</b>"),
    ("T", 9.0, "<b>w</b>"),
]
LATER = ("S", 21.0, "<a>z</a>")
FOUND = [("joined", 3.0, ("S1", "T3"))]
COUNTED = ("counts", 10.0, ("S1", "S2", "T3", "T9"))


def test_rows_come_as_time_passes_after_those_of_documents() -> None:
    with closing(Stages(JOIN)) as stages:
        assert stages.publish(*DOCUMENTS) == FOUND
        assert stages.publish(LATER) == [COUNTED]
        assert stages.publish(("S", 29.0, "<a/>")) == []


def test_a_batch_that_passes_windows_completes_both() -> None:
    with closing(Stages(JOIN)) as stages:
        assert stages.publish(*DOCUMENTS, LATER) == [*FOUND, COUNTED]


def test_what_time_completes_is_published_with_the_time_it_is_known() -> None:
    """A query that reads the stream is in the next wave."""
    with closing(Stages(JOIN, READ)) as stages:
        stages.publish(*DOCUMENTS)
        found = stages.publish(LATER)
        assert found == [COUNTED, ("read", 10.0, ("window 10000000",))]


@pytest.mark.parametrize("counting", [True, False])
def test_a_document_is_retained_as_long_as_any_stage_reaches_it(counting: bool) -> None:
    with closing(Stages(JOIN, counting=counting)) as stages:
        for document in DOCUMENTS:
            stages.publish(document)
            stages.evaluation.evict(exact=True)
        stored = sorted(document.id for document in stages.intake.retained.values())
        assert stored == (["S1", "S2", "T3", "T9"] if counting else ["T9"])
        stages.publish(LATER)
        stages.evaluation.evict(exact=True)
        assert [document.id for document in stages.intake.retained.values()] == ["S21"]


def test_a_string_is_stored_as_long_as_any_stage_needs_it() -> None:
    """It keeps its number, by which a later leaf is equal to one that only another stage holds."""
    with closing(Stages(JOIN)) as stages:
        stages.publish(*DOCUMENTS[:3])
        stages.publish(("S", 8.0, "<a/>"))
        stages.evaluation.evict(exact=True)
        before = dict(stages.strings.numbers)
        assert {"v", "w"} <= before.keys()
        found = stages.publish(("S", 8.5, "<a>v</a>"), ("T", 9.0, "<b>v</b>"))
        assert found == [("joined", 9.0, ("S8.5", "T9"))]
        assert stages.strings.numbers["v"] == before["v"]
        stages.publish(LATER)
        stages.evaluation.evict(exact=True)
        assert set(stages.strings.numbers) == {"z"}


def test_groups_and_counts_have_what_time_completes() -> None:
    with closing(Stages(JOIN)) as stages:
        stages.publish(*DOCUMENTS)
        groups, _ = stages.evaluation.publish_grouped(stages.read(LATER))
        assert [(group.queries, group.documents) for group in groups] == [
            (("counts",), COUNTED[2]),
        ]
    with closing(Stages(JOIN)) as stages:
        counts = stages.evaluation.count(stages.read(*DOCUMENTS, LATER))
        assert counts == {"joined": 1, "counts": 1}


def test_a_batch_stays_as_it_was() -> None:
    """The join stage has had it before, and keeps it until it is written."""
    with closing(Stages(JOIN)) as stages:
        for document in DOCUMENTS:
            stages.publish(document)
        stages.join.prepare()
        stages.publish(LATER)
        assert [repr(batch) for batch, _ in stages.counts.batches] == [
            text for _, text in stages.counts.batches
        ]
