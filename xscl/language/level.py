"""The consistency that a query asks for."""

from __future__ import annotations

from typing import Any

from xscl.consistency import Level
from xscl.language.syntax import Described, Query

__all__ = ["level_of"]


def level_of(query: Query) -> Level | None:
    """The level that a query is written with; None where it asks for none, as all joins.

    >>> from xscl.language import parse
    >>> [query], _ = parse("EVENT SEQ(A x, B y) WITHIN 1 min CONSISTENCY middle")
    >>> print(level_of(query))
    middle
    """
    source: Any = query.source
    if isinstance(source, Described):
        written = source.automaton.consistency
        return None if written is None else Level.of(written)
    return Level.asked(getattr(source, "consistency", None))
