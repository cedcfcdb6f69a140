"""What is installed is what runs: the wheel, in a fresh environment, away from the checkout."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
QUERIES = "xscl/samples/feeds/queries.xscl"


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command in a folder of its own, with nothing of this checkout on Python's path."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution, which is built from the checkout."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts folder of a fresh environment that holds the wheel, and lends what it depends on
    from this one; `tests/architecture` sees that all of that is declared."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home)
    python = home / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=home)
    (folder,) = home.glob("lib/python*/site-packages")
    (folder / "lent.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return python.parent


def test_files_of_the_wheel(wheel: Path) -> None:
    files = set(zipfile.ZipFile(wheel).namelist())
    rooms = {name.split("/")[0] for name in files if ".dist-info/" not in name}
    assert rooms == {"xscl", "xpath_stage", "join_stage", "pattern_stage", "templates"}
    assert {f"{room}/__init__.py" for room in rooms} <= files
    assert {f"{room}/py.typed" for room in rooms} <= files
    assert {"xscl/language/grammar.lark", "xscl/samples/__init__.py", QUERIES} <= files
    assert sum(name.startswith("xscl/samples/feeds/") for name in files) >= 8
    assert not [name for name in files if re.search(r"\btests?\b|conftest|\.pyc$", name)]
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in files)


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
    assert len(names) == 5
    done = run(installed / "xscl", "demo", cwd=tmp_path)
    lines = [line for line in done.stdout.splitlines() if any(name in line for name in names)]
    assert len(lines) >= 20
    assert {name for name in names if any(name in line for line in lines)} == set(names)
    ends = [text.rstrip().splitlines()[-1:] for text in (done.stdout, done.stderr)]
    assert any("matches" in line for end in ends for line in end)
    assert not list(tmp_path.iterdir())
