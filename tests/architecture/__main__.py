"""Draws the picture of the packages again: `python -m tests.architecture`."""

from __future__ import annotations

from tests.architecture.packages import ROOT, Code
from tests.architecture.picture import as_svg

(ROOT / "docs" / "architecture.svg").write_text(as_svg(Code.of()), encoding="utf-8")
