"""`why` of patterns: it agrees with the shared cases on what matches, and names what fails."""

from __future__ import annotations

import json
from itertools import combinations
from random import Random
from typing import Any

import pytest

from tests.drawn import seeded, times
from tests.shared import SHARED, needs
from xscl import Engine, XSCLError
from xscl.language import parse
from xscl.language.syntax import EventPattern
from xscl.why import Why

CASES = SHARED / "conformance" / "pattern-sase.jsonl"


def cases() -> list[dict[str, Any]]:
    if not CASES.exists():
        return []
    with CASES.open(encoding="utf-8") as lines:
        return [case for line in lines if "//" not in (case := json.loads(line))["queries"]]


@needs("conformance")
@pytest.mark.parametrize("part", range(2))
def test_it_agrees_with_the_shared_cases(part: int) -> None:
    for case in cases()[part::8]:
        random = Random(case["case"])
        times = {document["id"]: document["timestamp"] for document in case["events"]}
        with Engine() as engine:
            engine.load(case["queries"])
            engine.publish_many(case["events"])
            for query in parse(case["queries"])[0]:
                source = query.source
                assert isinstance(source, EventPattern)
                found = {
                    tuple(match["documents"])
                    for match in case["expected"]
                    if match["query"] == query.name
                }
                positive = [one for one in source.components if not one.negated]
                asked = random.sample(sorted(found), min(2, len(found)))
                for longer in (0, 1):
                    number = len(positive) + longer * any(one.plus for one in positive)
                    if number <= len(times):
                        some = random.sample(sorted(times), number)
                        asked.append(tuple(sorted(some, key=lambda one: times[one])))
                for documents in filter(lambda ids: all(map(engine.holds, ids)), asked):
                    answer = engine.why(query.name, *documents)
                    assert answer.holds == (documents in found), f"{case['case']}\n{answer}"


QUERY = """
-- name: p
PATTERN SEQ(Stock+ a[], !News n, Stock b)
WHERE skip_till_next_match {
  [symbol] AND a[1].volume > 1000 AND a[i].price > avg(a[..i-1].price)
  AND b.volume < 80%*a[a.LEN].volume AND n.about = b.symbol }
WITHIN 1 hour;
-- name: typed
EVENT SEQ(S//item[category = 'x']/title->t a, ANY(S//item, News) b) WHERE a.t = b.about WITHIN 5
"""
PRICES = [(100, 1010), (120, 990), (120, 1005), (121, 999), (120, 999), (125, 750), (120, 950)]


@pytest.fixture
def engine() -> Engine:
    made = Engine()
    made.load(QUERY)
    for at, (price, volume) in enumerate([*PRICES, (120, 700)], 1):
        stock = {"symbol": "G", "price": price, "volume": volume}
        made.publish("Stock", stock, id=f"e{at}", timestamp=at)
    made.publish("News", {"about": "G", "symbol": "G"}, id="n", timestamp=7.5)
    made.publish("S", "<r><item><category>y</category><title>T</title></item></r>", id="s")
    return made


def test_a_match_that_overlaps_one_that_is_reported_is_none() -> None:
    with Engine() as engine:
        text = "EVENT SEQ(T a, T b) WHERE [k] WITHIN 1 h OUTPUT NON OVERLAPPING"
        engine.subscribe(text, name="q")
        for at in range(1, 5):
            engine.publish("T", {"k": at % 2}, id=f"t{at}", timestamp=at)
        engine.publish("T", {"k": 1}, id="t5", timestamp=5)
        assert engine.why("q", "t1", "t3").holds
        answer = engine.why("q", "t3", "t5")
        assert not answer.holds
        assert answer.cause is not None
        assert answer.cause.text == "OUTPUT NON OVERLAPPING"
        assert str(answer.cause.note).startswith("t1, t3, until 1970-01-01 00:00:03")


@pytest.mark.parametrize(
    ("documents", "cause", "note"),
    [
        ("e1 e2 e6", "skip_till_next_match between a and b", "e3, at"),
        ("e3 e5 e8", "a[i].price > avg(a[..i-1].price)", None),
        ("e2 e4 e6", "a[1].volume > 1000", None),
        ("e3 e4 e7", "b.volume < 80% * a[a.LEN].volume", None),
        ("e1 e2 e3 e4 e5 e7 e8", "no News n", "n, at"),
        ("e1 n", "Stock", None),
    ],
)
def test_the_first_that_fails_is_named(
    engine: Engine, documents: str, cause: str, note: str | None
) -> None:
    answer = engine.why("p", *documents.split())
    assert not answer.holds
    found = answer.cause  # type: ignore[union-attr]
    assert found is not None
    failing = [one.text for one in answer.findings if one.holds is False]  # type: ignore[union-attr]
    assert cause in failing, answer
    assert note is None or any((one.note or "").startswith(note) for one in answer.findings)  # type: ignore[union-attr]


def test_of_blocks_each_condition_is_named(engine: Engine) -> None:
    answer = engine.why("typed", "s", {"stream": "News", "timestamp": 9e9, "json": {"about": "T"}})
    assert answer.cause is not None  # type: ignore[union-attr]
    assert answer.cause.text == "[category = 'x']"  # type: ignore[union-attr]
    assert answer.cause.block == 1  # type: ignore[union-attr]


SEVERAL = (
    "EVENT SEQ(S//i[./k->k][./v->v] a, T//i[./k->l] b) WHERE a.k = b.l AND a.v > 1 WITHIN 99",
    "EVENT SEQ(S//i[./k->k]/v->v a, T//i b) WHERE a.k = b.k WITHIN 99",
    "PATTERN SEQ(S//i a, T//k->l b) WHERE skip_till_any_match {a.k = b.l AND a.n < b.l} WITHIN 99",
    "EVENT SEQ(ANY(S//i[./v->k], S//i[./k->k]) a, T//i[./v->v] b) WHERE a.k = b.v WITHIN 99",
    "SELECT * FROM (S//i[./k->k][./v->v] A; T//i[./k->l] B) WHERE FILTER(A.k = B.l), A.v > 1",
)


@pytest.mark.drawn
@pytest.mark.parametrize("query", SEVERAL)
def test_a_document_may_hold_several_events(query: str) -> None:
    """And a block several values for each: documents match if any of their events do."""
    holding = failing = 0
    for number in range(times(24)):
        dice = seeded("several events", query, number)
        documents = [document(dice, at) for at in range(6)]
        with Engine() as engine:
            engine.subscribe(query, name="q")
            found = {one.documents for one in (*engine.publish_many(documents), *engine.flush())}
            for one, other in combinations(documents, 2):
                if (one["stream"], other["stream"]) == ("S", "T"):
                    answer = engine.why("q", one["id"], other["id"])
                    matches = (one["id"], other["id"]) in found
                    assert isinstance(answer, Why)
                    assert answer.holds == matches, f"{one['xml']} {other['xml']}\n{answer}"
                    holding, failing = holding + matches, failing + (not matches)
    assert holding
    assert failing


def document(dice: Random, at: int) -> dict[str, Any]:
    """A document of some items with some values each."""

    def values(name: str, most: int) -> str:
        return "".join(
            f"<{name}>{dice.randrange(4)}</{name}>" for _ in range(dice.randint(0, most))
        )

    items = "".join(
        f'<i n="{dice.randrange(3)}">{values("k", 3)}{values("v", 2)}</i>'
        for _ in range(dice.randint(1, 3))
    )
    return {"stream": dice.choice("ST"), "id": f"d{at}", "timestamp": at, "xml": f"<r>{items}</r>"}


def test_documents_are_one_for_each_event(engine: Engine) -> None:
    with pytest.raises(XSCLError, match="takes 2 documents or more, one for each event of Stock"):
        engine.why("p", "e1")
    with pytest.raises(XSCLError, match="takes 2 documents, one for each event"):
        engine.why("typed", "s", "s", "s")
    assert engine.hint("p") is None
