"""Gzip by its magic: every input that a command reads may be gzipped or not, whatever its name."""

from __future__ import annotations

import gzip
import json
import os
import random
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

import xscl
from xscl.cli.main import cli
from xscl.documents.bodies import LARGE

QUERY = b"-- name: q\nS//a[. = :wanted]"
EVENTS = b'{"id": "d1", "xml": "<a>v</a>"}\n{"id": "d2", "xml": "<a>w</a>"}\n'
FEED = b"""<rss version="2.0"><channel><title>T</title><item><title>v</title>
<category>v</category></item></channel></rss>"""
OPML = b'<opml version="2.0"><body><outline xmlUrl="feed"/></body></opml>'
FEEDS = b"-- name: q\nS/item[category = :wanted]"
JSON = b"-- name: q\nS/json[a = :wanted]"

INPUTS = {
    "events": (QUERY, EVENTS, ["--events", "in"]),
    "events from standard input": (QUERY, EVENTS, ["--events", "-"]),
    "documents": (QUERY, b"<a>v</a>", ["--docs", "S=in"]),
    "feed": (FEEDS, FEED, ["--feed", "S=in"]),
    "folder": (FEEDS, FEED, ["--feed", "S=folder"]),
    "list": (FEEDS, OPML, ["--feed", "S=in"]),
}


def zip_some(content: bytes, zipped: bool) -> bytes:
    # Two members, as where a log was rotated and joined.
    middle = len(content) // 2
    parts = content[:middle], content[middle:]
    return b"".join(map(gzip.compress, parts)) if zipped else content


@pytest.mark.parametrize("zipped", [True, False], ids=["zipped", "plain"])
@pytest.mark.parametrize("named", ["", ".gz"])
@pytest.mark.parametrize("kind", INPUTS)
def test_inputs(
    kind: str, named: str, zipped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    query, content, options = INPUTS[kind]
    given = zip_some(content, zipped)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / f"one{named}").write_bytes(given)
    (tmp_path / f"in{named}").write_bytes(given)
    (tmp_path / "feed").write_bytes(zip_some(FEED, zipped))
    (tmp_path / f"q{named}").write_bytes(zip_some(query, zipped))
    (tmp_path / f"p{named}").write_bytes(zip_some(b"wanted\nv\n", zipped))
    arguments = ["run", f"q{named}", "--params", f"q=p{named}", "--format", "counts"]
    arguments += [one + named if one.endswith("in") else one for one in options]
    done = CliRunner().invoke(cli, arguments, input=given, standalone_mode=False)
    assert done.stdout == "q[0]\t1\n", done.output


@pytest.mark.parametrize("name", ["in.json", "in.json.gz"])
def test_json_documents(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(gzip.compress(b'{"a": "v"}'))
    (tmp_path / "q.xscl").write_bytes(JSON.replace(b":wanted", b"'v'"))
    arguments = ["run", str(tmp_path / "q.xscl"), "--docs", f"S={tmp_path}/in*"]
    assert len(CliRunner().invoke(cli, arguments).stdout.splitlines()) == 1


def test_queries_from_standard_input(tmp_path: Path) -> None:
    (tmp_path / "e.jsonl").write_bytes(EVENTS)
    arguments = ["run", "-", "--events", str(tmp_path / "e.jsonl")]
    done = CliRunner().invoke(cli, arguments, input=gzip.compress(b"S//a"))
    assert len(done.stdout.splitlines()) == 2


def test_a_state_continues_in_a_zipped_file_of_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q.xscl").write_text("S//a")
    Path("e").write_bytes(gzip.compress(EVENTS))
    arguments = ["run", "q.xscl", "--events", "e", "--state", "s.duckdb"]
    assert len(CliRunner().invoke(cli, arguments).stdout.splitlines()) == 2
    with Path("e").open("ab") as file:
        file.write(gzip.compress(EVENTS.replace(b"d", b"e")))
    assert len(CliRunner().invoke(cli, arguments).stdout.splitlines()) == 2


@pytest.mark.parametrize("size", [1000, LARGE + 1_000_000])
def test_documents_from_python(size: int, tmp_path: Path) -> None:
    path = tmp_path / "document"
    filling = (b"<b>" + b" " * 1_000_000 + b"</b>") * (size // 1_000_000)
    path.write_bytes(gzip.compress(b"<a>" + filling + b"<c>v</c></a>", 1))
    with xscl.Engine() as engine:
        engine.subscribe("SELECT c FROM S//a[./c->c]")
        (match,) = engine.publish("S", path)
    assert match.result == "<result><c>v</c></result>"


@pytest.mark.parametrize(("limit", "read"), [("17 MiB", True), ("100 KiB", False)])
def test_the_limit_is_on_what_comes_out(limit: str, read: bool, tmp_path: Path) -> None:
    (tmp_path / "d.xml").write_bytes(
        gzip.compress(b"<a>" + (b"<b>" + b" " * 10**6 + b"</b>") * 17 + b"</a>", 1)
    )
    (tmp_path / "q.xscl").write_text("S//a")
    arguments = ["run", str(tmp_path / "q.xscl"), "--docs", f"S={tmp_path}/d.xml"]
    done = CliRunner().invoke(cli, [*arguments, "--format", "counts", "--max-document", limit])
    assert done.stdout == f"q1\t{int(read)}\n"
    assert read or "it has more than 102,400 bytes" in done.stderr


def test_damaged_files_are_reported_and_the_others_read(tmp_path: Path) -> None:
    noise = random.Random(7).randbytes(10_000)
    whole = gzip.compress(b"<a>" + json.dumps(noise.hex()).encode() + b"</a>")
    flipped = bytearray(whole)
    flipped[5000:5010] = bytes(10)
    for name, content in {"1": whole[:-2000], "2": bytes(flipped), "3": whole}.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "q.xscl").write_text("S//a")
    for option in ("--docs", "--feed"):
        source = f"S={tmp_path}/[123]" if option == "--docs" else f"S={tmp_path}"
        arguments = ["run", str(tmp_path / "q.xscl"), option, source]
        done = CliRunner().invoke(cli, arguments)
        assert done.exit_code == 0
        assert "/1' of stream 'S': " in done.stderr
        assert "the compressed file ends early" in done.stderr
        assert "the compressed file is damaged" in done.stderr
    wrong = CliRunner().invoke(
        cli, ["check", str(tmp_path / "1")], standalone_mode=False, catch_exceptions=True
    )
    assert "the compressed file ends early" in str(wrong.exception)


@pytest.mark.parametrize("zipped", [True, False], ids=["zipped", "plain"])
@pytest.mark.parametrize("state", [(), ("--state", "s.duckdb")])
@pytest.mark.parametrize("option", ["--events", "--json"])
def test_a_pipe_that_has_a_name(
    option: str,
    state: tuple[str, ...],
    zipped: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    content = EVENTS if option == "--events" else b"a\nv\nw\n"
    writing = threading.Thread(target=Path("pipe").write_bytes, args=[zip_some(content, zipped)])
    writing.start()
    source = "pipe" if option == "--events" else "S=pipe"
    arguments = ["run", "-q", "S//a", option, source, *state, "--format", "counts"]
    assert CliRunner().invoke(cli, arguments).stdout == "q1\t2\n"
    writing.join()
