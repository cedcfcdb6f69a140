"""What is drawn, and how much of it.  A test run draws the same examples each time, so that one
commit has one verdict, whatever the day, the order of the tests and the number of workers; new ones
are drawn by `make fuzz`, with a random XSCL_SEED, which draws the same again.  A test run draws
a part of what tests ask for; as many with XSCL_DRAW=1, as for a bug that is planted; and XSCL_DRAW
times as many by `make fuzz`, where nothing else is run.  Of what takes a part of a minute each, one
has its turn in a test run.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis.internal.conjecture import providers

__all__ = ["CHOSEN", "DRAW", "SEED", "drawn", "seeded", "some_of", "times", "turn"]

T = TypeVar("T")

DRAW = float(os.environ.get("XSCL_DRAW", "0.25"))

CHOSEN = "XSCL_SEED" in os.environ
"""Whether the caller has chosen the seed."""

SEED = int(os.environ.get("XSCL_SEED", "1"))

# Hypothesis would also draw constants that it finds in modules that are imported so far: another
# order of the tests, or one test alone, would draw other examples.
providers._get_local_constants = lambda: providers._local_constants


def seeded(*key: object) -> random.Random:
    """Random numbers of XSCL_SEED for a key: a test's name, a case's, a number.

    >>> seeded("some test").random() == seeded("some test").random() != seeded("other").random()
    True
    """
    return random.Random(f"{SEED} {key!r}")


def times(number: int) -> int:
    """So many, or XSCL_DRAW times as many."""
    return max(1, round(number * DRAW))


def turn(some: Sequence[T]) -> Sequence[T]:
    """The one whose turn it is, by XSCL_SEED; all of them with XSCL_DRAW=1."""
    return some if DRAW >= 1 else [some[SEED % len(some)]]


def some_of(some: Sequence[T], many: int, *key: object) -> Sequence[T]:
    """So many of them, drawn for a key; all of them with XSCL_DRAW=1."""
    return some if DRAW >= 1 else seeded(*key).sample(some, min(many, len(some)))


def drawn(examples: int, *like: settings, **more: Any) -> settings:
    """Settings of a test that draws so many examples, or XSCL_DRAW times as many."""
    # Hypothesis begins with the simplest example, which hardly tests anything.
    return settings(*like, max_examples=1 + max(3, times(examples)), deadline=None, **more)
