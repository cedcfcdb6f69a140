"""A foreign package with the name of a stage is named, not half imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.rooms import PACKAGES

ROOT = Path(__file__).parents[2]


def import_xscl(cwd: Path, *path: Path) -> subprocess.CompletedProcess[str]:
    """`import xscl` in a fresh interpreter in `cwd`, with these folders first on its path."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    return subprocess.run(
        [sys.executable, "-c", "import xscl"],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", sorted({*PACKAGES} - {"xscl"}))
def test_a_foreign_package_is_named(tmp_path: Path, name: str) -> None:
    foreign = tmp_path / "site" / name / "__init__.py"
    foreign.parent.mkdir(parents=True)
    foreign.write_text("raise SystemExit('the foreign package ran')\n")
    done = import_xscl(tmp_path, tmp_path / "site", ROOT)
    assert done.returncode == 1
    assert f"ImportError: xscl needs its own package {name!r}" in done.stderr
    assert str(foreign) in done.stderr


def test_a_module_file_is_named_too(tmp_path: Path) -> None:
    foreign = tmp_path / "templates.py"
    foreign.write_text("")
    done = import_xscl(tmp_path, tmp_path, ROOT)
    assert done.returncode == 1
    assert str(foreign) in done.stderr


def test_a_plain_folder_of_that_name_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "page.html").write_text("<p/>")
    done = import_xscl(tmp_path, tmp_path, ROOT)
    assert done.returncode == 0, done.stderr
