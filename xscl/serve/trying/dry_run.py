"""A dry run, as the server sees it: a text, and the documents retained of the streams that it
reads, the newest of them if they are many -> what was found, and how far it went.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, islice
from typing import Any

from xscl.engine.held import Envelopes
from xscl.serve.trying.processes import Ended, Process, Processes
from xscl.serve.trying.trial import Bounds

__all__ = ["MEMORY", "Tried", "dry_run"]

MEMORY = 1024 * 1024 * 1024
"""Bytes of a process that does dry runs."""

_DOCUMENTS = 5_000
_CHARACTERS = 64_000_000
"""The bounds on the documents that a dry run looks at, and on their length."""

_MATCHES = 100
_BYTES = 1_000_000
_SHOWN = 20
_SECONDS = 3.0
_GRACE = 2.0
"""The bounds of what it finds (`trial.Bounds`); after so many seconds more it is ended."""

_TOGETHER = 200
"""Documents that are sent together."""


@dataclass(slots=True)
class Tried:
    """What a dry run found: the lines of its matches, the first of them side by side with their
    documents; how many documents it has gone through, of how many that are retained of its
    streams, and the times (seconds) of the first and last; whether that was all, else why it
    `ended` there; what else is to be said; or the problems of the text (`errors`)."""

    lines: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    documents: int = 0
    retained: int = 0
    times: tuple[float, float] | None = None
    ended: str | None = None
    problems: list[str] = field(default_factory=list)
    errors: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Whether these are all matches in all documents that are retained."""
        return self.ended is None and self.documents == self.retained


def dry_run(
    processes: Processes,
    text: str,
    params: Mapping[str, object],
    retained: Callable[[Collection[str]], Envelopes],
) -> Tried:
    """What a text finds among documents that are `retained` of some streams, the latest first;
    raises Busy while others do the same."""
    tried = Tried()
    seconds, longest = _SECONDS, _SECONDS + _GRACE
    bounds = Bounds(_MATCHES, _BYTES, _SHOWN, seconds, longest)
    try:
        with processes.one() as process:
            _run(process, tried, bounds, (bounds, text, dict(params)), retained)
    except Ended as ended:
        # What was found before is found all the same.
        tried.ended = (
            f"it was ended, as it took longer than {longest:g} seconds"
            if ended.late
            else f"it was ended, as it took more than {processes.memory >> 20:,} MiB of memory"
        )
    return tried


def _run(
    process: Process,
    tried: Tried,
    bounds: Bounds,
    asked: tuple[Bounds, str, Mapping[str, object]],
    retained: Callable[[Collection[str]], Envelopes],
) -> None:
    process.send(asked)
    # It ends itself a little earlier.
    last = time.monotonic() + bounds.longest + 1
    frame = process.receive(last - time.monotonic())
    if "errors" in frame:
        tried.errors = frame["errors"]
        return
    tried.retained, times = 0, list[float]()
    if "streams" in frame:
        documents = retained(frame["streams"])
        tried.retained = len(documents)
        for some in _newest(documents):
            times += [float(str(one["timestamp"])) for one in some]
            process.send(some)
        process.send([])
    while "ended" not in frame:
        frame = process.receive(max(0, last - time.monotonic()))
        if "gone" in frame:
            gone = {*map(tuple, frame["gone"])}
            matches = map(json.loads, tried.lines)
            stands = [(one["query"], one["id"]) not in gone for one in matches]
            tried.lines = [*compress(tried.lines, stands)]
            tried.shown = [*compress(tried.shown, stands)]
        if "lines" in frame:
            tried.lines += frame["lines"]
            tried.shown += frame["shown"]
            tried.documents = frame["documents"]
            tried.times = times[-1], times[-tried.documents]
    tried.problems = frame.get("problems", [])
    tried.ended = _REASONS.get(frame["ended"])
    if frame["ended"] == "memory":
        raise Ended(late=False)


_REASONS = {
    "matches": f"these are the first {_MATCHES} matches",
    "bytes": f"these are the first matches, of {_BYTES:,} bytes",
    "seconds": f"it took {_SECONDS:g} seconds",
}


def _newest(documents: Envelopes) -> Iterator[Sequence[Mapping[str, object]]]:
    """The newest documents, some at a time, within the bounds."""
    some: list[Mapping[str, object]] = []
    length = 0
    for place, one in enumerate(islice(documents, _DOCUMENTS)):
        length += len(str(one.get("json", one.get("xml"))))
        if length > _CHARACTERS and place:
            break
        some.append(one)
        if len(some) == _TOGETHER:
            yield some
            some = []
    if some:
        yield some
