"""Rows that second stages have found -> composites and matches, each once and in order, or counts.

A stage says for each query which rows it has; who owns the query reads them.  Of a query that owns
all rows alone, they are counted and never looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from operator import itemgetter

from xscl.documents.composites import Composite, DerivedStream, OperatorRow
from xscl.documents.events import EventType
from xscl.evaluation.second_stage import StageRows
from xscl.queries.constant_table import HeldConstants, SharedDisjunct
from xscl.queries.stage_registration import QueryReader
from xscl.queries.subscription import Subscription

__all__ = ["FoundRow", "count_rows", "read_rows"]

FoundRow = tuple[Subscription | DerivedStream | EventType, OperatorRow]

_DOCUMENTS_AND_CODES = itemgetter(0, 1)
_IN_ORDER = itemgetter(0, 1, 2, 3)


def read_rows(
    outputs: Iterable[StageRows],
    readers: Callable[[int], QueryReader],
    composites: Mapping[int, Composite],
    constants_at: HeldConstants,
    counted: Collection[int] = (),
) -> list[FoundRow]:
    """The rows of stages, each once: composites, events, then matches in order of the completing
    documents, then of the queries.  Disjuncts of one query may agree on a match.  Rows of queries
    that are `counted` are left out."""
    found: dict[Subscription | DerivedStream | EventType, dict[OperatorRow, None]] = {}
    for some in outputs:
        for number, values in some.by_query():
            if number in counted:
                continue
            reader = readers(number)
            owner, rows = reader.owner, reader.reading.read(values, composites)
            if isinstance(owner, SharedDisjunct):
                for row in rows:
                    for subscription, match in owner.table.matched(row, constants_at):
                        found.setdefault(subscription, {})[match] = None
            elif owner in found:
                found[owner].update(dict.fromkeys(rows))
            else:
                found[owner] = dict.fromkeys(rows)
    if not found:
        return []
    streams = [owner for owner in found if isinstance(owner, DerivedStream)]
    made: list[FoundRow] = [
        (owner, row)
        for owner in sorted(streams, key=lambda one: one.number)
        for row in sorted(found[owner], key=_DOCUMENTS_AND_CODES)
    ]
    for owner, rows in found.items():
        if isinstance(owner, EventType):
            made += [(owner, row) for row in rows]
    matches = [
        (_place(row), owner.order, row[0], row[1], owner, row)
        for owner, rows in found.items()
        if isinstance(owner, Subscription)
        for row in rows
    ]
    matches.sort(key=_IN_ORDER)
    made += [(owner, row) for *_, owner, row in matches]
    return made


def _place(row: OperatorRow) -> int:
    """Where a row comes: by its latest document or, of one that time has completed, its time."""
    if row.computed is not None:
        return row.computed.time
    return max(row.documents) if row.documents else -1


def count_rows(
    outputs: Iterable[StageRows],
    readers: Callable[[int], QueryReader],
    alone: Callable[[Subscription], bool],
) -> tuple[Counter[Subscription], set[int]]:
    """The number of matches of queries that own their rows `alone`, and the numbers by which these
    were counted: of no row of theirs is there a second one that says the same."""
    counts: Counter[Subscription] = Counter()
    numbers: set[int] = set()
    for some in outputs:
        for number, rows in some.counts().items():
            reader = readers(number)
            owner = reader.owner
            if isinstance(owner, Subscription) and reader.reading.distinct and alone(owner):
                counts[owner] += rows
                numbers.add(number)
    return counts, numbers
