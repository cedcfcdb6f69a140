"""Where event queries continue: an end of the input that more follows, batches whose documents are
late, queries that go, equal documents of streams that are read together, and names that an open
stream shows or gets."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import xscl
from tests.xscl.engine.three_ways import WAYS, published


def document(stream: str, time: float, n: Any, **more: Any) -> dict[str, Any]:
    envelope = {"stream": stream, "id": f"{stream}{time}:{n}", "timestamp": time}
    return envelope | {"json": {"n": n}} | more


def results(matches: list[xscl.Match]) -> list[Any]:
    return sorted([match.time, match.result] for match in matches)


RISE = "SELECT n_1 AS a, n AS b FROM S NEXT{$2.n > $1.n} S"


@pytest.mark.parametrize(
    ("query", "first", "then"),
    [
        (
            RISE,
            [[5, {"a": 1, "b": 5}]],
            [[3, {"a": 1, "b": 2}], [5, {"a": 2, "b": 5}], [7, {"a": 5, "b": 9}]],
        ),
        (
            "SELECT n_1 AS a, n AS b FROM S FOLD{$2.n > $.n, $2.n <> 5} S",
            [],
            [[3, {"a": 1, "b": 2}], [7, {"a": 5, "b": 9}]],
        ),
        (
            "SELECT COUNT(*) AS c, SUM(n) AS s FROM WINDOW{INF}(S)",
            [[1, {"c": 1, "s": 1}], [5, {"c": 2, "s": 6}]],
            [[3, {"c": 2, "s": 3}], [5, {"c": 3, "s": 8}], [7, {"c": 4, "s": 17}]],
        ),
    ],
)
def test_an_end_of_the_input_moves_nothing_on(query: str, first: Any, then: Any) -> None:
    """What comes after it may be before what it saw: all is found again but what was reported."""
    with xscl.Engine() as engine:
        engine.subscribe(query, name="q")
        engine.publish_many([document("S", 1, 1), document("S", 5, 5)])
        assert results(engine.flush()) == first
        engine.publish_many([document("S", 3, 2), document("S", 7, 9)])
        assert results(engine.flush()) == then
        assert engine.flush() == []


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("order", [(1, 9, 3, 12), (9, 1, 3, 12), (3, 1, 9, 12), (12, 9, 3, 1)])
def test_documents_of_a_batch_are_read_in_order_of_time(way: str, order: tuple[int, ...]) -> None:
    with xscl.Engine() as engine:
        engine.subscribe(RISE, name="q")
        engine.publish_many([document("S", time, time) for time in order])
        assert results(engine.advance(9)) == [[3, {"a": 1, "b": 3}]]
        counts, matches = published(engine, [document("S", 10, 10)], way)
        assert (counts, matches or []) == (Counter(), [])
        left = [[9, {"a": 3, "b": 9}], [10, {"a": 9, "b": 10}], [12, {"a": 10, "b": 12}]]
        assert results(engine.flush()) == left


@pytest.mark.parametrize("way", WAYS)
def test_queries_that_have_gone_are_not_counted(way: str) -> None:
    """Of so many bounds one order is kept with an iteration that continues while queries go."""
    bounds = {f"{bound}{name}": bound for bound in range(2, 26) for name in "ab"}
    with xscl.Engine(lateness=0) as engine:
        for name, bound in bounds.items():
            engine.subscribe(f"S FOLD{{DUR <= {bound}}} S", name=name)
        for time, gone in enumerate((None, None, "9b", "4a", "9a", "25b", "3a", None)):
            if gone is not None:
                engine.cancel(gone)
                del bounds[gone]
            found, _ = published(engine, [document("S", time, time)], way)
            # What ended with the document before is known now: an iteration from each before it.
            ages = range(1, time)
            assert found == Counter(n for n, bound in bounds.items() for i in ages if i <= bound)


@pytest.mark.parametrize(
    "others", [[document("S1", 1, 7, id="b")], [document("S2", 1, 7, start=0)]]
)
def test_equal_documents_of_sharable_streams_are_themselves(others: list[dict[str, Any]]) -> None:
    """Those of one stream are two; those of two that begin at other times are not equal."""
    fed = [document("S1", 1, 7, id="a"), *others, document("S2", 2, 7, id="c")]
    texts = {
        f"{name}{stream}": text.format(stream)
        for stream in ("S1", "S2")
        for name, text in {
            "count": "SELECT COUNT(*) AS c FROM WINDOW{{9 s}}({})",
            "longer": "SELECT n FROM FILTER{{DUR > 0 s}}({})",
            "again": "SELECT n_1 AS a, n AS b FROM {} NEXT T",
        }.items()
    }
    found = []
    for sharable in ([{"S1", "S2"}], []):
        with xscl.Engine(sharable=sharable) as engine:
            for name, text in texts.items():
                engine.subscribe(text, name=name)
            matches = [*engine.publish_many([*fed, document("T", 3, 1)]), *engine.flush()]
        found.append(sorted((one.query, one.start, one.time, str(one.result)) for one in matches))
    assert found[0] == found[1]
    counts = [one for one in found[0] if one[0].startswith("count")]
    two = len(others) + 1
    first = {one["stream"] for one in fed[:two]}
    assert (("countS1", 1.0, 1.0, str({"c": two})) in counts) is (first == {"S1"})


def test_an_open_schema_finds_first_what_next_made_of_a_name() -> None:
    """`x` of an open stream after NEXT is `x_1`, which is listed, where no query needed `x`."""
    fed = [{"n": 1, "k": "b"}, {"n": 2, "k": "b", "x": 9}]
    with xscl.Engine() as engine:
        engine.subscribe("SELECT x FROM (SELECT k, n AS x FROM S) NEXT{$2.k = $1.k} S", name="q")
        for time, json in enumerate(fed):
            engine.publish("S", json, id=str(time), timestamp=time)
        assert [match.result for match in engine.flush()] == [{"x": 1}]


def test_an_item_alongside_a_star_is_not_known_of_what_it_replaces() -> None:
    """Under a closed left side FOLD sees of an open right side what is known of it: the `n` that
    was needed below is another than the item's."""
    with xscl.Engine() as engine:
        right = "(SELECT *, 0 AS n FROM FILTER{n > 1}(S))"
        engine.subscribe(f"(SELECT n, k FROM S) FOLD{{}} {right}", name="q")
        for time in (1, 2):
            engine.publish("S", {"n": time, "k": "b"}, id=str(time), timestamp=time)
        assert [match.result for match in engine.flush()] == [{"n": 1, "k": "b"}]


def test_time_passes_the_levels_from_the_first_on_whatever_became_of_the_last_step() -> None:
    engine = xscl.Engine()
    engine.load("-- name: below\nSELECT n FROM S PUBLISH T;\n-- name: above\nSELECT n FROM T")
    levels = engine._queries.patterns
    below, above = levels.levels.all
    next(levels.advance(0))
    assert (below.plan.mark, above.plan.mark) == (0, None)
    next(levels.advance(1))
    assert (below.plan.mark, above.plan.mark) == (1, None)
    assert len([*levels.advance(2)]) == 2
    assert (below.plan.mark, above.plan.mark) == (2, 2)
