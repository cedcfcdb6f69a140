"""The levels of consistency: when a match is reported, and whether it may be taken back
(CEDR's levels, chapter 2.2.4 of the thesis)."""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple

from xscl.errors import XSCLError
from xscl.times import decimal_seconds, duration

__all__ = ["NOTHING", "STRONG", "Level"]

NOTHING = "nothing; over a revisable stream for the watermark"
"""What `strong` waits for where no other document can make a match wrong."""

_LEVEL = re.compile(r"\s*(strong|weak|middle\s*(?:\((?P<window>[^()]*)\))?)\s*", re.IGNORECASE)


class Level(NamedTuple):
    """`strong` reports a match once the watermark has passed what it needs, `middle` immediately,
    and takes back what turns out wrong, `weak` immediately and for good.  `window` (microseconds;
    None for INF) is how far beyond the watermark `middle` looks.  `widened`: before a restart the
    engine had one that looks less far."""

    name: Literal["strong", "middle", "weak"]
    window: int | None = None
    widened: bool = False

    def is_wider(self, other: Level) -> bool:
        """Whether it is `middle`, and looks farther beyond the watermark than one that takes time
        for its matches.

        >>> Level("middle").is_wider(Level("middle", 5)), Level("middle", 5).is_wider(STRONG)
        (True, True)
        """
        if self.name != "middle" or other.name == "weak":
            return False
        if other.name == "strong":
            return True
        return other.window is not None and (self.window is None or self.window > other.window)

    @classmethod
    def of(cls, text: str) -> Level:
        """As it is written; raises XSCLError.

        >>> Level.of("middle(5 s)").window, Level.of("middle").window
        (5000000, None)
        >>> print(Level.of("Middle (5 s)"))
        middle(5 s)
        """
        found = _LEVEL.fullmatch(text)
        if found is None:
            raise XSCLError(
                f"consistency: {text!r} is no level; there are: strong, middle, middle(5 s), weak"
            )
        window = found["window"]
        try:
            length = None if window is None else duration(window)
        except ValueError as error:
            raise XSCLError(f"consistency: {error}") from error
        name = found[1].partition("(")[0].strip().lower()
        return cls(name, length)  # type: ignore[arg-type]

    @classmethod
    def asked(cls, consistency: Any) -> Level | None:
        """That of a CONSISTENCY clause; None where a query has none."""
        if consistency is None:
            return None
        window = consistency.window
        return cls(consistency.level, None if window is None else window.length)

    def said(self, waits: str) -> str:
        """A level in words, given what `strong` waits for."""
        if self.name == "strong":
            return f"strong, waits for {waits}"
        if self.name == "weak":
            return "weak"
        until = "until the watermark is there"
        if waits == NOTHING:
            until = "where a document of it is"
        what = f"reported immediately, taken back {until}"
        return f"{self}: {what}"

    def __str__(self) -> str:
        """As it may be written."""
        if self.window is None:
            return self.name
        return f"{self.name}({decimal_seconds(self.window)} s)"


STRONG = Level("strong")
