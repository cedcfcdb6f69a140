"""Matches as JSON Lines: a JSON object a line for each match, in UTF-8."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xscl.matches.match import Match

__all__ = ["json_lines"]


def json_lines(matches: Iterable[Match]) -> Iterator[bytes]:
    """Each match as a line."""
    from xscl.matches.match import json_line

    return map(json_line, matches)
