"""What code cites is in the project: each page and each of its sections.

A section is cited as `docs/laws.md#signatures`, a further one of the same page as `, #templates`.
"""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TREES = (
    "xscl",
    "xpath_stage",
    "join_stage",
    "pattern_stage",
    "templates",
    "datasets",
    "tests",
    "benchmarks",
    "fuzz",
)
CITED = re.compile(r"(?<![\w/])(docs/[\w-]+\.(?:md|rst))((?:(?:,\s+(?:#|//)?\s*)?#[\w-]+)*)")
LINKED = re.compile(r"\]\(([\w./-]*\.md)?(#[\w-]+)?\)")
ELSEWHERE = re.compile(
    r"\blaws? \d|\bsections? \d+ of the language|\b(?<![\w/-])[\w-]+\.md, sections? \d"
    r"|\b(interface|conventions|layout|patterns-\w+)\.md\b"
)
"""What leads to a page that is not in the repository, or to a number that no page has."""


def sources() -> list[Path]:
    """The files of code and tests, but for this one."""
    listed = subprocess.run(
        ["git", "ls-files", *TREES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = [ROOT / name for name in listed.stdout.split()]
    endings = {".py", ".lark", ".js", ".html", ".toml"}
    kept = [f for f in files if f.suffix in endings and not f.is_symlink()]
    return [file for file in kept if file.is_file() and file != Path(__file__)]


@cache
def sections(page: Path) -> frozenset[str]:
    """The links of a page's headings, as GitHub and the site make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    heads = re.findall(r"^#{1,4} (.*)$", text, re.MULTILINE)
    return frozenset(re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads)


def missing(text: str) -> list[str]:
    """What a text cites and the pages do not have."""
    gone = []
    for page, cited in CITED.findall(text):
        file = ROOT / page
        found = sections(file) if file.is_file() else frozenset()
        wanted = re.findall(r"#([\w-]+)", cited)
        gone += [page] * (not file.is_file())
        gone += [f"{page}#{section}" for section in wanted if section not in found]
    return gone


def test_what_is_cited_is_there() -> None:
    files = sources()
    cited = [file for file in files if CITED.search(file.read_text(encoding="utf-8"))]
    assert len(cited) > 100
    found = {str(file.relative_to(ROOT)): missing(file.read_text("utf-8")) for file in cited}
    assert {file: gone for file, gone in found.items() if gone} == {}


def test_nothing_else_is_cited() -> None:
    found = {
        str(file.relative_to(ROOT)): match[0]
        for file in sources()
        if (match := ELSEWHERE.search(file.read_text(encoding="utf-8")))
    }
    assert found == {}


def test_what_is_not_there_is_found() -> None:
    assert missing("(docs/laws.md#signatures, #no-such, docs/none.md)") == [
        "docs/laws.md#no-such",
        "docs/none.md",
    ]
    assert missing("docs/laws.md#templates,\n// #nowhere") == ["docs/laws.md#nowhere"]


PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    gone = []
    for name, section in LINKED.findall(text):
        file = (page.parent / name).resolve() if name else page
        if not file.is_file() or (section and section[1:] not in sections(file)):
            gone.append(name + section)
    assert gone == []


@pytest.mark.parametrize("page", ["laws.md", "semantics.md"])
def test_the_sections_have_names_of_their_own(page: str) -> None:
    heads = re.findall(r"^#+ (.*)$", (ROOT / "docs" / page).read_text("utf-8"), re.MULTILINE)
    assert len(heads) == len(sections(ROOT / "docs" / page))
