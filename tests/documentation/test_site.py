"""The site of `make docs`: it has every page, and the reference every public name, in words that
need no other text; it is built, without a warning."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import xscl
from tests.documentation.test_python_page import OWN

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

ELSEWHERE = re.compile(r"\w+\.(md|rst)\b|\bdocs/|\b(section|chapter|figure|table) \d|thesis", re.I)
"""What leads out of a docstring to a text that its reader may not have."""


def test_every_page_is_on_the_site() -> None:
    pages = {page.stem for page in DOCS.glob("*.md")} | {"reference"}
    assert set(re.findall(r"^   ([\w-]+)$", INDEX, re.MULTILINE)) == pages


def test_every_public_name_is_in_the_reference() -> None:
    assert sorted(ENTRIES) == sorted(xscl.__all__)
    assert {name: left for name, left in ENTRIES.items() if left} == {
        name: left for name, left in OWN.items() if left and name != "QueryError"
    }


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


def test_the_site_is_built(tmp_path: Path) -> None:
    options = ("--fail-on-warning", "--quiet", "-d", tmp_path / "trees")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, DOCS, tmp_path / "site"],
        cwd=DOCS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site" / "reference.html").read_text(encoding="utf-8")
    assert all(f'id="xscl.{name}"' in page for name in xscl.__all__)
    start = (tmp_path / "site" / "start.html").read_text(encoding="utf-8")
    assert "<h1>The first ten minutes" in start
