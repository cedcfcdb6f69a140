"""What the project says of itself to others: workflows, forms, a citation, a unit for systemd."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import xscl

ROOT = Path(__file__).parents[1]
SYSTEMD = shutil.which("systemd-analyze")


def test_workflows_call_what_is_there() -> None:
    """Each step is a file of the project or a target of the Makefile."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    called = []
    for file in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        workflow = yaml.safe_load(file.read_text("utf-8"))
        for job in workflow["jobs"].values():
            steps = job.get("steps", ())
            called += [line for step in steps for line in step.get("run", "").splitlines()]
            assert steps or (ROOT / job["uses"]).is_file(), "else it is another workflow"
    targets = {target for line in called for target in re.findall(r"make ([a-z-]+)", line)}
    assert {"fuzz", "bench-quick", "dist", "lowest"} <= targets
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
    assert ".ci/run" in called
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_the_site_is_built_as_make_docs_does() -> None:
    built = yaml.safe_load((ROOT / ".readthedocs.yaml").read_text("utf-8"))
    assert built["sphinx"] == {"configuration": "docs/conf.py", "fail_on_warning": True}
    assert built["build"]["jobs"]["install"][-1] == "pip install '.[serve]' --group docs"
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert "EXTRAS_docs := [serve]\n" in makefile
    assert "sphinx --fail-on-warning" in makefile


def test_the_makefile_installs_groups_that_are_there() -> None:
    """By a pip that knows them, which is 25.1 or later."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    installed = {*re.findall(r"\$\(VENV\)/\.([a-z]+)", makefile)} - {"pip", "run"}
    assert installed == {*project["dependency-groups"]} - {"bench"}, "which `dev` includes"
    for named in re.findall(r"^EXTRAS_\w+ := \[(.*)\]$", makefile, re.MULTILINE):
        assert {*named.split(",")} <= {*project["project"]["optional-dependencies"]}
    assert "--upgrade 'pip>=25.1'" in makefile


def test_nothing_is_published_before_all_tests_have_passed() -> None:
    release = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))["jobs"]
    assert release["publish"]["needs"] == "dist"
    assert release["dist"]["needs"] == "test"
    assert release["test"]["uses"] == "./.github/workflows/ci.yml"


def test_each_python_that_is_named_is_tested() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    tested = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    named = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text("utf-8"))
    assert tested == named


def test_forms_of_issues() -> None:
    for file in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        form = yaml.safe_load(file.read_text("utf-8"))
        if file.stem != "config":
            assert {"name", "description", "body"} <= form.keys()
            ids = [part["id"] for part in form["body"]]
            assert len(ids) == len({*ids})


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == xscl.__version__
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()


@pytest.mark.skipif(SYSTEMD is None, reason="there is no systemd-analyze here")
def test_the_unit_for_systemd(tmp_path: Path) -> None:
    """As systemd reads it; the program that it starts is put in its place."""
    page = (ROOT / "docs" / "serve.md").read_text("utf-8")
    (unit,) = re.findall(r"^```text\n(\[Unit\]\n.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert "/opt/xscl/bin/xscl serve" in unit
    file = tmp_path / "xscl.service"
    file.write_text(unit.replace("/opt/xscl/bin/xscl", "/bin/true"))
    assert SYSTEMD is not None
    done = subprocess.run(
        [SYSTEMD, "verify", "--man=no", file], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
