"""What is installed is what runs: the wheel, in a fresh environment, away from the checkout."""

from __future__ import annotations

import re
import tarfile
import zipfile
from pathlib import Path

from tests.architecture.packages import STAGES
from tests.artefacts.processes import run

QUERIES = "xscl/samples/feeds/queries.xscl"


def test_files_of_the_wheel(wheel: Path) -> None:
    files = set(zipfile.ZipFile(wheel).namelist())
    packages = {name.split("/")[0] for name in files if ".dist-info/" not in name}
    assert packages == {"xscl"}
    assert {"xscl/py.typed", *(f"xscl/{stage}/__init__.py" for stage in STAGES)} <= files
    assert {"xscl/language/grammar.lark", "xscl/samples/__init__.py", QUERIES} <= files
    assert sum(name.startswith("xscl/samples/feeds/") for name in files) >= 8
    assert not [name for name in files if re.search(r"\btests?\b|conftest|\.pyc$", name)]
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in files)


SOURCES = {
    ".ci", ".dockerignore", ".github", ".gitignore", ".readthedocs.yaml", "CHANGELOG.md",
    "CITATION.cff", "CONTRIBUTING.md",
    "Dockerfile", "LICENSE", "Makefile", "PKG-INFO", "README.md", "SECURITY.md", "benchmarks",
    "datasets", "deploy", "docs", "fuzz", "hatch_build.py", "join_stage", "pattern_stage",
    "pyproject.toml",
    "templates", "tests",
    "xpath_stage", "xscl",
}  # fmt: skip


def test_files_of_the_source_distribution(wheel: Path) -> None:
    """All that the tests and the Makefile need, and no file that git does not have."""
    (built,) = wheel.parent.glob("*.tar.gz")
    with tarfile.open(built) as archive:
        names = [Path(one).parts[1:] for one in archive.getnames()]
    assert {parts[0] for parts in names if parts} == SOURCES
    assert not [parts for parts in names if {"__pycache__", ".venv", "build"} & {*parts}]
    assert {("fuzz", "queries.py"), ("docs", "index.rst"), ("tests", "drawn.py")} <= {*names}


def test_every_sample_module_imports(installed: Path, tmp_path: Path) -> None:
    program = (
        "import importlib, pkgutil, xscl.samples\n"
        "for module in pkgutil.iter_modules(xscl.samples.__path__):\n"
        "    importlib.import_module('xscl.samples.' + module.name)\n"
        "print(xscl.samples.__file__)\n"
    )
    whence = run(installed / "python", "-c", program, cwd=tmp_path).stdout
    assert whence.startswith(str(installed.parent))


def test_demo(wheel: Path, installed: Path, tmp_path: Path) -> None:
    queries = zipfile.ZipFile(wheel).read(QUERIES).decode()
    names = re.findall(r"^--\s*name:\s*(\S+)", queries, re.MULTILINE)
    assert len(names) == 6
    done = run(installed / "xscl", "demo", cwd=tmp_path)
    lines = [line for line in done.stdout.splitlines() if any(name in line for name in names)]
    assert len(lines) >= 20
    assert {name for name in names if any(name in line for line in lines)} == set(names)
    ends = [text.rstrip().splitlines()[-1:] for text in (done.stdout, done.stderr)]
    assert any("matches" in line for end in ends for line in end)
    assert not list(tmp_path.iterdir())
