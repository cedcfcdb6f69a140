"""The Dockerfile's steps, done one by one as a script in an empty folder, which stands for the root
of the image: what it installs is what the wheel holds, and its server answers its health check."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.artefacts.processes import ROOT, run

PATIENCE = 120
PLACES = ("/src", "/opt/xscl", "/state", "/token")
"""The absolute paths of the Dockerfile."""
TOOLS = {
    # What changes the machine here is not done, only noted.
    "useradd": 'echo "useradd $*" >>{noted}',
    "chown": 'echo "chown $*" >>{noted}',
    # What it would ask PyPI for is in this environment, and lent to that of the image.
    "pip": 'exec {python} -m pip "$@" --no-index --no-deps --no-build-isolation --no-compile',
}


class Image:
    """The steps' outcome: files below `root`, and what the last stage says of itself."""

    def __init__(self, root: Path, tools: Path) -> None:
        self.root = root
        self.said: dict[str, str] = {}
        self._folder = root
        self.environment = {
            **os.environ,
            "PYTHONPATH": sysconfig.get_path("purelib"),
            "PATH": f"{tools}:{Path(sys.executable).parent}:/usr/bin:/bin",
        }

    def here(self, text: str) -> str:
        """A text of the Dockerfile, with its paths below the root."""
        either = "|".join(map(re.escape, PLACES))
        return re.sub(rf"(?<![\w.])({either})\b", lambda path: f"{self.root}{path[0]}", text)

    def step(self, instruction: str, text: str) -> None:
        """Does one instruction."""
        if instruction == "FROM":
            if self.root.exists():
                self.root.rename(self.root.with_name("build"))
            self.root.mkdir()
            self.said.clear()
        elif instruction == "WORKDIR":
            self._folder = Path(self.here(text))
            self._folder.mkdir(parents=True)
        elif instruction == "COPY":
            *options, source, target = text.split()
            if options:
                assert options == ["--from=build"]
                built = self.root.with_name("build") / source.lstrip("/")
                shutil.copytree(built, self.here(target), symlinks=True)
            else:
                assert (source, target) == (".", ".")
                for file in sent_to_docker():
                    (self._folder / file).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(ROOT / file, self._folder / file, follow_symlinks=False)
        elif instruction == "RUN":
            folder = self._folder if self._folder.exists() else self.root
            run("sh", "-c", self.here(text), cwd=folder, more=self.environment)
        else:
            assert instruction in ("USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT")
            self.said[instruction] = text


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    folder = tmp_path_factory.mktemp("image")
    tools = folder / "tools"
    tools.mkdir()
    for tool, line in TOOLS.items():
        text = line.format(noted=folder / "noted", python=sys.executable)
        (tools / tool).write_text(f"#!/bin/sh\n{text}\n")
        (tools / tool).chmod(0o755)
    image = Image(folder / "root", tools)
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            image.step(*line.split(maxsplit=1))
    return image


def test_it_installs_what_the_wheel_holds(image: Image, wheel: Path) -> None:
    (folder,) = image.root.glob("opt/xscl/lib/python*/site-packages")
    found = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    held = {*zipfile.ZipFile(wheel).namelist()}
    assert {name for name in found if name.startswith("xscl/")} == {
        name for name in held if name.startswith("xscl/")
    }
    assert not [name for name in found if name.startswith(("pip/", "hatchling/"))]
    assert not (image.root / "src").exists(), "the sources stay in the first stage"


def test_it_does_not_run_as_root(image: Image) -> None:
    noted = image.root.with_name("noted").read_text().splitlines()
    assert f"useradd --system --uid 1000 {image.said['USER']}" in noted
    assert f"chown {image.said['USER']} {image.root}/state" in noted
    assert image.said["VOLUME"] == "/state"


def test_its_server_answers_its_health_check(image: Image) -> None:
    """And ends in order when the container is stopped."""
    (image.root / "token").write_text("0123456789abcdef")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    entry = words(image, "ENTRYPOINT")
    check = [word.replace(image.said["EXPOSE"], port) for word in words(image, "HEALTHCHECK")]
    environment: Mapping[str, str] = image.environment
    server = subprocess.Popen([*entry, "--port", port], cwd=image.root, env=environment)
    try:
        until = time.monotonic() + PATIENCE
        while subprocess.run(check, env=environment, capture_output=True, check=False).returncode:
            assert server.poll() is None
            assert time.monotonic() < until
            time.sleep(0.3)
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE) == 0
    finally:
        server.kill()
        server.wait()
    assert subprocess.run(check, env=environment, capture_output=True, check=False).returncode
    assert (image.root / "state" / "state.duckdb").is_file()


def words(image: Image, instruction: str) -> list[str]:
    """The words of a command in JSON, as they are here."""
    text = image.said[instruction]
    command = json.loads(text[text.index("[") :])
    return [image.here(word) for word in command]


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
