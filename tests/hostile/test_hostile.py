"""What means harm ends with a clear error and bounded memory, and harms nothing else.

Each case of the pack is run by the command line, between good documents or queries: these have
all their matches.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.alone import Outcome, xscl_alone
from tests.hostile.archives import ARCHIVES, Archive
from tests.hostile.cases import Case
from tests.hostile.documents import DOCUMENTS, ELSEWHERE
from tests.hostile.lines import LINES
from tests.hostile.queries import QUERIES

MOST_MIB = 512

GOOD = """\
-- name: each
S//good;
-- name: pair
S//good[k->x] FOLLOWED BY {x = y} S//good[k->y];
-- name: any
SELECT x FROM S//*->x[@never or never]
"""


def good(id: str) -> bytes:
    return json.dumps({"id": id, "xml": "<good><k>v</k></good>"}).encode() + b"\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.xscl").write_text(GOOD)
    return tmp_path


def assert_contained(outcome: Outcome, code: int = 0) -> None:
    """The command came to its end, and the good documents have their matches."""
    assert "Traceback" not in outcome.err, outcome.err[-2000:]
    assert outcome.code == code, outcome.err[-2000:]
    assert 0 <= outcome.grown < MOST_MIB
    others = [match for match in outcome.matches if match[0] != "hostile"]
    assert others == [("each", ["a"]), ("each", ["z"]), ("pair", ["a", "z"])]


def assert_told(outcome: Outcome, says: str | None, about: str) -> None:
    """The reason is told in one readable line, or nothing is skipped."""
    skipped = [line for line in outcome.err.splitlines() if line.startswith("skipped: ")]
    if says is None:
        assert skipped == []
        return
    assert len(skipped) == 1
    assert about in skipped[0]
    assert re.search(says, skipped[0])
    assert len(skipped[0]) < 500
    assert skipped[0].isprintable()


def publish_file(folder: Path, content: bytes) -> Outcome:
    (folder / "m").write_bytes(content)
    for name in "az":
        (folder / name).write_bytes(b"<good><k>v</k></good>")
    return xscl_alone(folder, "run", "good.xscl", "--docs", "S=[amz]")


@pytest.mark.parametrize("case", DOCUMENTS, ids=lambda case: case.name)
def test_documents(case: Case, folder: Path) -> None:
    outcome = publish_file(folder, case.make())
    assert_contained(outcome)
    assert_told(outcome, case.says, "document 'm' of stream 'S': ")


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


@pytest.mark.parametrize("by", ["path", "file", "http"])
@pytest.mark.parametrize("case", ELSEWHERE, ids=lambda case: case.name)
def test_nothing_is_read_from_elsewhere(
    case: Case, by: str, folder: Path, server: socket.socket
) -> None:
    secret = folder / "secret"
    secret.write_text('<!ENTITY e "SECRET">')
    address = f"127.0.0.1:{server.getsockname()[1]}"
    elsewhere = {
        "path": str(secret),
        "file": secret.as_uri(),
        "http": f"http://{address}/secret",
    }[by]
    (folder / "good.xscl").write_text(GOOD + "; -- name: all\nS//a")
    outcome = publish_file(folder, case.make().replace(b"{}", elsewhere.encode()))
    assert "SECRET" not in outcome.out + outcome.err
    assert_told(outcome, case.says, "document 'm' of stream 'S': ")
    with pytest.raises(BlockingIOError):
        server.accept()


@pytest.mark.parametrize("case", LINES, ids=lambda case: case.name)
def test_lines(case: Case, folder: Path) -> None:
    lines = [good("a"), case.make().replace(b"\n", b""), b"\n", good("z")]
    (folder / "e.jsonl").write_bytes(b"".join(lines))
    outcome = xscl_alone(folder, "run", "good.xscl", "--events", "e.jsonl")
    assert_contained(outcome)
    assert_told(outcome, case.says, "document ")


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: archive.name)
def test_archives(archive: Archive, folder: Path) -> None:
    a, z = good("a"), good("z")
    for name, content in (("a.jsonl", a), ("z.jsonl", z)):
        (folder / name).write_bytes(content)
    (folder / "e.jsonl.gz").write_bytes(archive.make(a, z if archive.whole else b""))
    # What is lost with an archive comes from files beside it.
    files = ["e.jsonl.gz"] if archive.whole else ["a.jsonl", "e.jsonl.gz", "z.jsonl"]
    events = [argument for file in files for argument in ("--events", file)]
    outcome = xscl_alone(folder, "run", "good.xscl", *events)
    assert re.search(archive.says, outcome.err)
    assert_contained(outcome)


DOCUMENT = f"<a>{'x' * 100_000}<b>1</b><b>2</b></a>"


@pytest.mark.parametrize("case", QUERIES, ids=lambda case: case.name[:40])
def test_queries(case: Case, folder: Path) -> None:
    (folder / "q.xscl").write_text(f"{GOOD};\n-- name: hostile\n{case.make().decode()}")
    lines = [good("a"), json.dumps({"id": "m", "xml": DOCUMENT}).encode() + b"\n", good("z")]
    (folder / "e.jsonl").write_bytes(b"".join(lines))
    outcome = xscl_alone(folder, "run", "q.xscl", "--events", "e.jsonl")
    assert_contained(outcome, 2 if case.says else 0)
    if case.says:
        assert re.search(f"query 'hostile', line .*(?:{case.says})", outcome.err)
