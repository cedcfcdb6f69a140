"""The command line as a user types it: output, messages, exit codes."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.commands import xscl
from tests.terminal import errors_on_terminal
from xscl.version import __version__

COMMAND = [sys.executable, "-c", "from xscl.cli.main import main; main()"]

QUERIES = """\
-- name: same
S//a->x JOIN {x = y, 1 day} R//b->y;
-- name: all
S//a
"""
EVENTS = [
    {"stream": "S", "id": "d1", "timestamp": 1, "xml": "<a>v</a>"},
    {"stream": "R", "id": "d2", "timestamp": 2, "xml": "<b>v</b>"},
    {"stream": "R", "id": "d3", "timestamp": "1970-01-01T00:00:03Z", "xml": "<b>w</b>"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "q.xscl").write_text(QUERIES)
    lines = "".join(json.dumps(event) + "\n" for event in EVENTS)
    (tmp_path / "e.jsonl").write_text(lines)
    (tmp_path / "e.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    return tmp_path


def matches(done: subprocess.CompletedProcess[str]) -> list[tuple[str, list[str]]]:
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return sorted((line["query"], line["documents"]) for line in lines)


EXPECTED = [("all", ["d1"]), ("same", ["d1", "d2"])]


@pytest.mark.parametrize("events", ["e.jsonl", "e.jsonl.gz"])
def test_run_writes_matches_as_json_lines(folder: Path, events: str) -> None:
    done = xscl("run", "q.xscl", "--events", events, at=folder)
    assert done.returncode == 0
    assert matches(done) == EXPECTED
    first = json.loads(done.stdout.splitlines()[0])
    assert set(first) == {
        "id", "query", "stream", "time", "documents", "streams", "nodes", "bindings", "values",
        "result",
    }  # fmt: skip
    assert "3 documents, 0 skipped, 2 matches" in done.stderr


def test_run_with_rates(folder: Path) -> None:
    """They choose plans, and no file is meant by them."""
    (folder / "e.xscl").write_text("SELECT * FROM (S A; R B; R C)")
    given = ("--rates", "S=128", "--rates", "R=1")
    done = xscl("run", "e.xscl", "--events", "e.jsonl", *given, at=folder)
    assert done.returncode == 0, done.stderr
    assert [documents for _, documents in matches(done)] == [["d1", "d2", "d3"]]


def test_run_reads_standard_input(folder: Path) -> None:
    events = (folder / "e.jsonl").read_text()
    done = xscl("run", "q.xscl", "--events", "-", "--batch", "2", at=folder, stdin=events)
    assert done.returncode == 0
    assert matches(done) == EXPECTED


def test_run_answers_a_pipe_before_it_ends(folder: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "run", "q.xscl", "--events", "-"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(EVENTS[0]) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["query"] == "all"
        process.stdin.close()
        assert process.wait(timeout=300) == 0


def test_run_counts(folder: Path) -> None:
    done = xscl("run", "q.xscl", "--events", "e.jsonl", "--format", "counts", at=folder)
    assert done.stdout == "same\t1\nall\t1\n"


def test_run_writes_to_a_file(folder: Path) -> None:
    done = xscl("run", "q.xscl", "--events", "e.jsonl", "-o", "out.jsonl", at=folder)
    assert done.stdout == ""
    assert len((folder / "out.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize("form", ["jsonl", "counts", "atom"])
def test_progress_on_a_terminal_leaves_the_matches_where_they_go(folder: Path, form: str) -> None:
    """As in `xscl run … >FILE`: standard error is the terminal, standard output is not."""
    arguments = ("run", "q.xscl", "--events", "e.jsonl", "--format", form)
    done, shown = errors_on_terminal(folder, *arguments)
    assert "reading …" in shown
    assert "3 documents, 0 skipped, 2 matches" in shown
    piped = xscl(*arguments, at=folder)
    updated = re.compile("<updated>.*?</updated>")
    assert updated.sub("", done.stdout) == updated.sub("", piped.stdout) != ""


def test_run_reads_document_files(folder: Path) -> None:
    (folder / "s").mkdir()
    (folder / "s" / "1.xml").write_bytes(b"<?xml version='1.0' encoding='iso-8859-1'?><a>\xe9</a>")
    (folder / "r.xml").write_text("<b>é</b>")
    done = xscl("run", "q.xscl", "--docs", "S=s/*.xml", "--docs", "R=r.xml", at=folder)
    assert ("same", ["s/1.xml", "r.xml"]) in matches(done)


def test_run_reads_and_writes_json(folder: Path) -> None:
    (folder / "j.xscl").write_text("SELECT x/a FROM S/json->x[a]")
    (folder / "j.jsonl").write_text(
        '{"id": "d1", "json": {"a": [1.50, null]}}\n{"id": "d2", "json": [{"a": "é"}]}\n'
    )
    done = xscl("run", "j.xscl", "--events", "j.jsonl", at=folder)
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["result"] == {"a": [1.5, None]}


def test_what_is_written_is_json(folder: Path) -> None:
    """Python reads and writes NaN, which JSON has not."""
    (folder / "j.xscl").write_text("S//a")
    (folder / "j.jsonl").write_text('{"json": {"a": NaN}}\n{"json": {"a": 1}}\n')
    done = xscl("run", "j.xscl", "--events", "j.jsonl", at=folder)
    assert "NaN" not in done.stdout


def test_ids_by_default_are_the_numbers_of_lines(folder: Path) -> None:
    (folder / "a.jsonl").write_text('{"xml": "<a/>"}\n{"xml": "<a/>"}\n')
    done = xscl("run", "q.xscl", "--events", "a.jsonl", "--events", "a.jsonl", at=folder)
    assert matches(done) == [("all", ["a.jsonl:1"]), ("all", ["a.jsonl:2"])]
    assert "2 documents, 2 skipped (2 duplicate)" in done.stderr


def test_bad_documents_are_reported_and_the_others_unaffected(folder: Path) -> None:
    with (folder / "e.jsonl").open("a") as file:
        file.write('{"stream": "R", "id": "d4", "timestamp": 4, "xml": "<b>v</c>"}\n')
        file.write("no json\n[]\n")
        file.write('{"stream": "S", "timestamp": "soon", "xml": "<a/>"}\n{"stream": "S"}\n')
        file.write('{"stream": "Z", "id": "z", "xml": "<a/>"}\n')
    done = xscl("run", "q.xscl", "--events", "e.jsonl", at=folder)
    assert done.returncode == 0
    assert matches(done) == EXPECTED
    assert "document 'd4' of stream 'R': line 1, column 9: Opening and ending tag" in done.stderr
    assert "e.jsonl, line 5" in done.stderr
    assert "expected a JSON object" in done.stderr
    assert "'soon' is neither seconds nor ISO 8601" in done.stderr
    assert "it has neither `xml`" in done.stderr
    assert "no query reads stream 'Z' (1 document); the queries read: R, S" in done.stderr
    assert "5 skipped (5 malformed)" in done.stderr
    strict = xscl("run", "q.xscl", "--events", "e.jsonl", "--strict", at=folder)
    assert strict.returncode == 3
    assert matches(strict) == EXPECTED


def test_files_that_are_no_documents(folder: Path) -> None:
    (folder / "empty.xml").touch()
    (folder / "text.xml").write_text("hello")
    (folder / "good.xml").write_text("<a/>")
    done = xscl("run", "q.xscl", "--docs", "S=*.xml", at=folder)
    assert matches(done) == [("all", ["good.xml"])]
    assert "document 'empty.xml' of stream 'S': it is empty" in done.stderr
    assert "document 'text.xml' of stream 'S': line 1, column 1" in done.stderr
    feeds = xscl("run", "q.xscl", "--feed", "S=empty.xml", "--feed", "S=text.xml", at=folder)
    assert feeds.returncode == 1, "nothing could be read"
    assert "2 skipped (2 malformed)" in feeds.stderr


def test_a_bad_query_exits_2_and_the_good_ones_run(folder: Path) -> None:
    (folder / "bad.xscl").write_text("-- name: bad\nS//a->x JOIN {x = z} R//b->y;\n" + QUERIES)
    done = xscl("run", "bad.xscl", "--events", "e.jsonl", at=folder)
    assert done.returncode == 2
    assert matches(done) == EXPECTED
    assert "bad.xscl: query 'bad', line 2, column 19: the variable `z` is not bound" in done.stderr
    assert "                  ^" in done.stderr


def test_check(folder: Path) -> None:
    assert xscl("check", "q.xscl", at=folder).stdout == "2 queries, no error\n"
    (folder / "bad.xscl").write_text("S//a[;\nS//b[sum(c)];\nS//c")
    done = xscl("check", "bad.xscl", at=folder)
    assert done.returncode == 2
    assert "query 'q1', line 1, column 6" in done.stderr
    assert "query 'q2', line 2, column 6" in done.stderr
    assert "`sum`" in done.stderr
    clash = xscl("check", "q.xscl", "q.xscl", at=folder)
    assert clash.returncode == 2
    assert "the name 'same' is taken" in clash.stderr


def test_explain_json_has_stable_template_ids(folder: Path) -> None:
    (folder / "t.xscl").write_text(
        "-- name: one\nS//a[./b->x][./c->y] FOLLOWED BY {x = z AND y = w} S//d[./e->z][./f->w];\n"
        "-- name: two\nR//p[.//q->x][./r->y] JOIN {y = z AND w = x, 1 h} S//d[./e->z]//g->w;\n"
        "-- name: three\nS//a->x JOIN {x = y} S//b->y;\n"
        "-- name: four\nS//a->x[./b->y]\n"
    )
    done = xscl("explain", "t.xscl", "--format", "json", at=folder)
    one, two, three, four = json.loads(done.stdout)
    assert [one["name"], two["name"], three["name"], four["name"]] == [
        "one",
        "two",
        "three",
        "four",
    ]
    assert one["template"] == two["template"] != three["template"]
    assert four["template"] is None
    assert [entry["value_joins"] for entry in (one, two, three, four)] == [2, 2, 1, 0]
    assert one["variables"] == ["x", "y", "z", "w"]
    again = xscl("explain", "t.xscl", "--format", "json", at=folder)
    assert again.stdout == done.stdout


def test_explain_text(folder: Path) -> None:
    done = xscl("explain", "q.xscl", "--query", "same", at=folder)
    assert done.returncode == 0
    for part in ("tree pattern of block 1, stream S", "//a -> x", "x = y", "minor: x | y", ":-"):
        assert part in done.stdout
    missing = xscl("explain", "q.xscl", "--query", "none", at=folder)
    assert missing.returncode == 2
    assert "there are: same, all" in missing.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "q.xscl"], "nothing to read: give --events, --json, --docs, --feed or --items"),
        (["run", "q.xscl", "--events", "none.jsonl"], "there is no file 'none.jsonl'"),
        (["run", "none.xscl", "--events", "e.jsonl"], "none.xscl"),
        (["run", "q.xscl", "--docs", "S=none*.xml"], "no file matches"),
        (["run", "q.xscl", "--feed", "S=none.xml"], "none.xml"),
        (["run", "q.xscl", "--feed", "none.xml"], "STREAM=SOURCE"),
        (["run", "q.xscl", "--events", "e.jsonl", "--lateness", "soon"], "no duration"),
        (["run", "q.xscl", "--events", "e.jsonl", "--batch", "0"], "--batch"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_wrong_usage_exits_2(folder: Path, arguments: list[str], message: str) -> None:
    done = xscl(*arguments, at=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unwritable_output_exits_1(folder: Path) -> None:
    done = xscl("run", "q.xscl", "--events", "e.jsonl", "-o", "no/such/folder", at=folder)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_demo_shows_all_six_queries(folder: Path) -> None:
    done = xscl("demo", at=folder)
    assert done.returncode == 0
    news = ("common_reference", "answered", "retold")
    for query in ("reviewed", "author_on_subject", "cross_post", *news):
        assert f"Z {query}  " in done.stdout
        assert f"Z {query}  <" not in done.stdout
    assert "probably tell the same story.\n2026-06-02T05:40:00Z common_reference" in done.stdout
    assert "; similar(title1, title2) >= 0.5: 0.714, “Harbour wall vote … a recount”" in done.stdout
    assert "\n6 queries together: 106 matches" in done.stdout
    assert " items/s." in done.stdout


def test_version(folder: Path) -> None:
    shown = xscl("--version", at=folder).stdout
    python = ".".join(map(str, sys.version_info[:3]))
    assert shown == (
        f"xscl, version {__version__} (Python {python}, DuckDB {version('duckdb')}, "
        f"pyarrow {version('pyarrow')})\n"
    )


def test_a_dash_is_standard_output(folder: Path) -> None:
    arguments = ("run", "-q", "S//book", "--events", "e.jsonl")
    (folder / "e.jsonl").write_text('{"id": "1", "timestamp": 0, "xml": "<book/>"}\n')
    plain, dash = xscl(*arguments, at=folder), xscl(*arguments, "-o", "-", at=folder)
    assert json.loads(dash.stdout)["documents"] == ["1"]
    assert (dash.stdout, dash.returncode) == (plain.stdout, 0)
    assert not (folder / "-").exists()


# Parameters.

WANTED = """\
-- name: wanted
S//a->x[. = :value] JOIN {x = y, :days days} R//b->y
"""


@pytest.fixture
def tables(folder: Path) -> Path:
    (folder / "p.xscl").write_text(WANTED)
    (folder / "p.csv").write_text("value,days,name\nv,1,\nw,1,second\n")
    return folder


def test_run_with_a_table_of_parameters(tables: Path) -> None:
    options = ["--events", "e.jsonl", "--params", "wanted=p.csv", "--format", "counts"]
    done = xscl("run", "p.xscl", "q.xscl", *options, at=tables)
    assert done.returncode == 0
    assert done.stdout == "wanted[0]\t1\nsecond\t0\nsame\t1\nall\t1\n"


def test_parameters_without_values_are_refused_with_the_place(tables: Path) -> None:
    done = xscl("run", "p.xscl", "--events", "e.jsonl", at=tables)
    assert done.returncode == 2
    assert "line 2, column 13: the parameter `:value` has no value" in done.stderr


def test_check_and_explain_need_no_values(tables: Path) -> None:
    done = xscl("check", "p.xscl", at=tables)
    assert (done.returncode, done.stdout) == (0, "1 query, no error\n")
    done = xscl("explain", "p.xscl", at=tables)
    assert done.returncode == 0
    assert "':value'" in done.stdout


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        ("typo=p.csv", "no good query is named 'typo'"),
        ("wanted", "is not of the form NAME=FILE.csv"),
        ("wanted=none.csv", "none.csv"),
        ("wanted=q.xscl", "found"),
    ],
)
def test_wrong_tables(tables: Path, option: str, problem: str) -> None:
    done = xscl("run", "p.xscl", "--events", "e.jsonl", "--params", option, at=tables)
    assert done.returncode in (1, 2)
    assert problem in done.stderr
    assert "Traceback" not in done.stderr


# Why.


def why(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return xscl("why", "q.xscl", "--query", "same", "--events", "e.jsonl", *arguments, at=folder)


def test_why_shows_which_condition_fails(folder: Path) -> None:
    done = why(folder, "d1", "d3")
    assert done.returncode == 0
    assert "same: d1, d3 do not match" in done.stdout
    assert "Cause: x = y fails" in done.stdout
    assert "'v' · 'w'" in done.stdout
    done = why(folder, "d1", "d2")
    assert "Every condition holds" in done.stdout


def test_why_as_json(folder: Path) -> None:
    reported = json.loads(why(folder, "d1", "d3", "--format", "json").stdout)
    assert reported["holds"] is False
    cause = reported["findings"][reported["cause"]]
    assert (cause["kind"], cause["text"], cause["holds"]) == ("comparison", "x = y", False)


def test_why_without_documents_is_a_funnel(folder: Path) -> None:
    done = why(folder)
    assert done.returncode == 0
    assert "same: 3 documents" in done.stdout
    assert re.search(r"x = y +pairs +1 +1 \n", done.stdout)


def test_why_of_a_document_of_a_stream_that_is_not_read(folder: Path) -> None:
    with (folder / "e.jsonl").open("a") as events:
        events.write('{"stream": "Q", "id": "q", "xml": "<b>v</b>"}\n')
    done = why(folder, "d1", "q")
    assert done.returncode == 0
    assert "Cause: " in done.stdout
    assert "Q" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["d1"], "joins 2 documents, one for each block; found 1"),
        (["d1", "d9"], "no document 'd9' is held"),
    ],
)
def test_why_of_wrong_documents(folder: Path, arguments: list[str], problem: str) -> None:
    done = why(folder, *arguments)
    assert done.returncode == 2
    assert problem in done.stderr


def test_why_asks_which_query(folder: Path) -> None:
    done = xscl("why", "q.xscl", "--events", "e.jsonl", "d1", at=folder)
    assert done.returncode == 2
    assert "which query? give --query; there are: same, all" in done.stderr


# Explain.


@pytest.mark.parametrize(
    ("form", "found"),
    [
        ("mermaid", "flowchart"),
        ("svg", "<svg"),
        ("sql", "SELECT"),
        ("json", '"value_joins": 1'),
        ("text", "minor"),
    ],
)
def test_explain_in_each_form(folder: Path, form: str, found: str) -> None:
    done = xscl("explain", "q.xscl", "--format", form, at=folder)
    assert done.returncode == 0
    assert found in done.stdout


def test_a_cycle_is_reported_with_its_place(folder: Path) -> None:
    (folder / "c.xscl").write_text("S//a PUBLISH R;\nR//b PUBLISH S\n")
    done = xscl("check", "c.xscl", at=folder)
    assert done.returncode == 2
    assert "line 2, column 14" in done.stderr
    assert "S → R (by query `q1`) → S (by query `q2`)" in done.stderr


# Feeds of matches, limits, and what could not be used.


@pytest.mark.parametrize(("form", "found"), [("atom", "<feed "), ("jsonfeed", '"items": [')])
def test_matches_as_a_feed(folder: Path, form: str, found: str) -> None:
    done = xscl("run", "q.xscl", "--events", "e.jsonl", "--format", form, at=folder)
    assert done.returncode == 0
    assert found in done.stdout
    assert "3 documents, 0 skipped, 2 matches" in done.stderr
    to = ["--events", "e.jsonl", "--format", form, "-o", "news"]
    assert xscl("run", "q.xscl", *to, at=folder).returncode == 0
    first = (folder / "news").read_text()
    # Nothing is announced twice.
    assert xscl("run", "q.xscl", *to, at=folder).returncode == 0
    assert (folder / "news").read_text() == first


def test_documents_that_are_too_large_are_dead_letters(folder: Path) -> None:
    with (folder / "e.jsonl").open("a") as events:
        events.write('{"id": "bad", "xml": "<a>"}\n')
        events.write(json.dumps({"id": "large", "xml": f"<a>{'x' * 3000}</a>"}) + "\n")
    options = ["--max-document", "2 KiB", "--dead-letters", "dead.jsonl", "--strict"]
    done = xscl("run", "q.xscl", "--events", "e.jsonl", *options, at=folder)
    assert done.returncode == 3
    assert matches(done) == EXPECTED
    letters = [json.loads(line) for line in (folder / "dead.jsonl").read_text().splitlines()]
    assert sorted(letter["reason"].partition(",")[0] for letter in letters) == [
        "it has more than 2",
        "line 1",
    ]
    assert next(letter for letter in letters if letter["document"] == "bad")["raw"] == "<a>"


def test_wrong_sizes(folder: Path) -> None:
    for size in ("0", "much", "1 MX"):
        done = xscl("run", "q.xscl", "--events", "e.jsonl", "--max-document", size, at=folder)
        assert done.returncode == 2
        assert "is no size; write for example 16 MiB" in done.stderr


def test_links_as_they_are(folder: Path) -> None:
    item = "<item><title>t</title><link>http://www.a.example/b/?utm_source=x</link></item>"
    (folder / "f.xml").write_text(f"<rss version='2.0'><channel>{item}</channel></rss>")
    (folder / "l.xscl").write_text("S/item/link")
    found = []
    for form in ("canonical", "canonical,-www", "canonical,-scheme,-slash", "raw"):
        done = xscl("run", "l.xscl", "--feed", "S=f.xml", "--links", form, at=folder)
        found.append(json.loads(done.stdout)["result"])
    assert found == [
        "<link>https://a.example/b</link>",
        "<link>https://www.a.example/b</link>",
        "<link>http://a.example/b/</link>",
        "<link>http://www.a.example/b/?utm_source=x</link>",
    ]
    done = xscl("run", "l.xscl", "--feed", "S=f.xml", "--links", "canonical,-wwww", at=folder)
    assert done.returncode == 2
    assert "such as canonical,-www (the rules: host, www," in done.stderr


def test_only_what_is_published_to_a_stream(folder: Path) -> None:
    (folder / "p.xscl").write_text(QUERIES + "; SELECT x FROM S//a->x PUBLISH news")
    options = ["--events", "e.jsonl", "--stream"]
    done = xscl("run", "p.xscl", *options, "news", at=folder)
    assert matches(done) == [("q3", ["d1"])]
    done = xscl("run", "p.xscl", *options, "olds", at=folder)
    assert done.returncode == 2
    assert "no query publishes to 'olds'; published are: news" in done.stderr


def test_a_file_whose_name_is_no_utf_8(tmp_path: Path) -> None:
    (tmp_path / "\udcff.jsonl").write_text('{"timestamp": 1, "json": {"k": "1"}}\n')
    done = xscl("run", "-q", "S/json", "--events", "\udcff.jsonl", at=tmp_path)
    assert json.loads(done.stdout)["documents"] == ["\\xff.jsonl:1"], done.stderr
    done = xscl("run", "-q", "S/json", "--events", "-", "--state", "\udcff", at=tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False), done.stderr
    assert "U+DCFF, which is no character of XML; name the state otherwise" in done.stderr


@pytest.mark.parametrize("durable", [False, True])
def test_documents_of_such_names_stop_no_others(durable: bool, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("good", "\udcff"):
        (folder / f"{name}.xml").write_text("<a/>")
    (tmp_path / "\udcff.jsonl").write_text('{"timestamp": 1, "json": {"k": "1"}}\n')
    for options in (["--docs", "S=docs/*.xml"], ["--json", "S=\udcff.jsonl"]):
        query = ["-q", "S/a" if options[0] == "--docs" else "S/json"]
        state = ["--state", f"{options[0][2:]}.db"] if durable else []
        done = xscl("run", *query, *options, *state, at=tmp_path)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
        assert len(done.stdout.splitlines()) == 1, done.stderr
    again = ["run", "-q", "S/a", "--docs", "S=docs/*.xml", "--state", "docs.db"]
    for _ in range(2 if durable else 0):
        done = xscl(*again, at=tmp_path)
        assert ("Traceback" in done.stderr, done.stdout) == (False, ""), done.stderr


EDITED = [
    {"stream": "S", "id": "p1", "timestamp": 1, "json": {"price": 10}},
    {"stream": "S", "id": "p2", "timestamp": 2, "json": {"price": 99}},
    {"stream": "S", "id": "p3", "timestamp": 3, "json": {"price": 30}},
    {"retract": "p2", "stream": "S"},
    {"retract": "p9", "stream": "S"},
    {"stream": "S", "id": "p2", "timestamp": 2, "json": {"price": 20}},
]
DEARER = "EVENT SEQ(S a, S b) WHERE b.price > 2 * a.price WITHIN 1 week"


@pytest.mark.parametrize("form", ["atom", "jsonfeed"])
def test_what_is_taken_back_goes_from_a_feed(tmp_path: Path, form: str) -> None:
    """In the run that has reported it, and in a later one."""
    dearer = f"SELECT b.price AS title FROM {DEARER}"
    common = ("run", "-q", dearer, "--events", "e.jsonl", "--format", form, "--batch", "1")
    options = ("--consistency", "middle", "--revisable", "S", "-o", "feed", "--state", "s.duckdb")
    price = re.compile(r'title\\?": ([0-9]+)')
    shown = []
    for part in (EDITED[:2], [*EDITED[2:4], EDITED[5]], [{"retract": "p3", "stream": "S"}]):
        (tmp_path / "e.jsonl").write_text("".join(json.dumps(one) + "\n" for one in part))
        done = xscl(*common, *options, at=tmp_path)
        assert done.returncode == 0, done.stderr
        shown.append(price.findall((tmp_path / "feed").read_text()))
    assert shown == [["99"], ["30"], []]
    # All of it in one run, of which nothing is kept.
    (tmp_path / "e.jsonl").write_text("".join(json.dumps(one) + "\n" for one in EDITED))
    done = xscl(*common, *options[:4], at=tmp_path)
    assert price.findall(done.stdout) == ["30"]


@pytest.mark.parametrize("level", ["strong", "middle"])
def test_documents_are_taken_back_in_events_files(tmp_path: Path, level: str) -> None:
    lines = "".join(json.dumps(one) + "\n" for one in EDITED)
    (tmp_path / "e.jsonl").write_text(lines)
    common = ("run", "-q", DEARER, "--events", "e.jsonl", "--consistency", level, "--batch", "1")
    done = xscl(*common, "--revisable", "S", at=tmp_path)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    told = {one["id"]: one["documents"] for one in found if "id" in one}
    back = [told.pop(one["retract"]) for one in found if "retract" in one]
    assert [*told.values()] == [["p1", "p3"]]
    assert back == ([["p1", "p2"]] if level == "middle" else [])
    told_of = "2 matches, 1 taken back" if back else "1 match"
    assert f"4 documents, 1 skipped (1 unknown), {told_of}, " in done.stderr
    for n, more in enumerate(([], ["-o", "feed"], ["-o", "kept", "--state", "s.duckdb"])):
        form = ("--format", ("atom", "jsonfeed")[n % 2])
        of_feed = xscl(*common, "--revisable", "S", *form, *more, at=tmp_path).stderr
        assert f"4 documents, 1 skipped (1 unknown), {told_of}, " in of_feed
    shown = xscl(*common, "--revisable", "S", "--format", "text", at=tmp_path).stdout
    assert shown.count("Z taken back q1  a price “10”, 1 second later b price “99”") == len(back)
    refused = xscl(*common, "--strict", at=tmp_path)
    assert refused.returncode == 3
    assert "cannot be retracted, as it is not `revisable`" in refused.stderr
