"""Deliveries that are tried again soon: a minute is 60 milliseconds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from xscl.sinks import deliveries

__all__ = ["A_SECOND", "QUICK", "quickly"]

A_SECOND = 0.001

QUICK = deliveries.Pace(
    deliveries.PACE.first * A_SECOND, deliveries.PACE.longest * A_SECOND, deliveries.PACE.tries
)


@contextmanager
def quickly() -> Iterator[None]:
    """Around a command."""
    with mock.patch.object(deliveries, "PACE", QUICK):
        yield
