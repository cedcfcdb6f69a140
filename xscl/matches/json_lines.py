"""Matches as JSON Lines: a JSON object a line for each match."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from xscl.matches.match import Match

__all__ = ["json_form", "json_lines"]


def json_form(match: Match) -> str:
    """A match as JSON, without the end of a line."""
    return json.dumps(match.to_dict(), ensure_ascii=False)


def json_lines(matches: Iterable[Match]) -> Iterator[str]:
    """Each match as a line."""
    return (f"{json_form(match)}\n" for match in matches)
