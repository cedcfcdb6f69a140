"""The choice among several events, attributes of one name, and blocks that select one event depends
on the definition only: not on batches, order or how matches are read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import xscl
from tests.drawn import drawn
from tests.xscl.engine.three_ways import in_three_ways


def found(
    query: str, documents: Sequence[dict[str, Any]], size: int = 100, **options: Any
) -> list[xscl.Match]:
    """The matches of a query, which agree in groups and as counts."""

    def engine() -> xscl.Engine:
        made = xscl.Engine(**options)
        made.subscribe(query, name="q")
        return made

    starts = range(0, len(documents), size)
    return in_three_ways(engine, [documents[start : start + size] for start in starts])


def document(number: int, stream: str, time: float, **members: Any) -> dict[str, Any]:
    return {"stream": stream, "id": f"d{number}", "timestamp": time, "json": members}


# Of values that are equal as text: numbers, truths, null, strings, arrays, objects.

EQUAL = (
    [2, "2", ["2"], [2], [[2]], {"m": 2}, {"n": 2}],
    [True, "true", [True], {"n": "true"}],
    [None, "", [[]], [None], {}],
)
"""In the order in which one is picked before another."""


@pytest.mark.parametrize("values", EQUAL)
def test_one_value_of_those_that_are_equal_as_text_comes_first(values: list[Any]) -> None:
    query = "SELECT ARGMAX(1, P) AS a, ARGMIN(1, P) AS b FROM WINDOW{0 s}(S)"
    with xscl.Engine() as engine:
        engine.subscribe(query, name="q")
        envelopes, expected = list[dict[str, Any]](), list[Any]()
        for time, pair in enumerate(
            p for two in combinations(values, 2) for p in permutations(two)
        ):
            # An array is read as its first entry: one more around it, to have it itself.
            wrapped = [[one] if isinstance(one, list) else one for one in pair]
            envelopes += [document(2 * time + i, "S", time, P=p) for i, p in enumerate(wrapped)]
            expected.append(min(pair, key=values.index))
        for batch in (envelopes[:1], envelopes[1:]):
            assert not engine.publish_many(batch)
        results = [match.result for match in engine.flush()]
    assert results == [{"a": one, "b": one} for one in expected]


@pytest.mark.drawn
@drawn(20)
@given(
    st.lists(st.sampled_from([one for some in EQUAL for one in some]), min_size=2, max_size=5),
    st.sampled_from(["0 s", "1 s", "INF"]),
    st.integers(1, 3),
    st.randoms(use_true_random=False),
)
def test_what_is_picked_does_not_depend_on_the_order(
    values: list[Any], window: str, size: int, random: Any
) -> None:
    query = f"""SELECT ARGMAX(x, P) AS a, ARGMIN(x, P) AS b, MIN(P) AS c, MAX(P) AS d
        FROM WINDOW{{{window}}}(S)"""
    documents = [document(i, "S", i // 2, P=[one], x=i % 2) for i, one in enumerate(values)]
    expected = results(found(query, documents))
    random.shuffle(documents)
    assert results(found(query, documents, size)) == expected


def results(matches: Iterable[xscl.Match]) -> list[tuple[float, str]]:
    return sorted((one.time, str(one.to_dict()["result"])) for one in matches)


# FOLD over open streams: what keeps its name, and what gets it.

LEFT = "(SELECT k, P AS x FROM S) NEXT{$2.k = $1.k} S"
EVENTS = [
    document(0, "S", 0, k="b", P=4),
    document(1, "S", 3, k="b", P=1),
    document(2, "T", 6, k="b", P=1),
]


@pytest.mark.parametrize("without", [(), {"s_cse", "s_µ"}])
@pytest.mark.parametrize(
    "source",
    [
        f"{LEFT} FOLD{{$2.k = $.k_1, $2.k = $.k}} T",
        f"{LEFT} FOLD{{$2.k = $.k, }} T",
        f"{LEFT} FOLD{{}} T",
        f"{LEFT} FOLD{{}} (SELECT k FROM T)",
        f"{LEFT} FOLD{{}} (SELECT k, P FROM T)",
        f"FILTER{{x_1 > 0}}({LEFT} FOLD{{$2.k = $.k, }} T)",
        f"FILTER{{x_1 > 0}}({LEFT}) FOLD{{$2.k = $.k, }} T",
        f"{LEFT} FOLD{{, , $.x_1 + 1 AS n}} T",
    ],
)
def test_fold_keeps_the_names_that_only_its_left_lists(source: str, without: set[str]) -> None:
    (match,) = found(f"SELECT x_1 AS o, k FROM {source}", EVENTS, without=without)
    assert match.result == {"o": 4, "k": "b"}


@pytest.mark.parametrize("right", ["T", "(SELECT k, x FROM T)"])
@pytest.mark.parametrize(
    "form", ["SELECT x_1 AS o FROM {}", "{}", "SELECT x_1 AS o FROM FILTER{{x_1 < 9}}({})"]
)
def test_a_name_that_is_kept_precedes_one_that_is_given(right: str, form: str) -> None:
    """The left event shows an `x`, too, which becomes `x_1`: who has the name already keeps it."""
    events = [document(0, "S", 0, k="b", x=9, P=4), document(1, "T", 3, k="b", x=1)]
    left = "(SELECT *, P AS x_1 FROM S)"
    (match,) = found(form.format(f"{left} FOLD{{}} {right}"), events)
    shown = match.to_dict()["result"]
    assert shown.get("o", shown.get("x_1")) == 4


# Blocks of one component that select one event.

ANY = "ANY(B//item[f = 'x'], B//item)"
ITEMS = [
    {"stream": "B", "id": f"d{i}", "timestamp": time, "json": {"item": {"f": "x", "v": i}}}
    for i, time in enumerate((2, 4, 3, 1, 3))
]


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize(
    "query",
    [
        f"PATTERN SEQ(B//item a, {ANY}+ b[]) WHERE skip_till_any_match {{ }}",
        f"PATTERN SEQ({ANY}+ b[]) WHERE skip_till_any_match {{ }}",
        f"PATTERN SEQ({ANY}+ a[], {ANY}+ b[]) WHERE skip_till_any_match {{ }} WITHIN 2",
        f"PATTERN SEQ({ANY} a, B//item b) WHERE skip_till_any_match {{ }}",
        f"EVENT SEQ({ANY} a, {ANY} b)",
    ],
)
def test_an_event_that_two_blocks_select_is_taken_once(query: str, size: int) -> None:
    in_order = found(query, sorted(ITEMS, key=lambda one: one["timestamp"]))
    assert {one.id for one in found(query, ITEMS, size)} == {one.id for one in in_order}


# A condition over all events of a Kleene plus.


@pytest.mark.parametrize("without", [(), {"peeking"}, {"merging"}, {"shared buffer"}])
def test_runs_that_a_condition_over_all_events_distinguishes_are_not_merged(
    without: set[str],
) -> None:
    query = """PATTERN SEQ(ANY(C, D)+ a[], ANY(D, C)+)
        WHERE skip_till_any_match { [k] AND (a[i].v = 3 OR a[i].p <= a[a.LEN].p) } WITHIN 6"""
    events = [
        document(0, "C", 0, k="u", v=2, p=3),
        document(4, "D", 3, k="u", p="odd", v=1.5),
        document(6, "C", 4, p=5),
        document(7, "C", 5, k="u", v=3, p=4),
    ]
    for size in (1, 4):
        assert len(found(query, events, size, without=without)) == 16
