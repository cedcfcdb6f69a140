"""The house is as docs/architecture.md says: imports point downward, folders are small, and the
picture is of these rooms."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from graphlib import CycleError
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.architecture.picture import as_svg
from tests.architecture.rooms import PACKAGES, ROOT, House, room_of

MOST_FLOORS = 12
MOST_MODULES = 20
MOST_STATIONS = 12

PAGE = ROOT / "docs" / "architecture.md"
HOUSE = House.of()

pytestmark = pytest.mark.xdist_group("architecture")  # All files are read once.


def test_imports_point_downward() -> None:
    try:
        floors = HOUSE.floors
    except CycleError as error:
        circle = error.args[1]
        tied = [
            str(one)
            for one in HOUSE.imports
            if {room_of(one.importer), room_of(one.imported)} <= set(circle)
            and room_of(one.importer) != room_of(one.imported)
        ]
        pytest.fail(f"rooms import each other, {' -> '.join(circle)}:\n" + "\n".join(tied))
    assert max(floors.values()) <= MOST_FLOORS


def test_the_stages_know_nothing_of_xscl_nor_of_each_other() -> None:
    stages = set(PACKAGES) - {"xscl"}
    allowed = {("join_stage", "templates"), ("pattern_stage", "xpath_stage")}
    for stage in stages:
        for below in HOUSE.arrows[stage]:
            assert (stage, below) in allowed, f"{stage} imports {below}"


def test_what_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    named = [*project["dependencies"], *extras["spark"], *extras["serve"]]
    declared = {re.split(r"[^\w-]", one)[0] for one in named}
    sold_as = packages_distributions()
    sold_as |= {"py4j": ["pyspark"]}  # Which has it in the version that fits.
    for name, module in HOUSE.foreign.items():
        assert declared & {*sold_as[name]}, f"{module} imports {name}, which is not declared"


def test_no_folder_has_too_many_modules() -> None:
    folders = Counter(str(file.parent.relative_to(ROOT)) for file in HOUSE.modules.values())
    assert {folder: n for folder, n in folders.items() if n > MOST_MODULES} == {}


def test_the_picture_is_of_these_rooms() -> None:
    """Where it is not, `python -m tests.architecture` draws it anew."""
    assert _without_lines((ROOT / "docs" / "architecture.svg").read_text("utf-8")) == (
        _without_lines(as_svg(HOUSE))
    )


def _without_lines(picture: str) -> str:
    """A picture without the numbers of lines, which change with each commit."""
    return re.sub(r'(<text class="lines"[^>]*>)[\d,]+', r"\1", picture)


def test_the_page_has_a_line_for_each_room() -> None:
    rooms = re.findall(r"^\| `([\w./]+?)/?` \|", PAGE.read_text("utf-8"), re.M)
    assert sorted(rooms) == sorted({_place(room) for room in HOUSE.floors} - {"xscl"})
    floors = [HOUSE.floors[_room(place)] for place in rooms]
    assert floors == sorted(floors), "from the ground up"


@pytest.mark.parametrize("way", ["document", "query"])
def test_the_ways_are_short_and_lead_through_modules_that_are_there(way: str) -> None:
    (section,) = re.findall(
        rf"^## The way of a {way}\n(.*?)(?=^## |\Z)", PAGE.read_text("utf-8"), re.M | re.S
    )
    stations = re.findall(r"^\d+\. .*?(?=^\d+\. |\Z)", section, re.M | re.S)
    assert 5 <= len(stations) <= MOST_STATIONS
    for station in stations:
        places = re.findall(r"`([\w/]+(?:/|\.py|\.lark))`", station)
        assert places, station
        for place in places:
            assert (ROOT / place).exists() or (ROOT / "xscl" / place).exists(), place


def _place(room: str) -> str:
    """A room as the page writes it."""
    file = HOUSE.modules[room]
    place = file.parent if file.name == "__init__.py" else file
    return str(Path(place).relative_to(ROOT))


def _room(place: str) -> str:
    return place.removesuffix(".py").replace("/", ".")
