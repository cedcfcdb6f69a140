"""Plays the trial in a new folder, and prints what a user sees."""

from __future__ import annotations

import shlex
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.trial.trial import lay_out, play

if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        lay_out(Path(folder))
        for step, done in play(Path(folder)):
            print(f"$ xscl {shlex.join(step.arguments)}\n{done.stdout}{done.stderr}")
