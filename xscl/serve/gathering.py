"""Until when documents that wait are taken: so that one transaction has those of all clients.

Writing a transaction takes milliseconds, however little is in it.  Clients that were answered send
their next documents a moment later; if those that wait meanwhile were taken without them, two
halves of the clients would take turns, each with a transaction of its own.  So as many requests as
there were the last time are waited for, a fraction of the time that they took.
"""

from __future__ import annotations

__all__ = ["LONGEST", "Gathering"]

LONGEST = 0.005
"""Seconds that a document waits at most for those of others."""

_PART = 3
"""The part of the time of the last transaction that is waited."""


class Gathering:
    """What to expect after the last transaction; `longest` is in seconds."""

    def __init__(self, longest: float = LONGEST) -> None:
        self._longest = longest
        self.expected = 0
        self.patience = 0.0

    def answered(self, requests: int, waiting: int, seconds: float) -> None:
        """So many requests were answered after so many seconds, while others were waiting.

        >>> gathering = Gathering()
        >>> gathering.answered(4, 4, seconds=0.012)
        >>> gathering.expected, gathering.patience
        (8, 0.004)
        """
        self.expected = requests + waiting
        self.patience = min(self._longest, seconds / _PART)
