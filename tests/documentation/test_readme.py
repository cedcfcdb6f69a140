"""README.md: its figures are those of docs/figures.md, and it is short.  Its Python is run as a
doctest, its commands by test_shell_lines.py."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MEASURED = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")


def test_the_figures_are_those_that_are_recorded() -> None:
    rows = re.findall(
        r"^\| .* \| ([^|]*\d[^|]*) \| \[.*\]\(docs/figures.md#([\w-]+)\) \|$",
        README,
        re.MULTILINE,
    )
    assert len(rows) == 3
    heads = re.split(r"^##+ (.*)\n", MEASURED, flags=re.MULTILINE)
    sections = {
        re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-"): text
        for head, text in zip(heads[1::2], heads[2::2], strict=True)
    }
    for figures, section in rows:
        for figure in figures.split(", "):
            assert re.search(rf"(?<![\d.]){re.escape(figure)}\b", sections[section]), figure


def test_it_is_short() -> None:
    assert README.count("\n") < 140
    for block in re.findall(r"^```\w*\n(.*?)^```$", README, re.MULTILINE | re.DOTALL):
        assert block.count("\n") <= 10


def test_the_two_commands_are_named() -> None:
    assert "`make demo`" in README
    assert "`make test`" in README
