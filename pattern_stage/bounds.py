"""A bound on what the queries of one automaton may have: a Kleene plus under skip-till-any-match
has 2^n − 1 runs over n events, and no query may take the machine."""

from __future__ import annotations

__all__ = ["MOST", "Exceeded"]

MOST = 1_000_000
"""So many matches may be found in one step, pending matches, runs and instances kept."""


class Exceeded(Exception):
    """More of something, which it names, than is allowed."""

    def __init__(self, many: int, what: str) -> None:
        super().__init__(f"more than {many:,} {what}")
