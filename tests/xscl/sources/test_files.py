"""Times and ids of document files: from a path in the document, or the file's modification."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from xscl.cli.main import cli
from xscl.documents.bodies import LARGE
from xscl.errors import DocumentError, XSCLError
from xscl.sources.fields import Fields
from xscl.sources.files import read_documents

MOMENT = 1_780_272_000
XML = b"""<?xml version="1.0"?><!-- c -->
<p:book xmlns:p="urn:p" made="2026-06-01"><old><on>1</on></old>
<meta><p:on>2026-06-<b>01</b></p:on><key n="k7"/></meta></p:book>"""


def read(path: Path, **fields: str) -> tuple[list[Any], list[DocumentError]]:
    errors: list[DocumentError] = []
    found = read_documents(
        str(path), "S", errors.append, max_document=2 * LARGE, fields=Fields(**fields)
    )
    return list(found), errors


@pytest.mark.parametrize("time", ["meta/on", "/book/meta/on", "//meta/on", "p:meta/p:on", "@made"])
@pytest.mark.parametrize("id", ["key/@n", "@n", "/book/meta/key/@n", "meta/key/@n"])
@pytest.mark.parametrize("zipped", [True, False])
def test_a_path_of_xml(time: str, id: str, zipped: bool, tmp_path: Path) -> None:
    (tmp_path / "d").write_bytes(gzip.compress(XML) if zipped else XML)
    ((envelope,), errors) = read(tmp_path / "d", time=time, id=id)
    assert errors == []
    assert (envelope["id"], envelope["timestamp"]) == ("k7", MOMENT)


@pytest.mark.parametrize("before", ["", "<!-- c -->", "<?p?>", "<!-- c --><?p?><!-- d -->"])
def test_what_is_before_the_root_ends_no_run(before: str, tmp_path: Path) -> None:
    """Where the path leads nowhere, too."""
    (tmp_path / "a").write_text(f"{before}<a><b/></a>")
    (tmp_path / "b").write_text(f"{before}<a><on>{MOMENT}</on></a>")
    ((envelope,), (error,)) = read(tmp_path / "*", time="on")
    assert (envelope["id"], envelope["timestamp"]) == (str(tmp_path / "b"), MOMENT)
    assert "it has no `on`" in str(error)


def test_folders_are_no_documents(tmp_path: Path) -> None:
    for name in ("1.xml", "deep/2.xml", "deep/er/3.xml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("<a/>")
    envelopes, errors = read(tmp_path / "**")
    assert [one["id"] for one in envelopes] == [
        str(tmp_path / name) for name in ("1.xml", "deep/2.xml", "deep/er/3.xml")
    ]
    assert errors == []
    with pytest.raises(XSCLError, match="no file matches"):
        read(tmp_path / "deep/e*")


def test_a_path_of_json(tmp_path: Path) -> None:
    (tmp_path / "d.json").write_text(json.dumps({"m": {"on": MOMENT * 1000}, "k": 7}))
    ((envelope,), _) = read(tmp_path / "d.json", time="m/on", id="k")
    assert (envelope["id"], envelope["timestamp"]) == ("7", MOMENT)


@pytest.mark.parametrize("name", ["d.xml", "d.json"])
def test_a_files_modification(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("<mtime>7</mtime>" if "xml" in name else '{"mtime": 7}')
    os.utime(tmp_path / name, (0, MOMENT))
    ((envelope,), _) = read(tmp_path / name, time="mtime")
    assert (envelope["id"], envelope["timestamp"]) == (str(tmp_path / name), MOMENT)
    ((envelope,), _) = read(tmp_path / name, time="./mtime")
    assert envelope["timestamp"] == 7


@pytest.mark.parametrize("zipped", [True, False])
def test_a_large_document_is_read_as_far_as_it_takes(zipped: bool, tmp_path: Path) -> None:
    part = b"<r><on>2026-06-01</on><t>" + b"x" * 1_000_000 + b"</t></r>"
    content = b"<all>" + part * 17 + b"<last>7</last></all>"
    (tmp_path / "d.xml").write_bytes(gzip.compress(content, 1) if zipped else content)
    ((envelope,), _) = read(tmp_path / "d.xml", time="r/on", id="last")
    assert isinstance(envelope["xml"], Path)
    assert (envelope["id"], envelope["timestamp"]) == ("7", MOMENT)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("d.xml", b"<a><on/></a>", "it has no `on`, which --time names"),
        ("d.xml", b"<a/>", "it has no `on`"),
        ("d.xml", b"<a><on>soon</on></a>", "neither seconds nor ISO 8601"),
        ("d.json", b"{}", "it has no `on`"),
        ("d.json", b'{"on": []}', "timestamp [] is neither"),
    ],
)
def test_a_document_without_a_time_costs_no_other(
    name: str, content: bytes, reason: str, tmp_path: Path
) -> None:
    (tmp_path / f"b{name}").write_bytes(content)
    for beside in ("a.xml", "z.xml"):
        (tmp_path / beside).write_bytes(b"<a><on>1</on></a>")
    found, (error,) = read(tmp_path / "*", time="on")
    assert [envelope["timestamp"] for envelope in found] == [1, 1]
    assert reason in error.problem


def test_what_is_malformed_is_reported_by_the_parser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q.xscl").write_text("S//a")
    Path("1.xml").write_text("<a>\n<b></a>")
    Path("2.xml").write_text('<a on="2026-06-01"/>')
    options = ("--docs", "S=*.xml", "--time", "@on")
    done = CliRunner().invoke(cli, ("run", "q.xscl", *options))
    assert json.loads(done.stdout)["time"] == MOMENT
    assert "line 2, column" in done.stderr
