"""One case of the pack: how it is made, and what is said about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Case"]


@dataclass(frozen=True, slots=True)
class Case:
    """`says` is a pattern of the reason for which the case is refused; None for what looks bad
    but is read, and does no harm."""

    name: str
    make: Callable[[], bytes]
    says: str | None
