"""Draws the pictures of docs/page again, of recipes of the cookbook: `make pictures`.

They are looked at, not compared: fonts differ from machine to machine.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

from tests.documentation.test_cookbook import RECIPES
from tests.xscl.serve.asking import Asking, serving
from tests.xscl.serve.conftest import executable
from xscl.sources.feed_files import read_feeds

FOLDER = Path(__file__).parents[3] / "docs" / "page"
SHOWN = ("A follow-up by the same author", "A story in three feeds within a day")
WRONG = """-- name: answered
SELECT <answer to="{ta}">{tb}</answer>
FROM S/item[feed->fa][link->la][title->ta]
  FOLLOWED BY {la = to AND fa != fb, 90 dais}
  S/item[feed->fb][linked->to][title->tb]"""


@contextlib.contextmanager
def example() -> Iterator[Asking]:
    """A server with some recipes, and the items of their feeds."""
    some = [recipe for recipe in RECIPES if recipe.title in SHOWN]
    with serving(*(recipe.queries for recipe in some)) as asking:
        asking.engine.cancel("more-by-author")
        for recipe in some:
            with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
                Path("feeds").mkdir()
                for file, text in recipe.feeds.items():
                    Path(file).write_text(text, encoding="utf-8")
                documents = sorted(read_feeds("feeds", "S"), key=lambda one: one["timestamp"])
            body = "".join(json.dumps(one) + "\n" for one in documents).encode()
            asking.raw("POST", "/streams/S", body, Content_Type="application/x-ndjson")
        yield asking


def matches(page: Page) -> None:
    """A match that is open, below others."""
    page.get_by_text("open the newest").click()
    page.locator("[aria-expanded=true]").click()
    page.locator(".card-head", has_text="follow-up").click()
    expect(page.locator(".side mark:visible")).to_have_count(4)


def ask(page: Page) -> None:
    """The editor with an error."""
    page.locator("#editor").fill(WRONG)
    expect(page.locator("#errors .place")).to_be_visible()


def query(page: Page) -> None:
    """A query and what became of it."""
    expect(page.locator(".picture img")).to_have_js_property("complete", True)


PICTURES = (
    ("matches", "matches", matches, "light", 900),
    ("ask", "ask", ask, "dark", 720),
    ("query", "queries/breaking", query, "light", 800),
)


def main() -> None:
    """Draws all of them."""
    found = executable()
    assert found is not None, "there is no Chromium"
    with example() as asking, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found)
        for name, view, prepared, scheme, height in PICTURES:
            size = {"width": 1120, "height": height}
            page = browser.new_page(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
            page.goto(f"http://127.0.0.1:{asking.port}/#/{view}")
            prepared(page)
            file = FOLDER / f"{name}.png"
            page.screenshot(path=file)
            Image.open(file).quantize(256).save(file, optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
