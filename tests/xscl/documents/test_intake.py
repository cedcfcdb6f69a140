"""Documents on their way in: what an envelope may hold, what is late, what is kept for how long."""

from __future__ import annotations

from typing import Any

import pytest

from join_stage.constraints import FOREVER
from xscl.documents.intake import Intake
from xscl.documents.retention import Retention, Shape
from xscl.errors import DocumentError
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
    document = intake.read(envelope)
    if intake.refuses(document):
        return False
    read = stream in READS[id(intake)].streams
    intake.admit(document, (stream, frozenset()) if read else None)
    return True


def forget(intake: Intake) -> int:
    return len(intake.forget(exact=True))


def held(intake: Intake) -> list[str]:
    return sorted(document.id for document in intake.held.values())


def test_the_members_of_an_envelope() -> None:
    document = reading(None).read({"stream": "R", "id": "d", "timestamp": 2, "xml": "<a/>", "x": 1})
    assert (document.stream, document.id, document.time) == ("R", "d", 2 * SECOND)
    assert document.body == "<a/>"


def test_what_is_left_out() -> None:
    """Stream S, an id of its own, and the time of arrival, which always grows."""
    intake = reading(None)
    before = now()
    documents = [intake.read({"xml": "<a/>"}) for _ in range(100)]
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
        reading(None).read(envelope)
    assert raised.value.document == str(envelope["id"])
    assert raised.value.stream == str(envelope.get("stream", "S"))


def test_without_lateness_nothing_is_late_and_nothing_forgotten() -> None:
    intake = reading(None, S=0)
    assert admit(intake, "new", 1_000_000)
    assert admit(intake, "old", -1_000_000)
    assert intake.watermark is None
    assert forget(intake) == 0
    assert held(intake) == ["new", "old"]


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


def test_documents_are_held_while_a_window_reaches_them() -> None:
    intake = reading(0, S=10, R=0, T=INF)
    for stream in ("S", "R", "T"):
        assert admit(intake, f"{stream} first", 0, stream)
    assert forget(intake) == 0
    assert admit(intake, "S second", 10)
    assert forget(intake) == 1
    assert held(intake) == ["S first", "S second", "T first"]
    assert admit(intake, "S third", 10.000001)
    assert forget(intake) == 1
    assert held(intake) == ["S second", "S third", "T first"]


def test_what_is_forgotten_is_no_duplicate() -> None:
    intake = reading(0, S=1)
    assert admit(intake, "d", 0)
    assert admit(intake, "e", 5)
    forget(intake)
    assert admit(intake, "d", 6)
    assert not admit(intake, "e", 6)


def test_a_stream_that_nobody_reads_is_not_held() -> None:
    intake = reading(None, S=INF)
    assert admit(intake, "d", 0, "R")
    assert intake.held == {}
    assert admit(intake, "d", 0)
    READS[id(intake)].streams.clear()
    intake.queries_changed([])
    assert forget(intake) == 1
    assert intake.held == {}


def test_a_clock_far_ahead_does_not_make_the_others_late() -> None:
    intake = reading(0, S=0)
    today = now() / SECOND
    assert admit(intake, "wrong", today + 3 * 86_400)
    assert admit(intake, "right", today)
    assert intake.watermark == round(today * SECOND)
    assert admit(intake, "soon", today + 86_000)
    assert intake.watermark == round((today + 86_000) * SECOND)
    assert intake.skipped.late == 0


def test_a_document_far_ahead_is_held_until_its_time() -> None:
    intake = reading(0, S=0)
    today = now() / SECOND
    assert admit(intake, "ahead", today + 3 * 86_400)
    assert admit(intake, "right", today)
    forget(intake)
    assert held(intake) == ["ahead", "right"]


def test_half_a_surrogate_pair_is_no_character() -> None:
    for envelope in ({"id": "\ud800", "xml": "<a/>"}, {"stream": "\udfff", "xml": "<a/>"}):
        with pytest.raises(DocumentError, match="half a surrogate pair") as raised:
            reading(None).read(envelope)
        str(raised.value).encode()
