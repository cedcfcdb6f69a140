"""The page docs/python.md: its examples are run (as are those of docs/durability.md), and it leaves
out no public name."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path

import pytest

import xscl

DOCS = Path(__file__).parents[2] / "docs"
FILE = DOCS / "python.md"
PAGE = FILE.read_text(encoding="utf-8")
CODE = set(
    re.findall(
        r"\w+",
        " ".join(
            [
                *re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL),
                *re.findall(r"`([^`\n]+)`", PAGE),
            ]
        ),
    )
)

OWN = {
    # For the commands, for the tests, and for joins on Spark.
    "Engine": {"clear", "keeper", "number_after_these", "preview", "previews", "relations"},
    "Match": set(),
    "MatchGroup": set(),
    "MatchGroups": {"ranges"},
    "MatchStream": {"take"},
    "Subscription": {
        *("deliver", "dissection", "feeds", "match", "numbers", "on_match", "order", "outline"),
        *(
            "all_numbers",
            "output",
            "outputs",
            "place",
            "reported",
            "since",
            "streams",
            "values",
            "waits",
            "wiring",
        ),
    },
    "QueryError": {"args"},
}
"""Attributes without an underscore that are no part of the API: the engine's own packages use
them."""


@pytest.mark.parametrize("page", ["python.md", "durability.md"])
def test_the_session(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (DOCS / page).read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, page, str(DOCS / page), 0)
    found: list[str] = []
    results = doctest.DocTestRunner().run(test, out=found.append)
    assert results.attempted == text.count("\n>>> ")
    assert not results.failed, "".join(found)


@pytest.mark.parametrize("name", xscl.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    assert name in CODE


@pytest.mark.parametrize("name", sorted({"Engine", *OWN}))
def test_every_public_attribute_is_documented(name: str) -> None:
    one = getattr(xscl, name)
    attributes = {attribute for attribute in dir(one) if not attribute.startswith("_")}
    inherited = set(dir(Exception)) if issubclass(one, Exception) else set(dir(tuple))
    assert sorted(attributes - inherited - OWN[name] - CODE) == []


def test_every_parameter_of_the_engine_is_documented() -> None:
    parameters = set(inspect.signature(xscl.Engine).parameters) - {"state"}
    assert sorted(parameters - CODE) == []


def test_the_page_is_found() -> None:
    readme = FILE.parents[1] / "README.md"
    assert "(docs/python.md)" in readme.read_text(encoding="utf-8")
