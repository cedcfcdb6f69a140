"""Texts that are tried: errors at their places, what would be found, what becomes of them; and
nothing of it stays."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from lxml import etree

from tests.documentation.test_cookbook import RECIPES
from tests.xscl.serve.asking import Asking, serving

PAIR = "-- name: pair\nS//a->x JOIN {x = y, 1 day} S//b->y"
TRIED = "-- name: tried\nSELECT x FROM S//a->x JOIN {x = y} S//b->y"


@pytest.fixture(scope="module")
def server() -> Iterator[Asking]:
    with serving(PAIR) as asking:
        for number in range(6):
            asking.publish(f"a{number}", f"<a>{number % 3}</a>", number)
            asking.publish(f"b{number}", f"<b>{number % 4}</b>", number)
        yield asking


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("", []),
        ("-- nothing", []),
        ("S//a->x", []),
        ("S//a->x JOIN {x = z} T//b->y", [(1, 19)]),
        ("S//a->;\nT//b[", [(1, 7), (2, 6)]),
        ("S//'é'->x[", [(1, 11)]),
    ],
)
def test_errors_have_their_places(server: Asking, text: str, places: list[tuple[int, int]]) -> None:
    errors = server.post("/check", text=text)["errors"]
    assert [(one["line"], one["column"]) for one in errors] == places
    assert all(one["message"] and one["query"] for one in errors)


def test_a_name_that_no_event_has_is_an_error(server: Asking) -> None:
    text = "SELECT Name FROM Stock PUBLISH names;\nSELECT Nmae FROM names"
    (error,) = server.post("/check", text=text)["errors"]
    assert (error["query"], error["line"], error["column"]) == ("q2", 2, 8)
    assert "there is no attribute `Nmae` here (did you mean `Name`?)" in error["message"]


def test_good_queries_alongside_bad_ones(server: Asking) -> None:
    text = "-- name: good\nS//a->x[b = :k] JOIN {x = y, :n days} (T//c)//d->y PUBLISH P;\nS//["
    checked = server.post("/check", text=text)
    (good,) = checked["queries"]
    assert good == {"name": "good", "streams": ["S"], "publishes": "P", "parameters": ["k", "n"]}
    assert len(checked["errors"]) == 1


def test_a_dry_run_finds_what_is_retained(server: Asking) -> None:
    tried = server.post("/dry-run", text=TRIED)
    assert tried["documents"] == 12
    assert tried["whole"]
    found = {tuple(match["documents"]) for match in tried["matches"]}
    assert len(tried["shown"]) == len(tried["matches"])
    for match, shown in zip(tried["matches"], tried["shown"], strict=True):
        assert [one["id"] for one in shown["documents"]] == match["documents"]
        assert [one["text"] for one in shown["joined"]] == ["x = y"]
        assert all(any("mark" in p for p in one["pieces"]) for one in shown["documents"])
    assert found == {(f"a{n}", f"b{m}") for n in range(6) for m in range(6) if n % 3 == m % 4}
    assert [one["name"] for one in server.get("/queries")["queries"]] == ["pair"]
    assert server.engine.documents == 12


def test_a_dry_run_takes_parameters_and_is_bounded(server: Asking) -> None:
    tried = server.post("/dry-run", text="S//a->x[. = :k]", params={"k": "2"})
    assert [match["documents"] for match in tried["matches"]] == [["a2"], ["a5"]]
    everything = " JOIN {x0 != x1} ".join(f"S//*->x{n}" for n in range(2))
    assert len(server.post("/dry-run", text=everything)["matches"]) == 100
    assert not server.post("/dry-run", text=everything)["whole"]
    error = server.post("/dry-run", text="S//a->x[. = :k]", status=400)["error"]
    assert "k" in error["message"]
    assert server.post("/dry-run", text="S//a[", status=400)["error"]["column"] == 6


@pytest.mark.parametrize("form", ["json", "text", "mermaid", "svg"])
def test_a_text_and_a_query_are_explained_in_the_same_way(server: Asking, form: str) -> None:
    _, of_text = server.raw("GET", f"/explain?format={form}&text={quote(PAIR)}")
    answer, of_query = server.raw("GET", f"/queries/pair/explain?format={form}")
    assert answer.status == 200
    assert of_text == of_query
    if form == "svg":
        assert etree.fromstring(of_query).tag.endswith("svg")
        assert answer.headers["Content-Type"] == "image/svg+xml"
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script" not in policy
    if form == "json":
        posted = server.post("/explain", text=PAIR)
        assert posted == json.loads(of_text)


def test_what_cannot_be_explained(server: Asking) -> None:
    assert server.post("/explain", text="S//a[", status=400)["error"]["line"] == 1
    assert "none" in server.get("/queries/none/explain", status=404)["error"]["message"]
    assert server.get("/explain", status=400, text="S//a", format="pdf")["error"]["message"]


def test_examples_are_the_cookbook(server: Asking) -> None:
    examples = server.get("/examples")
    reported = [(one["title"], one["text"]) for one in examples]
    assert reported == [(recipe.title, recipe.queries) for recipe in RECIPES]
    for one in examples:
        assert one["about"]
        checked = server.post("/check", text=one["text"])
        assert checked["errors"] == []
        assert len(checked["queries"]) == len(re.findall("-- name:", one["text"]))
