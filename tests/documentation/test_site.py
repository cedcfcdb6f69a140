"""The site of `make docs`: it has every page, and the reference every public name, in words that
need no other text; it is built, without a warning, its blocks are in colours and have labels, and
its search finds the page that a word belongs to."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from lxml import etree
from playwright.sync_api import Browser
from pygments.lexers import get_lexer_by_name
from pygments.token import Error, Generic

import xscl
import xscl.spark
from docs.site_parts.blocks import LEXERS
from docs.site_parts.words import rows
from tests.documentation.examples import Block, blocks
from tests.documentation.test_python_page import OWN
from tests.xscl.serve.conftest import browser
from xscl.feeds import rules_of
from xscl.language.highlight import XSCLLexer
from xscl.sources.feed_files import read_feeds

__all__ = ["browser"]

DOCS = Path(__file__).parents[2] / "docs"
INDEX = (DOCS / "index.rst").read_text(encoding="utf-8")
REFERENCE = (DOCS / "reference.rst").read_text(encoding="utf-8")
ENTRIES = {
    name: set(re.findall(r"\w+", options.partition(":exclude-members:")[2]))
    for name, options in re.findall(
        r"^\.\. auto\w+:: (\w+).*\n((?:   .*\n)*)", REFERENCE, re.MULTILINE
    )
}
"""The names of the reference, each with the members that it leaves out."""

OF_FEEDS = {"read_feeds": read_feeds, "rules_of": rules_of}

ELSEWHERE = re.compile(r"\w+\.(md|rst)\b|\bdocs/|\b(section|chapter|figure|table) \d|thesis", re.I)
"""What leads out of a docstring to a text that its reader may not have."""


def test_every_page_is_on_the_site() -> None:
    pages = {page.stem for page in DOCS.glob("*.md")} | {"reference"}
    assert set(re.findall(r"^   ([\w-]+)$", INDEX, re.MULTILINE)) == pages


def test_every_public_name_is_in_the_reference() -> None:
    assert sorted(ENTRIES) == sorted([*xscl.__all__, *xscl.spark.__all__, *OF_FEEDS])
    assert {name: left for name, left in ENTRIES.items() if left} == {
        name: left for name, left in OWN.items() if left and name != "QueryError"
    }


@pytest.mark.parametrize("function", OF_FEEDS.values(), ids=OF_FEEDS)
def test_functions_for_feeds_are_where_the_pages_say(function: Callable[..., object]) -> None:
    stability = (DOCS / "stability.md").read_text(encoding="utf-8")
    (there,) = re.findall(rf"`(xscl\.[\w.]+)\.{function.__name__}`", stability)
    assert getattr(import_module(there), function.__name__) is function
    before, _, _ = REFERENCE.partition(f".. autofunction:: {function.__name__}\n")
    assert re.findall(r"^.. currentmodule:: (.*)$", before, re.MULTILINE)[-1] == there


@pytest.mark.parametrize("name", xscl.__all__)
def test_a_docstring_is_a_statement_of_its_own(name: str) -> None:
    one = getattr(xscl, name)
    members = [
        getattr(one, member)
        for member in dir(one)
        if inspect.isclass(one) and not member.startswith("_") and member not in OWN.get(name, ())
    ]
    for each in (one, *members):
        if isinstance(each, property) or callable(each):
            text = inspect.getdoc(each)
            assert text is not None, each
            assert not ELSEWHERE.search(text), text


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` does."""
    folder = tmp_path_factory.mktemp("site")
    options = ("--fail-on-warning", "--quiet", "-d", folder / "trees")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, DOCS, folder / "site"],
        cwd=DOCS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "site"


def test_the_site_is_built(site: Path) -> None:
    page = (site / "reference.html").read_text(encoding="utf-8")
    assert all(f'id="xscl.{name}"' in page for name in xscl.__all__)
    assert all(f'id="xscl.spark.{name}"' in page for name in xscl.spark.__all__)
    start = (site / "start.html").read_text(encoding="utf-8")
    assert "<h1>The first ten minutes" in start
    versions = json.loads((site / "versions.json").read_text(encoding="utf-8"))
    assert any(xscl.__version__.startswith(one["version"]) for one in versions)


def test_files_of_the_project_are_pages(site: Path) -> None:
    for page, file in (("changelog", "CHANGELOG.md"), ("contributing", "CONTRIBUTING.md")):
        text = (site / f"{page}.html").read_text(encoding="utf-8")
        text_of_file = (DOCS.parent / file).read_text("utf-8")
        heads = re.findall(r"^## ([][\w .]+)$", text_of_file, re.MULTILINE)
        assert heads
        assert all(f"<h2>{head}<" in text for head in heads)


def test_the_routes_of_a_server_are_a_page(site: Path) -> None:
    text = (site / "http.html").read_text(encoding="utf-8")
    assert "<h3>POST /streams/{name}<" in text
    for route in re.findall(r"`(?:GET|POST|PUT|DELETE) (/[a-z.-]+)", SERVE):
        assert route == "/openapi.json" or route in text, route


# Blocks.


def test_blocks_have_labels_and_colours(site: Path) -> None:
    text = (site / "likeness.html").read_text(encoding="utf-8")
    for label in ("Documents", "Queries", "Matches"):
        assert f'caption-text">{label}<' in text
    assert '<span class="k">JOIN</span>' in text
    start = (site / "start.html").read_text(encoding="utf-8")
    assert start.count('caption-text">Output<') == 6
    book = (site / "cookbook.html").read_text(encoding="utf-8")
    assert "<summary>Feed <code>feeds/" in book
    assert "copybutton.js" in book


def test_a_copied_block_is_the_block(site: Path) -> None:
    """What the button copies is the text of the element, whose lines are elements, too."""
    page = etree.parse(site / "patterns.html", etree.HTMLParser())
    shown = ["".join(block.itertext()) for block in page.iter("pre")]
    found = blocks((DOCS / "patterns.md").read_text("utf-8"))
    assert shown == [f"{block.text.rstrip()}\n" for block in found]


PAGES = [DOCS.parent / "README.md", *sorted(DOCS.glob("*.md"))]


def test_each_block_has_a_kind_with_colours() -> None:
    kinds = {block.kind for page in PAGES for block in blocks(page.read_text("utf-8"))}
    for kind in kinds - {"example", "picks", *LEXERS}:
        assert get_lexer_by_name(kind)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_block_has_an_error_of_the_lexer(page: Path) -> None:
    found = list(blocks(page.read_text("utf-8")))
    following = [*found[1:], Block("", "", 0)]
    for block, after in zip(found, following, strict=False):
        kind = "xscl" if block.kind == "example" else block.kind
        if kind in LEXERS:
            tokens = list(LEXERS[kind]().get_tokens(block.text))
            assert "".join(text for _, text in tokens) == f"{block.text}\n".lstrip("\n")
            wrong = [token for token in tokens if token[0] is Error]
            if kind == "xscl" and after.kind != "error":
                wrong += [token for token in tokens if token[0] is Generic.Error]
            assert not wrong, f"line {block.line}"


def test_the_lexer_is_found_by_its_name() -> None:
    known = tomllib.loads((DOCS.parent / "pyproject.toml").read_text("utf-8"))["project"]
    (place,) = known["entry-points"]["pygments.lexers"].values()
    assert place == f"{XSCLLexer.__module__}:{XSCLLexer.__name__}"
    for entry in entry_points(group="pygments.lexers", name="xscl"):
        assert entry.load() is XSCLLexer


# Words.

GLOSSARY = rows((DOCS / "glossary.md").read_text("utf-8"))
WORDS = (
    "retract",
    "likeness",
    "window",
    "SIGTERM",
    "lateness",
    "automaton",
    "webhook",
    "OPML",
    "asyncio",
    "EQL",
)
SERVE = (DOCS / "serve.md").read_text(encoding="utf-8")


def test_each_word_of_the_glossary_is_in_the_index(site: Path) -> None:
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    for words, page, _ in GLOSSARY:
        for word in words:
            entries = index["indexentries"][word.lower()]
            assert page in {index["docnames"][document] for document, _, _ in entries}, word


def test_search_finds_the_page_of_a_word(site: Path, browser: Browser) -> None:
    pages = {word.lower(): page for words, page, _ in GLOSSARY for word in words}
    tab = browser.new_page()
    for word in WORDS:
        tab.goto(f"{(site / 'search.html').as_uri()}?q={word}")
        first = tab.locator("#search-results li a").first.get_attribute("href")
        assert first is not None
        assert first.partition(".html")[0] == pages[word.lower()], word
    tab.close()


# Looks.

FAINT = Path(__file__).with_name("faint_text.js").read_text(encoding="utf-8")


def test_each_page_can_be_read_on_a_telephone_and_in_the_dark(site: Path, browser: Browser) -> None:
    """No page scrolls sideways, and no text is too faint."""
    tab = browser.new_page(viewport={"width": 390, "height": 800})
    for page in sorted(site.glob("*.html")):
        tab.goto(page.as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth") == 390, page.name
        for scheme in ("dark", "light"):
            tab.emulate_media(color_scheme=scheme)
            assert tab.evaluate(FAINT) == [], f"{page.name}, {scheme}"
    tab.close()
