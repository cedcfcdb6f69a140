"""Looking closer: a match with its documents side by side, the retained documents, why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.xscl.serve.asking import Asking, serving

PROMO = """
-- name: promo
SELECT <promo>{t}</promo>
FROM S/book[title->t][author/name->w]
  FOLLOWED BY {t = u AND lower-case(w) = by, 7 days}
  S/blog[title->u][by->by]
"""
BOOK = "<book><title>R&amp;D</title><author><name>Ada</name></author><year>1</year></book>"
BLOG = "<blog><title>R&amp;D</title><by>bob</by><by>ada</by></blog>"


@pytest.fixture
def server() -> Iterator[Asking]:
    with serving(PROMO, "-- name: keys\nJ/json->j[k->x] JOIN {x = y} S//year->y") as asking:
        asking.publish("d1", BOOK, 0)
        assert asking.publish("d2", BLOG, 60)["matches"] == 1
        yield asking


def marked(document: dict[str, Any]) -> list[tuple[int, str]]:
    return [(one["mark"], one["text"]) for one in document["pieces"] if "mark" in one]


def test_what_joined_is_marked_in_both(server: Asking) -> None:
    (match,) = server.get("/matches")["matches"]
    shown = server.get(f"/matches/{match['id']}")
    assert shown["match"] == match
    first, second = shown["documents"]
    assert (first["id"], first["timestamp"], first["title"]) == ("d1", 0.0, "R&D")
    assert (second["id"], second["timestamp"], second["whole"]) == ("d2", 60.0, True)
    assert marked(first) == [(1, "R&amp;D"), (2, "Ada")]
    assert marked(second) == [(1, "R&amp;D"), (2, "ada")]
    assert shown["result"] == "<promo>\n  <title>R&amp;D</title>\n</promo>"
    assert shown["joined"] == [
        {"mark": 1, "text": "t = u", "values": ["R&D"]},
        {"mark": 2, "text": "lower-case(w) = by", "values": ["ada"]},
    ]


def test_json_alongside_xml(server: Asking) -> None:
    body = json.dumps({"k": 1, "dc creator": ["", "é"]}).encode()
    answer, reported = server.raw(
        "POST", "/streams/J?id=j1&timestamp=1", body, Content_Type="application/json"
    )
    assert (answer.status, json.loads(reported)["matches"]) == (200, 1)
    match = server.get("/matches", query="keys")["matches"][0]
    shown = server.get(f"/matches/{match['id']}")
    assert [marked(one) for one in shown["documents"]] == [[(1, "1")], [(1, "1")]]
    assert shown["documents"][0]["kind"] == "json"
    assert shown["match"] == match


def test_a_value_that_joins_three_has_one_mark(server: Asking) -> None:
    chain = "JOIN {a = b AND c = d} S//r[x->b][y->d] JOIN {b = e} S//r[x->e]"
    server.post("/queries", status=201, text=f"-- name: three\nS//r[x->a][y->c] {chain}")
    for id in ("r1", "r2", "r3"):
        server.publish(id, f"<r><x>1</x><y>{2 if id != 'r3' else 3}</y></r>", 1)
    match = next(
        one
        for one in server.get("/matches", query="three")["matches"]
        if "r3" in one["documents"][2]
    )
    shown = server.get(f"/matches/{match['id']}")
    assert [marked(one) for one in shown["documents"]] == [
        [(1, "1"), (2, "2")],
        [(1, "1"), (2, "2")],
        [(1, "1")],
    ]
    assert [one["text"] for one in shown["joined"]] == ["a = b, b = e", "c = d"]


def test_large_documents_are_shown_as_far_as_it_goes(server: Asking) -> None:
    server.publish("big", f"<blog><title>R&amp;D</title><by>ada</by>{'x' * 200_000}</blog>", 120)
    (match,) = (one for one in server.get("/matches")["matches"] if "big" in one["documents"])
    first, second = server.get(f"/matches/{match['id']}")["documents"]
    assert (first["whole"], second["whole"]) == (True, False)
    assert second["pieces"][0]["text"].startswith("<blog><title>")


def test_the_words_that_alike_texts_share_are_marked(server: Asking) -> None:
    """Each with the number of its likeness; where two share a word, with the first one's."""
    chain = (
        "JOIN {similar(a, b) >= 0.3} S//r[t->b] "
        "FOLLOWED BY {similar(b, c) >= 0.5 AND k = l} S//q[t->c][k->l]"
    )
    server.post("/queries", status=201, text=f"-- name: alike\nS//r[t->a][k->k] {chain}")
    server.publish("r1", "<r><t>Ferry runs aground &amp; sinks</t><k>7</k></r>", 1)
    server.publish("r2", "<r><t>FERRY aground: 40 rescued</t></r>", 1)
    server.publish("q1", "<q><t>40 rescued, ferry lost</t><k>7</k></q>", 2)
    (match,) = [
        one
        for one in server.get("/matches", query="alike")["matches"]
        if "r2" in one["documents"][1]
    ]
    shown = server.get(f"/matches/{match['id']}")
    assert [marked(one) for one in shown["documents"]] == [
        [(1, "Ferry"), (1, "aground"), (3, "7")],
        [(1, "FERRY aground"), (2, "40 rescued")],
        [(2, "40 rescued"), (2, "ferry"), (3, "7")],
    ]
    assert [(one["mark"], one["values"]) for one in shown["joined"]] == [
        (1, ["Ferry", "aground"]),
        (2, ["FERRY", "40 rescued"]),
        (3, ["7"]),
    ]


def test_of_a_cancelled_query_nothing_is_marked(server: Asking) -> None:
    (match,) = server.get("/matches")["matches"]
    server.post("/queries", status=201, text="-- name: all\nS/*")
    server.raw("DELETE", "/queries/promo")
    answer, body = server.raw("GET", f"/matches/{match['id']}")
    if answer.status == 200:
        shown = json.loads(body)
        assert shown["joined"] == []
        assert not any(map(marked, shown["documents"]))
    server.raw("DELETE", "/queries/all")
    server.raw("DELETE", "/queries/keys")
    error = server.get(f"/matches/{match['id']}", status=410)["error"]
    assert "d1" in error["message"]


def test_no_match(server: Asking) -> None:
    assert "kept" in server.get("/matches/none", status=404)["error"]["message"]


def test_documents_that_are_retained(server: Asking) -> None:
    retained = server.get("/documents")["documents"]
    assert [one["id"] for one in retained] == ["d2", "d1"]
    assert retained[1] == {
        "id": "d1",
        "stream": "S",
        "timestamp": 0.0,
        "kind": "xml",
        "title": "R&D",
    }
    assert server.get("/documents", limit=1)["documents"] == retained[:1]
    assert server.get("/documents", stream="T")["documents"] == []


def test_why(server: Asking) -> None:
    answer = server.get("/queries/promo/why", document=["d1", "d2"])
    assert (answer["holds"], answer["cause"]) == (True, None)
    answer = server.get("/queries/promo/why", document=["d2", "d1"])
    assert not answer["holds"]
    assert answer["findings"][answer["cause"]]["holds"] is False
    assert server.get("/queries/promo/why")["documents"] == 2
    assert server.get("/queries/none/why", status=404)
    assert "d9" in server.get("/queries/promo/why", status=404, document="d9")["error"]["message"]
    assert "found 1" in server.get("/queries/promo/why", 400, document="d1")["error"]["message"]
    server.post("/queries", 201, text="S NEXT S", name="events")
    assert "keeps no documents" in server.get("/queries/events/why", 400)["error"]["message"]


def test_why_of_an_automaton(server: Asking) -> None:
    arcs = '[{"from": "a", "to": "b", "event": "e", "when": "e.n > 1"}]'
    text = f'AUTOMATON {{"events": {{"e": "N"}}, "final": ["b"], "arcs": {arcs}}}'
    server.post("/queries", 201, text=text, name="more")
    for number in (1, 2):
        server.publish(f"n{number}", f"<r><n>{number}</n></r>", number, stream="N")
    answer = server.get("/queries/more/why")
    assert [one["passed"] for one in answer["arcs"]] == [1]
    assert answer["text"].startswith("more: 2 documents")
    answer = server.get("/queries/more/why", document="n1")
    assert answer["cause"] == "no run begins; a0: e.n > 1 fails ('1' and '1')"
