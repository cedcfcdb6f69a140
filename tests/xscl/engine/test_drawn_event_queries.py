"""Drawn event queries over drawn documents: the engine against the brute force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note
from hypothesis import strategies as st

import xscl
from tests.drawn import drawn
from tests.oracle.event_algebra.drawn_documents import documents
from tests.oracle.event_algebra.drawn_queries import texts
from tests.oracle.event_algebra.model import Model, evaluate
from tests.oracle.event_algebra.reading import read
from tests.oracle.event_algebra.reported import (
    RULES,
    ReportedMatch,
    reported_by_engine,
    reported_by_model,
)
from tests.oracle.event_algebra.syntax import Declared
from tests.oracle.event_algebra.writing import written
from tests.xscl.engine.three_ways import in_three_ways

SLOW = list(HealthCheck)
WITHOUT = st.just(frozenset[str]()) | st.frozensets(st.sampled_from(sorted(RULES))) | st.just(RULES)
Envelope = Mapping[str, Any]


def expected_of(
    text: Declared, envelopes: list[Envelope], size: int | None = None
) -> Counter[ReportedMatch]:
    note(written(text))
    weak = any(query.weak for query in text.queries)
    return Counter(map(reported_by_model, evaluate(text, envelopes, size if weak else None)))


def found_in(matches: Iterable[xscl.Match], envelopes: list[Envelope]) -> Counter[ReportedMatch]:
    ids = {one["id"] for one in envelopes}
    return Counter(reported_by_engine(one.to_dict(), ids) for one in matches)


def found_of(text: str, envelopes: list[Any], size: int, **options: Any) -> list[xscl.Match]:
    """The matches of an engine, fed so many documents at a time."""

    def engine() -> xscl.Engine:
        made = xscl.Engine(**options)
        made.load(text)
        return made

    starts = range(0, len(envelopes), size)
    return in_three_ways(engine, [envelopes[start : start + size] for start in starts])


@pytest.mark.drawn
@drawn(40, suppress_health_check=SLOW)
@given(texts(weak=True), documents(), WITHOUT, st.integers(1, 6), st.booleans())
def test_agreement(
    text: Declared, envelopes: list[Envelope], without: set[str], size: int, ordered: bool
) -> None:
    if ordered:
        # What the watermark has passed is evicted: an id may come again.
        once = {(one["stream"], one["id"]): one for one in envelopes}
        envelopes = sorted(once.values(), key=lambda one: one["timestamp"])
    expected = expected_of(text, envelopes, size)
    lateness = 0 if ordered else 20
    found = found_of(written(text), envelopes, size, without=without, lateness=lateness)
    assert found_in(found, envelopes) == expected


KEYS = st.sampled_from(["a", "b"])


@st.composite
def keyed(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Documents with a key and a number, of streams that a join or a pattern reads, or not."""
    return [
        {
            "stream": draw(st.sampled_from("ABS")),
            "id": f"d{number}",
            "timestamp": float(draw(st.integers(0, 12))),
            "json": {"k": draw(KEYS), "n": draw(st.integers(1, 3))},
        }
        for number in range(draw(st.sampled_from([3, 6, 9])))
    ]


def pairs(envelopes: list[dict[str, Any]], low: float) -> list[dict[str, Any]]:
    """The results of joins of A and B by key within 5 seconds, B at least `low` later."""
    return [
        {
            "stream": "J",
            "id": f"{one['id']} {other['id']}",
            "start": min(one["timestamp"], other["timestamp"]),
            "timestamp": max(one["timestamp"], other["timestamp"]),
            "json": {"k": one["json"]["k"], "n": one["json"]["n"]},
        }
        for one in envelopes
        for other in envelopes
        if (one["stream"], other["stream"]) == ("A", "B")
        and one["json"]["k"] == other["json"]["k"]
        and low <= other["timestamp"] - one["timestamp"] <= 5
    ]


JOIN = "A/*->r[./k->x][./n->z] JOIN {x = y, 5} B/*[./k->y]"
SEQ = "EVENT SEQ(A a, B b) WHERE [k] WITHIN 6"


@pytest.mark.drawn
@drawn(16, suppress_health_check=SLOW)
@given(
    keyed(),
    st.sampled_from(
        [
            (f'SELECT {{"k": x, "n": z}} FROM {JOIN}', -5),
            (f'SELECT {{"k": a.k, "n": a.n}} FROM {SEQ}', 1),
        ]
    ),
    st.sampled_from(
        [
            "SELECT k, n_1 AS first, n FROM J NEXT{$2.k = $1.k} S",
            "SELECT k, n_1 AS first, n FROM S NEXT{$2.n >= $1.n AND $2.DUR <= 3} J",
            "SELECT k, n FROM S FOLD{$2.k = $1.k, DUR <= 9} J",
            "SELECT k, COUNT(*) AS c, SUM(n) AS s FROM WINDOW{3 s}(J) GROUP BY k",
            "SELECT k, n FROM FILTER{DUR <= 2}(J)",
        ]
    ),
    st.booleans(),
    st.integers(1, 4),
)
def test_results_of_joins_and_patterns_are_events(
    envelopes: list[dict[str, Any]], inner: tuple[str, float], outer: str, inlined: bool, size: int
) -> None:
    text, low = inner
    model = Model()
    model.subscribe(read(f"-- name: q\n{outer}"))
    expected = [*model.publish([*envelopes, *pairs(envelopes, low)]), *model.flush()]
    published = f"-- name: p\n{text} PUBLISH J;\n-- name: q\n{outer}"
    written = f"-- name: q\n{outer.replace('J', f'({text})')}" if inlined else published
    note(written)
    found = found_of(written, envelopes, size, lateness=20)
    reported = [one for one in found if one.query == "q"]
    assert found_in(reported, envelopes) == Counter(map(reported_by_model, expected))


@pytest.mark.drawn
@drawn(10, suppress_health_check=SLOW)
@given(keyed(), st.booleans(), st.integers(1, 4))
def test_joins_read_results_of_event_queries(
    envelopes: list[dict[str, Any]], inlined: bool, size: int
) -> None:
    text = "SELECT k, n FROM A NEXT{$2.k = $1.k} B"
    model = Model()
    model.subscribe(read(f"-- name: p\n{text}"))
    reported = [*model.publish(envelopes), *model.flush()]
    events = Counter((one.time, "a" if 'k="a"' in one.result else "b") for one in reported)
    expected = sum(
        count
        for (time, key), count in events.items()
        for one in envelopes
        if one["stream"] == "S"
        and one["json"]["k"] == key
        and abs(one["timestamp"] * 10**6 - time) <= 4 * 10**6
    )
    joined = "{x = y, 4} S/*[./k->y]"
    written = f"-- name: p\n{text} PUBLISH R;\n-- name: q\nR/*[./k->x] JOIN {joined}"
    if inlined:
        written = f"-- name: q\n({text})/*[./k->x] JOIN {joined}"
    found = found_of(written, envelopes, size, lateness=20)
    assert sum(one.query == "q" for one in found) == expected
