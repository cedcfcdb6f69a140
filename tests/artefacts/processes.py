"""Commands in folders of their own, away from the checkout."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

__all__ = ["ROOT", "run"]

ROOT = Path(__file__).parents[2]


def run(
    *command: str | Path, cwd: Path, more: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A command that must succeed, with nothing of this checkout on Python's path, and some more
    environment variables."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=environment | {**(more or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done
