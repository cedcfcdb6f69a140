"""The artefacts of a release, built once for all tests here."""

from __future__ import annotations

import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.artefacts.processes import ROOT, run

THEIRS = "datasets"
"""A package of others, as our folder of samples is called."""


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution, which is built from the checkout."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts folder of an environment that holds a package of others with the name of ours,
    then the wheel, and lends what that depends on from this one; `tests/architecture` sees that all
    of that is declared."""
    home = environment(tmp_path_factory.mktemp("environment"))
    before = files(home)
    install(home, wheel)
    assert before.items() <= files(home).items(), "what was there is changed"
    lend(home)
    return home / "bin"


def environment(home: Path) -> Path:
    """An environment with a package `datasets`, as Hugging Face's is called."""
    venv.create(home)
    (folder,) = home.glob("lib/python*/site-packages")
    for name, text in {
        f"{THEIRS}/__init__.py": "OWN = True\n",
        f"{THEIRS}-4.0.dist-info/METADATA": f"Name: {THEIRS}\nVersion: 4.0\n",
        f"{THEIRS}-4.0.dist-info/RECORD": f"{THEIRS}/__init__.py,,\n",
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return home


def files(home: Path) -> dict[Path, bytes]:
    """The files of an environment; what Python compiles is none."""
    kept = (one for one in home.rglob("*") if one.is_file() and one.suffix != ".pyc")
    return {file.relative_to(home): file.read_bytes() for file in kept}


def install(home: Path, *wheels: Path) -> None:
    """Installs wheels into an environment, without what they depend on."""
    python = home / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile")
    run(*pip, "--no-deps", "--no-index", *wheels, cwd=home)


def lend(home: Path) -> None:
    """Puts what is installed here at the end of an environment's path, but what is installed
    editably: its files are not read."""
    (folder,) = home.glob("lib/python*/site-packages")
    (folder / "lent.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
