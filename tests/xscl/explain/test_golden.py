"""What is told of whole files of queries, word for word: golden/*.xscl beside golden/*.txt."""

from __future__ import annotations

from pathlib import Path

import pytest

from xscl.dissection.dissect import dissect
from xscl.dissection.parts import Dissection
from xscl.explain import as_mermaid, explain_file
from xscl.language import parse

FILES = sorted((Path(__file__).parent / "golden").glob("*.xscl"))


def dissected(file: Path) -> list[Dissection]:
    queries, errors = parse(file.read_text(encoding="utf-8"))
    assert not errors
    return [dissect(query) for query in queries]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_text(file: Path) -> None:
    told = explain_file(dissected(file))
    assert told + "\n" == file.with_suffix(".txt").read_text(encoding="utf-8")


def test_the_lines_fit_a_terminal() -> None:
    for file in FILES:
        assert max(map(len, explain_file(dissected(file)).splitlines())) <= 100


def test_flowchart() -> None:
    (file,) = (file for file in FILES if file.stem == "sub-query")
    assert as_mermaid(dissected(file)) + "\n" == file.with_suffix(".mmd").read_text("utf-8")
