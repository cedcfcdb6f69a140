"""Tests that share a costly fixture run on one worker, whatever files they are in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONFTEST = """
import pytest
from tests.conftest import pytest_collection_modifyitems

@pytest.fixture(scope="session")
def site():
    pass
"""
FILE = """
import os, pathlib, pytest

@pytest.mark.parametrize("number", range(8))
def test_one(site, number):
    pathlib.Path("{name}" + str(number)).write_text(os.environ["PYTEST_XDIST_WORKER"])
"""


def test_one_worker_has_all_of_a_group(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    for name in ("a", "b"):
        (tmp_path / f"test_{name}.py").write_text(FILE.format(name=name), encoding="utf-8")
    shared_out = ("--numprocesses", "2", "--dist", "loadgroup")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:schemathesis", *shared_out],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    workers = [file.read_text() for file in tmp_path.glob("[ab][0-9]")]
    assert len(workers) == 16
    assert len({*workers}) == 1
