"""Dead letters: what each document was, where it failed, why, and what stood there."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest

import xscl
from xscl.errors import DocumentError
from xscl.sinks.dead_letters import write_dead_letter
from xscl.sources.envelopes import read_events
from xscl.sources.files import read_documents


def letters(errors: list[DocumentError]) -> list[dict[str, Any]]:
    to = io.StringIO()
    for error in errors:
        write_dead_letter(error, to)
    return [json.loads(line) for line in to.getvalue().splitlines()]


def of_events(path: Path, content: bytes) -> list[dict[str, Any]]:
    """The dead letters of a file's lines and of what the engine refuses of them."""
    path.write_bytes(content)
    errors: list[DocumentError] = []
    with xscl.Engine(on_skip=errors.append) as engine:
        engine.subscribe("S//a")
        engine.publish_many(read_events("e.jsonl", errors.append, max_document=1000))
    return letters(errors)


def test_lines_and_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    good = b'{"id": "good", "xml": "<a/>"}\n'
    bad = b'{"id": "bad", "xml": "<a>\\n<b></a>"}\n'
    told = of_events(tmp_path / "e.jsonl", good + b"no JSON\n" + bad + b"\xff\n" + b"x" * 2000)
    line, no_utf8, long, xml = told
    assert line == {
        "stream": "?",
        "document": "e.jsonl, line 2",
        "reason": "it is no JSON: Expecting value: line 1 column 1 (char 0)",
        "line": 2,
        "offset": len(good),
        "raw": "no JSON\n",
    }
    assert (no_utf8["line"], base64.b64decode(no_utf8["base64"])) == (4, b"\xff\n")
    assert "raw" not in no_utf8
    assert "more than 1,000 bytes; --max-document" in long["reason"]
    assert long["raw"] == "x" * 1001
    assert (xml["stream"], xml["document"], xml["line"], xml["raw"]) == (
        "S", "bad", 2, "<a>\n<b></a>",
    )  # fmt: skip
    assert xml["reason"].startswith("line 2, column ")


def test_files(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'{"a": NaN}')
    (tmp_path / "b.xml").write_bytes(b"<a/>" + b" " * 1000)
    (tmp_path / "c.xml").mkdir()
    (tmp_path / "d.xml").write_bytes(b"<a/>")
    errors: list[DocumentError] = []
    found = list(read_documents(str(tmp_path / "*"), "S", errors.append, max_document=1000))
    assert [envelope["xml"] for envelope in found] == [b"<a/>"]
    nan, long, folder = letters(errors)
    assert (nan["reason"], nan["raw"]) == ("it is no JSON: NaN is no JSON", '{"a": NaN}')
    assert long["reason"].startswith("it has more than 1,000 bytes")
    assert (folder["reason"], "raw" in folder) == ("Is a directory", False)


def test_what_is_kept_is_bounded() -> None:
    with xscl.Engine() as engine, pytest.raises(DocumentError) as refused:
        engine.publish("S", "<a>é" + "x" * 1_000_000)
    (letter,) = letters([refused.value])
    assert letter["bytes"] == 1_000_005
    assert letter["raw"] == "<a>é" + "x" * (64 * 1024 - 5)
    with xscl.Engine() as engine, pytest.raises(DocumentError) as refused:
        engine.publish("S", "<a>x" + "é" * 100_000, id="é")
    (letter,) = letters([refused.value])
    assert letter["raw"] == "<a>x" + "é" * (32 * 1024 - 2)
    assert letter["document"] == "é"


def test_half_a_surrogate_pair() -> None:
    with xscl.Engine() as engine, pytest.raises(DocumentError) as refused:
        engine.publish("S", "<a>\ud800</a>")
    (letter,) = letters([refused.value])
    assert base64.b64decode(letter["base64"]) == b"<a>\xed\xa0\x80</a>"
