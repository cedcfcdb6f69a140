"""What one batch of bodies brought, as `start_items` reports it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Batch", "Problem"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a feed gave no items."""

    feed: str
    problem: str


@dataclass(frozen=True, slots=True)
class Batch:
    """What a batch of bodies brought: items `published` and those `known` before; bodies that are
    `dead` letters, the first of them as `problems`."""

    number: int
    bodies: int
    published: int
    known: int
    dead: int
    problems: tuple[Problem, ...] = ()
