"""XSCL is installed beside packages of others that have the names of ours: nothing of theirs and
nothing of ours changes."""

from __future__ import annotations

import sys
from pathlib import Path

import xscl
from tests.architecture.packages import PROJECT, STAGES
from tests.artefacts.conftest import THEIRS, environment, files, install, lend
from tests.artefacts.processes import ROOT, run

PROGRAM = """
import xscl, xscl.samples, {theirs}
with xscl.Engine() as engine:
    engine.subscribe("S//a->x JOIN {{x = y}} S//b->y")
    engine.publish("S", "<a>v</a>")
    found = engine.publish("S", "<b>v</b>")
print(len(found), xscl.samples.FEEDS.is_dir(), {theirs}.OWN, xscl.__file__)
"""

FINDING = """
from importlib.util import find_spec
print([name for name in {names} if find_spec(name)])
"""

FOLDERS = sorted(
    name
    for name in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"]
    if name.isidentifier() and (ROOT / name).is_dir()
)
"""What could be imported of the checkout."""


def test_packages_of_others(installed: Path, tmp_path: Path) -> None:
    """`datasets` in the same environment stays another's, as the fixture has seen to its files."""
    said = run(installed / "python", "-c", PROGRAM.format(theirs=THEIRS), cwd=tmp_path).stdout
    assert said.startswith(f"1 True True {installed.parent}")
    assert found(installed, tmp_path) == [THEIRS, "xscl"]


def test_packages_of_a_project(installed: Path, tmp_path: Path) -> None:
    """A project's own `templates` in the current directory is the project's, and so on."""
    for name in STAGES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("OWN = True")
    program = PROGRAM.format(theirs="templates")
    assert run(installed / "python", "-c", program, cwd=tmp_path).stdout.startswith("1 True True ")


def test_installed_editably(tmp_path: Path) -> None:
    """`xscl` alone can be imported from the checkout, none of the folders that lie next to it."""
    home = environment(tmp_path / "environment")
    before = files(home)
    build = f"import hatchling.build as b; print(b.build_editable({str(tmp_path)!r}))"
    built = run(sys.executable, "-c", build, cwd=ROOT).stdout.split()[-1]
    install(home, tmp_path / built)
    assert before.items() <= files(home).items()
    lend(home)
    said = run(home / "bin" / "python", "-c", PROGRAM.format(theirs=THEIRS), cwd=home).stdout
    *found_all, there = said.split()
    assert found_all == ["1", "True", "True"]
    assert Path(there).resolve() == ROOT / "xscl" / "__init__.py"
    assert xscl.__version__ in run(home / "bin" / "xscl", "--version", cwd=home).stdout
    assert {*STAGES, "tests", "xscl", THEIRS} <= {*FOLDERS}
    assert [one.name for one in (ROOT / ".editable").iterdir()] == ["xscl"]
    assert found(home / "bin", home) == [THEIRS, "xscl"]


def found(scripts: Path, at: Path) -> list[str]:
    """What can be imported in a folder of what has the names of our folders."""
    said = run(scripts / "python", "-c", FINDING.format(names=FOLDERS), cwd=at).stdout
    return said.translate(str.maketrans("", "", "[]',")).split()
