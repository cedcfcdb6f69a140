"""The pictures of docs/terminal show what the commands write today; `python -m tests.recordings`
draws them again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recordings.recording import PICTURES, Picture, lines_of, lines_within

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_a_picture_is_of_today(picture: Picture, tmp_path: Path) -> None:
    shown = lines_within((DOCS / "terminal" / f"{picture.name}.svg").read_text(encoding="utf-8"))
    assert len(shown) > 10
    today = {*lines_of(picture.output(tmp_path)), "⋮"}
    assert [line for line in shown if line and line not in today] == []
