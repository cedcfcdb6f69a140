"""Why statements do not hold here, as `misses.toml` has it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmarks.report import Statement

__all__ = ["REASONS", "explained"]

REASONS: Mapping[str, Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
"""By section, and by words of the statement."""


def explained(section: str, statements: Iterable[Statement]) -> list[str]:
    """A line for each statement that is missed and has a reason."""
    reasons = REASONS.get(section, {})
    return [
        f"- *{one.text}*: {reason}"
        for one in statements
        if one.holds is False
        for words, reason in reasons.items()
        if words in one.text
    ]
