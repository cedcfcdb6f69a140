"""Characters that XML does not have: judged where they come in, whatever reads the documents, and
whatever came before; what is refused is counted, and harms nothing else."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import xscl

FOREIGN = ["\ud800", "\udfff", "\0", "\x01", "\x1f", "\ufffe"]

QUERIES = {
    "a filter": "S/json[k = '1']",
    "XML": "SELECT <r>{x}</r> FROM S/json->x[k = '1']",
    "JSON": "SELECT {\"x\": x} FROM S/json->x[k = '1']",
    "a join": "S/json[./k->x] FOLLOWED BY {x = y, 1 s} S/json[./k->y]",
    "a pattern": "EVENT SEQ(S a, !S b) WHERE [k] WITHIN 1 s",
    "an open event query": "SELECT * FROM FILTER{k = '1'}(S)",
    "an event query": "DECLARE STREAM S(k); SELECT k FROM FILTER{k = '1'}(S)",
    "another stream": "T//a",
}

GOOD: list[dict[str, object]] = [
    {"id": f"g{number}", "timestamp": 10 * number, "json": {"k": "1", "n": number}}
    for number in range(3)
]


def bad(foreign: str) -> list[dict[str, object]]:
    return [
        {"json": {foreign: "x", "k": "1"}},
        {"json": {"k": "1", "a": [{"b": {f"x{foreign}": None}}]}},
        {"json": {"k": "1", "a": [{f"{foreign}x": []}]}},
        {"json": {"k": "1", "v": foreign}},
        {"json": {"k": "1", "v": [[foreign]]}},
        {"json": {"k": "1"}, "id": f"i{foreign}"},
        {"json": {"k": "1"}, "stream": f"S{foreign}"},
    ]


def each(envelopes: Sequence[dict[str, object]], engine: xscl.Engine) -> list[xscl.Match]:
    return [match for one in envelopes for match in engine.publish_many([one])]


def together(envelopes: Sequence[dict[str, object]], engine: xscl.Engine) -> list[xscl.Match]:
    return engine.publish_many(list(envelopes))


def as_bytes(envelopes: Sequence[dict[str, object]], engine: xscl.Engine) -> list[xscl.Match]:
    return engine.publish_many(
        [{**one, "json": json.dumps(one["json"]).encode()} for one in envelopes]
    )


WAYS: list[Callable[[Sequence[dict[str, object]], xscl.Engine], list[xscl.Match]]]
WAYS = [each, together, as_bytes]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("queries", [[*QUERIES], ["an event query"], ["another stream"]])
def test_a_document_with_a_foreign_character_is_refused_alone(
    queries: Sequence[str],
    way: Callable[[Sequence[dict[str, object]], xscl.Engine], list[xscl.Match]],
    tmp_path: Path,
) -> None:
    hostile = [one for foreign in FOREIGN for one in bad(foreign)]
    hostile = [{"timestamp": 5, "id": f"b{n}", **one} for n, one in enumerate(hostile)]
    with xscl.Engine() as alone:
        for name in queries:
            alone.subscribe(QUERIES[name], name)
        expected = [*way(GOOD, alone), *alone.flush()]
    skipped: list[xscl.DocumentError] = []
    state = tmp_path / "s.duckdb"
    with xscl.Engine(state, on_skip=skipped.append) as engine:
        for name in queries:
            engine.subscribe(QUERIES[name], name)
        # The same structure was there before, and comes again after them.
        found = way(GOOD[:1], engine)
        found += way(hostile, engine)
        found += way(GOOD[1:], engine)
        counted = engine.skipped.malformed
    assert (len(skipped), counted) == (len(hostile), len(hostile))
    assert all("which is no character of XML" in error.problem for error in skipped)
    with xscl.Engine(state) as engine:
        found += engine.flush()
    assert sorted(json.dumps(one.to_dict()) for one in found) == sorted(
        json.dumps(one.to_dict()) for one in expected
    )


@pytest.mark.parametrize("foreign", FOREIGN)
def test_a_name_of_a_query_has_characters_of_xml_alone(foreign: str, tmp_path: Path) -> None:
    with xscl.Engine(tmp_path / "s.duckdb") as engine:
        with pytest.raises(xscl.QueryError, match="found a name with U"):
            engine.subscribe("S//a", f"q{foreign}")
        with pytest.raises(ExceptionGroup) as refused:
            engine.load(f"-- name: q{foreign}r\nS//a")
        (error,) = refused.value.exceptions
        assert "which is no character of XML" in str(error)
        with pytest.raises(xscl.QueryError, match="found a name with U"):
            engine.subscribe_many("S//a[b = :p]", [{"p": 1, "name": f"q{foreign}"}])
        # What is in a comment means nothing.
        engine.subscribe(f"S//a (: {foreign} :)", "kept")
        assert len(engine.publish("S", "<a/>", id="d")) == 1
    with xscl.Engine(tmp_path / "s.duckdb") as engine:
        assert [one.name for one in engine.subscriptions] == ["kept"]


def test_values_that_no_parameter_has_may_be_anything(tmp_path: Path) -> None:
    values = {"p": "x", "q": datetime.datetime.now(), "\ud800": 10**5_000}
    with xscl.Engine(tmp_path / "s.duckdb") as engine:
        engine.subscribe("S//a[. = :p]", "kept", params=values)
        engine.subscribe("S//a", "without", params=values)
    with xscl.Engine(tmp_path / "s.duckdb") as engine:
        assert len(engine.publish("S", "<a>x</a>", id="d")) == 2
