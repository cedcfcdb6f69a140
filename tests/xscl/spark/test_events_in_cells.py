"""Queries of events in cells: whatever the cells, the matches are those of one engine."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

import pytest

import xscl
from tests.conformance.runner import Case, read_cases
from tests.drawn import seeded, times, turn
from tests.shared import SHARED, needs
from tests.xscl.spark.cell_runs import Event, as_a_batch, as_a_stream, parts_of_batch
from xscl.spark.joins.cells import Keys, Subsets, TimeSlices
from xscl.spark.joins.needs import needs_of
from xscl.spark.joins.plan import Queries

CASES = SHARED / "conformance"
FILES = (
    *("pattern-sase", "pattern-cel", "pattern-afa", "pattern-eql"),
    *("core", "full", "json", "wide"),
)
FAR = 400_000_000
"""Seconds after the last document: nothing waits any more."""

Said = tuple[object, ...]


def by_one_engine(texts: Sequence[str], events: Sequence[Event]) -> Counter[Said]:
    with xscl.Engine() as engine:
        for text in texts:
            engine.load(text)
        standing: dict[str, xscl.Match] = {}
        for match in engine.run(events):
            if match.retracts:
                del standing[match.id]
            else:
                standing[match.id] = match
    return Counter(
        (
            *(one.id, one.query, one.start, one.time, one.documents, one.variables, one.nodes),
            json.dumps(one.result, sort_keys=True) if one.json else one.markup,
        )
        for one in standing.values()
    )


def in_rows(rows: Sequence[dict[str, Any]]) -> Counter[Said]:
    """The matches of rows, none of which is of anything skipped."""
    assert all(row["skipped"] is None for row in rows), rows
    return Counter(
        (
            *(row["id"], row["query"], _seconds(row["start"]), _seconds(row["time"])),
            *(tuple(row[name] or ()) for name in ("documents", "variables", "nodes")),
            _result(row["result"]),
        )
        for row in rows
    )


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()


def _result(text: str) -> str:
    return text if text.startswith("<") else json.dumps(json.loads(text), sort_keys=True)


def streamed(
    texts: Sequence[str], events: Sequence[Event], tasks: int, dice: random.Random, **more: Any
) -> list[dict[str, Any]]:
    """A stream of some batches of shuffled documents, at whose end time has gone on."""
    shuffled = [*events]
    dice.shuffle(shuffled)
    size = 1 + len(shuffled) // 3
    batches = [shuffled[first : first + size] for first in range(0, len(shuffled), size)]
    end = max(event["timestamp"] for event in events)
    lateness = round((end - min(event["timestamp"] for event in events) + 1) * 1_000_000)
    clock = {"stream": "no query's", "id": "end", "timestamp": end + FAR, "json": {}}
    return as_a_stream(texts, [*batches, [clock]], tasks, lateness, dice, **more)


def texts_of(case: Case) -> list[str]:
    if "automata" in case:
        return [f"AUTOMATON {json.dumps(one)}" for one in case["automata"]]
    return [case["queries"]]


def fits(case: Case) -> bool:
    """Whether its events are documents only, which nothing takes back."""
    return not case.get("revisable") and all("xml" in e or "json" in e for e in case["events"])


@needs("conformance")
@pytest.mark.drawn
@pytest.mark.parametrize("name", FILES)
def test_shared_cases(name: str) -> None:
    dice = seeded(name, times(1))
    some = [case for case in read_cases(CASES / f"{name}.jsonl") if fits(case)]
    many = times(8 if name.startswith("pattern") else 4)
    for case in dice.sample(some, min(len(some), many)):
        texts, events = texts_of(case), case["events"]
        expected = by_one_engine(texts, events)
        tasks = dice.choice([1, 2, 3])
        said = case["case"], tasks
        assert in_rows(as_a_batch(texts, events, tasks)) == expected, said
        assert in_rows(streamed(texts, events, tasks, dice)) == expected, said


AUTOMATON = json.dumps(
    {
        "name": "silent",
        "events": {"e": "S", "t": "T"},
        "by": ["k"],
        "start": "q0",
        "final": ["q2"],
        "within": 6,
        "register": {"n": 0},
        "arcs": [
            {"from": "q0", "to": "q1", "event": "e", "set": "n = e.v"},
            {"from": "q1", "to": "q1", "event": "e", "kind": "ignore"},
            {"from": "q1", "to": "q2", "kind": "end"},
        ],
    }
)

QUERIES = f"""
-- name: rise
PATTERN SEQ(S a, S b) WHERE skip_till_next_match {{ [k] AND b.v > a.v }} WITHIN 7;
-- name: unanswered
EVENT SEQ(S a, !(T b)) WHERE [k] AND a.v > 3 WITHIN 5;
-- name: unannounced
EVENT SEQ(!(T b), S a) WHERE [k] AND a.v = 2 WITHIN 5;
-- name: alone
EVENT SEQ(!(T b), S a, !(T c)) WHERE [k] AND a.v > 2 WITHIN 4;
-- name: next
PATTERN SEQ(S a, T+ b[]) WHERE strict_contiguity {{ b[i].v < 4 }} WITHIN 4;
-- name: ever
EVENT SEQ(T a, T b) WHERE [k] AND a.v = 1 AND b.v = 5;
-- name: apart
EVENT SEQ(S a, T b) WHERE [k] WITHIN 9 OUTPUT NON OVERLAPPING;
-- name: apart of all
EVENT SEQ(S a, T b) WHERE a.v = b.v WITHIN 9 OUTPUT NON OVERLAPPING;
-- name: doubled
SELECT * FROM S NEXT{{$2.k = $1.k AND $2.v > $1.v}} S;
-- name: runs
SELECT * FROM S FOLD{{$2.k = $.k AND DUR <= 20 s, $2.v >= $.v, $.n + 1 AS n}} S;
-- name: mean
SELECT k, AVG(v) AS mean FROM WINDOW{{8 s}}(FILTER{{v > 1}}(S)) GROUP BY k;
-- name: total
SELECT k, SUM(v) AS total FROM WINDOW{{INF}}(T) GROUP BY k;
-- name: high
SELECT k, v FROM FILTER{{v > 4}}(S) PUBLISH High;
-- name: twice
EVENT SEQ(High a, High b) WHERE [k] WITHIN 30;
-- name: alternating
SELECT * FROM (S A; T B; S C) WHERE FILTER(A.k = B.k), FILTER(B.k = C.k), (A, C) OCCURS WITHIN 12 s;
-- name: linked
(SELECT a.k AS k FROM EVENT SEQ(S a, T b) WHERE [k] WITHIN 3)//k->k JOIN {{k = l, 4 s}} S//k->l;
-- name: plain
S//k->k FOLLOWED BY {{k = l, 2 s}} T//k->l;
AUTOMATON {AUTOMATON};
"""


def drawn_events(dice: random.Random, number: int) -> list[Event]:
    events: list[Event] = []
    for place in range(number):
        k: object = dice.choice(["a", "b", "c", 1, 1.0, "1", "01", None, [1, 2]])
        value = {"k": k, "v": dice.randrange(6)}
        if dice.random() < 0.1:
            del value["k"]
        time = dice.choice([place // 2, place // 2 + 0.5, dice.randrange(number)])
        event = {"stream": dice.choice("ST"), "id": f"d{place}", "timestamp": time}
        if dice.random() < 0.3 and not isinstance(k, list):
            body = f"<k>{'' if k is None else k}</k>" if "k" in value else ""
            events.append({**event, "xml": f"<e>{body}<v>{value['v']}</v></e>"})
        else:
            events.append({**event, "json": value})
    return events


@pytest.mark.drawn
@pytest.mark.parametrize("tasks", turn([1, 2, 4]))
def test_drawn_events(tasks: int) -> None:
    dice = seeded(str(tasks), times(1))
    for _ in range(times(3)):
        events = drawn_events(dice, 120)
        expected = by_one_engine([QUERIES], events)
        assert {said[1] for said in expected} >= {"rise", "unanswered", "mean", "silent", "linked"}
        assert in_rows(as_a_batch([QUERIES], events, tasks)) == expected
        assert in_rows(streamed([QUERIES], events, tasks, dice)) == expected


def test_all_kinds_of_cells_were_there() -> None:
    events = drawn_events(random.Random(1), 120)
    times_of = [round(event["timestamp"] * 1_000_000) for event in events]
    parts = parts_of_batch(Queries.of([QUERIES]), times_of, 3)
    kinds = {type(part.cells) for part in parts if part.cells.count > 1}
    assert kinds == {Keys, TimeSlices}
    (alone,) = (part for part in parts if part.cells == Subsets(1, 1))
    assert alone.group.queries == {"apart of all"}


@pytest.mark.parametrize("tasks", [1, 2, 3])
@pytest.mark.parametrize(
    "text",
    [
        "-- name: dear\nS//item[p > 5] PUBLISH P;\n-- name: again\nP//item[p > 6]",
        "(SELECT p FROM S//item[./p->p])/result[p > 6]",
    ],
)
def test_filters_over_what_others_publish(text: str, tasks: int) -> None:
    """Nothing is joined, and yet what a task finds is not of one document."""
    events: list[Event] = [
        {"stream": "S", "id": f"d{n}", "timestamp": n, "xml": f"<item><p>{n}</p></item>"}
        for n in range(20)
    ]
    expected = by_one_engine([text], events)
    assert expected.total() > 10
    assert in_rows(as_a_batch([text], events, tasks)) == expected
    assert in_rows(streamed([text], events, tasks, random.Random(4))) == expected


def test_what_must_not_happen_before_or_after_is_looked_for_on_both_sides() -> None:
    """Twice as far apart as a match may be long."""
    events: list[Event] = [
        {"stream": stream, "id": f"{stream}{time}", "timestamp": time, "json": {}}
        for stream, time in [("B", 100), ("A", 107), *(("Z", 110 + n / 10) for n in range(60))]
    ]
    events.append({"stream": "Z", "id": "end", "timestamp": 140, "json": {}})
    text = "EVENT SEQ(!(B b), A a, !(D d)) WITHIN 10 s"
    assert not by_one_engine([text], events)
    assert not in_rows(as_a_batch([text], events, 2))
    some = [events[:1], events[1:2], [{**events[-1], "id": "c", "timestamp": 112}], events[-1:]]
    for seed in range(8):
        assert not in_rows(as_a_stream([text], some, 1, 0, random.Random(seed)))


@pytest.mark.drawn
@pytest.mark.parametrize("tasks", turn([1, 3]))
def test_groups_have_all_matches_of_the_same_documents(tasks: int) -> None:
    dice = random.Random(tasks)
    events = drawn_events(dice, 100)
    expected: Counter[object] = Counter()
    names: dict[object, set[str]] = {}
    for said, number in by_one_engine([QUERIES], events).items():
        _, query, _, time, documents, *_ = said
        expected[documents, time] += number
        names.setdefault((documents, time), set()).add(str(query))
    for rows in (
        as_a_batch([QUERIES], events, tasks, grouped=True),
        streamed([QUERIES], events, tasks, dice, grouped=True),
    ):
        channels = {row["channel"]: set(row["queries"]) for row in rows if row["queries"]}
        found: Counter[object] = Counter()
        queries: dict[object, set[str]] = {}
        for row in rows:
            key = tuple(row["documents"]), _seconds(row["time"])
            found[key] += row["matches"]
            queries.setdefault(key, set()).update(channels[row["channel"]])
        assert found == expected
        assert queries == names


def test_middle_is_strong_in_a_batch_and_refused_in_a_stream() -> None:
    events = drawn_events(random.Random(3), 100)
    query = "-- name: q\nPATTERN SEQ(S a, S b) WHERE skip_till_next_match { [k] } WITHIN 7"
    expected = by_one_engine([query], events)
    middle = [f"{query} CONSISTENCY middle"]
    assert in_rows(as_a_batch(middle, events, 2)) == expected
    with pytest.raises(xscl.XSCLError, match="found CONSISTENCY middle over a stream"):
        streamed(middle, events, 2, random.Random(3))


def test_a_query_that_needs_too_much_is_reported_and_the_others_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("xscl.spark.joins.plan.Engine", partial(xscl.Engine, most_matches=10_000))
    events: list[Event] = [
        {"stream": "S", "id": str(n), "timestamp": n, "json": {"v": n}} for n in range(40)
    ]
    greedy = (
        "-- name: all\nPATTERN S+ a[] WHERE skip_till_any_match { a[i].v >= 0 };\n"
        "-- name: one\nEVENT SEQ(S a, S b) WHERE b.v = 2 * a.v"
    )
    for rows in (as_a_batch([greedy], events, 1), streamed([greedy], events, 1, random.Random(2))):
        # Each cell that it needs too much in says so.
        (stop,) = {row["skipped"] for row in rows if row["skipped"] is not None}
        assert stop.startswith("query 'all' was stopped: ")
        assert sum(row["query"] == "one" for row in rows) == 19


@pytest.mark.parametrize("tasks", [1, 3])
def test_what_is_late_or_a_duplicate_is_counted_once(tasks: int) -> None:
    """Whichever of the groups of queries read its stream: one, another, or two."""
    texts = [
        "S//a->x JOIN {x = y, 5 s} S//b->y",
        "EVENT SEQ(T a, T b) WITHIN 5 s",
        "EVENT SEQ(S a, T b) WHERE [k] WITHIN 3 s",
        "R//a->x JOIN {x = y} R//b->y",
    ]

    def documents(*times: int) -> list[Event]:
        xml = "<i><a>1</a><b>1</b><k>1</k></i>"
        return [
            {"stream": stream, "id": f"{stream}{time}", "timestamp": time, "xml": xml}
            for stream in "SRT"
            for time in times
        ]

    batches = [documents(20, 21), documents(20, 1, 22), documents(2)]
    rows = as_a_stream(texts, batches, tasks, 10 * SECOND, random.Random(3))
    counts = Counter[str]()
    for row in rows:
        if row["skipped"] is not None:
            counts[row["skipped"]] += row["count"]
    assert counts == {"duplicate": 3, "late": 6}


def test_what_is_malformed_in_a_stream_of_events_is_reported() -> None:
    events: list[Event] = [
        {"stream": "S", "id": "a", "timestamp": 1, "xml": "<a"},
        {"stream": "S", "id": "b", "timestamp": 2, "xml": "<a><k>1</k></a>"},
    ]
    rows = as_a_batch(["EVENT S a WHERE a.k = 1"], events, 2)
    assert [row["documents"] for row in rows if row["skipped"] is None] == [["b"]]
    assert [row["documents"] for row in rows if row["skipped"] is not None] == [["a"]]


SECOND = 1_000_000


@pytest.mark.parametrize(
    ("query", "reach", "key"),
    [
        ("EVENT SEQ(S a, S b) WITHIN 5", 5, None),
        ("EVENT SEQ(S a, S b) WHERE [k] WITHIN 5", 5, "k"),
        ("EVENT SEQ(S a, S b) WHERE [k, l]", None, "k"),
        ("EVENT SEQ(S a, S b) WHERE [k = 3]", None, None),
        ("EVENT SEQ(S//item a, S b) WHERE [k]", None, None),
        ("EVENT SEQ(S a, ANY(S, T) b) WHERE [k]", None, None),
        ("EVENT SEQ(S a, S b) WHERE [k] WITHIN 5 OUTPUT NON OVERLAPPING", None, "k"),
        ("PATTERN SEQ(S a, S b) WHERE strict_contiguity { [k] }", None, None),
        ("PATTERN SEQ(S a, S b) WHERE partition_contiguity { [k] }", None, "k"),
        ("SELECT * FROM FILTER{v > 1}(S)", 0, None),
        ("SELECT * FROM S NEXT{$2.k = $1.k} S", None, "k"),
        ("SELECT v FROM S NEXT{$2.k = $1.k} S", None, None),
        ("SELECT * FROM S NEXT{$2.k = $1.k AND DUR < 9 s} S", 9, "k"),
        ("SELECT * FROM S NEXT{$2.k = $1.l} S", None, None),
        ("SELECT * FROM S NEXT{$2.k = $1.k} S NEXT{$2.l = $1.l} S", None, None),
        ("SELECT * FROM FILTER{DUR <= 9 s}(S NEXT{$2.k = $1.k} S)", 9, "k"),
        ("SELECT * FROM S FOLD{$2.k = $.k, $2.v > $.v} S", None, "k"),
        ("SELECT * FROM S FOLD{$2.v > $.v, $2.k = $.k} S", None, None),
        ("SELECT k, COUNT(*) AS n FROM WINDOW{8 s}(S) GROUP BY k", 8, "k"),
        ("SELECT COUNT(*) AS n FROM WINDOW{8 s}(S) GROUP BY k", 8, None),
        ("SELECT COUNT(*) AS n FROM WINDOW{INF}(S)", None, None),
        (
            "SELECT * FROM (S A; S B; S C)"
            " WHERE (A, B) OCCURS WITHIN 2, (B, C) OCCURS WITHIN 3",
            5,
            None,
        ),
        ("SELECT * FROM (S A; S B; S C) WHERE (A, B) OCCURS WITHIN 2", None, None),
        (f"AUTOMATON {AUTOMATON}", 6, "k"),
    ],
)  # fmt: skip
def test_what_a_match_needs(query: str, reach: int | None, key: str | None) -> None:
    with xscl.Engine() as engine:
        found = needs_of([one.query for one in engine.load(query)])
    assert found.timed
    assert found.reach == (None if reach is None else reach * SECOND)
    assert (found.key and "/".join(found.key.steps)) == key
