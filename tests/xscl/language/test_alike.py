"""Statements that are the same up to literals: an instance equals the result of a full parse."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from tests.conformance.runner import read_cases
from tests.drawn import seeded, times
from xscl.language import parse_from, read_from
from xscl.language.alike import AlikeStatements, Instance
from xscl.language.parameters import Prepared
from xscl.language.syntax import Query

CASES = Path(__file__).parents[2] / "conformance" / "cases"
ERRORS = Path(__file__).parent / "errors"
WORD = "declare|namespace|select|from|publish|as|followed|by|join|and|or|inf"
NAMES = re.compile(
    rf"(?<![\w'\"&:<>{{-])(?!(?i:{WORD})(?!\w))[^\W\d]\w*+(?![\w'\":(-])",
)
LITERAL = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|(?<![\w.])[0-9]+(?:\.[0-9]+)?(?!\w)""")


def texts() -> Iterator[str]:
    for path in sorted(CASES.glob("*.jsonl")):
        yield from (case["queries"] for case in read_cases(path))
    for path in sorted(ERRORS.glob("*.xscl")):
        yield path.read_text(encoding="utf-8")
    yield "DECLARE STREAM S (a); SELECT * FROM S; SELECT * FROM T; SELECT * FROM (S); S; T"


def without_places(node: object) -> object:
    if isinstance(node, tuple):
        return tuple(map(without_places, node))
    if not is_dataclass(node):
        return node
    kept = (f.name for f in fields(node) if f.name not in ("at", "named_at", "text"))
    return type(node).__name__, *((name, without_places(getattr(node, name))) for name in kept)


def other_name(name: str, dice: random.Random) -> str:
    if dice.random() < 0.3:
        return name
    return dice.choice([f"{name}2", f"a{name}", "é", "name", "text", "b", "or", "days", "x'", "S"])


def in_other_names(text: str, dice: random.Random) -> str:
    """The text with another name for each, in another order."""
    names: dict[str, str] = {}

    def other(found: re.Match[str]) -> str:
        return names.setdefault(found[0], f"{dice.choice('abcdé')}{len(names)}")

    return NAMES.sub(other, text)


def mutated(text: str, dice: random.Random) -> str:
    """The text with some of its literals and names replaced by others, good and bad."""
    names: dict[str, str] = {}
    text = NAMES.sub(lambda found: names.setdefault(found[0], other_name(found[0], dice)), text)

    def other(found: re.Match[str]) -> str:
        if dice.random() < 0.4:
            return found[0]
        if found[0][0] in "'\"":
            return dice.choice(["'it''s'", '"two words"', "''", "'['", "'2'", "'; S//x'"])
        return dice.choice(["0", "7", "2.50", "1" + "0" * 400, "3"])

    return LITERAL.sub(other, text)


@pytest.mark.drawn
@pytest.mark.parametrize("text", [*texts()])
def test_an_instance_is_what_parsing_in_full_gives(text: str) -> None:
    dice = seeded("instances", text)
    similar = AlikeStatements()
    for again in (text, text, *(mutated(text, dice) for _ in range(times(6)))):
        expected, errors, following = parse_from(again, 1)
        found, found_errors, found_following = read_from(again, 1, similar)
        assert [str(error) for error in found_errors] == [str(error) for error in errors]
        assert found_following == following
        for one, whole in zip(found, expected, strict=True):
            assert one.name == whole.name
            if isinstance(one, Instance):
                assert one.query == whole
                bound, wrong = one.prepared.bind(one.values, one.name)
                assert not wrong
                assert without_places(bound) == without_places(whole)


def test_one_text_makes_instances_of_similar_ones() -> None:
    text = "".join(f"-- name: n{i}\nS//item->x[feed = 'f{i}'][price < {i}.5];\n" for i in range(5))
    found, errors, _ = read_from(text, 1, AlikeStatements())
    assert not errors
    assert [type(one) for one in found] == [Instance] * 5
    assert isinstance(found[4], Instance)
    assert found[4].values == {"0": "f4", "1": 4.5}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("S//a->x[b = c]", "S//a->x[b = b]"),
        ("S//a->x[b = c]", "S//a->x[b = dc:b]"),
        ("S//a->x[b]", "S//a->x[b']"),
        ("S//a/'b'->x", "S//b/'b'->x"),
        ("S//a->x JOIN {x = y, 7 days} S//b->y", "S//a->x JOIN {x = y, 7 weeks} S//b->y"),
        ("S//a->x[b = '1']", "S//a->x[b = 1]"),
        ("S//a->x[matches(., 'a')]", "S//a->x[matches(., '(')]"),
        ("SELECT <a>1</a> FROM S//a", "SELECT <a>2</a> FROM S//a"),
        (
            "DECLARE NAMESPACE p = 'u'; S//p:a->x[. = 'b']",
            "DECLARE NAMESPACE p = 'v'; S//p:a->x[. = 'b']",
        ),
        ("SELECT * FROM S", "DECLARE STREAM S (a); SELECT * FROM S"),
    ],
)
def test_what_is_no_constant_makes_no_instance(one: str, other: str) -> None:
    similar = AlikeStatements()
    (first,), _, _ = read_from(one, 1, similar)
    found, _, _ = read_from(other, 1, similar)
    assert not any(of_one(first) & of_one(query) for query in found)


def of_one(query: Query | Instance) -> set[Prepared]:
    """The queries that one is an instance of."""
    of = (query.prepared, query.prepared.like) if isinstance(query, Instance) else ()
    return {prepared for prepared in of if prepared is not None}


def test_a_text_without_constants_is_parsed_once() -> None:
    text = "S//a->x JOIN {x = y, 7 days} S//b->y"
    similar = AlikeStatements()
    (first, second), _, _ = read_from(f"{text};\n(: again :) {text}", 1, similar)
    (later,), _, _ = read_from(f"-- name: later\n{text}", 1, similar)
    assert isinstance(first, Instance)
    assert isinstance(second, Instance)
    assert isinstance(later, Instance)
    assert first.prepared is second.prepared is later.prepared
    assert later.query == parse_from(f"-- name: later\n{text}", 1)[0][0]
