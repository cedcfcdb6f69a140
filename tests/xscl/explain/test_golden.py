"""The explanation of whole files of queries, word for word: golden/*.xscl next to golden/*.txt.

With XSCL_GOLDEN=1 in the environment the expectations are written again.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.xscl.explain import subscribed
from xscl.dissection.parts import Dissection
from xscl.explain import as_mermaid, as_svg, explain_file, fitted

FILES = sorted((Path(__file__).parent / "golden").glob("*.xscl"))


def dissected(file: Path) -> list[Dissection]:
    return subscribed.dissected(file.read_text(encoding="utf-8"))


def expect(file: Path, text: str) -> None:
    if os.environ.get("XSCL_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_text(file: Path) -> None:
    expect(file.with_suffix(".txt"), explain_file(dissected(file)) + "\n")


def test_the_lines_fit_a_terminal() -> None:
    for file in FILES:
        text = explain_file(dissected(file))
        assert max(map(len, text.splitlines())) <= 100
        narrow = fitted(text, 60)
        assert max(map(len, narrow.splitlines())) <= 60
        assert narrow.split() == text.split()
        assert fitted(text, 100) == text


@pytest.mark.parametrize("name", ["sub-query", "event-queries", "compositions"])
def test_flowchart(name: str) -> None:
    (file,) = (file for file in FILES if file.stem == name)
    expect(file.with_suffix(".mmd"), as_mermaid(dissected(file)) + "\n")


@pytest.mark.parametrize("name", ["chain", "group", "sub-query", "event-queries", "compositions"])
def test_picture(name: str) -> None:
    (file,) = (file for file in FILES if file.stem == name)
    expect(file.with_suffix(".svg"), as_svg(dissected(file)) + "\n")
