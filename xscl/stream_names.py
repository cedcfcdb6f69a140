"""Names of streams: those that people name, and those that sub-queries feed."""

from __future__ import annotations

__all__ = ["internal_name", "is_internal", "public_name"]

_INTERNAL = "\0"


def internal_name(sub_query: str) -> str:
    """The stream that the results of a sub-query feed, given the sub-query's name."""
    return _INTERNAL + sub_query


def is_internal(stream: str) -> bool:
    """Whether a sub-query feeds the stream, so that no text can name it."""
    return stream.startswith(_INTERNAL)


def public_name(stream: str) -> str:
    """A stream's name in messages: the stream of a sub-query has the sub-query's name.

    >>> public_name("S"), public_name(internal_name("q1(1)"))
    ('S', 'q1(1)')
    """
    return stream.removeprefix(_INTERNAL)
