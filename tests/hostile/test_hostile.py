"""Malicious input ends with a clear error and bounded memory, and harms nothing else.

The command line runs the cases, a dozen together, between good documents or queries: these have all
their matches.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.hostile.alone import Outcome, xscl_alone
from tests.hostile.archives import ARCHIVES, Archive
from tests.hostile.cases import Case
from tests.hostile.documents import DOCUMENTS, ELSEWHERE
from tests.hostile.lines import LINES
from tests.hostile.queries import QUERIES

MOST_MIB = 512

PORTIONS = 4
"""Runs that share a pack: as memory is bounded for all cases of one."""

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
    others = [match for match in outcome.matches if not match[0].startswith("hostile")]
    assert others == [("each", ["a"]), ("each", ["z"]), ("pair", ["a", "z"])]


def assert_reported(outcome: Outcome, cases: Sequence[Case]) -> None:
    """The reason for each refusal is reported in one readable line, in order."""
    skipped = [line for line in outcome.err.splitlines() if line.startswith("skipped: ")]
    refused = [case for case in cases if case.says is not None]
    assert len(skipped) == len(refused), (skipped, [case.name for case in refused])
    for line, case in zip(skipped, refused, strict=True):
        assert "document " in line
        assert re.search(case.says or "", line), (line, case.name)
        assert len(line) < 500
        assert line.isprintable()


def publish_files(folder: Path, contents: Sequence[bytes]) -> Outcome:
    for number, content in enumerate(contents):
        (folder / f"m{number:02}").write_bytes(content)
    for name in "az":
        (folder / name).write_bytes(b"<good><k>v</k></good>")
    return xscl_alone(folder, "run", "good.xscl", "--docs", "S=[amz]*", "--batch", "1")


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_documents(portion: int, folder: Path) -> None:
    cases = DOCUMENTS[portion::PORTIONS]
    outcome = publish_files(folder, [case.make() for case in cases])
    assert_contained(outcome)
    assert_reported(outcome, cases)


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


@pytest.mark.parametrize("by", ["path", "file", "http"])
def test_nothing_is_read_from_elsewhere(by: str, folder: Path, server: socket.socket) -> None:
    secret = folder / "secret"
    secret.write_text('<!ENTITY e "SECRET">')
    address = f"127.0.0.1:{server.getsockname()[1]}"
    elsewhere = {
        "path": str(secret),
        "file": secret.as_uri(),
        "http": f"http://{address}/secret",
    }[by].encode()
    (folder / "good.xscl").write_text(GOOD + "; -- name: hostile\nS//a")
    outcome = publish_files(folder, [case.make().replace(b"{}", elsewhere) for case in ELSEWHERE])
    assert "SECRET" not in outcome.out + outcome.err
    assert_contained(outcome)
    assert_reported(outcome, ELSEWHERE)
    with pytest.raises(BlockingIOError):
        server.accept()


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_lines(portion: int, folder: Path) -> None:
    cases = LINES[portion::PORTIONS]
    # Each has its own id, else many would be the same document come again.
    made = [case.make().replace(b"\n", b"") for case in cases]
    own = [line.replace(b'"hostile"', b'"hostile%d"' % n) + b"\n" for n, line in enumerate(made)]
    (folder / "e.jsonl").write_bytes(b"".join([good("a"), *own, good("z")]))
    outcome = xscl_alone(folder, "run", "good.xscl", "--events", "e.jsonl", "--batch", "1")
    assert_contained(outcome)
    assert_reported(outcome, cases)


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: archive.name)
def test_archives(archive: Archive, folder: Path) -> None:
    a, z = good("a"), good("z")
    for name, content in (("a.jsonl", a), ("z.jsonl", z)):
        (folder / name).write_bytes(content)
    (folder / "e.jsonl.gz").write_bytes(archive.make(a, z if archive.whole else b""))
    # The errors of an archive are those of its files.
    files = ["e.jsonl.gz"] if archive.whole else ["a.jsonl", "e.jsonl.gz", "z.jsonl"]
    events = [argument for file in files for argument in ("--events", file)]
    outcome = xscl_alone(folder, "run", "good.xscl", *events)
    assert re.search(archive.says, outcome.err)
    assert_contained(outcome)


DOCUMENT = f"<a>{'x' * 20_000}<b>1</b><b>2</b></a>"


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_queries(portion: int, folder: Path) -> None:
    cases = QUERIES[portion::PORTIONS]
    files = [f"hostile{number}.xscl" for number in range(len(cases))]
    for file, case in zip(files, cases, strict=True):
        (folder / file).write_text(f"-- name: {file[:-5]}\n{case.make().decode()}")
    lines = [good("a"), json.dumps({"id": "m", "xml": DOCUMENT}).encode() + b"\n", good("z")]
    (folder / "e.jsonl").write_bytes(b"".join(lines))
    outcome = xscl_alone(folder, "run", "good.xscl", *files, "--events", "e.jsonl")
    assert_contained(outcome, 2)
    reported = outcome.err.splitlines()
    refused = {line.split(":")[0] for line in reported if re.match(r"hostile\d+\.xscl: ", line)}
    for file, case in zip(files, cases, strict=True):
        assert (file in refused) == bool(case.says), case.name
        says = f"{file}: query '{file[:-5]}', line .*(?:{case.says})"
        assert not case.says or any(re.match(says, line) for line in reported), case.name
