"""The commands that README.md and docs/durability.md show are run, in a folder that has the files
they name: each must end well.

Addresses are those of a server of the test; `xscl watch` polls once, and what runs on Spark is only
checked for its options (tests/xscl/spark runs it).
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets import FEEDS
from tests.commands import xscl
from tests.xscl.web.loopback import Reply, Server, rss, serving
from xscl.cli.ingest import ingest
from xscl.cli.joining.run import run as join

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/durability.md")
ON_SPARK = {"ingest": ingest, "join": join, "spark": join}

README = (ROOT / "README.md").read_text(encoding="utf-8")
(NOTICED,) = re.findall(r"^```xscl\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
(SHOWN,) = re.findall(r"^```text\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
PROMO = """-- name: promo
S//book->b[./author->a][./title->t]
  FOLLOWED BY {a = by AND t = about, 7 days}
S//blog->p[./author->by][./title->about]
"""
BOOK = "<book><author>Ayers</author><title>RSS</title></book>"
BLOG = "<blog><author>Ayers</author><title>RSS</title></blog>"


def lines(page: str) -> Iterator[str]:
    """The commands of a page, without their comments."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```shell\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for line in filter("pip install xscl".__ne__, block.splitlines()):
            yield re.sub(r"\s+#.*", "", line)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as server:
        server.site["/feed"] = Reply(body=rss(channel="<item><title>RSS</title></item>"))
        server.site["/take"] = Reply(204)
        yield server


@pytest.fixture(scope="module")
def folder(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All files that the pages name."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "noticed.xscl").write_text(NOTICED, encoding="utf-8")
    (folder / "queries.xscl").write_text(PROMO, encoding="utf-8")
    envelopes = [
        {"stream": "S", "id": id, "timestamp": time, "xml": xml}
        for id, time, xml in (("d1", 0, BOOK), ("d2", 60, BLOG))
    ]
    text = "".join(json.dumps(envelope) + "\n" for envelope in envelopes)
    (folder / "documents.jsonl").write_text(text, encoding="utf-8")
    shutil.copytree(FEEDS, folder / "feeds")
    opml = f'<opml version="2.0"><body><outline xmlUrl="{server.url("/feed")}"/></body></opml>'
    for name in ("subscriptions.opml", "all.opml"):
        (folder / name).write_text(opml, encoding="utf-8")
    batch = folder / "DIR" / "items" / "batch=0"
    batch.mkdir(parents=True)
    item = envelopes[0] | {"timestamp": datetime(2026, 6, 1, tzinfo=UTC)}
    pq.write_table(pa.Table.from_pylist([item]), batch / "part-0.parquet")
    (batch / "_SUCCESS").touch()
    return folder


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page(page: str, folder: Path, server: Server) -> None:
    commands = list(lines(page))
    assert commands
    outputs = ""
    for line in commands:
        words = shlex.split(line.replace("https://example.org", server.url("")))
        assert words.pop(0) == "xscl"
        if words[0] in ON_SPARK:
            known = {name for option in ON_SPARK[words[0]].params for name in option.opts}
            assert {word for word in words if word.startswith("--")} <= known, line
            continue
        if words[0] == "watch":
            words += ["--once", "--allow-private"]
        done = xscl(*words, at=folder)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        outputs += done.stdout
    for line in SHOWN.splitlines() if page == "README.md" else ():
        assert re.search(".*".join(map(re.escape, line.split("…"))), outputs), line


def test_no_command_of_a_page_is_left_out() -> None:
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        assert len(re.findall(r"^xscl ", text, re.MULTILINE)) == len(list(lines(page)))
