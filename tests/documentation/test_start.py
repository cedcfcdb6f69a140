"""The pages docs/start.md and docs/envelope.md are pasted line by line, as a user does, into an
empty directory.

`xscl` runs as a command of its own; other commands are run by a shell, and a command that ends with
`&` continues until `kill`.  The page's ports are replaced, and a webhook is tried again after
thousandths of its pauses.  A block of text must be the output of the commands before it, `…` being
anything.  The first block installs XSCL: `tests/artefacts` does that.
"""

from __future__ import annotations

import json
import random
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from lxml import etree

from tests.commands import Started, started, xscl
from tests.xscl.sinks.pace import quickly

ROOT = Path(__file__).parents[2]
INSTALL = ["python3 -m venv xscl-env", ". xscl-env/bin/activate", "pip install ."]
FAILING = {"xscl check -q"}
"""The begin of a line that is a mistake."""


def blocks(page: str) -> Iterator[tuple[str, list[str]]]:
    """The blocks of a page by kind, each as its commands with their documents and further lines."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for kind, body in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        whole = r"[^\n]*<<'(\w+)'\n.*?^\2\n|(?:[^\n]*\\\n)*[^\n]*\n"
        found = re.finditer(f"({whole})", body, re.MULTILINE | re.DOTALL)
        yield kind, [one[0].rstrip("\n") for one in found]


def free_port() -> int:
    """A port that no system assigns on request."""
    while True:
        port = random.SystemRandom().randrange(15_000, 32_000)
        with socket.socket() as one, suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port


def wait_for(what: Callable[[], bool]) -> None:
    end = time.monotonic() + 300
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


def listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


class Shell:
    """Takes lines as an interactive shell does, and keeps what they have said."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self.said = ""
        self.jobs: list[Started | subprocess.Popen[bytes]] = []
        self.ports = {"8000": free_port(), "9000": free_port()}
        self._stack = stack

    def paste(self, line: str) -> None:
        for port, other in self.ports.items():
            line = re.sub(rf"\b{port}\b", str(other), line)
        if line.startswith("xscl "):
            self._xscl(line)
        elif line.startswith("kill "):
            for job in re.findall(r"%(\d+)", line):
                self._end(self.jobs[int(job) - 1])
        elif line.endswith("&"):
            words = shlex.split(re.sub(r" 2>.*", "", line))
            assert words[0] == "python3"
            job = subprocess.Popen(
                [sys.executable, *words[1:]], cwd=self.folder, stderr=subprocess.DEVNULL
            )
            self._stack.callback(job.kill)
            self.jobs.append(job)
            wait_for(lambda: listens(self.ports["9000" if "take.py" in line else "8000"]))
        else:
            subprocess.run(["bash", "-ec", line], cwd=self.folder, check=True)

    def hear(self, line: str) -> None:
        """Checks that something was printed, or waits for it where it is the watch's turn."""
        said = re.compile(f"^{'.*'.join(map(re.escape, line.split('…')))}$", re.MULTILINE)
        watch = [job.streams[2] for job in self.jobs if isinstance(job, Started)]
        if watch:
            wait_for(lambda: watch[0].exists() and bool(said.search(watch[0].read_text())))
        else:
            assert said.search(self.said), line

    def _xscl(self, line: str) -> None:
        words = shlex.split(re.sub(r"\s2>\S+", "", line.replace("\\\n", "")).rstrip("&"))[1:]
        if words[0] in ("run", "watch") and not {"-o", "--webhook", "--format"} & {*words}:
            words += ["--format", "text"]  # as on a terminal
        if line.endswith("&"):
            self.jobs.append(
                self._stack.enter_context(started(*words, at=self.folder, around=quickly))
            )
            return
        done = xscl(*words, at=self.folder)
        failing = any(line.startswith(one) for one in FAILING)
        assert done.returncode == (2 if failing else 0), f"{line}\n{done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr
        self.said += done.stdout + done.stderr

    def _end(self, job: Started | subprocess.Popen[bytes]) -> None:
        if isinstance(job, Started):
            job.send(15)
            assert job.done().returncode == 0
        else:
            job.terminate()
            job.wait()


def test_pasted_line_by_line(tmp_path: Path) -> None:
    page, taken = blocks("start.md"), tmp_path / "first/taken.jsonl"
    assert next(page) == ("shell", INSTALL)
    with ExitStack() as stack:
        shell = Shell(tmp_path, stack)
        for kind, lines in page:
            if kind == "text":
                for line in lines:
                    shell.hear(line)
                continue
            shell.said = ""
            for line in lines:
                if line.startswith("kill %2"):
                    # The reader of the page looks, and sees all matches come.
                    wait_for(lambda: taken.exists() and taken.read_text().count("\n") == 11)
                shell.paste(line)
    matches = [json.loads(line) for line in taken.read_text().splitlines()]
    assert len({match["id"] for match in matches}) == 11
    entries = etree.parse(tmp_path / "first/matches.atom").findall("{*}entry")
    lines = (tmp_path / "first/matches.jsonl").read_text().splitlines()
    assert len(entries) == len(lines) == 32
    state = xscl("state", "first/watch.duckdb", "--format", "json", at=tmp_path)
    assert not json.loads(state.stdout)["undelivered"]


def test_envelopes(tmp_path: Path) -> None:
    with ExitStack() as stack:
        shell = Shell(tmp_path, stack)
        for kind, lines in blocks("envelope.md"):
            for line in lines:
                (shell.hear if kind == "text" else shell.paste)(line)
    (letter,) = (tmp_path / "dead.jsonl").read_text().splitlines()
    assert "last week" in letter


@pytest.mark.parametrize("page", ["start.md", "envelope.md"])
def test_the_page_is_found(page: str) -> None:
    assert f"(docs/{page})" in (ROOT / "README.md").read_text(encoding="utf-8")
