"""Matches as sentences: what a person reads, on a terminal and in a file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.commands import xscl
from tests.terminal import on_terminal
from xscl.engine import Engine
from xscl.sinks.readable import Sentences

QUERIES = """\
-- name: promo
SELECT a, n FROM S/book[./title->t][./author->a]
FOLLOWED BY {t = u AND a = w, 7 days} S/blog[./title->u][./author->w][./note->n];
-- name: plain
S/book[./title->t] JOIN {t = u} S/blog/title->u;
-- name: alone
S//note;
"""
DAY = 86_400
BOOK = "<book><title>Streams\n that  Join</title><author>Ann</author><author>Joe</author></book>"
BLOG = (
    "<blog><title>Streams\n that  Join</title><author>Joe</author><link>http://x.example/1</link>"
    "<note>read\u009b31m it\u202e</note></blog>"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "q.xscl").write_text(QUERIES)
    documents = [
        {"id": "b1", "timestamp": 0, "xml": BOOK},
        {"id": "w1", "timestamp": 2 * DAY + 3600, "xml": BLOG},
    ]
    (tmp_path / "e.jsonl").write_text("".join(json.dumps(one) + "\n" for one in documents))
    return tmp_path


def test_a_match_is_a_sentence(folder: Path) -> None:
    done = xscl("run", "q.xscl", "--events", "e.jsonl", "--format", "text", at=folder)
    alone, plain, promo = sorted(done.stdout.splitlines())
    assert promo == (
        "1970-01-03T01:00:00Z promo  “Streams that Join” followed 2 days 1 hour later by "
        "“Streams that Join” (http://x.example/1); t = u: “Streams that Join”; a = w: “Joe”; "
        "n: “read\ufffd31m it\ufffd”"
    )
    assert plain == (
        "1970-01-03T01:00:00Z plain  “Streams that Join” and, 2 days 1 hour later, "
        "“Streams that Join”; t = u: “Streams that Join”"
    )
    assert alone == "1970-01-03T01:00:00Z alone  “Streams that Join” (http://x.example/1)"
    assert re.search(r"query +matches\n(promo|plain|alone) +1\n", done.stderr)


def test_a_pipe_and_a_file_get_json_lines_and_a_terminal_sentences(folder: Path) -> None:
    run = ("run", "q.xscl", "--events", "e.jsonl")
    assert xscl(*run, at=folder).stdout.startswith('{"id"')
    xscl(*run, "-o", "out.jsonl", at=folder)
    assert (folder / "out.jsonl").read_text().startswith('{"id"')
    shown = on_terminal(folder, *run, TERM="xterm-256color")
    assert "\x1b]8;" in shown
    assert "http://x.example/1\x1b\\" in shown
    assert "followed 2 days 1 hour later by" in shown
    assert "\u009b" not in shown
    assert "\u202e" not in shown
    plain = on_terminal(folder, *run, TERM="xterm-256color", NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", plain), "no colour"
    for without in ("dumb", "linux"):
        shown = on_terminal(folder, *run, TERM=without)
        assert "\x1b]8;" not in shown
        assert "(http://x.example/1)" in shown
    lines = on_terminal(folder, *run, "--format", "jsonl", TERM="xterm")
    assert "\u009b" not in lines
    assert any("\u009b" in json.loads(line)["result"] for line in lines.splitlines())


def test_the_nodes_of_a_match_say_which_values_it_joins(tmp_path: Path) -> None:
    """Of a document of many items, those of the one item; of several values, the one selected."""
    (tmp_path / "q.xscl").write_text(
        "-- name: q\nSELECT x FROM S//i[k->x] JOIN {x = y OR x = z} R/r[a->y][b->z]"
    )
    events = [
        {"stream": "S", "id": "s", "timestamp": 1,
         "xml": "<s><i><k>1</k><k>2</k></i><i><k>3</k></i></s>"},
        {"stream": "R", "id": "r", "timestamp": 1, "xml": "<r><a>1</a><a>3</a><b>2</b></r>"},
    ]  # fmt: skip
    (tmp_path / "e.jsonl").write_text("".join(json.dumps(one) + "\n" for one in events))
    done = xscl("run", "q.xscl", "--events", "e.jsonl", "--format", "text", at=tmp_path)
    assert sorted(line.partition("; ")[2] for line in done.stdout.splitlines()) == [
        "x = y: “1”", "x = y: “3”", "x = z: “2”",
    ]  # fmt: skip


def test_a_sentence_does_not_depend_on_those_before_it() -> None:
    """Nodes, documents and values are remembered; each match is as if it were the first."""
    query = (
        "SELECT x, k FROM S//i->x[./k->k][./t->t] FOLLOWED BY {k = l AND t = u} "
        "S//i->y[./k->l][./t->u]"
    )
    item = "<i><title>T{n} {k}</title><k>{k}</k><k>{n}</k><t>{t}</t></i>"
    with Engine() as engine:
        name = engine.subscribe(query).name
        query_of = {name: engine.subscriptions[0].query}.get
        found = [
            match
            for n in range(4)
            for match in engine.publish(
                "S",
                f"<d>{''.join(item.format(n=n, k=k, t=t) for k in 'ab' for t in 'xy')}</d>",
                id=f"d{n}",
                timestamp=n,
            )
        ]
    together = Sentences(query_of, links=False)
    sentences = [together.plain(match) for match in found]
    assert len(set(sentences)) > 20
    for match, sentence in zip(found, sentences, strict=True):
        alone = Sentences(query_of, links=False)
        assert alone.sentence(match).plain == sentence == together.plain(match)
