"""Joins by likeness in cells by time: whatever the cells, the matches are those of one engine,
which are those of all pairs."""

from __future__ import annotations

import pytest

from tests.drawn import seeded, times
from tests.xscl.engine.test_likeness import Query, drawn_items, envelope, expected
from tests.xscl.spark.cell_runs import as_a_batch, parts_of_batch
from tests.xscl.spark.test_events_in_cells import by_one_engine, in_rows, streamed
from xscl.spark.joins.cells import TimeSlices
from xscl.spark.joins.plan import Queries


@pytest.mark.drawn
def test_drawn_likenesses() -> None:
    for number in range(times(3)):
        draw = seeded("likeness, cells", number)
        queries = [Query(draw, f"q{i}") for i in range(4)]
        items = drawn_items(draw, 40)
        events = [envelope(item, draw) for item in items]
        texts = [query.text() for query in queries]
        judged = by_one_engine(texts, events)
        assert len(judged) == sum(expected(queries, items).values())
        tasks = draw.choice([1, 2, 3])
        assert in_rows(as_a_batch(texts, events, tasks)) == judged, (number, texts)
        assert in_rows(streamed(texts, events, tasks, draw)) == judged, (number, texts)


def test_cells_are_slices_of_time() -> None:
    """A likeness has a window, and needs no more documents than an equality with the same one."""
    join = "S/i->x JOIN {similar(x, y) >= 0.6, 1 day} T/i->y"
    day = 86_400_000_000
    [part] = parts_of_batch(Queries.of([join]), [n * day for n in range(100)], 2)
    assert isinstance(part.cells, TimeSlices)
