"""Matches as JSON Lines: a JSON object a line for each match."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xscl.matches.match import Match, json_form

__all__ = ["json_lines"]


def json_lines(matches: Iterable[Match]) -> Iterator[str]:
    """Each match as a line."""
    return (f"{json_form(match)}\n" for match in matches)
