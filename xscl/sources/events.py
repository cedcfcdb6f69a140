"""Event files: JSON Lines, one document envelope a line, gzipped or not, or standard input."""

from __future__ import annotations

import gzip
import json
import queue
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

from xscl.errors import DocumentError

__all__ = ["as_they_come", "no_constant", "read_events"]

Envelope = dict[str, object]


def read_events(source: str, on_error: Callable[[DocumentError], object]) -> Iterator[Envelope]:
    """The envelopes of an events file; `-` is standard input.

    A document without an id gets the source's name and its line's offset in bytes, so that the
    same file read again is recognised.  A line that holds no envelope goes to `on_error`.
    """
    name = "stdin" if source == "-" else source
    with _open(source) as lines:
        offset = 0
        for number, line in enumerate(_lines(lines, name, on_error), 1):
            start, offset = offset, offset + len(line)
            if not line.strip():
                continue
            try:
                envelope = json.loads(line, parse_constant=no_constant)
            except (ValueError, RecursionError) as error:
                on_error(_bad_line(name, number, f"it is no JSON: {error}"))
                continue
            if not isinstance(envelope, dict):
                on_error(_bad_line(name, number, "expected a JSON object"))
                continue
            if envelope.get("id") is None:
                envelope["id"] = f"{name}:{start}"
            yield envelope


def as_they_come(envelopes: Iterable[Envelope], batch: int) -> Iterator[list[Envelope]]:
    """Batches of what is there already, up to a size, without waiting for more: a document from
    a pipe is answered at once, a file at full speed."""
    arrived: queue.Queue[Envelope | BaseException | None] = queue.Queue(maxsize=batch)

    def read() -> None:
        try:
            for envelope in envelopes:
                arrived.put(envelope)
            arrived.put(None)
        except BaseException as error:
            arrived.put(error)

    threading.Thread(target=read, name="xscl-events", daemon=True).start()
    while True:
        some: list[Envelope] = []
        entry = arrived.get()
        while isinstance(entry, dict):
            some.append(entry)
            if len(some) == batch or arrived.empty():
                break
            entry = arrived.get()
        if some:
            yield some
        if isinstance(entry, BaseException):
            raise entry
        if entry is None:
            return


def _open(source: str) -> IO[bytes]:
    if source == "-":
        return sys.stdin.buffer
    if Path(source).suffix == ".gz":
        return gzip.open(source, "rb")  # type: ignore[return-value]
    return open(source, "rb")


def no_constant(constant: str) -> None:
    """Refuses what Python's JSON has beyond JSON: NaN and the infinities."""
    raise ValueError(f"{constant} is no JSON")


def _lines(
    file: IO[bytes], name: str, on_error: Callable[[DocumentError], object]
) -> Iterator[bytes]:
    """The lines of a file, as far as they can be decompressed."""
    try:
        yield from file
    except EOFError:
        on_error(DocumentError("the compressed file ends early", stream="?", document=name))


def _bad_line(name: str, number: int, problem: str) -> DocumentError:
    return DocumentError(problem, stream="?", document=f"{name}, line {number}")
