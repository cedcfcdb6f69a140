"""What can be switched off, each alone, with the same matches."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["SWITCHES", "checked"]

SWITCHES = frozenset(
    {
        "merging",
        "negation index",
        "templates",
    }
)
"""The names (patterns-sase.md, section 8)."""


def checked(without: Iterable[str]) -> frozenset[str]:
    """The names as a set; a ValueError names those that are none."""
    named = frozenset(without)
    unknown = sorted(named - SWITCHES)
    if unknown:
        there = ", ".join(sorted(SWITCHES))
        raise ValueError(f"{', '.join(unknown)}: no technique of patterns; there are {there}")
    return named
