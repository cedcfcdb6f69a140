"""Runs of envelopes: those envelopes of a batch of which only events are read, JSON values ->
columns, so that many are processed in one step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from xscl.documents.document import new_id
from xscl.times import from_timestamps
from xscl.xpath_stage import are_flat, foreign_character, plain_copies

__all__ = ["Run", "in_runs"]

_STR = {str}
_MISSING = object()


class Run(NamedTuple):
    """Documents in order: their streams, ids and times (microseconds; None for one without a
    timestamp), and JSON values."""

    streams: Sequence[str]
    ids: Sequence[str]
    times: Sequence[Any]
    values: Sequence[object]

    def at(self, places: Sequence[int]) -> Run:
        """Those at some places."""
        chosen: Any = [[column[place] for place in places] for column in self]
        return Run(*chosen)


def in_runs(
    envelopes: Sequence[Mapping[str, object]], may_come: Callable[[object], bool]
) -> Iterator[tuple[Run | None, Sequence[Mapping[str, object]]]]:
    """The envelopes of a batch in order: those of a run together, if their streams `may_come` so,
    and others in between."""
    if any("json" not in one for one in envelopes):
        # Lines that are no documents are few: what lies between them is tried as a whole.
        for plain, some in groupby(envelopes, lambda one: "json" in one):
            lines = [*some]
            yield from _in_runs(lines, may_come) if plain else ((None, lines),)
    else:
        yield from _in_runs(envelopes, may_come)


def _in_runs(
    envelopes: Sequence[Mapping[str, object]], may_come: Callable[[object], bool]
) -> Iterator[tuple[Run | None, Sequence[Mapping[str, object]]]]:
    run = _run(envelopes, may_come) if envelopes else None
    if run is not None or len(envelopes) < 2:
        yield run, envelopes
        return
    alone = [(one, _run((one,), may_come)) for one in envelopes]
    for plain, some in groupby(alone, lambda one: one[1] is not None):
        of_kind = [*some]
        together = [one for one, _ in of_kind]
        run = of_kind[0][1]
        yield _run(together, may_come) if plain and len(of_kind) > 1 else run, together


def _run(
    envelopes: Sequence[Mapping[str, object]], may_come: Callable[[object], bool]
) -> Run | None:
    """Some envelopes as a run, if each of them may be in one."""
    try:
        rows: Any = [
            (one.get("stream", "S"), one.get("id"), one.get("timestamp"), one.get("json", _MISSING))
            for one in envelopes
            if "xml" not in one and "start" not in one
        ]
        if len(rows) < len(envelopes):
            return None
        columns: Any = zip(*rows, strict=True)
        of, ids, times, given = columns
        if not all(map(may_come, {*of})):
            return None
        if None in ids:
            ids = [new_id() if one is None else one for one in ids]
        if foreign_character("".join(ids)) is not None:
            return None
        if None in times:
            times = [None if one is None else from_timestamps((one,))[0] for one in times]
        else:
            times = from_timestamps(times)
    except (TypeError, ValueError):
        return None
    if not _STR.issuperset(map(type, ids)):
        return None
    if str in {*map(type, given)}:
        return None  # what a text stands for is decided where documents are made
    values = given if are_flat(given) else plain_copies(given)
    return None if values is None else Run(of, ids, times, values)
