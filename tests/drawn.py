"""How many examples are drawn of whatever is drawn: a part of what tests ask for in each test run,
which draws others than the last one; as many with XSCL_DRAW=1, as for a bug that is planted; and
XSCL_DRAW times as many by `make fuzz`, where nothing else is run.  Of what takes a part of a minute
each, one has its turn in a test run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import date
from typing import Any, TypeVar

from hypothesis import settings

__all__ = ["DRAW", "drawn", "times", "turn"]

T = TypeVar("T")

DRAW = float(os.environ.get("XSCL_DRAW", "0.5"))


def times(number: int) -> int:
    """So many, or XSCL_DRAW times as many."""
    return max(1, round(number * DRAW))


def turn(some: Sequence[T]) -> Sequence[T]:
    """The one whose turn it is, by XSCL_SEED or else by the day; all of them with XSCL_DRAW=1."""
    number = int(os.environ.get("XSCL_SEED") or date.today().toordinal()) % len(some)
    return some if DRAW >= 1 else some[number : number + 1]


def drawn(examples: int, *like: settings, **more: Any) -> settings:
    """Settings of a test that draws so many examples, or XSCL_DRAW times as many."""
    return settings(*like, max_examples=times(examples), deadline=None, **more)
