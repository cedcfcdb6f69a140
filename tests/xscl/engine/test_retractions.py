"""Documents that are taken back are as if they had never come, whatever reads them, in whatever
order all comes, and over a restart."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.drawn import seeded, times
from tests.xscl.engine.three_ways import in_three_ways
from xscl import DocumentError, Engine, Match, MatchGroup, Strategies, XSCLError

QUERIES = """
-- name: filter
S/i[k = 'x'];
-- name: join
S/i->a[./k->k] FOLLOWED BY {k = l, 3 s} T/i[./k->l];
-- name: own
S/i->a[./k->k] JOIN {k = l, 3 s} S/i->b[./k->l];
-- name: chain
S/i->a[./k->k] FOLLOWED BY {k = l, 3 s} T/i[./k->l][./v->v] FOLLOWED BY {v = w, 3 s} T/i[./v->w];
-- name: either
S/i[v = 1] UNION T/i[v = 1];
-- name: pairs
SELECT k, v FROM S/i->a[./k->k] FOLLOWED BY {k = l, 2 s} T/i[./k->l][./v->v] PUBLISH P;
-- name: read
P/result[./k->k] FOLLOWED BY {k = l, 4 s} S/i[./k->l];
-- name: inner
(SELECT k FROM S/i->a[./k->k] FOLLOWED BY {k = l, 2 s} T/i[./k->l])/result[./k->m]
  FOLLOWED BY {m = n, 4 s} U/i[./k->n];
-- name: quiet
EVENT SEQ(S/i a, !T/i b, U/i c) WHERE [k] WITHIN 4 s;
-- name: plain
EVENT SEQ(S/i a, T/i b) WHERE [k] WITHIN 4 s;
-- name: absent
EVENT SEQ(S/i a, !T/i b) WHERE [k] WITHIN 2 s;
-- name: rising
PATTERN SEQ(S/i+ a[], T/i b) WHERE skip_till_next_match {[k] AND a[i].v >= a[i-1].v} WITHIN 4 s;
-- name: over
EVENT SEQ(P/result a, U/i b) WITHIN 3 s;
-- name: some
SELECT k, v FROM FILTER{v > 1}(S/i) PUBLISH Q;
-- name: next
FILTER{v > 0}(Q) NEXT{$1.k = $2.l} (SELECT k AS l, v AS w FROM T/i);
-- name: machine
AUTOMATON {"events": {"s": "S/i", "t": "T/i"}, "final": ["q2"], "register": {"n": 0},
  "within": "4 s", "arcs": [
    {"from": "q0", "to": "q1", "event": "s", "set": "n = s.v"},
    {"from": "q1", "to": "q1", "kind": "ignore", "event": "s", "when": "s.v > 1"},
    {"from": "q1", "to": "q2", "event": "t", "when": "t.v >= reg.n", "set": "n = n + t.v"}]};
"""

Op = dict[str, Any]


def body(draw: random.Random) -> str:
    k, v = draw.choice("xy"), draw.choice([1, 2, 3])
    return f"<i><k>{k}</k><v>{v}</v></i>"


def life(draw: random.Random) -> tuple[list[Op], list[Op]]:
    """Lines in order of arrival, and the documents that stand at their end."""
    lines: list[Op] = []
    there: dict[tuple[str, str], Op] = {}
    mark, at = -1, 0
    for _ in range(draw.randrange(4, 22)):
        kind = draw.random()
        open_ = [key for key, one in there.items() if one["timestamp"] > mark]
        if kind < 0.3 and open_:
            stream, id = draw.choice(open_)
            lines.append({"retract": id, "stream": stream})
            del there[stream, id]
            if draw.random() < 0.5:
                continue
        elif kind < 0.4:
            mark = max(mark, at - draw.randrange(6))
            lines.append({"advance": mark})
            continue
        else:
            stream, id = draw.choice("STU"), f"{draw.randrange(9)}"
        at += draw.choice([0, 0, 1, 1, 2])
        time = max(mark, at - draw.choice([0, 0, 1, 4]), 0)
        if (stream, id) in there:
            continue
        one = {"stream": stream, "id": id, "timestamp": time, "xml": body(draw)}
        lines.append(one)
        there[stream, id] = one
    return lines, sorted(there.values(), key=lambda one: one["timestamp"])


def said(matches: Iterable[Match]) -> Counter[tuple[Any, ...]]:
    return Counter((one.query, one.documents, one.time, str(one.result)) for one in matches)


def engine(**options: Any) -> Engine:
    made = Engine(**options)
    made.load(QUERIES)
    return made


@pytest.mark.drawn
@pytest.mark.parametrize("number", range(times(24)))
def test_as_if_they_had_never_come(number: int, tmp_path: Path) -> None:
    draw = seeded("retractions", number)
    lines, standing = life(draw)
    with engine() as plain:
        expected = said([*plain.publish_many(standing), *plain.flush()])
    starts = sorted(draw.sample(range(len(lines)), draw.randrange(min(len(lines), 5))))
    parts = [lines[a:b] for a, b in zip([0, *starts], [*starts, len(lines)], strict=True)]
    ways = Strategies(in_process=draw.choice([0, 1, 2, 64]))
    assert said(in_three_ways(lambda: engine(revisable=True, strategies=ways), parts)) == expected
    # Over restarts, and never before the watermark.
    found: list[Match] = []
    path = tmp_path / "state"
    with engine(revisable={"S", "T", "U"}, state=path):
        pass
    for part in parts:
        with Engine(path) as again:
            for line in part:
                some = again.publish_many([line])
                mark = again.watermark
                assert all(mark is not None and one.time <= mark for one in some)
                found += some
    with Engine(path) as again:
        found += again.flush()
        assert again.skipped.total == 0
    assert said(found) == expected


@pytest.mark.drawn
@pytest.mark.parametrize("number", range(times(12)))
def test_a_run_in_groups_takes_back_what_a_run_does(number: int) -> None:
    draw = seeded("retractions in groups", number)
    lines, _ = life(draw)
    size = draw.choice([1, 1, 2, 5, 100])
    histories: list[dict[tuple[str, str], list[bool]]] = []
    for grouped in (False, True):
        history: dict[tuple[str, str], list[bool]] = {}
        with engine(revisable=True, consistency="middle") as one:
            way: Any = one.run(lines, batch=size, grouped=grouped)
            for each in way:
                for match in each.matches() if isinstance(each, MatchGroup) else [each]:
                    history.setdefault((match.query, match.id), []).append(match.retracts)
        # Each match comes, is taken back, and comes again, one after the other.
        assert all(one == [n % 2 == 1 for n in range(len(one))] for one in history.values())
        histories.append(history)
    alone, together = histories
    if size == 1:
        assert alone == together
    # What comes and goes in steps of one batch is in no group.
    standing = [{key for key, one in each.items() if not one[-1]} for each in histories]
    assert standing[0] == standing[1]


def test_a_run_in_groups_yields_what_it_takes_back_before_its_groups() -> None:
    lines = [
        {"stream": "S", "id": "a", "timestamp": 1, "xml": "<i/>"},
        {"stream": "S", "retract": "a"},
        {"stream": "S", "id": "b", "timestamp": 2, "xml": "<i/>"},
    ]
    with Engine(revisable=True, consistency="middle") as one:
        one.subscribe("S/i", name="q")
        found = [(each.retracts, each.documents) for each in one.run(lines, batch=1, grouped=True)]
    assert found == [(False, ("a",)), (True, ("a",)), (False, ("b",))]


def test_what_cannot_be_retracted() -> None:
    skipped: list[DocumentError] = []
    with Engine(revisable="S", on_skip=skipped.append) as one:
        one.subscribe("S/i", name="q")
        one.subscribe("T/i", name="r")
        one.publish("S", "<i/>", id="a", timestamp=1)
        assert one.publish("T", "<i/>", id="b", timestamp=1)
        with pytest.raises(DocumentError, match="not `revisable`"):
            one.retract("T", "b")
        one.publish_many([{"retract": "b", "stream": "T"}, {"retract": 7, "stream": "S"}])
        assert [str(error).partition(": ")[2] for error in skipped] == [
            "documents of this stream cannot be retracted, as it is not `revisable`",
            "`retract` must be an id",
        ]
        assert one.retract("S", "unknown") == []
        assert [match.documents for match in one.advance(1)] == [("a",)]
        assert one.retract("S", "a") == []
        assert (one.skipped.unknown, one.skipped.late) == (1, 1)
    with pytest.raises(XSCLError, match="is no name of a stream"):
        Engine(revisable={""})


@pytest.mark.parametrize("query", ["EVENT SEQ(S/i a, T/i b) WITHIN 9 s", "S/i JOIN {1 day} T/i"])
def test_a_weak_query_takes_nothing_back(query: str) -> None:
    with Engine(revisable=True, consistency="weak") as one:
        one.subscribe(query, name="q")
        assert one.publish("S", "<i/>", id="a", timestamp=1) == []
        assert one.retract("S", "a") == []
        assert one.publish("S", "<i/>", id="a", timestamp=2) == []
        found = one.publish("T", "<i/>", id="b", timestamp=3)
        assert [match.documents for match in found] == [("a", "b")] * 2
        assert one.retract("T", "b") == one.flush() == []


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("again", ["", "restart", "history"])
def test_a_weak_query_goes_on_with_a_document_whose_id_is_free(
    again: str, together: bool, tmp_path: Path
) -> None:
    """Also where the document is read again."""
    state = tmp_path / "s.duckdb"
    engine = Engine(state, revisable=True, consistency="weak")
    engine.subscribe("S/i JOIN {1 day} T/i", name="q")
    engine.subscribe("EVENT SEQ(S/i x, T/i y) WITHIN 9 s", name="p")
    lines: list[dict[str, Any]] = [
        {"stream": "S", "id": "a", "timestamp": 1, "xml": "<i/>"},
        {"stream": "S", "retract": "a"},
    ]
    for some in [lines] if together else [[one] for one in lines]:
        engine.publish_many(some)
    if again == "restart":
        engine.close()
        engine = Engine(state)
    elif again == "history":
        engine.subscribe("S//i", name="late", history=True)
    found = engine.publish("T", "<i/>", id="b", timestamp=3)
    assert {(m.query, m.documents) for m in found} == {("q", ("a", "b")), ("p", ("a", "b"))}
    engine.publish("S", "<i><new/></i>", id="a", timestamp=2)
    assert engine.skipped.duplicate == 0
    engine.publish("S", "<i/>", id="a", timestamp=2)
    assert engine.skipped.duplicate == 1
    engine.close()
