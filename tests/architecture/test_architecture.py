"""The code is as docs/architecture.md says: imports point downward, folders are small, and the
picture is of these packages."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from graphlib import CycleError
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.architecture.packages import ROOT, STAGES, Code, package_of
from tests.architecture.picture import as_svg

MOST_FLOORS = 12
MOST_MODULES = 20
MOST_STEPS = 12

PAGE = ROOT / "docs" / "architecture.md"
CODE = Code.of()

pytestmark = pytest.mark.xdist_group("architecture")  # All files are read once.


def test_imports_point_downward() -> None:
    try:
        floors = CODE.floors
    except CycleError as error:
        circle = error.args[1]
        tied = [
            str(one)
            for one in CODE.imports
            if {package_of(one.importer), package_of(one.imported)} <= set(circle)
            and package_of(one.importer) != package_of(one.imported)
        ]
        pytest.fail(f"packages import each other, {' -> '.join(circle)}:\n" + "\n".join(tied))
    assert max(floors.values()) <= MOST_FLOORS


def test_at_most_two_modules_import_each_other() -> None:
    assert [circle for circle in CODE.circles() if len(circle) > 2] == []


def test_the_stages_know_nothing_of_xscl_nor_of_each_other() -> None:
    allowed = {("join_stage", "templates"), ("pattern_stage", "xpath_stage")}
    for stage in STAGES:
        for below in CODE.arrows[stage]:
            assert (stage, below) in allowed, f"{stage} imports {below}"


def test_what_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    named = [*project["dependencies"], *extras["spark"], *extras["serve"]]
    declared = {re.split(r"[^\w-]", one)[0].lower() for one in named}
    sold_as = packages_distributions()
    sold_as |= {"py4j": ["pyspark"]}  # Which has it in the version that fits.
    for name, module in CODE.foreign.items():
        assert declared & {one.lower() for one in sold_as[name]}, (
            f"{module} imports {name}, which is not declared"
        )


def test_no_folder_has_too_many_modules() -> None:
    folders = Counter(str(file.parent.relative_to(ROOT)) for file in CODE.modules.values())
    assert {folder: n for folder, n in folders.items() if n > MOST_MODULES} == {}


def test_the_picture_is_of_these_packages() -> None:
    """Where it is not, `python -m tests.architecture` draws it again."""
    assert _without_lines((ROOT / "docs" / "architecture.svg").read_text("utf-8")) == (
        _without_lines(as_svg(CODE))
    )


def _without_lines(picture: str) -> str:
    """A picture without the numbers of lines, which change with each commit."""
    return re.sub(r'(<text class="lines"[^>]*>)[\d,]+', r"\1", picture)


def test_the_page_has_a_line_for_each_package() -> None:
    packages = re.findall(r"^\| `([\w./]+?)/?` \|", PAGE.read_text("utf-8"), re.M)
    assert sorted(packages) == sorted({_place(package) for package in CODE.floors} - {"xscl"})
    floors = [CODE.floors[_package(place)] for place in packages]
    assert floors == sorted(floors), "from the ground up"


@pytest.mark.parametrize("way", ["document", "query"])
def test_the_ways_are_short_and_lead_through_modules_that_are_there(way: str) -> None:
    (section,) = re.findall(
        rf"^## The data flow of a {way}\n(.*?)(?=^## |\Z)", PAGE.read_text("utf-8"), re.M | re.S
    )
    steps = re.findall(r"^\d+\. .*?(?=^\d+\. |\Z)", section, re.M | re.S)
    assert 5 <= len(steps) <= MOST_STEPS
    for step in steps:
        places = re.findall(r"`([\w/]+(?:/|\.py|\.lark))`", step)
        assert places, step
        for place in places:
            assert (ROOT / place).exists() or (ROOT / "xscl" / place).exists(), place


def _place(package: str) -> str:
    """A package as the page writes it."""
    file = CODE.modules[f"xscl.{package}" if package in STAGES else package]
    place = file.parent if file.name == "__init__.py" else file
    return str(Path(place).relative_to(ROOT))


def _package(place: str) -> str:
    return place.removesuffix(".py").replace("/", ".")
