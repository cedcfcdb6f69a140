"""Techniques that can be switched off, each separately, with the same matches."""

from __future__ import annotations

from collections.abc import Iterable

from xscl.pattern_stage.compositions.rules import SWITCHES as COMPOSITION_SWITCHES
from xscl.pattern_stage.plan.rules import SWITCHES as EVENT_SWITCHES

__all__ = ["COMPOSITION_SWITCHES", "EVENT_SWITCHES", "EVERY", "SWITCHES", "checked"]

SWITCHES = frozenset(
    {
        "PAIS",
        "active instance stacks",
        "dynamic filtering",
        "merging",
        "negation index",
        "peeking",
        "sequence",
        "shared buffer",
        "single predicates in scan",
        "templates",
        "windows in construction",
        "windows in scan",
    }
)
"""The names (docs/how-it-runs.md#techniques)."""

EVERY = SWITCHES | EVENT_SWITCHES | COMPOSITION_SWITCHES
"""Those of all languages that run in the pattern stage."""


def checked(without: Iterable[str]) -> frozenset[str]:
    """The names as a set; a ValueError names those that are none."""
    named = frozenset(without)
    unknown = sorted(named - EVERY)
    if unknown:
        there = ", ".join(sorted(EVERY))
        raise ValueError(f"{', '.join(unknown)}: no technique of patterns; there are {there}")
    return named
