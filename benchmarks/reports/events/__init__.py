"""The figures of the thesis' chapters 4 and 5: Cayuga's queries, RUMOR's plans."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from benchmarks.report import Statement
from benchmarks.scale import Scale

__all__ = ["judged"]


def judged(statements: Iterable[Statement], scale: Scale) -> tuple[Statement, ...]:
    """Statements of the thesis' numbers of queries: a reduced size says nothing of them."""
    return tuple(one if scale.full else replace(one, holds=None) for one in statements)
