"""What is installed is what runs: the wheel, in a fresh environment, away from the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.packages import STAGES

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
    packages = {name.split("/")[0] for name in files if ".dist-info/" not in name}
    assert packages == {"xscl"}
    assert {"xscl/py.typed", *(f"xscl/{stage}/__init__.py" for stage in STAGES)} <= files
    assert {"xscl/language/grammar.lark", "xscl/samples/__init__.py", QUERIES} <= files
    assert sum(name.startswith("xscl/samples/feeds/") for name in files) >= 8
    assert not [name for name in files if re.search(r"\btests?\b|conftest|\.pyc$", name)]
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in files)


SOURCES = {
    ".ci", ".dockerignore", ".github", ".gitignore", "CHANGELOG.md", "CITATION.cff",
    "CONTRIBUTING.md",
    "Dockerfile", "LICENSE", "Makefile", "PKG-INFO", "README.md", "SECURITY.md", "benchmarks",
    "datasets", "docs", "fuzz", "join_stage", "pattern_stage", "pyproject.toml", "templates",
    "tests",
    "xpath_stage", "xscl",
}  # fmt: skip


def test_files_of_the_source_distribution(wheel: Path) -> None:
    """All that the tests and the Makefile need, and no file that git does not have."""
    (built,) = wheel.parent.glob("*.tar.gz")
    with tarfile.open(built) as archive:
        names = [Path(one).parts[1:] for one in archive.getnames()]
    assert {parts[0] for parts in names if parts} == SOURCES
    assert not [parts for parts in names if {"__pycache__", ".venv", "build"} & {*parts}]
    assert {("fuzz", "queries.py"), ("docs", "index.rst"), ("tests", "test_wheel.py")} <= {*names}


def test_the_project_says_where_it_is(wheel: Path) -> None:
    (name,) = [one for one in zipfile.ZipFile(wheel).namelist() if one.endswith("/METADATA")]
    metadata = zipfile.ZipFile(wheel).read(name).decode()
    for label in ("Documentation", "Repository", "Issues", "Changelog"):
        assert f"\nProject-URL: {label}, https://" in metadata


def test_the_image_installs_the_same(wheel: Path, tmp_path: Path) -> None:
    """What the Dockerfile copies, of what .dockerignore leaves, makes the same wheel."""
    sent = [*sent_to_docker()]
    stage, _, _ = (ROOT / "Dockerfile").read_text(encoding="utf-8").partition("RUN")
    copied = re.findall(r"^COPY (.+) (\S+)$", stage, re.MULTILINE)
    assert copied
    for sources, target in copied:
        for source in map(Path, sources.split()):
            files = [file for file in sent if source == file or source in file.parents]
            assert files, f"COPY {source}: not found"
            for file in files:
                # Of a folder what is in it is copied, else the file.
                at = tmp_path / target / (file.name if file == source else file.relative_to(source))
                at.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / file, at, follow_symlinks=False)
    out = tmp_path / "dist"
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out, cwd=tmp_path)
    (built,) = out.glob("*.whl")
    names = [{*zipfile.ZipFile(each).namelist()} for each in (built, wheel)]
    assert names[0] == names[1]


def sent_to_docker() -> Iterator[Path]:
    """The files of the checkout that .dockerignore leaves: the last line that fits decides, of each
    folder first."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert not any(re.search("^!.*/", line) for line in lines), "read by folder below"
    rules = [(line.startswith("!"), _pattern(line.removeprefix("!"))) for line in lines]

    def left(path: Path) -> bool:
        fitting = [kept for kept, rule in rules if rule.fullmatch(path.as_posix())]
        return not fitting or fitting[-1]

    def below(folder: Path) -> Iterator[Path]:
        for path in sorted(folder.iterdir()):
            within = path.relative_to(ROOT)
            if left(within):
                yield from below(path) if path.is_dir() and not path.is_symlink() else [within]

    return below(ROOT)


def _pattern(line: str) -> re.Pattern[str]:
    """Docker's `*` stops at a slash, `**/` is any folder."""
    text = re.escape(line).replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")
    return re.compile(text)


def test_every_sample_module_imports(installed: Path, tmp_path: Path) -> None:
    program = (
        "import importlib, pkgutil, xscl.samples\n"
        "for module in pkgutil.iter_modules(xscl.samples.__path__):\n"
        "    importlib.import_module('xscl.samples.' + module.name)\n"
        "print(xscl.samples.__file__)\n"
    )
    whence = run(installed / "python", "-c", program, cwd=tmp_path).stdout
    assert whence.startswith(str(installed.parent))


def test_packages_of_others_with_the_names_of_ours(installed: Path, tmp_path: Path) -> None:
    """What is installed is `xscl` alone; a project's own `templates` is the project's."""
    for name in STAGES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("OWN = True")
    program = (
        "import xscl, templates\n"
        "with xscl.Engine() as engine:\n"
        "    engine.subscribe('S//a->x JOIN {x = y} S//b->y')\n"
        "    engine.publish('S', '<a>v</a>')\n"
        "    print(len(engine.publish('S', '<b>v</b>')), templates.OWN)\n"
    )
    said = run(installed / "python", "-c", program, cwd=tmp_path).stdout
    assert said == "1 True\n"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in STAGES:
        program = f"import importlib.util; print(importlib.util.find_spec({name!r}))"
        assert run(installed / "python", "-c", program, cwd=elsewhere).stdout == "None\n"


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
