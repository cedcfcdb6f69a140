"""A dry run: a text of queries and documents -> what it finds among these, batch by batch.

It runs in a process of its own (`serve`), which has an engine in memory, so that a query may take
whatever it takes: that process is ended when it takes too long, and refused memory beyond a bound.
What it has found by then it has sent.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from xscl.engine import Engine
from xscl.errors import MatchError
from xscl.language.parameters import Prepared
from xscl.language.read import parse_from
from xscl.matches.match import Match, json_line
from xscl.matches.unwritten import made_of
from xscl.serve.problems import problem_of
from xscl.serve.side_by_side import Gone, SideBySide, as_held

__all__ = ["Bounds", "Frame", "serve"]

_BATCH = 0.2
"""Seconds that a batch is to take, by the batch before it: the first has one document,
and each four times as many as the last at most, as what is joined with all others grows."""

_WATCHED = 0.02
"""Seconds between two looks at the memory of the process."""


class Bounds(NamedTuple):
    """The bounds of a dry run: matches and their bytes, those that are shown side by side, seconds
    after which it goes no further, those after which its process ends."""

    matches: int
    bytes: int
    shown: int
    seconds: float
    longest: float


Frame = Mapping[str, Any]
"""What a process says, as JSON: `ready`; `errors` of a text, or the `streams` that it reads;
`lines` and `shown` of a batch, with the `documents` so far; the matches that are `gone`, each by
query and id; why it `ended`."""


def serve(connection: Connection, memory: int) -> None:
    """Does one dry run after the other, in a process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.nice(5)
    # What grows faster than is watched is refused.
    for limit, bound in ((resource.RLIMIT_DATA, memory * 3 // 2), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(OSError, ValueError):
            _, most = resource.getrlimit(limit)
            if most == resource.RLIM_INFINITY or bound < most:
                resource.setrlimit(limit, (bound, most))
    threading.Thread(target=_watch, args=(memory,), daemon=True).start()
    with Engine() as engine:
        # The grammar is read, and all else that a first query needs.
        engine.load("S//a")
        engine.publish("S", "<a/>")
    _send(connection, {"ready": True})
    with contextlib.suppress(EOFError, OSError):
        while True:
            bounds, text, params = connection.recv()
            # The waiting caller may be gone by then.
            signal.setitimer(signal.ITIMER_REAL, bounds.longest)
            try:
                for frame in _tried(connection, bounds, text, params):
                    _send(connection, frame)
            except MemoryError:
                # What it holds goes with the process.
                _send(connection, {"ended": "memory"})
                return
            signal.setitimer(signal.ITIMER_REAL, 0)


def _watch(memory: int) -> None:
    """Ends the process when its data exceed some bytes.

    Being refused memory is not enough: CPython 3.11 can raise MemoryError for ever in one place,
    where the handler of an exception wants an integer for which there is no memory."""
    page = resource.getpagesize()
    with contextlib.suppress(OSError), open("/proc/self/statm", "rb", buffering=0) as sizes:
        while int(os.pread(sizes.fileno(), 100, 0).split()[5]) * page <= memory:
            time.sleep(_WATCHED)
        os._exit(1)


def _send(connection: Connection, frame: Frame) -> None:
    connection.send_bytes(json.dumps(frame).encode())


def _tried(
    connection: Connection, bounds: Bounds, text: str, params: Mapping[str, object]
) -> Iterator[Frame]:
    with Engine(memory="256MB") as engine:
        queries, _, _ = parse_from(text, 1)
        asked = [query.name for query in queries if Prepared(query).parameters]
        _, errors = engine.load_good(text, tables=dict.fromkeys(asked, params))
        if errors:
            yield {"errors": [problem_of(one).model_dump() for one in errors]}
            return
        yield {"streams": engine.streams}
        documents: list[Mapping[str, object]] = []
        while some := connection.recv():
            documents += some
        yield from _run(engine, bounds, documents[::-1])


def _run(
    engine: Engine, bounds: Bounds, documents: Sequence[Mapping[str, object]]
) -> Iterator[Frame]:
    """What is found among documents, in their order."""
    ends = time.monotonic() + bounds.seconds
    given = {(str(one["stream"]), str(one["id"])): one for one in documents}
    many = length = done = 0
    to_show = bounds.shown
    batch = 1
    unwritten: list[MatchError] = []
    while some := documents[done : done + batch]:
        began = time.monotonic()
        done += len(some)
        enough = None
        for gone, found in _found(engine, some, ended=done == len(documents)):
            if gone:
                yield {"gone": [(one.query, one.id) for one in gone]}
            lines: list[str] = []
            for _, line in made_of(found, json_line, unwritten.append):
                if many == bounds.matches or length + len(line) > bounds.bytes:
                    enough = "matches" if many == bounds.matches else "bytes"
                    break
                many += 1
                length += len(line)
                lines.append(line.decode())
            sides = list[SideBySide]()
            try:
                for one in islice(lines, to_show):
                    sides.append(as_held(json.loads(one), engine, given))
                to_show -= len(sides)
            except Gone:
                # The first matches are shown, and no others.
                to_show = 0
            yield {
                "lines": lines,
                "shown": [one.model_dump_json(exclude_none=True) for one in sides],
                "documents": done,
            }
            if enough is not None:
                break
        now = time.monotonic()
        if enough is None and now > ends and done < len(documents):
            enough = "seconds"
        if enough is not None:
            yield {"ended": enough, "problems": [str(one) for one in unwritten]}
            return
        in_time = int(len(some) * _BATCH / max(now - began, 1e-6))
        batch = max(1, min(in_time, 4 * len(some)))
    yield {"ended": None, "problems": [str(one) for one in unwritten]}


def _found(
    engine: Engine, documents: Sequence[Mapping[str, object]], *, ended: bool
) -> Iterator[tuple[Sequence[Match], Iterable[Match]]]:
    """What a batch takes back, and what it finds; then the same of the end of the documents."""
    groups = engine.publish_many(documents, grouped=True)
    yield groups.retractions, (match for group in groups for match in group.matches())
    if ended:
        # What waits for more is as if nothing more came.
        found = engine.flush()
        yield [one for one in found if one.retracts], [one for one in found if not one.retracts]


def main() -> None:
    """Serves at the file that the command line names, within the memory that it names."""
    descriptor, memory = map(int, sys.argv[-2:])
    serve(Connection(descriptor), memory)
