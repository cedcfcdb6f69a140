"""One commit has one verdict: what a test run draws depends on nothing but XSCL_SEED."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

from tests.drawn import CHOSEN

ROOT = Path(__file__).parents[1]
SOURCES = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("datasets/**/*.py")]

UNSEEDED = {
    "date.today",
    "hash",
    "os.urandom",
    "uuid.uuid4",
}
"""What is of a day, a process or a machine."""

_DRAWING = re.compile(r"\b([Rr]andom|secrets|today|hash|urandom|uuid4)\b")
"""One of these is in every call that draws."""

ALLOWED = {
    ("tests/documentation/test_start.py", "random.SystemRandom"): "a port, which must be free",
    ("tests/xscl/spark/kills.py", "uuid.uuid4"): "the mark of a process, which none may have had",
    ("tests/xscl/evaluation/test_match_groups.py", "hash"): "that equal ones have one",
    ("tests/xscl/engine/test_engine.py", "hash"): "that equal ones have one",
    ("tests/xscl/language/automata/test_description.py", "hash"): "that equal ones have one",
}


def unseeded(node: ast.AST, hidden: frozenset[str] = frozenset()) -> Iterator[str]:
    """The calls that draw what no seed decides; names of a function hide modules."""
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        within = [*ast.walk(node)]
        hidden |= {each.arg for each in within if isinstance(each, ast.arg)}
        hidden |= {each.id for each in within if isinstance(each, ast.Name) and _is_bound(each)}
    if isinstance(node, ast.ImportFrom) and node.module in ("random", "secrets"):
        yield from (f"random.{each.name}" for each in node.names if each.name != "Random")
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func).removeprefix("datetime.")
        module, _, _ = called.rpartition(".")
        if called in ("Random", "random.Random"):
            found = not node.args
        elif module in ("random", "secrets"):
            found = module not in hidden
        else:
            found = called in UNSEEDED
        if found:
            yield called
    for child in ast.iter_child_nodes(node):
        yield from unseeded(child, hidden)


def _is_bound(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("random.choice([1])", ["random.choice"]),
        ("random.Random().choice([1])", ["random.Random"]),
        ("random.Random(1).choice([1])", []),
        ("from random import Random\nRandom()", ["Random"]),
        ("from random import Random, shuffle", ["random.shuffle"]),
        ("date.today() - datetime.date.today()", ["date.today"] * 2),
        ("def f(random): return lambda: random.choice([1])", []),
        ("def f():\n random = Random(1)\n random.choice([1])", []),
        ("hash('a')", ["hash"]),
    ],
)
def test_what_is_not_seeded(text: str, found: list[str]) -> None:
    assert list(unseeded(ast.parse(text))) == found


def test_nothing_is_drawn_without_a_seed() -> None:
    found = {
        (str(file.relative_to(ROOT)), call)
        for file in SOURCES
        if _DRAWING.search(text := file.read_text(encoding="utf-8"))
        for call in unseeded(ast.parse(text))
    }
    assert found == ALLOWED.keys()


def test_no_clock_and_no_earlier_run_decides(request: pytest.FixtureRequest) -> None:
    """Of each test of hypothesis: nor does a machine that is slow."""
    drawing = [
        getattr(item.obj, "_hypothesis_internal_use_settings", settings())
        for item in request.session.items
        if isinstance(item, pytest.Function) and is_hypothesis_test(item.obj)
    ]
    for each in (settings(), *drawing):
        assert each.database is None
        assert each.deadline is None
        assert HealthCheck.too_slow in each.suppress_health_check
        assert each.derandomize != CHOSEN or settings.get_current_profile_name() != "patient"


DRAWING = """
from hypothesis import given, strategies as st
from tests.drawn import drawn, seeded

@drawn(100)
@given(st.integers(), st.text(), st.floats(), st.sampled_from("abc"), st.randoms())
def test_some(number, text, other, one, random):
    print("DRAWN", number, ascii(text), other, one, random.random())

def test_others():
    print("DRAWN", seeded("others").random())
"""


def test_the_seed_alone_decides(tmp_path: Path) -> None:
    """Neither the order of sets nor what is imported does."""

    def draw(name: str, first: str = "", **environment: str) -> list[str]:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "test_it.py").write_text(first + DRAWING)
        options = ["-qs", "-c", ROOT / "pyproject.toml", "-p", "tests.conftest"]
        options += ["-p", "no:cacheprovider", "-p", "no:xdist"]
        keep = {name: value for name, value in os.environ.items() if name != "XSCL_SEED"}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, folder],
            cwd=ROOT,
            env=keep | environment,
            capture_output=True,
            text=True,
            check=False,
        )
        lines = [line for line in done.stdout.splitlines() if "DRAWN" in line]
        assert len(lines) > 10, done.stdout + done.stderr
        return lines

    with ThreadPoolExecutor() as threads:
        one = threads.submit(draw, "one", PYTHONHASHSEED="1")
        two = threads.submit(draw, "two", "import xscl, datasets\n", PYTHONHASHSEED="2")
        three = threads.submit(draw, "three", PYTHONHASHSEED="1", XSCL_SEED="9")
    assert one.result() == two.result()
    # All begin with the simplest.
    assert len({*one.result()} & {*three.result()}) <= 3
