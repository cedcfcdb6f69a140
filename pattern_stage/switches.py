"""What can be switched off, each alone, with the same matches."""

from __future__ import annotations

from collections.abc import Iterable

from pattern_stage.plan.rules import SWITCHES as EVENT_SWITCHES

__all__ = ["EVENT_SWITCHES", "SWITCHES", "checked"]

SWITCHES = frozenset(
    {
        "PAIS",
        "active instance stacks",
        "dynamic filtering",
        "merging",
        "negation index",
        "peeking",
        "shared buffer",
        "single predicates in scan",
        "templates",
        "windows in construction",
        "windows in scan",
    }
)
"""The names (patterns-sase.md, section 8)."""


def checked(without: Iterable[str]) -> frozenset[str]:
    """The names as a set; a ValueError names those that are none."""
    named = frozenset(without)
    unknown = sorted(named - SWITCHES - EVENT_SWITCHES)
    if unknown:
        there = ", ".join(sorted(SWITCHES | EVENT_SWITCHES))
        raise ValueError(f"{', '.join(unknown)}: no technique of patterns; there are {there}")
    return named
