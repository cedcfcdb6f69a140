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
        "1970-01-03T01:00:00Z promo  author “Joe”, note “read\ufffd31m it\ufffd” from "
        "“Streams that Join” followed 2 days 1 hour later by "
        "“Streams that Join” (http://x.example/1); t = u: “Streams that Join”; a = w: “Joe”"
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


ALIKE = """\
-- name: same
S/i[t->t] JOIN {similar(t, u) >= 0.5} R/i[t->u];
-- name: author
SELECT p, q FROM S/i/a->p FOLLOWED BY {similar(p, q, 'trigrams') >= 0.5} R/i/a->q
"""
STORIES = [
    {"stream": "S", "id": "s", "timestamp": 0,
     "xml": "<i><t>RSS  feeds in STRAßE use</t><a>Dostoevsky</a></i>"},
    {"stream": "R", "id": "r", "timestamp": 1,
     "xml": "<i><t>RSS in Strasse use: today</t><a>Dostoyevsky</a></i>"},
]  # fmt: skip


def test_the_words_that_alike_texts_share(tmp_path: Path) -> None:
    """In a file they are said after the likeness, on a terminal they are bold, too."""
    (tmp_path / "q.xscl").write_text(ALIKE)
    (tmp_path / "e.jsonl").write_text("".join(json.dumps(one) + "\n" for one in STORIES))
    run = ("run", "q.xscl", "--events", "e.jsonl", "--format", "text")
    lines = sorted(xscl(*run, at=tmp_path).stdout.splitlines())
    assert [line.partition("; ")[2] for line in lines] == [
        "similar(p, q, 'trigrams') >= 0.5: 0.545, “Dostoevsky”",
        "similar(t, u) >= 0.5: 0.667, “RSS … in STRAßE use”",
    ]
    bold = re.compile("\x1b\\[1m([^\x1b]*)\x1b\\[0m")
    for variables in ({}, {"NO_COLOR": "1"}):
        shown = on_terminal(tmp_path, *run, TERM="xterm-256color", columns=300, **variables)
        author, same = sorted(shown.splitlines(), key=lambda line: "same  " in line)
        named = {"author  ", "same  "}  # bold where there is no colour
        assert {*bold.findall(same)} - named == {"RSS", "in STRAßE use", "RSS in Strasse use"}
        assert {*bold.findall(author)} - named == {"Dostoevsky", "Dosto", "evsky"}


def test_of_very_many_texts_none_are_said_to_be_alike() -> None:
    """It would take long, and nobody has asked."""
    body = f"<d>{''.join(f'<t>w{n} x</t>' for n in range(400))}</d>"
    query = "S/d->d JOIN {similar(d/t, e/t) >= 0.5} R/d->e"
    with Engine() as engine:
        name = engine.subscribe(query).name
        query_of = {name: engine.subscriptions[0].query}.get
        engine.publish("S", body, id="s", timestamp=0)
        (match,) = engine.publish("R", body, id="r", timestamp=0)
    assert "similar" not in Sentences(query_of, links=False).plain(match)


ITEM = "<item><n>{0}</n><title>Part {0}</title><link>https://a.example/{0}</link></item>"
SHOWN = {
    # A pattern without a SELECT: titles and links, variables, the time between.
    "EVENT SEQ(S/item a, !S/none x, S/item b) WITHIN 1 day": (
        "a “Part 1” (https://a.example/1), 1 hour later b “Part 2” (https://a.example/2)"
    ),
    # With one: its result.
    "SELECT a.n AS first, b.title FROM EVENT SEQ(S/item a, S/item b) WITHIN 1 day": (
        "“Part 2”; first “1”"
    ),
    # Of an event query, what is computed.
    "SELECT n, 2*n AS twice FROM FILTER{n = 2}(S/item)": "n “2”, twice “4”",
    "FILTER{n = 2}(S/item)": "“Part 2” (https://a.example/2); n “2”",
    # What has neither title nor link: its values.
    "EVENT SEQ(S/item->i[n = 1] a, R/r b) WITHIN 1 day": (
        "a “Part 1” (https://a.example/1), 2 hours later b k “7”"
    ),
    # Only what says nothing at all is called by its id.
    "EVENT R/void": "void-1",
    # A published result by its members.
    "SELECT k FROM R/r->r[./k->k] PUBLISH P; P/result": "k “7”",
}


@pytest.mark.parametrize("text", SHOWN)
def test_each_kind_of_query_is_shown_by_what_it_says(text: str) -> None:
    with Engine() as engine:
        engine.load(text)
        query_of = {one.name: one.query for one in engine.subscriptions}
        names = [*query_of]
        found = [
            *engine.publish("S", ITEM.format(1), id="d1", timestamp=0),
            *engine.publish("S", ITEM.format(2), id="d2", timestamp=3600),
            *engine.publish("R", "<r><k>7</k></r>", id="r-1", timestamp=7200),
            *engine.publish("R", "<void/>", id="void-1", timestamp=7300),
            *engine.flush(),
        ]
    sentences = Sentences(query_of.get, links=False)
    last = names[-1]
    (shown,) = [sentences.plain(one).partition("  ")[2] for one in found if one.query == last]
    assert shown == SHOWN[text]


def test_of_many_events_the_first_and_the_last_with_the_time_between() -> None:
    text = "PATTERN SEQ(S/item+ a[], R/r b) WHERE skip_till_next_match WITHIN 2 days"
    with Engine() as engine:
        query = engine.subscribe(text, name="many")
        for number in range(20):
            engine.publish("S", ITEM.format(number), id=f"d{number}", timestamp=3600 * number)
        found = engine.publish("R", "<r><k>7</k></r>", id="r", timestamp=3600 * 20)
        longest = max([*found, *engine.flush()], key=lambda one: len(one.documents))
    shown = Sentences({"many": query.query}.get, links=False).plain(longest)
    assert shown.endswith(", … 13 more, 14 hours later b k “7”")


def test_a_sentence_fits_a_terminal_that_has_links(folder: Path) -> None:
    run = ("run", "q.xscl", "--events", "e.jsonl", "--quiet")
    shown = on_terminal(folder, *run, columns=60, TERM="xterm-256color")
    lines = re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\", "", shown).splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) == 60
    assert sum(line.endswith("…") for line in lines) == 2
