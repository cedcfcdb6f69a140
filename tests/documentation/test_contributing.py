"""The page CONTRIBUTING.md, and the README's list of packages: the files and names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.packages import PACKAGES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
FOLDERS = (
    *PACKAGES,
    "tests",
    "benchmarks",
    "docs",
    "datasets",
)

PATHS = sorted(
    {
        path
        for path in re.findall(r"`(?:PACKAGE=)?([\w./-]+)`", PAGE + README)
        if path.split("/")[0] in FOLDERS and "NAME" not in path and not path.startswith("xscl.")
    }
)


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_there(path: str) -> None:
    assert (ROOT / path).exists()


def test_the_worked_examples_fit_the_files() -> None:
    """Each changed file exists, with the names and lines around the example."""
    diffs = re.findall(r"^```diff\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(diffs) == 4
    for diff in diffs:
        text = ""
        for line in diff.splitlines():
            head = re.fullmatch(r"--- ([\w./]+)(?:, (\w+))?", line)
            if head and head[2] == "new":
                assert not (ROOT / head[1]).exists()
            elif head:
                text = (ROOT / head[1]).read_text(encoding="utf-8")
                assert (head[2] or "") in text, line
            elif line.startswith(" "):
                assert line[1:] in text, line


def test_the_recipes_name_what_is_there() -> None:
    """`path`: … `NAME`: a name in capitals, or with an underscore before it, is in that file."""
    for step in re.findall(r"^\d\. (.*(?:\n   .*)*)", PAGE, re.MULTILINE):
        path, *names = re.findall(r"`([^`]+)`", step)
        if not (ROOT / path).is_file() or not path.endswith(".py"):
            continue
        text = (ROOT / path).read_text(encoding="utf-8")
        for name in names:
            if re.fullmatch(r"_\w+|[A-Z]+(_[A-Z]+)*", name) and name != "NAME":
                assert name in text, (path, name)
