"""The page docs/cookbook.md: each recipe is run over its feeds, and finds what the page says.

Its fenced blocks, by their info string:

    feed FILE   a feed file
    xscl        the recipe's queries, over all feed files of its section
    matches     all of their matches, as in docs/language.md
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, repeat
from pathlib import Path

import pytest

import xscl
from tests.documentation.examples import Envelope, as_written
from tests.documentation.test_pages import ROOT
from xscl.sources.feed_files import read_feeds

PAGE = (ROOT / "docs" / "cookbook.md").read_text(encoding="utf-8")
_SECTION = re.compile(r"^## (.*)\n", re.MULTILINE)
_BLOCK = re.compile(r"^```(\w+) ?(.*)\n((?:.*\n)*?)```$", re.MULTILINE)


@dataclass
class Recipe:
    """A section of the page: feeds, the queries over them, and what the page says they find."""

    title: str
    feeds: dict[str, str] = field(default_factory=dict)
    queries: str = ""
    matches: list[str] = field(default_factory=list)
    prose: str = ""


def recipes() -> Iterator[Recipe]:
    _, *sections = _SECTION.split(PAGE)
    for title, text in zip(sections[::2], sections[1::2], strict=True):
        recipe = Recipe(title, prose=_BLOCK.sub("", text))
        for kind, name, body in _BLOCK.findall(text):
            match kind:
                case "feed":
                    recipe.feeds[name] = body
                case "xscl":
                    recipe.queries += body
                case "matches":
                    recipe.matches += body.replace(" ->\n    ", " -> ").splitlines()
                case _:
                    raise ValueError(f"{title}: the page has no blocks called {kind!r}")
        yield recipe


RECIPES = list(recipes())


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.title)
def test_recipe(recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in recipe.feeds.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    documents: list[Envelope] = list(read_feeds("feeds", "S"))
    with xscl.Engine() as engine:
        subscriptions = engine.load(recipe.queries)
        found = [match.to_dict() for match in (*engine.publish_many(documents), *engine.flush())]
    written = zip(found, chain(recipe.matches, repeat("")), strict=False)
    assert [as_written(match, line, documents) for match, line in written] == recipe.matches
    assert {match["query"] for match in found} == {one.name for one in subscriptions}
    assert recipe.prose.strip()


def test_the_recipes_may_be_in_one_file() -> None:
    with xscl.Engine() as engine:
        engine.load(";\n".join(recipe.queries for recipe in RECIPES))


def test_the_contents_lists_every_recipe() -> None:
    listed = re.findall(r"^- \[(.*)\]\(#(.*)\)$", PAGE, re.MULTILINE)
    titles = [recipe.title for recipe in RECIPES]
    assert listed == [(title, title.lower().replace(" ", "-")) for title in titles]
