"""Recent documents that are retained whether or not a query reads them: who asks later finds them
in the history."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xscl
from tests.drawn import times

DAY = 86_400.0
QUERIES = {
    "one block": "S//a[./v = 'x']",
    "join": "S//a->p[./v->v] FOLLOWED BY {v = w, 2 days} S//a->q[./v->w]",
    "pattern": "EVENT SEQ(S//a p, S//a q) WHERE [v] WITHIN 3 days",
    "events": "SELECT v, n FROM FILTER{v = 'x'}(S)",
}


def document(number: int, value: str = "x", *, json: bool = False) -> dict[str, object]:
    """One a day."""
    body = {"json": {"a": {"v": value}, "v": value, "n": number}}
    if not json:
        body = {"xml": f"<a><v>{value}</v><n>{number}</n></a>"}  # type: ignore[dict-item]
    return {"stream": "S", "id": f"d{number}", "timestamp": number * DAY, **body}


def found(engine: xscl.Engine) -> dict[str, list[str]]:
    """What each query finds that is subscribed now."""
    matches = {}
    for name, text in QUERIES.items():
        query = engine.subscribe(text, name, history=True)
        matches[name] = sorted(map(said, [*query.found, *engine.flush()]))
        query.cancel()
    return matches


def said(match: xscl.Match) -> str:
    return f"{match.query} {match.documents} {match.result}"


@pytest.mark.parametrize("json", [False, True])
@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("others", [(), ("events",)])
def test_who_asks_later_finds_what_was_retained(
    tmp_path: Path, *, json: bool, restarted: bool, others: tuple[str, ...]
) -> None:
    """What is found is what a query that was there first finds, whatever else reads the stream, and
    over a restart whose run does not say again what to retain."""
    published = [document(number, "xy"[number % 2], json=json) for number in range(6)]
    state = tmp_path / "s.duckdb" if restarted else None
    with xscl.Engine(state, lateness="1 day") as engine:
        engine.retain("S", "2 weeks")
        subscribed = [engine.subscribe(QUERIES[other]) for other in others]
        for one in published:
            engine.publish_many([one])
        for query in subscribed:
            query.cancel()
        late = {} if restarted else found(engine)
    if restarted:
        with xscl.Engine(state) as engine:
            late = found(engine)
    for name, text in QUERIES.items():
        with xscl.Engine(lateness="1 day") as engine:
            engine.subscribe(text, name)
            matches = [*engine.publish_many(published), *engine.flush()]
        assert late[name] == sorted(map(said, matches)) != [], name


@given(
    st.lists(st.tuples(st.sampled_from("ST"), st.integers(0, 20)), max_size=40),
    st.integers(1, 12),
    st.integers(0, 8),
    st.booleans(),
)
@settings(max_examples=times(20), deadline=None)
def test_what_is_retained_is_bounded_by_time_and_number(
    drawn: list[tuple[str, int]], days: int, most: int, read: bool
) -> None:
    """Of the stream with a floor the latest so many, of the other one nothing, unless a query
    reads them."""
    with xscl.Engine(lateness="100 days") as engine:
        engine.retain("S", days * DAY, most=most)
        if read:
            engine.subscribe("S//a FOLLOWED BY {3 days} T//b")
        for number, (stream, day) in enumerate(drawn):
            one = {"stream": stream, "id": str(number), "xml": "<a/>", "timestamp": day * DAY}
            engine.publish_many([one])
        engine.advance(15 * DAY)
        engine.stats(exact=True)
        retained = {str(one["id"]) for one in engine.held(stream="S")}
        assert read or not [*engine.held(stream="T")]
    by_time = sorted((day, number) for number, (stream, day) in enumerate(drawn) if stream == "S")
    since = max([15 - 100, 15, *(day - 100 for _, day in drawn)])
    reached = [number for day, number in by_time if read and day >= since - 3]
    spare = [n for day, n in by_time if n not in reached and day >= since - days]
    assert retained == {str(one) for one in [*reached, *spare[max(0, len(spare) - most) :]]}


def test_retaining_ends(tmp_path: Path) -> None:
    with xscl.Engine(tmp_path / "s.duckdb", lateness="1 day") as engine:
        engine.retain("S")
        engine.publish_many([document(0), document(1)])
        assert len([*engine.held()]) == 2
        assert engine.publish_many([document(1)]) == []
        assert engine.skipped.duplicate == 1
        engine.retain("S", 0)
        engine.stats(exact=True)
        assert [*engine.held()] == []
    with xscl.Engine(tmp_path / "s.duckdb") as engine:
        engine.publish_many([document(2)])
        assert [*engine.held()] == []


@pytest.mark.parametrize(
    ("stream", "length", "most"),
    [("S", "INF", 1), ("S", "a while", 1), ("S", "-1 day", 1), ("S", 1, -1), ("", 1, 1)],
)
def test_what_cannot_be_retained(stream: str, length: str | float, most: int) -> None:
    with xscl.Engine() as engine, pytest.raises(xscl.XSCLError, match="retain: "):
        engine.retain(stream, length, most=most)
