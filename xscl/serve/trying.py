"""A text of queries tried before anybody subscribes it: its errors, what becomes of it, and what it
finds among the documents that are held.

Each has an engine of its own, in memory: nothing is published, and no state is touched.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Mapping
from itertools import chain, islice
from typing import NamedTuple

from xscl.dissection.parts import Dissection
from xscl.engine import Engine
from xscl.errors import QueryError
from xscl.language.parameters import Prepared
from xscl.language.read import parse_from
from xscl.matches.match import json_line
from xscl.serve.engine_thread import Busy
from xscl.serve.side_by_side import SideBySide, as_held

__all__ = ["Checked", "Tried", "check", "dry_run"]

_DOCUMENTS = 5_000
_MATCHES = 100
_BYTES = 1_000_000
_SHOWN = 20
_SECONDS = 3.0
"""The bounds of a dry run: documents, matches and the bytes of these, those that are shown side by
side, seconds."""

_BATCH = 0.2
"""Seconds that a batch of it is to take, as the batch before it tells: the first has one document,
and each four times as many as the last at most, as what is joined with all others grows."""

_under_way = threading.BoundedSemaphore(2)


class Checked(NamedTuple):
    """What checking a text found: its good queries, the parameters of each, and its errors."""

    queries: list[Dissection]
    parameters: dict[str, list[str]]
    errors: list[QueryError]


class Tried(NamedTuple):
    """What a dry run found: the lines of its matches, the first of them side by side with their
    documents, how many of these were looked at, whether that was all of them; or the errors of the
    text."""

    lines: list[bytes]
    shown: list[SideBySide]
    documents: int
    whole: bool
    errors: list[QueryError]


def check(text: str, params: Mapping[str, object]) -> Checked:
    """Checks a text; a parameter that has no value stands for itself."""
    queries, _, _ = parse_from(text, 1)
    prepared = {query.name: Prepared(query) for query in queries}
    asked = {name: list(one.parameters) for name, one in prepared.items()}
    with Engine() as engine:
        found, errors = engine.load_good(text, tables=_tables(prepared, params))
        return Checked([one.dissection for one in found], asked, errors)


def dry_run(text: str, params: Mapping[str, object], held: Iterable[Mapping[str, object]]) -> Tried:
    """What a text finds among documents that are held, the latest first, the newest of them if
    they are many; raises Busy while others do the same."""
    if not _under_way.acquire(blocking=False):
        raise Busy("two dry runs are under way already")
    try:
        return _dry_run(text, params, held)
    finally:
        _under_way.release()


def _dry_run(
    text: str, params: Mapping[str, object], held: Iterable[Mapping[str, object]]
) -> Tried:
    ends = time.monotonic() + _SECONDS
    iterator = iter(held)
    lines: list[bytes] = []
    length = done = 0
    batch = 1
    with Engine(memory="256MB") as engine:
        queries, _, _ = parse_from(text, 1)
        asked = {query.name: Prepared(query) for query in queries}
        tables = {name: [{"name": name, **params}] for name, one in asked.items() if one.parameters}
        _, errors = engine.load_good(text, tables=tables)
        if errors:
            return Tried([], [], 0, True, errors)
        read = set(engine.streams)
        newest = [one for one in islice(iterator, _DOCUMENTS) if one["stream"] in read]
        whole = next(iterator, None) is None
        newest.reverse()
        while some := newest[done : done + batch]:
            began = time.monotonic()
            done += len(some)
            groups = engine.publish_many(some, grouped=True)
            found = (match for group in groups for match in group.matches())
            # What waits for more is as if nothing more came.
            ended = engine.flush() if done == len(newest) else ()
            for match in islice(chain(found, ended), _MATCHES + 1 - len(lines)):
                lines.append(json_line(match))
                length += len(lines[-1])
                if length > _BYTES:
                    break
            now = time.monotonic()
            enough = len(lines) > _MATCHES or length > _BYTES
            if now > ends or enough:
                whole = whole and done == len(newest) and not enough
                break
            in_time = int(len(some) * _BATCH / max(now - began, 1e-6))
            batch = max(1, min(in_time, 4 * len(some)))
        shown = [as_held(json.loads(line), engine) for line in lines[:_SHOWN]]
    return Tried(lines[:_MATCHES], shown, done, whole, [])


def _tables(
    prepared: Mapping[str, Prepared], params: Mapping[str, object]
) -> dict[str, list[dict[str, object]]]:
    return {
        name: [{"name": name, **one.stand_ins, **params}]
        for name, one in prepared.items()
        if one.parameters
    }
