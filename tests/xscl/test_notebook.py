"""What a session and a notebook show of an engine and of what it finds: useful, bounded, escaped,
and never an error."""

from __future__ import annotations

import html
import threading
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

import xscl

EVIL = "<script>alert('x')</script>"
LONG = "x" * 100_000


def shown(one: Any) -> str:
    """The text of what a notebook shows, which is well-formed, and not long."""
    markup = one._repr_html_()
    assert len(markup) < 50_000
    root = etree.fromstring(markup.replace("&#x27;", "'"))
    assert {element.tag for element in root.iter()} <= {"table", "caption", "tr", "th", "td"}
    text = " ".join(root.itertext())
    assert "\x1b" not in text
    return text


def similar(number: int, *, name: str = "d") -> list[dict[str, object]]:
    return [{"id": f"{name}{n}", "timestamp": n, "xml": "<a>v</a>"} for n in range(number)]


def test_a_match() -> None:
    with xscl.Engine() as engine:
        engine.subscribe("SELECT <r>{x}</r> FROM S//a->x PUBLISH out", name=EVIL)
        (match,) = engine.publish("S", f"<a>{html.escape(EVIL)}</a>", id=EVIL, timestamp=60)
    assert repr(match) == f"<Match {EVIL!r}: {EVIL!r} at 1970-01-01T00:01:00Z>"
    text = shown(match)
    assert "alert('x')" in text
    for said in ("1970-01-01T00:01:00Z", "published to out", "of stream S", "result <r><a>"):
        assert said in text


def test_a_match_of_much() -> None:
    with xscl.Engine() as engine:
        engine.subscribe(f"SELECT s FROM S//s->s[. != '{LONG[:5]}']", name=LONG[:300])
        (match,) = engine.publish("S", f"<s>{LONG}</s>", id=LONG)
        assert len(repr(match)) < 300
        assert shown(match).count("x") < 4_000


def test_a_match_of_json() -> None:
    with xscl.Engine() as engine:
        engine.subscribe('SELECT {"a": x} FROM S//a->x')
        (match,) = engine.publish("S", "<a>v</a>")
    assert '{"a": "v"}' in shown(match)


def test_groups() -> None:
    with xscl.Engine() as engine:
        for n in range(30):
            engine.subscribe("S//a->x JOIN {x = y} S//a->y", name=f"<q{n}>")
        engine.publish_many(similar(25), grouped=True)
        groups = engine.publish("S", "<a>v</a>", id="z", grouped=True)
    assert repr(groups) == f"<MatchGroups: {len(groups)} groups, {groups.total:,} matches>"
    assert len(groups) > 20
    text = shown(groups)
    assert "documents queries matches" in text
    assert f"… {len(groups) - 20} more" in text
    assert repr(groups[0]) == "<MatchGroup 'd0', 'z': 30 matches of 30 queries>"
    assert "… 11 more" in shown(groups[0])
    assert repr(xscl.MatchGroups()) == "<MatchGroups: 0 groups, 0 matches>"
    shown(xscl.MatchGroups())


def test_a_subscription() -> None:
    with xscl.Engine() as engine:
        one, two = engine.load(f"-- name: one\nS//a;\n-- name: two\nT//b->b[. = '<;{LONG}']; ")
        (three,) = engine.subscribe_many("SELECT c FROM S//c->c[. = :p] PUBLISH out", [{"p": "<"}])
        assert repr(one) == "<Subscription 'one'>"
        assert "query S//a" in shown(one)
        assert "T//b->b[. = '<;xxx" in shown(two)
        assert "publishes to out" in shown(three)
        one.cancel()
        assert repr(one) == "<Subscription 'one', cancelled>"
        shown(one)
    shown(two)


def test_an_engine(tmp_path: Path) -> None:
    with xscl.Engine() as engine:
        assert repr(engine) == "<Engine: 0 queries, 0 documents taken, 0 held>"
        for n in range(30):
            engine.subscribe("S//a JOIN {1 day} R//b", name=f"<q{n}>")
        engine.publish_many(similar(3))
        assert repr(engine) == "<Engine: 30 queries, 3 documents taken, 3 held>"
        text = shown(engine)
        assert "<q0> R, S" in text
        assert "… 10 more" in text
    assert repr(engine) == "<Engine: closed>"
    assert shown(engine) == "Engine: closed"
    path = tmp_path / "s.duckdb"
    with xscl.Engine(path) as engine:
        assert repr(engine).startswith(f"<Engine '{path}': 0 queries")
        shown(engine)
    assert repr(engine) == f"<Engine '{path}': closed>"


def test_an_engine_that_was_broken_off() -> None:
    engine = xscl.Engine()

    def broken() -> Any:
        raise KeyboardInterrupt

    engine.subscribe("S//a", on_match=lambda match: broken())
    with pytest.raises(KeyboardInterrupt):
        engine.publish("S", "<a/>")
    assert repr(engine) == "<Engine: closed>"
    shown(engine)


def test_a_call_that_continues_blocks_no_one() -> None:
    with xscl.Engine() as engine:
        inside, go = threading.Event(), threading.Event()

        def hold() -> None:
            with engine.transaction():
                inside.set()
                go.wait(300)

        thread = threading.Thread(target=hold)
        thread.start()
        inside.wait(300)
        assert repr(engine).startswith("<Engine: 0 queries")
        go.set()
        thread.join()


def test_groups_of_no_document() -> None:
    engine = xscl.Engine(lateness=0)
    engine.subscribe("SELECT p * 2 AS twice FROM FILTER{p > 0}(A)")
    envelope: Any = {"stream": "A", "timestamp": 1, "json": {"p": 4}}
    (group,) = engine.publish_many([envelope], grouped=True)
    assert repr(group) == "<MatchGroup of no document: 1 match of 1 query>"
    assert "<td>none</td>" in group._repr_html_()
