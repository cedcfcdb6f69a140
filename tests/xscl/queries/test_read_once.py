"""Queries of one text up to names and constants: the text is parsed once, and each query is the
one that it would be alone."""

from __future__ import annotations

import re
from random import Random
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import xscl
from tests.drawn import drawn, seeded, times
from tests.oracle.drawn_compositions import drawn_query
from tests.oracle.drawn_sequences import Scene, scenes
from xscl.language import alike, parse

MANY = 12
CONSTANTS = {
    "join": "S/*[kind = '{kind}'][./who->a] FOLLOWED BY {{a = b, 9 s}} S/*[amount > {n}][./who->b]",
    "sequence": "EVENT SEQ(S/*[kind = '{kind}'] a, S/* b) WHERE [who] AND b.amount > {n} "
    "WITHIN 9 s",
    "absence": "EVENT SEQ(S/* a, !(S/*[kind = '{kind}'] n), S/* b) WHERE a.amount = {n} WITHIN 5 s",
    "kleene": "PATTERN(S/*[kind = '{kind}']+ a[], S/* b) WHERE skip_till_next_match(a[], b) "
    "{{[who] AND a[i].amount > a[i-1].amount AND b.amount > {n}}} WITHIN 20 s",
    "event query": "FILTER{{kind = '{kind}'}}(S) NEXT{{$2.who = $1.who AND $2.amount > {n}}} S",
    "composition": "SELECT * FROM (S A; S B) WHERE FILTER(A.who = B.who), "
    "A.kind = '{kind}', B.amount > {n} AND (A, B) OCCURS WITHIN 9 s",
}
NAMES = "S/*[./{one}->a][./kind->c] FOLLOWED BY {{a = b AND c = d, 9 s}} S/*[./{one}->b][./kind->d]"
DOCUMENTS: list[dict[str, Any]] = [
    {
        "stream": "S",
        "id": f"d{at}",
        "timestamp": at,
        "json": {"kind": "ab"[at * at % 3 % 2], "who": at % 2, "amount": at * 7 % 12},
    }
    for at in range(24)
]


def texts(template: str) -> str:
    return ";\n".join(
        f"-- name: q{n}\n{template.format(kind='ab'[n % 2], n=n, one=f'leaf{n}')}"
        for n in range(MANY)
    )


def loaded(text: str, *, sharing: bool) -> tuple[dict[str, Any], int]:
    """What a user sees of each query, and how many were parsed before they were looked at."""
    with (
        mock.patch.object(alike, "parse_query", wraps=alike.parse_query) as parsed,
        xscl.Engine(lateness=0, query_sharing=sharing) as engine,
    ):
        engine.load(text)
        calls = parsed.call_count
        return shown(engine, DOCUMENTS), calls


def shown(engine: xscl.Engine, documents: list[dict[str, Any]]) -> dict[str, Any]:
    """What a user sees of each query, over some documents."""
    found = [*engine.publish_many(documents), *engine.flush()]
    return {
        one.name: {
            "tree": one.query,
            "text": one.query.text[one.query.at :].partition(";")[0],
            "explained": engine.explain(one.name),
            "matches": sorted(str(match.to_dict()) for match in found if match.query == one.name),
        }
        for one in engine.subscriptions
    }


@pytest.mark.parametrize("language", CONSTANTS)
def test_queries_that_differ_in_constants_are_parsed_once(language: str) -> None:
    text = texts(CONSTANTS[language])
    shared, parsed = loaded(text, sharing=True)
    alone, _ = loaded(text, sharing=False)
    assert parsed <= 3
    assert any(one["matches"] for one in shared.values())
    for name, one in shared.items():
        for key, value in one.items():
            assert value == alone[name][key], (name, key)


def test_queries_that_differ_in_names_are_parsed_once() -> None:
    """And asked for what they state of their consistency."""
    shared, parsed = loaded(texts(NAMES), sharing=True)
    assert parsed <= 3
    assert all(f"leaf{n}->a" in shared[f"q{n}"]["text"] for n in range(MANY))


def test_a_query_that_is_not_parsed_is_refused_in_its_own_words() -> None:
    text = texts(CONSTANTS["sequence"])
    with xscl.Engine() as engine:
        engine.load(text.partition(";")[0])
        with pytest.raises(ExceptionGroup) as refused:
            engine.load(";\n".join(reversed(text.split(";\n"))))
    (error,) = refused.value.exceptions
    assert isinstance(error, xscl.QueryError)
    assert (error.query, error.line) == ("q0", 2 * MANY - 1)


def test_a_query_that_is_not_parsed_is_read_when_it_is_asked_for() -> None:
    text = texts(CONSTANTS["sequence"])
    queries, _ = parse(text)
    with xscl.Engine() as engine:
        assert [one.query for one in engine.load(text)] == list(queries)


def with_other_constants(dice: Random, text: str, name: str) -> str:
    """A query under a name, with other numbers and strings in some places."""

    def other(token: re.Match[str]) -> str:
        number = token[0][0].isdigit()
        if dice.random() < 0.5:
            return token[0]
        return str(dice.randint(1, 9)) if number else dice.choice(["'a'", "'b'", "'1'"])

    query = re.sub(r"^-- name: .*\n", "", text.strip()).rstrip("; \n")
    return f"-- name: {name}\n" + re.sub(r"'[^']*'|(?<![\w.])\d+(?![\w.])", other, query)


@pytest.mark.drawn
def test_drawn_queries_with_other_constants_are_the_queries_that_they_would_be_alone() -> None:
    refused = several = 0
    for number in range(times(30)):
        dice = seeded("other constants", number)
        drawn = drawn_query(dice)
        text = ";\n".join(with_other_constants(dice, drawn.text, f"q{n}") for n in range(4))
        made = [seen(text, drawn.envelopes, sharing=sharing) for sharing in (True, False)]
        assert made[0] == made[1], text
        refused += made[0][1] > 0
        several += len(made[0][0]) > 1
    assert several > refused


@pytest.mark.drawn
@drawn(20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(scenes(), st.integers(0, 10**6))
def test_drawn_patterns_with_other_constants(scene: Scene, seed: int) -> None:
    dice, first = Random(seed), scene.text.partition(";")[0]
    text = ";\n".join(with_other_constants(dice, first, f"q{n}") for n in range(4))
    made = [seen(text, scene.envelopes, sharing=sharing) for sharing in (True, False)]
    assert made[0] == made[1], text


def seen(
    text: str, envelopes: list[dict[str, Any]], *, sharing: bool
) -> tuple[dict[str, Any], int]:
    """What a user sees of the good queries of a text, and how many are refused."""
    with xscl.Engine(lateness=20, query_sharing=sharing) as engine:
        refused = 0
        try:
            engine.load(text)
        except* xscl.QueryError as errors:
            refused = len(errors.exceptions)
        return shown(engine, envelopes), refused
