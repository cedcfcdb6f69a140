"""The four guarantees of levels of consistency, over drawn scenes of joins, patterns and automata
in one engine: late documents, retractions, advances, batches, restarts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.drawn import seeded, some_of, times
from xscl import Engine, Match, Retraction, XSCLError

QUERIES = """
-- name: filter
S/i[k = 'x'];
-- name: join
S/i->a[./k->k] FOLLOWED BY {k = l, 3 s} T/i[./k->l];
-- name: chain
S/i->a[./k->k] FOLLOWED BY {k = l, 3 s} T/i[./k->l][./v->v] FOLLOWED BY {v = w, 3 s} U/i[./v->w];
-- name: plain
EVENT SEQ(S/i a, T/i b) WHERE [k] WITHIN 4 s;
-- name: quiet
EVENT SEQ(S/i a, !T/i b, U/i c) WHERE [k] WITHIN 4 s;
-- name: before
EVENT SEQ(!S/i a, T/i b) WHERE [k] WITHIN 3 s;
-- name: absent
EVENT SEQ(S/i a, !T/i b) WHERE [k] WITHIN 2 s;
-- name: many
PATTERN SEQ(S/i+ a[], T/i b) WHERE skip_till_next_match {[k] AND a[i].v >= a[i-1].v} WITHIN 4 s;
-- name: strict
PATTERN SEQ(S/i a, T/i b) WHERE strict_contiguity {[k]};
-- name: apart
EVENT SEQ(S/i a, T/i b) WHERE [k] WITHIN 4 s OUTPUT NON OVERLAPPING;
-- name: told
SELECT a.k AS k, c.v AS v FROM EVENT SEQ(S/i a, !T/i b, U/i c) WHERE [k] WITHIN 4 s PUBLISH P;
-- name: over
EVENT SEQ(P/result a, !U/i b, T/i c) WHERE a.k = c.k WITHIN 4 s;
-- name: joined
SELECT k, v FROM P/result[./k->k] FOLLOWED BY {k = l, 4 s} S/i[./k->l][./v->v] PUBLISH Q;
-- name: beyond
EVENT SEQ(Q/result a, !T/i b) WHERE a.k = b.k WITHIN 2 s;
-- name: inner
(SELECT k FROM S/i->a[./k->k] FOLLOWED BY {k = l, 2 s} T/i[./k->l])/result[./k->m]
  FOLLOWED BY {m = n, 4 s} U/i[./k->n];
-- name: events
SELECT k, v FROM FILTER{v > 1}(P);
-- name: following
FILTER{v > 0}(P) NEXT{$1.k = $2.l} (SELECT k AS l, v AS w FROM Q);
-- name: next
FILTER{v > 1}(S/i) NEXT{$1.k = $2.k} (SELECT k, v AS w FROM T/i);
-- name: highs
SELECT k, v, w FROM FILTER{v > 0}(S/i) NEXT{$1.k = $2.k AND $2.w >= $1.v}
  (SELECT k, v AS w FROM U/i) PUBLISH R;
-- name: climbing
(SELECT k, v, 0 AS steps FROM FILTER{v < 3}(S/i))
  FOLD{$2.k = $.k, $2.v >= $.v, $.steps + 1 AS steps} (S/i);
-- name: counted
SELECT k, COUNT(*) AS n, MAX(v) AS most FROM WINDOW{3 s}(T/i) GROUP BY k PUBLISH N;
-- name: peak
(SELECT k, n FROM FILTER{n > 1}(N)) UNION (SELECT k, w AS n FROM R);
-- name: above
FILTER{w > 1}(R) NEXT{$1.k = $2.k} T/i;
-- name: machine
AUTOMATON {"events": {"s": "S/i", "t": "T/i"}, "final": ["q2"], "register": {"n": 0},
  "within": "4 s", "arcs": [
    {"from": "q0", "to": "q1", "event": "s", "set": "n = s.v"},
    {"from": "q1", "to": "q1", "kind": "ignore", "event": "s", "when": "s.v > 1"},
    {"from": "q1", "to": "q2", "kind": "end", "when": "reg.n > 1"},
    {"from": "q1", "to": "q2", "event": "t", "when": "t.v >= reg.n", "set": "n = n + t.v"}]};
-- name: pair
SELECT * FROM (S/i A; T/i B) WHERE FILTER(A.k = B.k), (A, B) OCCURS WITHIN 4 s;
-- name: rises
SELECT A.k AS k, PREV(B.v) AS v FROM (S/i A; (S/i B)+; T/i C)
  WHERE FILTER(B.k = A.k), B.v >= PREV(B.v), FILTER(C.k = A.k), (A, C) OCCURS WITHIN 6 s;
-- name: unless
SELECT A.k AS k, B.v AS v FROM (S/i A; (T/i B \\ U/i X))
  WHERE FILTER(A.k = B.k), X.k = A.k, (A, B) OCCURS WITHIN 4 s PUBLISH E;
-- name: either
SELECT * FROM (E/result A | P/result B);
-- name: again
SELECT * FROM (E/result A; (S/i B | T/i C); U/i D)
  WHERE FILTER(A.k = D.k), (A, D) OCCURS WITHIN 5 s;
"""
COMPETING = {"apart", "counted", "peak", "pair", "rises", "unless", "either", "again"}
"""What ends at one time competes, or counts together: such a match is final only after its time."""

Line = dict[str, Any]
Key = tuple[Any, ...]


def life(draw: random.Random, lateness: int | None) -> list[Line]:
    """Lines in order of arrival, none of which is late."""
    lines: list[Line] = []
    there: dict[tuple[str, str], int] = {}
    mark, at = -1, 0
    in_order = draw.random() < 0.2
    for _ in range(draw.randrange(4, 26)):
        kind = draw.random()
        late = [key for key, time in there.items() if time > mark]
        if kind < 0.2 and late and not in_order:
            stream, id = draw.choice(late)
            lines.append({"retract": id, "stream": stream})
            del there[stream, id]
            continue
        if kind < 0.3:
            mark = max(mark, at - draw.randrange(6))
            lines.append({"advance": mark})
            continue
        stream, id = draw.choice("SSTTU"), f"{draw.randrange(99)}"
        if (stream, id) in there:
            continue
        at += draw.choice([0, 1, 1, 2])
        time = at if in_order else max(mark, at - draw.choice([0, 0, 1, 4]), 0)
        k, v = draw.choice("xy"), draw.choice([1, 2, 3])
        xml = f"<i><k>{k}</k><v>{v}</v></i>"
        lines.append({"stream": stream, "id": id, "timestamp": time, "xml": xml})
        there[stream, id] = time
        if lateness is not None:
            mark = max(mark, at - lateness)
    return lines


def key(match: Match) -> Key:
    said = match.match if isinstance(match, Retraction) else match
    return said.query, said.documents, said.start, said.time, str(said.result)


def fed(
    level: str,
    lateness: int | None,
    parts: Iterable[list[Line]],
    state: Path | None = None,
    *,
    draw: random.Random | None = None,
) -> Iterator[tuple[Any, list[Match]]]:
    """The watermark before each step, and what the step reports; the order of the queries, and
    after which steps the engine is closed and opened again, are drawn."""
    options: dict[str, Any] = {"lateness": "INF" if lateness is None else lateness}
    made = Engine(state, revisable=True, consistency=level, **options)
    queries = QUERIES.split(";\n")
    if draw is not None:
        draw.shuffle(queries)
    made.load(";\n".join(queries))
    for part in parts:
        mark = made.watermark
        yield mark, made.publish_many(part)
        assert made.skipped.total == 0
        if state is not None and draw is not None and draw.random() < 0.5:
            made.close()
            made = Engine(state)
    mark = made.watermark
    yield mark, made.flush()
    made.close()


def standing(steps: Iterable[tuple[Any, list[Match]]]) -> Counter[Key]:
    """What is reported and not taken back, while it is checked that nothing is reported that
    stands, nothing taken back that does not, and nothing that the watermark has passed."""
    there = Counter[Key]()
    for mark, found in steps:
        for one in found:
            what = key(one)
            assert there[what] == int(one.retracts), (what, there[what])
            there[what] += -1 if one.retracts else 1
            if one.retracts and mark is not None:
                assert one.time > mark or (one.time == mark and one.query in COMPETING)
    return +there


def sure(some: Counter[Key]) -> set[Key]:
    """Those that do not depend on which of simultaneous events came first."""
    return {one for one in some if one[0] not in COMPETING}


@pytest.mark.drawn
@pytest.mark.parametrize("number", range(times(24)))
def test_the_guarantees(number: int, tmp_path: Path) -> None:
    draw = seeded("levels", number)
    lateness = draw.choice([None, 0, 3])
    lines = life(draw, lateness)
    one_by_one = [[line] for line in lines]
    strong = [*fed("strong", lateness, one_by_one)]
    assert all(not one.retracts for _, some in strong for one in some)
    final = standing(strong)
    middle = [*fed("middle", lateness, one_by_one)]
    assert standing(middle) == final
    starts = sorted(draw.sample(range(len(lines)), draw.randrange(min(len(lines), 6))))
    batches = [lines[a:b] for a, b in zip([0, *starts], [*starts, len(lines)], strict=True)]
    ways: list[tuple[str, list[list[Line]], Path | None]] = [
        *((level, one_by_one, None) for level in ("middle(2 s)", "middle(0 s)")),
        *((level, batches, None) for level in ("middle", "middle(2 s)", "middle(0 s)")),
        ("middle", batches, tmp_path / "state"),
    ]
    for level, parts, state in some_of(ways, 2, "ways of levels", number):
        dice = draw if parts is batches else None
        assert standing(fed(level, lateness, parts, state, draw=dice)) == final, (level, state)
    if [line["timestamp"] for line in lines if "timestamp" in line] == sorted(
        line["timestamp"] for line in lines if "timestamp" in line
    ) and not any("retract" in line for line in lines):
        taken = [one for _, some in middle for one in some if one.retracts]
        assert all(one.query in COMPETING for one in taken)
        weak = standing(fed("weak", lateness, one_by_one))
        assert sure(weak) == sure(final)
    # All of it in counts, too.
    with Engine(
        revisable=True, consistency="middle", lateness="INF" if lateness is None else lateness
    ) as made:
        made.load(QUERIES)
        counts = made.count(lines, batch=draw.randrange(1, 9))
    expected = Counter(what[0] for what in final.elements())
    assert +counts == expected


QUIET = "EVENT SEQ(S/a a, !S/b b, S/c c) WITHIN 9 s CONSISTENCY middle"


def test_callbacks_get_what_is_taken_back_where_they_ask_for_it(tmp_path: Path) -> None:
    alone, both, back = list[Match](), list[Match](), list[Match]()
    with Engine(tmp_path / "state") as engine:
        engine.subscribe(QUIET, name="alone", on_match=alone.append)
        engine.subscribe(QUIET, name="both", on_match=both.append, on_retract=back.append)
        engine.subscribe(QUIET, name="back", on_retract=back.append)
        engine.publish("S", "<a/>", id="a", timestamp=1)
        engine.publish("S", "<c/>", id="c", timestamp=3)
        assert [one.documents for one in (*alone, *both)] == [("a", "c")] * 2
        engine.publish("S", "<b/>", id="b", timestamp=2)
        assert len(alone) == len(both) == 1
        assert [(one.query, one.retracts) for one in back] == [("both", True), ("back", True)]
        assert isinstance(back[0], Retraction)
        assert back[0].match == both[0] != back[0]
    with pytest.raises(XSCLError, match="on_retract is a int"), Engine() as engine:
        engine.subscribe(QUIET, on_retract=1)  # type: ignore[arg-type]


def test_a_retraction_is_handed_over_again_that_a_callback_has_not_got(tmp_path: Path) -> None:
    """As after a crash between the transaction and the callback."""

    class Crash(BaseException):
        pass

    def crash(_: Match) -> None:
        raise Crash

    with Engine(tmp_path / "state") as engine:
        engine.subscribe(QUIET, name="q", on_match=print, on_retract=crash)
        engine.publish("S", "<a/>", id="a", timestamp=1)
        (told,) = engine.publish("S", "<c/>", id="c", timestamp=3)
        with pytest.raises(Crash):
            engine.publish("S", "<b/>", id="b", timestamp=2)
    got = list[Match]()
    with Engine(tmp_path / "state") as engine:
        engine.subscribe(QUIET, name="q", on_match=print, on_retract=got.append)
        (again,) = got
        assert isinstance(again, Retraction)
        assert again.match == told
        assert engine.flush() == []


COUNTED = "SELECT k, COUNT(*) AS n FROM WINDOW{3 s}(T) GROUP BY k PUBLISH N; FILTER{n > 1}(N)"


def test_all_that_a_step_takes_back_is_known_in_it() -> None:
    """Also of results that are behind the watermark once the step has moved it."""

    def line(id: str, time: int) -> Line:
        return {"stream": "T", "id": id, "timestamp": time, "json": {"k": "y"}}

    with Engine(lateness=3, consistency="middle") as engine:
        engine.load(COUNTED)
        engine.publish_many([line("a", 4), line("b", 5)])
        found = engine.publish_many([line("c", 4), line("d", 9)])
    told = [(one.query, one.time, one.retracts) for one in found]
    assert told[:3] == [("q1", 4, True), ("q1", 5, True), ("q2", 5, True)]
    assert ("q2", 5, False) in told


def test_what_ends_at_the_watermark_may_be_taken_back_after_a_restart(tmp_path: Path) -> None:
    query = "EVENT SEQ(S a, T b) WITHIN 4 s OUTPUT NON OVERLAPPING CONSISTENCY middle"
    with Engine(tmp_path / "state", lateness=0) as engine:
        engine.subscribe(query, name="q")
        engine.publish("S", {}, id="s", timestamp=5)
        (told,) = engine.publish("T", {}, id="t2", timestamp=6)
    with Engine(tmp_path / "state", lateness=0) as engine:
        back, again = engine.publish("T", {}, id="t1", timestamp=6)
    assert isinstance(back, Retraction)
    assert (back.match, again.documents) == (told, ("s", "t1"))


def test_a_result_that_is_taken_back_in_its_own_step_has_never_been() -> None:
    """Nor has the match that made it, for whoever reads either."""
    queries = (
        "-- name: told\n"
        "SELECT a.k AS k FROM EVENT SEQ(S a, !T b, S c) WHERE [k] WITHIN 9 s PUBLISH P;\n"
        "-- name: joined\n"
        "SELECT k FROM P/result[./k->k] JOIN {k = l} U/json[./k->l] PUBLISH Q;\n"
        "-- name: beyond\n"
        "EVENT SEQ(Q/result a, !V b) WITHIN 2 s"
    )
    k = {"k": "x"}
    with Engine(consistency="middle") as engine:
        engine.load(queries)
        engine.publish("S", k, id="a", timestamp=1)
        (told,) = engine.publish("S", k, id="c", timestamp=3)
        found = engine.publish_many(
            [
                {"stream": "U", "id": "u", "timestamp": 4, "json": k},
                {"stream": "T", "id": "b", "timestamp": 2, "json": k},
            ]
        )
        assert [(one.query, one.retracts) for one in found] == [("told", True)]
        assert engine.flush() == []
    assert told.query == "told"


ABSENT = "SELECT <r>{a.k}</r> FROM EVENT SEQ(S a, !T b, U c) WHERE [k] WITHIN 30 s"
AROUND = [
    "SELECT P.k AS k FROM ((%s)/* P; V Q) WHERE FILTER(P.k = Q.k)",
    "SELECT k, v FROM (%s) NEXT{$2.k = $1.k} V",
]


@pytest.mark.parametrize("around", AROUND)
def test_a_sub_query_goes_by_the_level_of_the_query_around_it(around: str) -> None:
    expected = {
        "strong": [],
        "middle": [("q", False), ("q", True)],
        "weak": [("q", False)],
    }
    for level, told in expected.items():
        with Engine() as engine:
            engine.subscribe(f"{around % ABSENT} CONSISTENCY {level}", name="q")
            found = list[Match]()
            for at, stream in ((1, "S"), (3, "U"), (5, "V"), (2, "T")):
                found += engine.publish(stream, {"k": "x", "v": 1}, timestamp=at)
            assert [(one.query, one.retracts) for one in found] == told
            assert engine.flush() == []
            said = [line for line in engine.explain("q").splitlines() if "consistency" in line]
            assert len(said) == 2
            assert all(line.startswith(f"  consistency {level}") for line in said)


def test_explain_says_the_level_of_an_engine(tmp_path: Path) -> None:
    queries = {
        "quiet": "EVENT SEQ(S a, !T b) WITHIN 4 s",
        "both": "EVENT SEQ(S a, T b) WITHIN 4 s",
        "next": "FILTER{v > 1}(S) NEXT{$1.k = $2.k} (SELECT k, v AS w FROM T)",
        "pair": "SELECT * FROM (S A; T B) WHERE FILTER(A.k = B.k)",
        "machine": """AUTOMATON {"events": {"s": "S"}, "final": ["b"],
            "arcs": [{"from": "a", "to": "b", "event": "s"}]}""",
    }
    with Engine(tmp_path / "state", consistency="middle(5 s)") as engine:
        for name, text in queries.items():
            engine.subscribe(text, name=name)
        engine.subscribe("EVENT SEQ(S a, !T b) WITHIN 4 s CONSISTENCY weak", name="own")
    with Engine(tmp_path / "state") as engine:
        for name in queries:
            assert (
                "\n  consistency middle(5 s): reported immediately, taken back"
                in engine.explain(name)
            )
        assert "\n  consistency weak\n" in engine.explain("own")


STANDING = """
-- name: calm
SELECT a.k AS k FROM EVENT SEQ(S a, !T b, S c) WHERE [k] WITHIN 9 s PUBLISH P;
-- name: joined
U/i[./k->l] JOIN {l = k} P/result[./k->k];
-- name: twice
U/i[./k->l] JOIN {l = k} P/result[./k->k] PUBLISH Q;
-- name: seen
EVENT SEQ(U u, P/result p) WITHIN 9 s;
-- name: alone
U/i
"""


@pytest.mark.parametrize("order", ["UT", "TU"])
@pytest.mark.parametrize("keys", ["x", "xy"])
@pytest.mark.parametrize("called", [False, True])
def test_groups_of_a_step_have_what_stands_after_it(called: bool, keys: str, order: str) -> None:
    """As matches alone do: one that came in the step and is taken back in it has never been."""
    said: dict[bool, Any] = {}
    for grouped in (False, True):
        calls: list[Any] = []
        with Engine(consistency="middle") as engine:
            if called:
                on = {"on_match": calls.append, "on_retract": calls.append}
                engine.load(STANDING, **on)  # type: ignore[arg-type]
            else:
                engine.load(STANDING)
            coming = []
            for k in keys:
                xml = f"<i><k>{k}</k></i>"
                for id, at in (("a", 1), ("c", 3)):
                    engine.publish("S", xml, id=f"{id}{k}", timestamp=at)
                coming.append({"stream": "U", "id": f"u{k}", "timestamp": 4, "xml": xml})
            late = {"stream": "T", "id": "b", "timestamp": 2, "xml": "<i><k>x</k></i>"}
            coming = [*coming, late] if order == "UT" else [late, *coming]
            calls.clear()
            if grouped:
                groups = engine.publish_many(coming, grouped=True)
                found = [match for group in groups for match in group.matches()]
                for group in groups:
                    assert sorted({m.query for m in group.matches()}) == sorted(group.queries)
                    assert group.count == len([*group.matches()])
                assert groups.total == len(found)
                back = groups.retractions
            else:
                matches = engine.publish_many(coming)
                found = [one for one in matches if not one.retracts]
                back = [one for one in matches if one.retracts]  # type: ignore[misc]
        said[grouped] = [
            sorted((one.query, one.id) for one in found),
            sorted((one.query, one.id) for one in back),
            sorted((one.query, one.id, one.retracts) for one in calls),
        ]
    assert said[True] == said[False]
    assert "calm" in {query for query, _ in said[True][1]}


def test_groups_of_several_steps_have_what_all_of_these_take_back() -> None:
    text = "EVENT SEQ(S a, !T b, S c) WITHIN 9 s"
    with Engine(consistency="middle", revisable=True) as engine:
        engine.subscribe(text, name="q")
        engine.publish("S", {}, id="a", timestamp=1)
        engine.publish("S", {}, id="c", timestamp=3)
        groups = engine.publish_many(
            [
                {"stream": "S", "id": "d", "timestamp": 4, "json": {}},
                {"stream": "S", "retract": "a"},
            ],
            grouped=True,
        )
        back = {one.documents for one in groups.retractions}
    assert ("a", "c") in back


def test_a_match_that_comes_and_goes_in_steps_of_one_batch_is_in_no_group() -> None:
    text = "EVENT SEQ(S a, !T b, S c) WITHIN 9 s"
    with Engine(consistency="middle", revisable=True) as engine:
        engine.subscribe(text, name="q")
        engine.publish("S", {}, id="a", timestamp=1)
        groups = engine.publish_many(
            [
                {"stream": "S", "id": "d", "timestamp": 4, "json": {}},
                {"stream": "S", "retract": "a"},
                {"stream": "S", "id": "e", "timestamp": 5, "json": {}},
            ],
            grouped=True,
        )
        found = [match.documents for group in groups for match in group.matches()]
        assert found == [("d", "e")]
        assert groups.total == len(groups) == 1
        assert groups.retractions == []


SUB_QUERY = "SELECT k, v FROM S/i[./k->k] JOIN {k = l} T/i[./k->l][./v->v]"


@pytest.mark.parametrize("default", ["strong", "middle", "middle(5 s)", "weak"])
@pytest.mark.parametrize("level", ["strong", "middle"])
@pytest.mark.parametrize(
    "text",
    [
        f"SELECT k FROM FILTER{{v > 0}}({SUB_QUERY}) CONSISTENCY ",
        f'SELECT {{"k": P.k}} FROM (({SUB_QUERY})/result P; U u) CONSISTENCY ',
    ],
)
def test_a_join_in_a_query_goes_by_the_consistency_of_that(
    default: str, level: str, text: str
) -> None:
    with Engine(consistency=default, revisable={"S"}, lateness="1 h") as engine:
        engine.subscribe(f"{text}{level}")
        engine.publish("S", "<i><k>x</k></i>", id="s", timestamp=1)
        found = engine.publish("T", "<i><k>x</k><v>1</v></i>", id="t", timestamp=2)
        found += engine.publish("U", "<i/>", id="u", timestamp=3)
        back = engine.retract("S", "s") + engine.flush()
    assert len(found) == len(back) == int(level == "middle")
    assert all(isinstance(one, Retraction) for one in back)
