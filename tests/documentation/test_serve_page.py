"""The page docs/serve.md: what it asks with curl is answered as it says, and it leaves out no route
and no status."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.xscl.serve.asking import Asking, serving
from xscl.serve.openapi import MEANINGS

PAGE = (Path(__file__).parents[2] / "docs" / "serve.md").read_text(encoding="utf-8")
_TOO_LONG = 28
"""curl's exit code when it has waited too long."""


@pytest.fixture(scope="module")
def server() -> Iterator[Asking]:
    with serving() as server:
        yield server


def test_what_is_asked_is_answered_so(server: Asking) -> None:
    """All examples, from the first to the last, of one server."""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    asked = [i for i, (kind, _) in enumerate(blocks) if kind == "shell"]
    assert asked
    for i in asked:
        command = blocks[i][1].replace("127.0.0.1:8765", f"127.0.0.1:{server.port}")
        _, expected = blocks[i + 1]
        # Answers end without a line feed: consecutive ones are on one line.
        pattern = ".*".join(map(re.escape, "".join(expected.split()).split("…")))
        # A busy machine may need longer than the page says.
        for seconds in ("1", "20"):
            done = subprocess.run(
                ["bash", "-c", command.replace("--max-time 1", f"--max-time {seconds}")],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.returncode != _TOO_LONG or re.fullmatch(pattern, "".join(done.stdout.split())):
                break
        assert done.returncode in (0, _TOO_LONG), f"{command}\n{done.stderr}"
        assert re.fullmatch(pattern, "".join(done.stdout.split())), f"{command}\n{done.stdout}"


def test_each_route_is_in_the_table(server: Asking) -> None:
    described = server.get("/openapi.json")["paths"]
    routes = {
        f"{method.upper()} {re.sub(r'{.*?}', '*', path)}"
        for path, methods in described.items()
        for method in methods
    }
    (table,) = re.findall(r"^## All routes\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)
    named: set[str] = set()
    for cell in re.findall(r"^\| (`.+?`) \|", table, re.MULTILINE):
        methods: list[str] = []
        for part in re.findall(r"`(.+?)`", cell):
            method, _, path = part.partition(" ")
            methods.append(method)
            if path:
                asterisks = re.sub(r"[A-Z]{2,}", "*", path.partition("?")[0])
                named |= {f"{one} {asterisks}" for one in methods}
                methods = []
    assert named == {*routes, "GET /", "GET /openapi.json"}


def test_each_status_is_explained() -> None:
    (table,) = re.findall(r"^## Errors\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)
    cells = re.findall(r"^\| ([\d, ]+) \|", table, re.MULTILINE)
    assert {int(one) for cell in cells for one in cell.split(", ")} == {*MEANINGS}
