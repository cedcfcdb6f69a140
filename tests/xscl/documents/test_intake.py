"""Documents on their way in: what an envelope may hold, what is late, what is kept for how long."""

from __future__ import annotations

from typing import Any

import pytest

from xscl.documents.composites import DerivedStream, OperatorRow
from xscl.documents.document import document_of
from xscl.documents.intake import Intake
from xscl.documents.retention import Retention, Shape
from xscl.errors import DocumentError
from xscl.join_stage.constraints import FOREVER
from xscl.times import now

SECOND = 1_000_000
INF = float("inf")
DAY = 86_400 * SECOND


class Reads:
    """How long (seconds) the documents of each stream that is read can be reached."""

    def __init__(self, **streams: float) -> None:
        self.streams = streams

    def __call__(self, shape: Shape) -> int | None:
        assert isinstance(shape, tuple)
        reach = self.streams.get(shape[0])
        return reach if reach is None else FOREVER if reach == INF else round(reach * SECOND)


def reading(lateness: float | None, **streams: float) -> Intake:
    """An intake for queries that read streams."""
    reads = Reads(**streams)
    intake = Intake(None if lateness is None else round(lateness * SECOND), Retention(reads))
    READS[id(intake)] = reads
    return intake


READS: dict[int, Reads] = {}


def admit(intake: Intake, id_: str, seconds: float, stream: str = "S") -> bool:
    envelope = {"stream": stream, "id": id_, "timestamp": seconds, "xml": "<a/>"}
    arrivals = intake.arrivals()
    document = arrivals.document(envelope)
    refused = arrivals.count_if_refused(document)
    if not refused:
        read = stream in READS[id(intake)].streams
        arrivals.add(document, (stream, frozenset()) if read else None)
    intake.admit(arrivals)
    return not refused


def arriving(intake: Intake, *documents: tuple[str, float]) -> tuple[int, int, int]:
    """Sends documents (id, time) as one batch: how many were ingested, duplicates and late."""
    arrivals = intake.arrivals()
    for id_, seconds in documents:
        document = arrivals.document({"id": id_, "timestamp": seconds, "xml": "<a/>"})
        if not arrivals.count_if_refused(document):
            arrivals.add(document, ("S", frozenset()))
    counts = arrivals.count, arrivals.duplicate, arrivals.late
    intake.admit(arrivals)
    return counts


def evict(intake: Intake) -> int:
    return len(intake.evict(exact=True))


def stored(intake: Intake) -> list[str]:
    return sorted(document.id for document in intake.retained.values())


def test_the_members_of_an_envelope() -> None:
    document = document_of(
        {"stream": "R", "id": "d", "timestamp": 2, "xml": "<a/>", "x": 1}, number=0, arrival=0
    )
    assert (document.stream, document.id, document.time) == ("R", "d", 2 * SECOND)
    assert document.body == "<a/>"


def test_what_is_left_out() -> None:
    """Stream S, an id of its own, and the time of arrival, which always grows."""
    before = now()
    arrivals = reading(None).arrivals()
    documents = [arrivals.document({"xml": "<a/>"}) for _ in range(100)]
    assert {document.stream for document in documents} == {"S"}
    assert len({document.id for document in documents}) == 100
    times = [document.time for document in documents]
    assert times == sorted(set(times))
    assert before <= times[0] <= now()


@pytest.mark.parametrize(
    ("envelope", "problem"),
    [
        ({"id": "d"}, "it has neither `xml`, .* nor `json`"),
        ({"id": "d", "xml": None}, "it has neither `xml`, .* nor `json`"),
        ({"id": "d", "xml": 7}, "it has neither `xml`, .* nor `json`"),
        ({"id": "d", "xml": "<a/>", "timestamp": "soon"}, "neither seconds nor ISO 8601"),
        ({"id": "d", "xml": "<a/>", "timestamp": True}, "neither seconds nor ISO 8601"),
        ({"id": "d", "xml": "<a/>", "timestamp": float("nan")}, "out of range"),
        ({"id": "d", "xml": "<a/>", "stream": ""}, "expected the name of a stream"),
        ({"id": "d", "xml": "<a/>", "stream": 7}, "expected the name of a stream"),
        ({"id": 7, "xml": "<a/>"}, "`id` must be a string"),
        ({"id": "d", "xml": "<a/>", "stream": "\0S(1)"}, "expected the name of a stream"),
    ],
)
def test_what_is_no_envelope(envelope: dict[str, Any], problem: str) -> None:
    with pytest.raises(DocumentError, match=problem) as raised:
        document_of(envelope, number=0, arrival=0)
    assert raised.value.document == str(envelope["id"])
    assert raised.value.stream == str(envelope.get("stream", "S"))


def test_without_lateness_nothing_is_late_and_nothing_dropped() -> None:
    intake = reading(None, S=0)
    assert admit(intake, "new", 1_000_000)
    assert admit(intake, "old", -1_000_000)
    assert intake.watermark is None
    assert evict(intake) == 0
    assert stored(intake) == ["new", "old"]


def test_late_is_what_comes_before_the_watermark() -> None:
    intake = reading(10, S=INF)
    assert admit(intake, "first", 100)
    assert intake.watermark == 90 * SECOND
    assert admit(intake, "at the edge", 90)
    assert not admit(intake, "beyond", 89.999999)
    assert admit(intake, "later", 101)
    assert not admit(intake, "at the edge no more", 90)
    assert (intake.skipped.late, intake.skipped.total) == (2, 2)


def test_a_duplicate_has_the_same_id_in_the_same_stream() -> None:
    intake = reading(None, S=INF, R=INF)
    assert admit(intake, "d", 1)
    assert not admit(intake, "d", 2)
    assert admit(intake, "d", 2, stream="R")
    assert (intake.skipped.duplicate, intake.skipped.total) == (1, 1)
    assert intake.next_number == 2


def test_documents_are_retained_while_a_window_reaches_them() -> None:
    intake = reading(0, S=10, R=0, T=INF)
    for stream in ("S", "R", "T"):
        assert admit(intake, f"{stream} first", 0, stream)
    assert evict(intake) == 0
    assert admit(intake, "S second", 10)
    assert evict(intake) == 1
    assert stored(intake) == ["S first", "S second", "T first"]
    assert admit(intake, "S third", 10.000001)
    assert evict(intake) == 1
    assert stored(intake) == ["S second", "S third", "T first"]


def test_what_was_dropped_is_no_duplicate() -> None:
    intake = reading(0, S=1)
    assert admit(intake, "d", 0)
    assert admit(intake, "e", 5)
    evict(intake)
    assert admit(intake, "d", 6)
    assert not admit(intake, "e", 6)


def test_a_stream_that_nobody_reads_is_not_retained() -> None:
    intake = reading(None, S=INF)
    assert admit(intake, "d", 0, "R")
    assert intake.retained == {}
    assert admit(intake, "d", 0)
    READS[id(intake)].streams.clear()
    intake.queries_changed([])
    assert evict(intake) == 1
    assert intake.retained == {}


def test_a_clock_far_ahead_does_not_make_the_others_late() -> None:
    intake = reading(0, S=0)
    today = now() / SECOND
    assert admit(intake, "wrong", today + 3 * 86_400)
    assert admit(intake, "right", today)
    assert intake.watermark == round(today * SECOND)
    assert admit(intake, "soon", today + 86_000)
    assert intake.watermark == round((today + 86_000) * SECOND)
    assert intake.skipped.late == 0


def test_a_document_far_ahead_is_retained_until_its_time() -> None:
    intake = reading(0, S=0)
    today = now() / SECOND
    assert admit(intake, "ahead", today + 3 * 86_400)
    assert admit(intake, "right", today)
    evict(intake)
    assert stored(intake) == ["ahead", "right"]


def test_half_a_surrogate_pair_is_no_character() -> None:
    for envelope in ({"id": "\ud800", "xml": "<a/>"}, {"stream": "\udfff", "xml": "<a/>"}):
        with pytest.raises(DocumentError, match=r"holds U\+D") as raised:
            document_of(envelope, number=0, arrival=0)
        str(raised.value).encode()


def test_the_documents_of_a_batch_are_judged_as_if_they_came_singly() -> None:
    fed = [("d", 0.0), ("d", 1.0), ("e", 100.0), ("d", 100.0), ("f", 89.0), ("e", 100.0)]
    together = reading(10, S=5)
    assert arriving(together, *fed) == (3, 2, 1)
    singly = reading(10, S=5)
    assert [arriving(singly, one) for one in fed] == [
        (1, 0, 0),
        (0, 1, 0),
        (1, 0, 0),
        (1, 0, 0),
        (0, 0, 1),
        (0, 1, 0),
    ]
    for intake in (together, singly):
        evict(intake)
    assert stored(together) == stored(singly)
    assert together.skipped == singly.skipped
    assert together.watermark == singly.watermark


def test_a_batch_that_is_given_up_leaves_nothing() -> None:
    intake = reading(10, S=INF)
    admit(intake, "d", 0)
    before = (intake.latest, intake.last_arrival, intake.next_number, intake.documents)
    given_up = intake.arrivals()
    for id_ in ("d", "e"):
        document = given_up.document({"id": id_, "timestamp": 50, "xml": "<a/>"})
        if not given_up.count_if_refused(document):
            given_up.add(document, ("S", frozenset()))
    now_ = (intake.latest, intake.last_arrival, intake.next_number, intake.documents)
    assert now_ == before
    assert stored(intake) == ["d"]
    assert intake.skipped.total == 0
    assert admit(intake, "e", 50)


def test_a_document_that_is_only_looked_at_moves_no_clock() -> None:
    intake = reading(None, S=INF)
    before = intake.last_arrival
    intake.document({"xml": "<a/>"})
    assert intake.last_arrival == before


def test_an_id_that_comes_again_looks_at_its_own_composites_alone() -> None:
    """A member of a composite that is in reach: its id is known, at whatever number of others."""
    looked: list[int] = []

    class Looking(Retention):
        def reaches(self, number: int, watermark: int | None) -> bool:
            looked.append(number)
            return super().reaches(number, watermark)

    nothing: Any = None
    derived = DerivedStream(0, (), 0, nothing, {}, ())
    reaches = FOREVER
    intake = Intake(0, Looking(lambda shape: FOREVER if shape is derived else reaches))
    for n in range(200):
        assert arriving(intake, (f"d{n}", n / 1000)) == (1, 0, 0)
    for n in range(200):
        intake.compose(derived, OperatorRow((n,), (), ()))
    reaches = 0
    intake.queries_changed([])
    assert arriving(intake, ("late", 1_000)) == (1, 0, 0)
    for n in range(200):
        looked.clear()
        assert intake.has("S", intake.retained[n].id, intake.watermark)
        assert looked == [n, n + 200]
