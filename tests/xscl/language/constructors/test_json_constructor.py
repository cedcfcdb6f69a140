"""JSON constructors (docs/semantics.md#result-documents)."""

from __future__ import annotations

import pytest

from xscl.language import parse
from xscl.language.scan import scan
from xscl.language.syntax import (
    JSONArray,
    JSONConstant,
    JSONObject,
    JSONValue,
    Parameter,
    VariablePath,
)


def construct(text: str) -> JSONObject:
    queries, errors = parse(f"SELECT {text} FROM S//a->x[./b->y][c->true][d->from]; S")
    assert not errors, "\n\n".join(map(str, errors))
    select = queries[0].select
    assert isinstance(select, JSONObject)
    return select


def shown(value: JSONValue) -> object:
    """Objects and arrays as Python's, paths as text in angle brackets."""
    match value:
        case JSONObject(members):
            return {key: shown(member) for key, member in members}
        case JSONArray(items):
            return [shown(item) for item in items]
        case JSONConstant(constant):
            return constant
        case Parameter(name):
            return f":{name}"
        case VariablePath(variable, steps):
            return f"<{variable.text}{''.join(s.axis + s.test for s in steps)}>"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"title": x, "by": [y], "post": x/a}',
         {"title": "<x>", "by": ["<y>"], "post": "<x/a>"}),
        ("{}", {}),
        ('{ "a" : [ ] , "b":{}, "":[[],{"c":[x]}] }', {"a": [], "b": {}, "": [[], {"c": ["<x>"]}]}),
        ('{"a": true, "b": false, "c": null, "d": $true, "e": from, "f": $true/b}',
         {"a": True, "b": False, "c": None, "d": "<true>", "e": "<from>", "f": "<true/b>"}),
        ('{"a": 9007199254740993, "b": -0.5, "c": 1e2, "d": 0, "e": -7}',
         {"a": 9007199254740993, "b": -0.5, "c": 100.0, "d": 0, "e": -7}),
        (r'{"a\n\"\u00e9\ud83d\ude00": "\\\/", "b": "it\'s"}'.replace(r"\'", "'"),
         {'a\n"é\U0001f600': "\\/", "b": "it's"}),
        ('{"a": "x; -- (: \' {} []", "b": "}"}', {"a": "x; -- (: ' {} []", "b": "}"}),
        ('{"a": x/b[c = "}"]//@k, "b": [x/"a name"/*:d, y//*]}',
         {"a": "<x/b//@k>", "b": ["<x/a name/{*}d>", "<y//*>"]}),
        ('{"a": x / b [contains(., ",")], "b": x/from/select/null}',
         {"a": "<x/b>", "b": "<x/from/select/null>"}),
        ('{"a": x/dc:b}', {"a": "<x/{http://purl.org/dc/elements/1.1/}b>"}),
        ('{"a": :p, "b"::from, "c": [:p,x/b[c = :p]]}',
         {"a": ":p", "b": ":from", "c": [":p", "<x/b>"]}),
        ('{\n"a"\n:\nx\n,\n"b":y\n}', {"a": "<x>", "b": "<y>"}),
    ],
)  # fmt: skip
def test_constructors(text: str, expected: object) -> None:
    assert shown(construct(text)) == expected


def test_integers_are_exact_and_others_are_not_integers() -> None:
    object_ = construct('{"a": 1, "b": 1.0, "c": true}')
    assert [type(v.value) for _, v in object_.members if isinstance(v, JSONConstant)] == [
        int,
        float,
        bool,
    ]


def test_places() -> None:
    text = 'SELECT {"a": [x/b, "v"], "c": {}} FROM S//a->x'
    [query], _ = parse(text)
    object_ = query.select
    assert isinstance(object_, JSONObject)
    (_, array), (_, inner) = object_.members
    assert isinstance(array, JSONArray)
    assert object_.at == text.index("{")
    assert array.at == text.index("[")
    assert [item.at for item in array.items] == [text.index("x/b"), text.index('"v"')]
    assert inner.at == text.index("{}")


def test_the_scanner_sees_one_brace() -> None:
    text = 'SELECT {"a;": x, "b": "-- (:"}\nFROM S -- c\n; T'
    scanned = scan(text)
    assert len(scanned.text) == len(text)
    statements = [" ".join(scanned.text[s.start : s.end].split()) for s in scanned.statements]
    assert statements == ["SELECT { FROM S", "T"]


@pytest.mark.parametrize(
    "bad",
    [
        '{"a": x', '{"a": [x}', '{"a: x}', '{"a": x/b[c}', '{"a": "\\x"}', "{a: x}", '{"a": x,}',
        '{"a": {"b": x}', '{"a"', "{", '{"a": ', '{"a": x/b[(c]}', '{"a": 1.}',
    ],
)  # fmt: skip
def test_a_bad_constructor_leaves_the_next_query_alone(bad: str) -> None:
    queries, errors = parse(f"SELECT {bad} FROM S//a->x; S//b")
    assert [q.name for q in queries] == ["q2"]
    assert {e.query for e in errors} == {"q1"}


@pytest.mark.parametrize(
    "constructor",
    [
        '{"a": ' + "[" * 2_000 + "]" * 2_000 + "}",
        '{"a": ' * 100_000,
        '{"a": [' + ", ".join(["x/b"] * 20_000) + "]}",
        '{"a": "' + "\\n" * 500_000 + '"}',
        '{"a": ' + "9" * 1_000_000 + "}",
        '{"a": x/b[' + "'" * 999_999 + "}",
        '{"a": x/b' + "[" * 500_000 + "}",
        "{" + ", ".join(['"k": 1'] * 50_000) + "}",
    ],
    ids=["arrays", "objects", "paths", "escapes", "digits", "quotes", "brackets", "keys"],
)
def test_extremes(constructor: str) -> None:
    # Were the time not linear, this would not end.
    queries, errors = parse(f"SELECT {constructor} FROM S//a->x")
    assert queries or errors
    for error in errors[:100]:
        str(error)
