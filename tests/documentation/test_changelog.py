"""CHANGELOG.md: what comes next is read in a minute or two, and its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import xscl

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
MOST_WORDS = 600
"""Of a version: what is internal, or is in a page, is not in it."""


def sections() -> dict[str, str]:
    heads = re.split(r"^## \[(.*)\].*$", TEXT, flags=re.MULTILINE)
    return dict(zip(heads[1::2], heads[2::2], strict=True))


def test_a_version_is_read_in_a_minute_or_two() -> None:
    assert list(sections())[-1] == "0.1.0"
    assert xscl.__version__ in sections()
    assert {
        name: n for name, text in sections().items() if (n := len(text.split())) > MOST_WORDS
    } == {}


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!https:)([^)#]*)", TEXT)
    assert len(links) > 10
    assert all((ROOT / link).is_file() for link in links)
