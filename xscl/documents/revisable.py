"""Streams whose documents may be retracted.

A document of such a stream stands for certain only once the watermark has passed it.  A retracted
one is as if it had never come, and its id is free again: a revision is a retraction and a new
document.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

from xscl.errors import XSCLError
from xscl.stream_names import is_internal

__all__ = ["NONE_REVISABLE", "Revisable"]


@dataclass(frozen=True, slots=True)
class Revisable:
    """The streams whose documents may be retracted: some of a name, or all that have documents of
    callers (`every`)."""

    streams: frozenset[str] = frozenset()
    every: bool = False

    @classmethod
    def of(cls, given: bool | str | Iterable[str]) -> Revisable:
        """As callers say it: True, a name, or names; raises XSCLError.

        >>> "S" in Revisable.of(True), "S" in Revisable.of("S"), "S" in Revisable.of({"T"})
        (True, True, False)
        """
        if isinstance(given, bool):
            return cls(every=given)
        streams = [given] if isinstance(given, str) else [*given]
        for one in streams:
            if not isinstance(one, str) or not one or is_internal(one) or not one.isprintable():
                raise XSCLError(f"revisable: {one!r} is no name of a stream")
        return cls(frozenset(streams))

    @classmethod
    def read(cls, written: str | None) -> Revisable:
        """As `written` it says itself."""
        return cls.of(False if written is None else json.loads(written))

    @property
    def written(self) -> str | None:
        """It as text for a state file; None of no stream."""
        if self.every:
            return "true"
        return json.dumps(sorted(self.streams)) if self.streams else None

    def __bool__(self) -> bool:
        return self.every or bool(self.streams)

    def __contains__(self, stream: object) -> bool:
        if self.every and isinstance(stream, str) and not is_internal(stream):
            return True
        return stream in self.streams

    def with_streams(self, streams: Iterable[str]) -> Revisable:
        """It, and some streams more."""
        more = frozenset(streams) - self.streams
        return replace(self, streams=self.streams | more) if more else self


NONE_REVISABLE = Revisable()
