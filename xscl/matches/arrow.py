"""Matches as a table of Arrow, a row for each match."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable
from itertools import islice

import pyarrow as pa

from xscl.errors import XSCLError
from xscl.matches.match import Match

__all__ = ["to_arrow"]

log = logging.getLogger("xscl")

_AT_ONCE = 1_000
_HALF_A_PAIR = re.compile("[\ud800-\udfff]")
_MATCHES = pa.schema(
    [
        ("id", pa.string()),
        ("query", pa.string()),
        ("stream", pa.string()),
        ("time", pa.float64()),
        ("documents", pa.list_(pa.string())),
        ("streams", pa.list_(pa.string())),
        ("nodes", pa.list_(pa.int64())),
        ("variables", pa.list_(pa.string())),
        ("start", pa.float64()),
        ("bindings", pa.map_(pa.string(), pa.int64())),
        ("values", pa.map_(pa.string(), pa.string())),
        ("result", pa.string()),
        ("retracts", pa.bool_()),
    ]
)


def to_arrow(matches: Iterable[Match]) -> pa.Table:
    """A table of matches, a row each, with the members of their JSON form as columns.

    `time` and `start` are in seconds, `bindings` and `values` are maps; `variables` and `start` are
    null where the match has none; of a match that is taken back `retracts` is true.  `result` is
    text: a JSON result is JSON text, which unlike XML text never starts with `<`.  A result that
    cannot be built is logged and null.  The matches are read a thousand at a time, and none is
    kept.

    >>> to_arrow([]).column_names[:5]
    ['id', 'query', 'stream', 'time', 'documents']
    """
    iterator = iter(matches)
    tables = [_MATCHES.empty_table()]
    while some := [_record(match) for match in islice(iterator, _AT_ONCE)]:
        tables.append(pa.Table.from_pylist(some, _MATCHES))
    return pa.concat_tables(tables)


def _record(match: Match) -> dict[str, object]:
    """A match as a row of the table."""
    return {
        "id": match.id,
        "query": match.query,
        "stream": match.stream,
        "time": match.time,
        "documents": match.documents,
        "streams": match.streams,
        "nodes": match.nodes,
        "variables": match.variables or None,
        "start": match.start,
        "bindings": list(match.bindings.items()),
        "values": _values(match),
        "result": _result(match),
        "retracts": match.retracts,
    }


def _values(match: Match) -> list[tuple[str, str]] | None:
    """The values of its variables, None where they cannot be read; then the result cannot be,
    either."""
    try:
        return list(match.values.items())
    except XSCLError:
        return None


def _result(match: Match) -> str | None:
    """The result as text, None where it cannot be built."""
    try:
        result = match.result
        if not match.json:
            return str(result)
        text = json.dumps(result, ensure_ascii=False)
        # Half of a surrogate pair, which a string of JSON may have, is text only when escaped.
        return json.dumps(result) if _HALF_A_PAIR.search(text) else text
    except Exception:
        # Whatever is wrong with one result, the others are unaffected.
        log.exception("the result of match %s of query %r cannot be built", match.id, match.query)
        return None
