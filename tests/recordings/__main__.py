"""Draws the pictures of the terminal again: `python -m tests.recordings`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.recordings.recording import PICTURES

if __name__ == "__main__":
    for picture in PICTURES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(__file__).parents[2] / "docs" / "terminal" / f"{picture.name}.svg"
            path.write_text(picture.svg(Path(folder)), encoding="utf-8")
