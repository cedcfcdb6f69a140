"""JSON documents in the engine: how they come, what joins, what comes out."""

from __future__ import annotations

import json
from collections import OrderedDict, UserDict, UserList
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from lxml import etree

import xscl

DEEP: Any = []
for _ in range(300):
    DEEP = [DEEP]
CIRCULAR: Any = {}
CIRCULAR["a"] = CIRCULAR


@pytest.fixture
def engine() -> Iterator[xscl.Engine]:
    with xscl.Engine() as opened:
        yield opened


def results(query: str, *documents: Any) -> list[Any]:
    """What a query makes of documents: of JSON values, or of XML as text that begins with `<`."""
    with xscl.Engine() as engine:
        engine.subscribe(query)
        envelopes = [
            {"timestamp": n, "id": str(n)}
            | ({"xml": d} if isinstance(d, str) and d.startswith("<") else {"json": d})
            for n, d in enumerate(documents)
        ]
        found = [match.result for match in engine.publish_many(envelopes)]
        assert engine.skipped.total == 0
        return found


# How they come.


@pytest.mark.parametrize(
    "document", [{"a": "v"}, {"a": ["v"]}, [{"a": "v"}], [["x", {"a": "v"}]], {"b": {"a": "v"}}]
)
def test_published_as_a_value_or_in_an_envelope(engine: xscl.Engine, document: Any) -> None:
    engine.subscribe("S//a[. = 'v']")
    (match,) = engine.publish("S", document)
    (other,) = engine.publish_many([{"stream": "S", "json": document}])
    (text,) = engine.publish_many([{"stream": "S", "json": json.dumps(document).encode()}])
    assert match.result == other.result == text.result == "v"
    assert match.nodes == other.nodes == text.nodes


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ("text", "text"),
        ("<a/>", "<a/>"),
        (7, "7"),
        (1.50, "1.5"),
        (1e2, "100"),
        (9007199254740993, "9007199254740993"),
        (True, "true"),
        (False, "false"),
        (None, ""),
        ([], ""),
        ({}, ""),
    ],
)
def test_any_value_is_a_document(engine: xscl.Engine, document: Any, text: str) -> None:
    engine.subscribe(f"SELECT <r>{{string(x)}}</r> FROM S/json->x[. = '{text}']", name="text")
    engine.subscribe("S", name="value")
    text_of, value_of = engine.publish_many([{"json": document}])
    assert text_of.xml().text == (text or None)
    assert value_of.result == document
    assert type(value_of.result) is type(document)


def test_an_array_as_the_document(engine: xscl.Engine) -> None:
    engine.subscribe("SELECT n FROM S/json/item[n->n] JOIN {n = m} S/json/item[m->m]")
    assert engine.publish("S", [{"n": 1}, {"n": 2}], id="1", timestamp=1) == []
    (match,) = engine.publish("S", [{"m": 3}, {"m": 2}], id="2", timestamp=2)
    assert (match.nodes, match.bindings, match.result) == ((3, 3), {"n": 4}, {"n": 2})


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"a": "\x00"}, r"a value holds U\+0000"),
        ({"a": "\x1b[0m"}, r"a value holds U\+001B"),
        (["\ud800"], "cannot be read as a tree"),
        ({"a": object()}, "object is no type of JSON"),
        ({"a": {1}}, "set is no type of JSON"),
        (object(), "object is no type of JSON"),
        ({1: "a"}, "key"),
        ({"a": {None: "b"}}, "key"),
        ({"a": b"text"}, "bytes is no type of JSON"),
        ({"a": 10**5000}, "4300 digits"),
        ({"a": datetime(2026, 1, 1)}, "datetime is no type of JSON; give dicts, lists"),
        ({"a": UserList([1])}, "UserList is no type of JSON; give dicts, lists"),
        ({"a": float("nan")}, "no number of JSON"),
        ({b"a": 1}, "key"),
        (CIRCULAR, "deeper than 256"),
        (DEEP, "deeper than 256"),
        (MappingProxyType({"a": {1}}), "set is no type of JSON"),
    ],
)
def test_what_is_no_document(document: Any, reason: str) -> None:
    reported: list[xscl.DocumentError] = []
    with xscl.Engine(on_skip=reported.append) as engine:
        engine.subscribe("S")
        with pytest.raises(xscl.DocumentError, match=reason) as raised:
            engine.publish("S", document, id="d")
        assert (raised.value.stream, raised.value.document) == ("S", "d")
        found = engine.publish_many([{"json": 1}, {"json": document, "id": "e"}, {"json": 2}])
        assert [match.result for match in found] == [1, 2]
        assert [error.document for error in reported] == ["e"]


@pytest.mark.parametrize("state", [False, True])
def test_any_mapping_is_an_object(state: bool, tmp_path: Path) -> None:
    with xscl.Engine(tmp_path / "state" if state else None) as engine:
        engine.subscribe("S/json/a[b]")
        values: list[Any] = [
            MappingProxyType({"a": {"b": 1}}),
            {"a": OrderedDict(b=1)},
            {"a": UserDict(b=1)},
            {"a": MappingProxyType({"b": 1})},
        ]
        found = engine.publish_many([{"json": value} for value in values])
        assert [match.result for match in found] == [{"b": 1}] * 4
        assert engine.skipped.total == 0


def test_an_envelope_with_both_bodies_is_xml(engine: xscl.Engine) -> None:
    engine.subscribe("S/*")
    (match,) = engine.publish_many([{"xml": "<a/>", "json": {}}])
    assert match.result == "<a/>"


# What is joined and filtered.


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("S/json/a", 3),
        ("S//a[b]", 1),
        ("S//b[. = '1.5']", 1),
        ("S//b[. = 1.5]", 1),
        ("S//a[2]", 1),
        ("S//a[last()]/b", 1),
        ("S//n[. = '']", 1),
        ("S/json[count(a) = 3]", 1),
        ("S//'dc creator'", 2),
        ("S//'dc creator'[. = 'Ann']", 1),
        ("S/json[./'dc creator' = 'Bob']", 1),
        ("S//'1st'/''", 1),
        ("S//'a:b'", 1),
        ("S//'@k'", 1),
        ("S//@k", 0),
        ("S//'*'", 1),
        ("S//*", 18),
        ("S//*:a", 3),
        ("S//none", 0),
        ("S//e", 0),
        ("S//l/item", 3),
    ],
)
def test_paths(query: str, count: int) -> None:
    document = {
        "a": ["x", "y", {"b": 1.50}],
        "n": None,
        "dc creator": ["Ann", "Bob"],
        "1st": {"": True},
        "a:b": 1,
        "@k": 2,
        "*": 3,
        "e": [],
        "l": [[1, 2], ["3"]],
    }
    assert len(results(query, document)) == count


def test_numbers_join_by_how_they_are_printed() -> None:
    query = "SELECT x, y FROM S/json/a->x JOIN {x = y} S/json/b->y"
    assert results(query, {"a": [10.0, 1.5, 1e21]}, {"b": [10, "1.50", "1e+21"]}) == [
        {"a": 10.0, "b": 10},
        {"a": 1e21, "b": "1e+21"},
    ]
    numbers = "SELECT x, y FROM S/json/a->x JOIN {number(x) = number(y)} S/json/b->y"
    assert results(numbers, {"a": [1.5]}, {"b": ["1.50", "x"]}) == [{"a": 1.5, "b": "1.50"}]


def test_xml_joins_json() -> None:
    query = "S//author->x JOIN {x = y} R//'dc creator'->y"
    with xscl.Engine() as engine:
        engine.subscribe(query)
        engine.publish("S", "<book><author>Ann</author></book>", id="1", timestamp=1)
        (match,) = engine.publish("R", {"dc creator": ["Bob", "Ann"]}, id="2", timestamp=2)
        assert (match.documents, match.streams, match.nodes) == (("1", "2"), ("S", "R"), (1, 2))
        assert match.result == (
            '<result><author>Ann</author><item key="dc creator">Ann</item></result>'
        )


def test_one_stream_of_both() -> None:
    query = "SELECT y FROM S//a->x FOLLOWED BY {x = y} S//b->y"
    found = results(query, {"a": 1}, "<a>2</a>", "<r><b>1</b></r>", {"b": 2}, {"b": 1})
    assert found == ["<result><b>1</b></result>", "<result><b>2</b></result>", {"b": 1}]


# Results.

POST = {"author": ["Ann", "Bob"], "title": "T", "n": 1.0, "none": None, "meta": {"tags": []}}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("S", [POST], id="a stream alone"),
        pytest.param("S/json", [POST], id="the root"),
        pytest.param("S//author", ["Ann", "Bob"], id="members of an array"),
        pytest.param("S//n", [1.0], id="a number"),
        pytest.param("S//none", [None], id="null"),
        pytest.param("SELECT * FROM S//meta", [{"tags": []}], id="an object with its empty array"),
        pytest.param(
            "SELECT x/author FROM S/json->x",
            [{"author": ["Ann", "Bob"]}],
            id="several are an array",
        ),
        pytest.param("SELECT x/author[1] FROM S/json->x", [{"author": "Ann"}], id="one is none"),
        pytest.param(
            "SELECT x/no, x/title FROM S/json->x", [{"title": "T"}], id="none is left out"
        ),
        pytest.param("SELECT x/no FROM S/json->x", [{}], id="nothing at all"),
        pytest.param(
            "SELECT x/title AS t, x/none FROM S/json->x", [{"t": "T", "none": None}], id="AS"
        ),
        pytest.param(
            "SELECT x/title AS v, x/n AS v FROM S/json->x", [{"v": ["T", 1.0]}], id="one name"
        ),
        pytest.param("SELECT x FROM S/json->x", [{"json": POST}], id="the root by name"),
        pytest.param(
            "SELECT a FROM S/json[author->a]", [{"author": "Ann"}, {"author": "Bob"}], id="each"
        ),
        pytest.param(
            "SELECT <r a='{x/author}'>{x/n}{string(x/title)}</r> FROM S/json->x",
            ['<r a="Ann Bob"><n>1</n>T</r>'],
            id="an XML constructor",
        ),
        pytest.param(
            "SELECT <r>{x/meta}{x/none}</r> FROM S/json->x",
            ["<r><meta/><none/></r>"],
            id="nothing in XML",
        ),
    ],
)
def test_results(query: str, expected: list[Any]) -> None:
    found = results(query, POST)
    assert found == expected
    assert [repr(one) for one in found] == [repr(one) for one in expected]


def test_a_join_of_json_is_the_array_of_its_output_nodes() -> None:
    query = "S/json/a[k->p] JOIN {p = q} S/json/b[k->q]"
    assert results(query, {"a": {"k": 1, "v": [2]}}, {"b": {"k": "1"}}) == [
        [{"k": 1, "v": [2]}, {"k": "1"}]
    ]
    assert results("S//a->x JOIN {x = y} S//b->y", {"a": None}, {"b": ""}) == [[None, ""]]


@pytest.mark.parametrize(
    ("constructor", "expected"),
    [
        ('{"t": x/title}', {"t": "T"}),
        ('{"by": x/author}', {"by": ["Ann", "Bob"]}),
        ('{"by": [x/author]}', {"by": ["Ann", "Bob"]}),
        ('{"by": x/author[1], "all": [x/author[1]]}', {"by": "Ann", "all": ["Ann"]}),
        ('{"no": x/no, "all": [x/no]}', {"no": None, "all": []}),
        ('{"n": x/n, "null": x/none}', {"n": 1.0, "null": None}),
        ('{"m": [x/meta, 1, "x", x/author]}', {"m": [{"tags": []}, 1, "x", "Ann", "Bob"]}),
        ('{"x": x}', {"x": POST}),
        ('{"a": {"b": [[x/title], {}]}, "t": true}', {"a": {"b": [["T"], {}]}, "t": True}),
        ("{}", {}),
        ('{"x": "{x}"}', {"x": "{x}"}),
        ('{"big": 9007199254740993}', {"big": 9007199254740993}),
    ],
)
def test_json_constructors_of_json(constructor: str, expected: Any) -> None:
    (found,) = results(f"SELECT {constructor} FROM S/json->x", POST)
    assert repr(found) == repr(expected)


XML = (
    '<post k="1" xmlns:d="urn:d"><by>Ann</by><by>Bob</by><d:note d:k="v">n</d:note>'
    "<t>T <i>U</i></t><none/><!--c--></post>"
)


@pytest.mark.parametrize(
    ("constructor", "expected"),
    [
        ('{"by": x/by, "k": x/@k}', {"by": ["Ann", "Bob"], "k": "1"}),
        ('{"t": x/t}', {"t": {"i": "U"}}),
        ('{"none": x/none, "no": x/no}', {"none": "", "no": None}),
        (
            '{"x": x}',
            {"x": {"by": ["Ann", "Bob"], "note": "n", "t": {"i": "U"}, "none": ""}},
        ),
    ],
)
def test_json_constructors_of_xml(constructor: str, expected: Any) -> None:
    assert results(f"SELECT {constructor} FROM S/post->x", XML) == [expected]


def test_a_json_constructor_is_no_xml(engine: xscl.Engine) -> None:
    engine.subscribe('SELECT {"x": x} FROM S/a->x')
    (match,) = engine.publish("S", "<a>1</a>")
    assert match.result == {"x": "1"}
    with pytest.raises(TypeError, match="JSON constructor"):
        match.xml()


def test_keys_that_are_no_names_are_copied_into_xml() -> None:
    document = {"dc creator": {"full name": "Ann", "b": [1, {"2": 3}]}}
    (found,) = results("SELECT <r>{x}</r> FROM S//'dc creator'->x", document)
    assert found == (
        '<r><item key="dc creator"><item key="full name">Ann</item><b>1</b>'
        '<b><item key="2">3</item></b></item></r>'
    )
    (whole,) = results("SELECT <r>{x/*}</r> FROM S/json->x", {'<&">': 1, "item": 2})
    assert [(e.tag, e.get("key"), e.text) for e in etree.fromstring(whole)] == [
        ("item", '<&">', "1"),
        ("item", None, "2"),
    ]
    query = "SELECT x/'full name' AS n, x/'full name' FROM S//'dc creator'->x"
    assert results(query, document) == [{"n": "Ann", "full name": "Ann"}]


def test_results_are_the_original_values_not_copies_of_text(engine: xscl.Engine) -> None:
    document = json.loads('{"a": [1.50, 1e2, 10.0, 7, "7", true, null, [], {}]}')
    engine.subscribe("S/json")
    (match,) = engine.publish("S", document)
    assert json.dumps(match.result) == json.dumps(document)
    assert json.loads(json.dumps(match.to_dict()))["result"] == document


def test_a_result_of_json_is_read_after_the_engine_is_closed() -> None:
    with xscl.Engine() as engine:
        engine.subscribe("SELECT x/a FROM S/json->x")
        (match,) = engine.publish("S", {"a": [1, 2]})
    assert match.result == {"a": [1, 2]}


def test_node_numbers_count_the_elements_of_the_tree(engine: xscl.Engine) -> None:
    engine.subscribe("S//c")
    matches = engine.publish("S", {"a": [[1, 2], {"b": None}], "c": [1, {"c": 2}]})
    assert [match.nodes[0] for match in matches] == [6, 7, 8]
    assert [match.result for match in matches] == [1, {"c": 2}, 2]


@pytest.mark.parametrize(
    "query",
    [
        "S/json[a = 1]",
        "SELECT a FROM FILTER{a = 1}(S)",
        "EVENT SEQ(S x) WHERE x.a = 1 WITHIN 1 day",
    ],
)
def test_a_text_that_is_an_object_encoded_twice_is_the_object(query: str) -> None:
    once, text = {"a": 1}, json.dumps({"a": 1})
    assert len(results(query, once)) == 1
    assert len(results(query, text, f" {text}\n")) == 2
    # A batch of both is read as many together.
    assert len(results(query, once, text, once)) == 3


@pytest.mark.parametrize("text", ["{", '{"a": NaN}', "{a: 1}", "[1]", "1", "", '{"a": "\ud800"}'])
def test_any_other_text_is_a_text(text: str) -> None:
    if "\ud800" not in text:
        assert results("S/json", text) == [text]
    with xscl.Engine() as engine:
        assert engine.subscribe("S/json[a]")
        assert engine.publish_many([{"json": text}]) == []


KEYS = [
    "a}b",
    "/users/{id}",
    "{id}",
    "{}",
    "}",
    "{",
    "{}x",
    "{*}b",
    "{}{",
    "@t",
    "*",
    "text()",
    "a b",
]


@pytest.mark.parametrize("key", KEYS)
def test_a_quoted_key_is_found_wherever_it_stands(key: str) -> None:
    """And what else comes is read all the same."""
    queries = {
        "anywhere": f"S//'{key}'",
        "child": f"S/json/'{key}'",
        "bracket": f"S/json[./'{key}' = 1]",
        "predicate": f"S/json->a JOIN {{a/'{key}' = b/'{key}'}} T/json->b",
        "bound": f"S/json[./'{key}'->x] JOIN {{x = y}} T/json[.//'{key}'->y]",
        "first": f"S//'{key}'[1]",
        "shown": f"SELECT a/'{key}' AS it FROM S/json->a[./'{key}']",
    }
    with xscl.Engine() as engine:
        for name, text in queries.items():
            engine.subscribe(text, name=name)
        for other in ("c", "b", "id", "x", "users", "t"):
            assert engine.publish("S", {other: 1}) == []
        found = engine.publish("S", {key: 1}) + engine.publish("T", {"in": {key: 1}, key: 1})
        assert {one.query for one in found} == {*queries}
        (shown,) = (one.result for one in found if one.query == "shown")
        assert "1" in str(shown)
