"""The messages for mistakes of a user: each `NAME.txt` is a command line, the files that it finds,
and then exactly its standard error, and its exit code.

With XSCL_GOLDEN=1 in the environment the last two are written again.
"""

from __future__ import annotations

import gc
import io
import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from xscl.cli.main import main

CASES = sorted(Path(__file__).parent.glob("*.txt"))

EVENTS = """\
{"id": "a", "timestamp": 0, "xml": "<item><title>One</title><by>Ann</by></item>"}
{"id": "b", "timestamp": 864000, "xml": "<item><title>Two</title><by>Ann</by></item>"}
"""
"""The file `e.jsonl` of every case that names no other."""

_SECTION = re.compile(r"^== (\S+)\n", re.MULTILINE)
_RATE = re.compile(r"[\d,]+ docs/s")


def sections(case: Path) -> tuple[str, dict[str, str]]:
    """The command line of a case, and its sections by name."""
    command, *rest = _SECTION.split(case.read_text(encoding="utf-8"))
    return command.removeprefix("$ ").strip(), dict(zip(rest[::2], rest[1::2], strict=True))


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    """A run collects rarely: not so the tests after it."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_a_mistake(
    case: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command, found = sections(case)
    expected = found.pop("stderr", ""), found.pop("exit", "")
    stdin = found.pop("stdin", "")
    for name, content in {"e.jsonl": EVENTS, **found}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        # `\xff` is for bytes that are no text.
        (tmp_path / name).write_bytes(content.encode().replace(rb"\xff", b"\xff"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("__main__.__package__", None, raising=False)
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
    with pytest.raises(SystemExit) as ended:
        main()
    said = _RATE.sub("N docs/s", capsys.readouterr().err)
    assert "Traceback" not in said
    result = said, f"{ended.value.code}\n"
    if os.environ.get("XSCL_GOLDEN"):
        text = case.read_text(encoding="utf-8").partition("== stderr\n")[0]
        case.write_text(f"{text}== stderr\n{result[0]}== exit\n{result[1]}", encoding="utf-8")
    else:
        assert result == expected


def test_there_are_many() -> None:
    assert len(CASES) >= 40
