"""A virtual environment for each peer, build/peers/NAME, made once and filled from PyPI."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

__all__ = ["NotInstalled", "python_of", "version_of"]

FOLDER = Path(__file__).parents[2] / "build" / "peers"
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")


class NotInstalled(Exception):
    """A package that this Python and machine cannot have, and what pip says of it."""


def python_of(requirement: str) -> Path:
    """The Python of an environment that has the package (what follows it after a blank is installed
    with it); NotInstalled if it cannot be had."""
    folder = FOLDER / _name(requirement)
    python, there = folder / "bin" / "python", folder / "installed"
    if not there.exists() or there.read_text() != requirement:
        filled = (python, *PIP, *requirement.split())
        for command in ((sys.executable, "-m", "venv", folder), filled):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise NotInstalled((done.stderr.strip().splitlines() or ["no reason given"])[-1])
        there.write_text(requirement)
    return python


def version_of(requirement: str) -> str:
    """Name and version of the package in its environment."""
    name = _name(requirement)
    code = f"from importlib.metadata import version; print(version({name!r}))"
    command = [str(python_of(requirement)), "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return f"{name} {found}"


def _name(requirement: str) -> str:
    return requirement.split()[0].partition("[")[0]
