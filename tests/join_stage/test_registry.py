"""The relations of the queries after they have come and gone, against queries that only came."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.templates.graphs import graph
from xscl.join_stage import JoinProcessor, Plan, TimeConstraint, plan_of
from xscl.join_stage.constraints import FOREVER
from xscl.join_stage.registry import Registry
from xscl.xpath_stage import likeness

PAIR = plan_of(graph([(0, None), (1, None)], [(0, "=", 1)], [0, 1]), 2)[0]
TWO = plan_of(graph([(0, None), (0, 0), (1, None), (1, 2)], [(0, "=", 2), (1, "=", 3)], [0, 2]), 2)[
    0
]
ORDER = plan_of(graph([(0, None), (1, None)], [(0, "<", 1)], [0, 1]), 2)[0]
FILTER = plan_of(graph([(0, None)], [], [0]), 1)[0]

spines = st.integers(1, 3)
constraints = st.builds(TimeConstraint, st.booleans(), st.sampled_from([0, 10, 10, 20, None]))
asked = st.one_of(
    st.tuples(st.just(PAIR), st.tuples(st.tuples(spines, spines)), st.just(()), constraints),
    st.tuples(
        st.just(TWO),
        st.tuples(st.tuples(spines, spines), st.tuples(spines, spines)),
        st.just(()),
        constraints,
    ),
    st.tuples(st.just(ORDER), st.just(()), st.tuples(spines, spines), constraints),
    st.tuples(
        st.just(FILTER), st.just(()), st.tuples(spines), st.just(TimeConstraint(False, None))
    ),
)
Asked = tuple[Plan, tuple[tuple[int, int], ...], tuple[int, ...], TimeConstraint]


def add(registry: Registry, number: int, query: Asked) -> None:
    plan, joins, singles, constraint = query
    variables = [0] * len(plan.graph.nodes)
    registry.add(
        number,
        plan,
        joins=joins,
        singles=singles,
        variables=variables,
        constraint=constraint,
        since=0,
    )


def written(processor: JoinProcessor) -> dict[str, Any]:
    """All that the relations say of the queries, whatever the numbers of rows and joins."""
    processor.prepare()
    connection, registry = processor.connection, processor.registry
    joins = {
        j: bounds
        for j, *bounds in connection.execute("SELECT j, ls, rs, lo, wl FROM value_join").fetchall()
    }
    tables = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE starts_with(table_name, 'rows_')"
    ).fetchall()
    rows: dict[int, tuple[Any, ...]] = {}
    for (table,) in tables:
        plan = registry.plans[table.removeprefix("rows_")]
        columns = ", ".join(("r", *plan.columns))
        for r, *values in connection.execute(f'SELECT {columns} FROM "{table}"').fetchall():
            ends = [tuple(joins[j]) for j in values[: len(plan.joins)]]
            rows[r] = (plan.id, *ends, *values[len(plan.joins) :])
    queries = connection.execute("SELECT q, r, lo, wl, since, sole_disjunct FROM query").fetchall()
    return {
        "queries": {q: (rows[r], *values) for q, r, *values in queries},
        "rows": Counter(rows.values()),
        "value joins": sorted(map(tuple, joins.values())),
        "counts": registry.counts(),
        "bounds": registry.value_joins.bounds,
        "depth": registry.depth,
        "without joins": {*registry.filters, *registry.crossing},
        "reaches": registry.reaches(),
    }


@drawn(25)
@given(
    st.dictionaries(st.integers(0, 5), asked, min_size=1),
    st.lists(st.one_of(st.integers(0, 5), st.none()), max_size=15),
)
def test_what_is_left_is_what_never_went(some: dict[int, Asked], toggled: list[int | None]) -> None:
    """Queries come and go, in whatever order they are written; None writes."""
    with duckdb.connect() as one, duckdb.connect() as other:
        processor, fresh = (
            JoinProcessor(lambda: one, float, likeness),
            JoinProcessor(lambda: other, float, likeness),
        )
        there: set[int] = set()
        for number in toggled:
            if number is None:
                processor.prepare()
            elif number in there:
                processor.registry.remove(number)
                there.remove(number)
            elif number in some:
                add(processor.registry, number, some[number])
                there.add(number)
        for number in there:
            add(fresh.registry, number, some[number])
        assert written(processor) == written(fresh)
        if not there:
            empty = dict.fromkeys(("queries", "rows", "value_joins", "plans", "templates"), 0)
            assert processor.registry.counts() == empty


def test_queries_that_say_the_same_have_one_row() -> None:
    with duckdb.connect() as connection:
        registry = JoinProcessor(lambda: connection, float, likeness).registry
        for number, window in enumerate((10, 20, 10)):
            add(registry, number, (PAIR, ((1, 2),), (), TimeConstraint(True, window)))
        add(registry, 3, (PAIR, ((1, 3),), (), TimeConstraint(True, 10)))
        assert (
            registry.row_of(0) is registry.row_of(1) is registry.row_of(2) is not registry.row_of(3)
        )
        assert registry.counts()["rows"] == 2
        registry.remove(0)
        assert registry.row_of(1) is registry.row_of(2)


def test_reach_is_the_widest_window_of_a_left_side() -> None:
    with duckdb.connect() as connection:
        registry = JoinProcessor(lambda: connection, float, likeness).registry
        assert registry.reach(1) == 0
        add(registry, 0, (PAIR, ((1, 2),), (), TimeConstraint(True, 10)))
        assert (registry.reach(1), registry.reach(2)) == (10, 0)
        add(registry, 1, (PAIR, ((1, 2),), (), TimeConstraint(False, 5)))
        assert (registry.reach(1), registry.reach(2)) == (10, 5)
        add(registry, 2, (ORDER, (), (2, 3), TimeConstraint(True, None)))
        assert (registry.reach(2), registry.reach(3)) == (FOREVER, 0)
        add(registry, 3, (FILTER, (), (4,), TimeConstraint(False, None)))
        assert registry.reach(4) == 0
        version = registry.version
        registry.remove(2)
        registry.remove(0)
        assert (registry.reach(1), registry.reach(2)) == (5, 5)
        assert registry.version > version


def test_a_query_that_comes_and_goes_is_never_written() -> None:
    with duckdb.connect() as connection:
        processor = JoinProcessor(lambda: connection, float, likeness)
        add(processor.registry, 0, (TWO, ((1, 2), (3, 4)), (), TimeConstraint(True, 10)))
        processor.registry.remove(0)
        processor.prepare()
        tables = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        assert not any(name.startswith("rows_") for (name,) in tables)


def test_thousands_go_as_they_came() -> None:
    with duckdb.connect() as connection:
        processor = JoinProcessor(lambda: connection, float, likeness)
        registry = processor.registry
        for number in range(3_000):
            window = TimeConstraint(True, 3_000 - number)
            add(registry, number, (PAIR, ((number, number + 1),), (), window))
        processor.prepare()
        assert registry.value_joins.bounds == (0, 3_000)
        for number in range(2_999):
            registry.remove(number)
        assert registry.value_joins.bounds == (0, 1)
        processor.prepare()
        left = "SELECT (SELECT count(*) FROM query), (SELECT count(*) FROM value_join)"
        assert connection.execute(left).fetchall() == [(1, 1)]
        assert connection.execute(f'SELECT count(*) FROM "rows_{PAIR.id}"').fetchall() == [(1,)]
