"""`xscl join` as users run it: once and again, with other queries, with input that is wrong."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import xscl
from tests.commands import xscl as command
from tests.xscl.spark.joining import events, rows, run_join
from xscl.cli.main import cli
from xscl.errors import StateError, XSCLError
from xscl.spark.columns import MOMENT
from xscl.spark.joins.revisions import named

ITEMS = pa.schema(
    [("stream", pa.string()), ("id", pa.string()), ("timestamp", MOMENT), ("xml", pa.string())]
)
DAY = 86_400


def post(id: str, time: int, author: str) -> dict[str, Any]:
    return {"id": id, "timestamp": time, "xml": f"<post><by>{author}</by></post>"}


WHOLE = ("q.xscl", "--events", "e", "--to", "to")
SAME = "S//post->p[by->x] FOLLOWED BY {x = y, 7 days} S//post->r[by->y]"


def test_once_and_again_with_other_queries(spark: SparkSession, tmp_path: Path) -> None:
    queries, to = tmp_path / "q.xscl", tmp_path / "to"
    files = str(tmp_path / "in" / "**" / "*")
    options = (str(queries), "--events", files, "--to", str(to), "--once")
    queries.write_text(f"{SAME};\n-- name: ends\nS//post[by = 'b'];\n-- name: other\n{SAME}")
    bad = ["no json", '{"id": "x", "xml": "<a/>"}', '{"timestamp": 1, "xml": "<a/>"}', "", "[]"]
    odd = [
        '{"id": "s", "timestamp": 1, "start": "soon", "xml": "<a/>"}',
        '{"id": "t", "timestamp": 1, "start": 2, "xml": "<a/>"}',
        '{"id": "u", "timestamp": 1, "json": {"t": "\\ud800"}}',
        '{"id": "v", "timestamp": 1, "advance": 1}',
        f'{{"id": "w", "timestamp": 1, "json": {"[" * 1_000}{"]" * 1_000}}}',
    ]
    bad += [*odd, json.dumps(post("broken", 5, "<"))]
    events(tmp_path / "in" / "1.jsonl", [post("a1", 0, "a"), *bad, post("b1", 10, "b")])
    first = run_join(*options)
    assert [line for line in first.stderr.splitlines() if line.startswith("batch")] == [
        "batch 0: 12 documents, 1 match, 10 skipped (10 dead letters)"
    ]
    assert first.stderr.splitlines()[-1].startswith(
        "12 documents, 10 skipped (10 dead letters), 1 match, "
    )
    letters = {row["body"]: row["skipped"] for row in rows(to / "dead")}
    expected = {*bad[:3], bad[4], *odd, "<post><by><</by></post>"}
    assert letters.keys() == expected
    assert "no JSON" in letters["no json"]
    assert letters[bad[1]] == "it has no `timestamp`"

    # One continues, one is changed, one is gone, one is new; the first has its number as a name.
    queries.write_text(
        f"-- a comment\n\n{SAME};\n-- name: other\n{SAME.replace('7 days', '8 days')};"
        "\n-- name: new\nS//post[by = 'a']"
    )
    (tmp_path / "in" / "2.jsonl.gz").write_bytes(
        gzip.compress(json.dumps(post("a2", DAY, "a")).encode() + b"\n")
    )
    events(
        tmp_path / "in" / "deep" / "er" / "3.jsonl",
        [post("a1", 0, "a"), post("old", -9 * DAY, "a")],
    )
    again = run_join(*options)
    assert again.stderr.splitlines()[:4] == [
        "1 query as before: q1",
        "1 query new, from now on: new",
        "1 query changed, again from now on: other",
        "1 query not there any more, stopped: ends",
    ]
    assert "1 duplicate, 1 late" in again.stderr
    assert "--lateness" in again.stderr
    found = {(row["query"], tuple(row["documents"])) for row in rows(to / "matches")}
    assert found == {("ends", ("b1",)), ("q1", ("a1", "a2")), ("new", ("a2",))}
    assert len(rows(to / "matches")) == 3

    state = json.loads(command("join", "status", "to", "--format", "json", at=tmp_path).stdout)
    assert (state["batches"], state["documents"], state["matches"]) == (2, 15, 3)
    assert (state["dead"], state["duplicate"], state["late"], state["revisions"]) == (
        10,
        1,
        1,
        2,
    )
    assert state["state_rows"] > 0
    said = command("join", "status", "to", at=tmp_path).stdout
    assert "15 documents, 3 matches, 12 skipped (1 duplicate, 1 late, 10 dead letters)" in said
    assert "1 dead letter: it has no `timestamp`" in said

    # What is fixed for the life of a checkpoint, and what belongs to no query.
    for wrong, problem in (
        (("--grouped",), "was begun with no --grouped, and this is --grouped"),
        (("--lateness", "2 days"), "was begun with --lateness '1 day', and this is --lateness '2"),
        (("--format", "jsonl"), "was begun with --format parquet, and this is --format jsonl"),
    ):
        with pytest.raises(StateError, match=problem):
            run_join(*options, *wrong)
    shutil.rmtree(to / "checkpoint")
    with pytest.raises(StateError, match="is gone: restore it"):
        run_join(*options)


def test_items_grouped_as_lines(spark: SparkSession, tmp_path: Path) -> None:
    """Batches that are not whole are read as far as they are there: an ingestion that writes one
    again writes the same items."""
    queries = tmp_path / "q.xscl"
    queries.write_text(f"{SAME};\n{SAME};")
    posts = [post(f"p{number}", 60 * number, "ab"[number % 2]) for number in range(20)]
    for number, some in enumerate((posts[:12], posts[8:])):
        batch = tmp_path / "archive" / "items" / f"batch={number}"
        batch.mkdir(parents=True)
        table = pa.Table.from_pylist(
            [one | {"stream": "S", "timestamp": one["timestamp"] * 1_000_000} for one in some],
            pa.schema([*ITEMS.remove(2), ("timestamp", pa.int64())]),
        )
        table = table.select(ITEMS.names).cast(ITEMS)
        pq.write_table(table, batch / "part-0.parquet")
        if number == 0:
            (batch / "_SUCCESS").touch()
    to = tmp_path / "to"
    run_join(str(queries), "--items", str(tmp_path / "archive"), "--to", str(to), "--once",
             "--grouped", "--format", "jsonl")  # fmt: skip
    with xscl.Engine() as engine:
        engine.load(queries.read_text())
        expected = {match.documents for match in engine.publish_many(posts)}
    found = rows(to / "matches")
    assert sorted(tuple(row["documents"]) for row in found) == sorted(expected)
    assert {row["matches"] for row in found} == {2}
    assert [row["queries"] for row in found if "queries" in row] == [["q1", "q2"]]


def test_items_without_a_column(spark: SparkSession, tmp_path: Path) -> None:
    batch = tmp_path / "archive" / "items" / "batch=0"
    batch.mkdir(parents=True)
    pq.write_table(ITEMS.remove(3).empty_table(), batch / "part-0.parquet")
    (batch / "_SUCCESS").touch()
    queries = tmp_path / "q.xscl"
    queries.write_text(SAME)
    archive, to = tmp_path / "archive", tmp_path / "to"
    options = (str(queries), "--items", str(archive), "--to", str(to), "--once")
    with pytest.raises(XSCLError, match="no column `xml`; its columns are `stream`, `id`, "):
        run_join(*options)
    assert not to.exists()
    # A file system that Spark does not have.
    with pytest.raises(XSCLError, match="No FileSystem for scheme"):
        run_join(str(queries), "--events", str(queries), "--to", "nofs://host/to", "--once")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("q.xscl", "--to", "to"), 2, "give --items or --events"),
        (("q.xscl", "--to", "to", "--items", ".", "--events", "e"), 2, "give --items or --events"),
        (("q.xscl", "--events", "e"), 2, "--to"),
        (("none.xscl", "--events", "e", "--to", "to"), 2, "'none.xscl' does not exist"),
        (("bad.xscl", "--events", "e", "--to", "to"), 2, "bad.xscl: query 'q1', line 1, column 4"),
        (("q.xscl", "--events", "none*", "--to", "to"), 1, "--events none*: there is no such file"),
        (("q.xscl", "--items", "full", "--to", "to"), 1, "no ingested items in 'full'"),
        (("q.xscl", "--items", ".", "--to", "to"), 2, "--to to lies in --items ."),
        (("q.xscl", "--events", "e", "--to", "full"), 1, "the folder is not empty"),
        (("q.xscl", "--events", "e", "--to", "e"), 1, "/e: Not a directory"),
        (("q.xscl", "--events", "e", "--to", "e/to"), 1, "e/to: Not a directory"),
        (("q.xscl", "--events", "e", "--to", "to", "--every", "INF"), 2, "--every"),
        (("q.xscl", "--events", "e", "--to", "to", "--grouped", "--results"), 2, "--results"),
        *(
            ((*WHOLE, "--conf", f"spark.xscl.join.tasks={tasks}"), 2, "expected a whole number")
            for tasks in ("0", "-1", "many")
        ),
        (("status", "none"), 2, "'none' does not exist"),
        (("status", "full"), 1, "is not what `xscl spark run --to` fills"),
    ],
)
def test_wrong_usage(options: tuple[str, ...], code: int, message: str, tmp_path: Path) -> None:
    (tmp_path / "q.xscl").write_text(SAME)
    (tmp_path / "bad.xscl").write_text("S//[")
    (tmp_path / "e").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    before = sorted(tmp_path.rglob("*"))
    done = command("join", *options, at=tmp_path)
    assert (done.returncode, message in done.stderr) == (code, True), done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_what_was_all_skipped_and_a_query_that_is_stopped_fail(
    spark: SparkSession, tmp_path: Path
) -> None:
    queries, to = tmp_path / "q.xscl", tmp_path / "to"
    options = (str(queries), "--events", str(tmp_path / "in" / "*"), "--to", str(to), "--once")
    greedy = "PATTERN S+ a[] WHERE skip_till_any_match { a[1].k >= 0 }"
    queries.write_text(f"-- name: all\n{greedy};\n-- name: one\nS/*[k = 7]")
    events(tmp_path / "in" / "1.jsonl", ["no json"])
    bad = run_join(*options, code=1)
    assert "1 document, 1 skipped (1 dead letter), 0 matches" in bad.stderr
    some = [{"id": f"e{n}", "timestamp": n, "json": {"k": n}} for n in range(40)]
    events(tmp_path / "in" / "2.jsonl", some)
    stopped = run_join(*options, code=1)
    said = stopped.stderr.splitlines()
    assert sum(line.startswith("query 'all' was stopped: ") for line in said) == 1
    assert "batch 1: 40 documents, 1 match, 0 skipped" in said
    assert [row["documents"] for row in rows(to / "matches")] == [["e7"]]
    assert not (to / "dead" / "batch=1").exists()
    state = json.loads(command("join", "status", "to", "--format", "json", at=tmp_path).stdout)
    assert (state["dead"], len(state["problems"]), len(state["stopped"])) == (1, 1, 1)
    (line,) = state["stopped"]
    assert line in command("join", "status", "to", at=tmp_path).stdout


def test_queries_without_a_name_have_their_numbers() -> None:
    texts = [
        "S//a->x; DECLARE NAMESPACE p = 'u'; S//p:b->x;\n-- name: c\nS//c->x",
        "-- name: d\nDECLARE NAMESPACE p = 'v'; S//p:d; S//e -- e",
    ]
    with xscl.Engine() as engine:
        for text in texts:
            engine.load(text)
        expected = [(one.name, one.query.source) for one in engine.subscriptions]
    again = named(texts, {})
    with again.engine(0) as engine:
        found = [one.name for one in engine.subscriptions]
        assert found == [name for name, _ in expected] == ["q1", "q2", "c", "d", "q5"]
        plan = engine.plan((text, {}) for text in texts)
        assert plan.continuing == found
        again.load_missing(engine)
        assert len(engine.subscriptions) == len(found)


def test_help_names_both_commands() -> None:
    assert "status" in CliRunner().invoke(cli, ["join", "--help"]).output
