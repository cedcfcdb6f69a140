"""Draws the picture of the rooms anew: `python -m tests.architecture`."""

from __future__ import annotations

from tests.architecture.picture import as_svg
from tests.architecture.rooms import ROOT, House

(ROOT / "docs" / "architecture.svg").write_text(as_svg(House.of()), encoding="utf-8")
