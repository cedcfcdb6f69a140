"""How many matches are pending: what `flush` finds, without finding it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

import xscl
from tests.drawn import drawn

QUERIES = (
    "-- name: absent\nEVENT SEQ(A a, !B b) WHERE [id] WITHIN 5",
    "-- name: again\nPATTERN SEQ(A+ a[], B b) WHERE skip_till_any_match {[id]} WITHIN 5",
    "-- name: strict\nPATTERN SEQ(A a, B b) WHERE strict_contiguity {[id]} WITHIN 9",
    "-- name: next\nSELECT * FROM FILTER{id = 1}(A) NEXT{$2.id = $1.id} B",
    "-- name: fold\nSELECT * FROM (SELECT *, 0 AS k FROM A) FOLD{$2.id = $.id, , $.k + 1 AS k} B",
)
EVENTS = st.lists(
    st.tuples(st.sampled_from("AB"), st.integers(0, 12), st.integers(0, 1)), max_size=10
)


@given(EVENTS, EVENTS, st.integers(0, 12), st.booleans())
@drawn(40)
def test_pending_is_what_flush_finds(
    before: Sequence[tuple[str, int, int]],
    after: Sequence[tuple[str, int, int]],
    time: int,
    flushed: bool,
) -> None:
    """Whatever came before, was found or was flushed; and asking changes nothing."""
    engines = [xscl.Engine(), xscl.Engine()]
    found: list[Counter[str]] = []
    for asked, engine in enumerate(engines):
        with engine:
            for text in QUERIES:
                try:
                    engine.subscribe(text)
                except xscl.XSCLError as error:
                    raise AssertionError(text) from error
            counts: Counter[str] = Counter()
            for half, some in enumerate((before, after)):
                for number, (stream, at, id) in enumerate(some):
                    name = f"{half}-{number}"
                    matches = engine.publish(stream, {"id": id, "n": 1}, id=name, timestamp=at)
                    counts.update(match.query for match in matches)
                    if asked:
                        engine.pending()
                counts.update(match.query for match in engine.advance(time))
                if flushed:
                    counts.update(match.query for match in engine.flush())
            pending = engine.pending() if asked else None
            assert engine.skipped.duplicate == 0
            flushed_now = engine.flush()
            rest = Counter(match.query for match in flushed_now)
            if pending is not None:
                assert {name: one.matches for name, one in pending.items()} == rest
                for name, one in pending.items():
                    assert one.until == max(it.time for it in flushed_now if it.query == name)
            assert not engine.pending()
            found.append(counts + rest)
    assert found[0] == found[1]
