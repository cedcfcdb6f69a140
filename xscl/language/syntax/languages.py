"""The languages that queries are written in, and the facts by which the rest of XSCL goes.

A source names its language; nobody else asks of which class it is.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AUTOMATA", "EQL", "EVENT_QUERIES", "JOINS", "PATTERNS", "Language"]


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """One language; each fact is one that joins do not have.

    `kind` is what a query in it is called.  One that is `timed` runs in the pattern stage, event by
    event, instead of being dissected into tree patterns and joins.  One with `schemas` reads of a
    document attributes alone, and its own attributes have names that queries of what it publishes
    go by; it retains no documents.
    """

    kind: str
    timed: bool = False
    schemas: bool = False


JOINS = Language("join")
PATTERNS = Language("pattern", timed=True)
EVENT_QUERIES = Language("event query", timed=True, schemas=True)
AUTOMATA = Language("automaton", timed=True)
EQL = Language("EQL query", timed=True)
