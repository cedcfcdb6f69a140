"""The documents shared by all, in a directory next to the checkout: tests that need some of them
say so when they are not there, and the end of the run says how many did."""

from __future__ import annotations

from pathlib import Path

import pytest

__all__ = ["SHARED", "needs", "wanting"]

SHARED = Path(__file__).parents[2] / "shared"


def needs(*parts: str) -> pytest.MarkDecorator:
    """Skips what needs a part of the folder, where that is not there."""
    return pytest.mark.skipif(not SHARED.joinpath(*parts).exists(), reason=wanting(*parts))


def wanting(*parts: str) -> str:
    """Why a test is skipped that needs a part of the folder."""
    return "/".join(("wants ../shared", *parts))
