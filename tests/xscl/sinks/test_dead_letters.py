"""Dead letters: what each document was, where it failed, why, and the text there."""

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
    reported = of_events(tmp_path / "e.jsonl", good + b"no JSON\n" + bad + b"\xff\n" + b"x" * 2000)
    line, no_utf8, long, xml = reported
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
    (tmp_path / "c.xml").symlink_to(tmp_path / "gone")
    (tmp_path / "d.xml").write_bytes(b"<a/>")
    errors: list[DocumentError] = []
    found = list(read_documents(str(tmp_path / "*"), "S", errors.append, max_document=1000))
    assert [envelope["xml"] for envelope in found] == [b"<a/>"]
    nan, long, gone = letters(errors)
    assert (nan["reason"], nan["raw"]) == ("it is no JSON: NaN is no JSON", '{"a": NaN}')
    assert long["reason"].startswith("it has more than 1,000 bytes")
    assert (gone["reason"], "raw" in gone) == ("No such file or directory", False)


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


REFUSED = {
    "no JSON": "no JSON",
    "an array": '[{"xml": "<a/>"}]',
    "a number": "7",
    "a time that is none": '{"id": "d", "stream": "T", "timestamp": "soon", "xml": "<a/>"}',
    "a time of another type": '{"id": "d", "timestamp": [1],  "xml": "<a/>"}',
    "a time out of range": '{"timestamp": 1e300, "xml": "<a/>"}',
    "an id": '{"id": 7, "xml": "<a/>"}',
    "half a pair in an id": '{"id": "\\ud800", "xml": "<a/>"}',
    "a stream": '{"stream": [], "xml": "<a/>", "unknown":   1}',
    "no document": '{"id": "d", "timestamp": 1}',
    "XML of another type": '{"id": "d", "xml": 7}',
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED.keys())
def test_a_line_that_is_refused_is_there_with_its_place(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    good = b'{"id": "good", "xml": "<a/>"}\n'
    (letter,) = of_events(tmp_path / "e.jsonl", good * 2 + text.encode() + b"\n" + good)
    place = {"line": 3, "offset": 2 * len(good), "raw": text + "\n"}
    assert place.items() <= letter.items()
    assert letter["reason"]


@pytest.mark.parametrize(
    ("body", "raw"),
    [
        ('"xml": "<a>\\n</b>"', "<a>\n</b>"),
        ('"json": "\\u0000"', None),
        (f'"json": {"[" * 300}{"]" * 300}', None),
    ],
)
def test_a_document_that_is_refused_has_what_it_takes_to_send_it_again(
    body: str, raw: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line = f'{{"id": "bad", "stream": "S", "timestamp": "2026-06-01", {body}}}\n'
    (letter,) = of_events(tmp_path / "e.jsonl", b"\n" + line.encode())
    assert (letter["stream"], letter["document"]) == ("S", "bad")
    assert (letter["timestamp"], letter["source"]) == ("2026-06-01", "e.jsonl, line 2")
    assert letter["raw"] == raw or raw is None
    assert letter["raw"]


def test_an_envelope_from_python_is_there() -> None:
    errors: list[DocumentError] = []
    with xscl.Engine(on_skip=errors.append) as engine:
        engine.publish_many([{"id": "d", "timestamp": {1}, "xml": "<a/>"}])
    (letter,) = letters(errors)
    assert json.loads(letter["raw"])["xml"] == "<a/>"
