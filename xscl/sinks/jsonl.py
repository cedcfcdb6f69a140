"""Matches as JSON Lines, one a line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TextIO

from xscl.matches.match import Match

__all__ = ["write_matches"]


def write_matches(matches: Iterable[Match], to: TextIO) -> int:
    """Writes matches as they come, and flushes; returns how many there were."""
    count = 0
    for match in matches:
        to.write(json.dumps(match.to_dict(), ensure_ascii=False) + "\n")
        count += 1
    to.flush()
    return count
