"""Sizes as text, wherever one is written: an engine's memory, an option of a command."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import xscl
from xscl.cli.main import cli
from xscl.sizes import size_of_text


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *(("16777216", 2**24), ("16777216B", 2**24), (" 1 ", 1)),
        *((f"16{space}{unit}", 2**24) for space in ("", " ") for unit in ("M", "mb", "MB", "MiB")),
        *((f"1{unit}", 2**10) for unit in ("k", "kB", "KB", "KiB", "kib")),
        *((f"2 {unit}", 2**31) for unit in ("g", "GB", "GiB")),
        *(("1TB", 2**40), ("1.5 GiB", 3 * 2**29), ("0.5K", 512)),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert size_of_text(text) == size


@pytest.mark.parametrize(
    "text", ["", "0", "0.1", "much", "-1", "1 X", "1 MiBs", "1e3", "MB", "٣", "9" * 30 + "T"]
)
def test_what_is_no_size(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is no size; write for example 16 MiB"):
        size_of_text(text)
    with pytest.raises(xscl.XSCLError, match=r"memory: .* is no size; write for example 16 MiB"):
        xscl.Engine(memory=text)
    (tmp_path / "q.xscl").write_text("S//a")
    for option in ("--memory", "--max-document"):
        arguments = ["run", str(tmp_path / "q.xscl"), "--events", "-", f"{option}={text}"]
        done = CliRunner().invoke(cli, arguments)
        assert (done.exit_code, "is no size; write" in done.output) == (2, True)


@pytest.mark.parametrize("memory", ["64MB", "64 MiB", "0.5g", 2**26])
def test_an_engines_memory(memory: int | str) -> None:
    with xscl.Engine(memory=memory) as engine:
        engine.subscribe("S//a")
        assert len(engine.publish("S", "<a/>")) == 1


@pytest.mark.parametrize("memory", ["1MB", 1, "63 MiB"])
def test_too_little_memory(memory: int | str) -> None:
    with pytest.raises(xscl.XSCLError, match="give 64 MiB or more"):
        xscl.Engine(memory=memory)


@pytest.mark.parametrize("memory", [True, 64.5e6, b"64MB", [64]])
def test_what_is_neither_bytes_nor_text(memory: object) -> None:
    with pytest.raises(xscl.XSCLError, match="give bytes as an int, or text such as '64MB'"):
        xscl.Engine(memory=memory)  # type: ignore[arg-type]
