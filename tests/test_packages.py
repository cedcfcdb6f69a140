"""The packages of the project, as pyproject.toml has them for the wheel: whatever else lists them,
lists them all."""

from __future__ import annotations

import re
from pathlib import Path

from tests.architecture.packages import PACKAGES, PROJECT, ROOT, STAGES


def test_every_typed_folder_is_a_package() -> None:
    """But the samples, which are installed as `xscl.samples`."""
    typed = {file.parent.name for file in ROOT.glob("*/py.typed")}
    assert typed == {*PACKAGES, "datasets"}


def test_they_are_in_the_source_distribution() -> None:
    sdist = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]
    assert {*sdist["only-include"]} >= {*PACKAGES}
    assert all((ROOT / name).exists() for name in sdist["only-include"])


def test_the_pages_name_them() -> None:
    """CONTRIBUTING as those that import nothing of `xscl`; the README, and the map, as the way."""
    (rule,) = re.findall(r"^- Imports point (.*?)^- ", text("CONTRIBUTING.md"), re.M | re.S)
    assert {*re.findall(r"`(\w+)`", rule)} - {"xscl"} == {*STAGES}
    for page in ("README.md", "docs/architecture.md"):
        assert {name for name in STAGES if f"`{name}" in text(page)} == {*STAGES}, page


def text(file: str | Path) -> str:
    return (ROOT / file).read_text(encoding="utf-8")
