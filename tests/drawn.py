"""How many examples are drawn of whatever is drawn: a part of what tests ask for in each test run,
which draws others than the last one; as many with XSCL_DRAW=1, as for a bug that is planted; and
XSCL_DRAW times as many by `make fuzz`, where nothing else is run."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

__all__ = ["DRAW", "drawn", "times"]

DRAW = float(os.environ.get("XSCL_DRAW", "0.5"))


def times(number: int) -> int:
    """So many, or XSCL_DRAW times as many."""
    return max(1, round(number * DRAW))


def drawn(examples: int, *like: settings, **more: Any) -> settings:
    """Settings of a test that draws so many examples, or XSCL_DRAW times as many."""
    return settings(*like, max_examples=times(examples), deadline=None, **more)
