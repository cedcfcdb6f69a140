"""The examples of commands are run, as are the helps; what runs on Spark is only checked for its
options, as tests/xscl/spark runs it."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.commands import started, xscl
from tests.documentation.commands_page import COMMANDS
from tests.xscl.web.loopback import Reply, Server, rss, serving
from xscl.cli.helping.examples import EXAMPLES, page_of

LINES = [(name, one.line) for name, examples in EXAMPLES.items() for one in examples]
ON_SPARK = ("ingest", "spark", "join")
EVENTS = '{"stream": "S", "id": "1", "timestamp": 0, "xml": "<item><title>RSS</title></item>"}\n'


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as server:
        server.site["/feed"] = Reply(body=rss(channel="<item><title>RSS</title></item>"))
        link = b'<link rel="alternate" type="application/rss+xml" href="/feed">'
        page = b"<!doctype html><html><head>" + link + b"</head></html>"
        server.site["/"] = Reply(headers=(("Content-Type", b"text/html"),), body=page)
        yield server


@pytest.fixture(scope="module")
def folder(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that has what the examples name."""
    folder = tmp_path_factory.mktemp("examples")
    assert xscl("sample", ".", at=folder).returncode == 0
    assert xscl("sample", "mine", at=folder).returncode == 0
    opml = f'<opml version="2.0"><body><outline xmlUrl="{server.url("/feed")}"/></body></opml>'
    (folder / "feeds.opml").write_text(opml)
    (folder / "documents.jsonl").write_text(EVENTS)
    (folder / "notify.sh").write_text("#!/bin/sh\ncat >/dev/null\n")
    (folder / "notify.sh").chmod(0o755)
    watched = ("watch", "queries.xscl", "--feed", "S=feeds.opml", "--once", "--allow-private")
    assert xscl(*watched, at=folder).returncode == 0
    assert (
        xscl(
            "run", "queries.xscl", "--events", "documents.jsonl", "--state", "news.state", at=folder
        ).returncode
        == 0
    )
    return folder


@pytest.mark.parametrize(("name", "line"), LINES)
def test_an_example(name: str, line: str, folder: Path, server: Server) -> None:
    words = shlex.split(line.replace("https://example.org", server.url("")))
    stdin = (folder / words[1]).read_text() if words[0] == "cat" else ""
    words = words[words.index("xscl") + 1 :]
    words = words[: words.index(">")] if ">" in words else words
    if words[0] in ON_SPARK:
        command = COMMANDS[f"xscl {name}"]
        if not isinstance(command, click.Group):
            known = {one for option in command.params for one in option.opts}
            assert {word for word in words if word.startswith("--")} <= known
        return
    if words[0] == "watch":
        words += [*([] if "--once" in words else ["--once"]), "--allow-private"]
    if words[:2] == ["feeds", "add"]:
        words.append("--allow-private")
    if words[0] == "serve":
        words += ["--allow-private", "--port", "0"]
        with started(*words, at=folder) as one:
            until = time.monotonic() + 60
            said = one.streams[2]
            while not (said.exists() and "serving at" in said.read_text()):
                assert time.monotonic() < until
                time.sleep(0.05)
            one.send(15)
            done = one.done()
    else:
        if words[:2] == ["sample", "mine"] and (folder / "mine").exists():
            words[1] = f"other{len([*folder.iterdir()])}"
        done = xscl(*words, at=folder, stdin=stdin)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_a_help_has_examples_and_the_address_of_its_page(name: str, tmp_path: Path) -> None:
    words = name.split()[1:]
    if words[0] in ON_SPARK:
        return
    done = xscl("help", *words, at=tmp_path)
    assert done.stdout.startswith(f"Usage: {name} ")
    assert f"More: {page_of(' '.join(words))}" in done.stdout
    assert all(f"  $ {one.line}\n" in done.stdout for one in EXAMPLES[" ".join(words)])
    assert xscl(*words, "--help", at=tmp_path).stdout == done.stdout
