"""Event files: JSON Lines, one document envelope a line, gzipped or not, or standard input.

A line that is longer than a document may be is passed over piece by piece; whatever the file
holds or expands to, one line of bounded length is in memory.  A reading may continue after the
place where another ended.
"""

from __future__ import annotations

import gzip
import json
import queue
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import BinaryIO, NamedTuple, TypeVar

from xscl.documents.document import document_of, is_control
from xscl.errors import DocumentError
from xscl.files.gzipped import opened
from xscl.sources.limits import MAX_DOCUMENT, TOO_DEEP, printable_path, too_large, unreadable
from xscl.xpath_stage import read_exactly

__all__ = [
    "STDIN",
    "LineEnvelope",
    "Place",
    "as_far_as_it_goes",
    "as_they_come",
    "checked",
    "lines_of",
    "no_constant",
    "read_events",
    "read_placed",
    "refused",
    "sought",
]

Envelope = dict[str, object]
OnError = Callable[[DocumentError], object]
T = TypeVar("T")

STDIN = "stdin"
"""The name of standard input in ids."""


_FAR = 10**10
"""Seconds of a time about which there is no doubt."""

_PATIENCE = 0.2
"""Seconds after which one who waits for documents looks whether to continue waiting."""


class LineEnvelope(dict[str, object]):
    """The envelope of a line, which knows its `source`: the file's name and the line's number."""

    __slots__ = ("source",)

    source: tuple[str, int]


class Place(NamedTuple):
    """A place between two lines of an events file: how many lines and bytes are before it, as
    decompressed; and how many other files of its name were read before, with the same state."""

    lines: int = 0
    offset: int = 0
    others: int = 0

    def id(self, name: str, number: int, start: int) -> str:
        """The id of the row or line of a number that begins at a byte, if it has none.  Standard
        input is another one each time: rows of two that are different seldom begin at one byte.

        >>> Place().id("rows.csv", 12, 340), Place(others=1).id("rows.csv", 12, 340)
        ('rows.csv:12', 'rows.csv(2):12')
        """
        if name == STDIN:
            return f"{name}:{start}"
        return f"{name}({self.others + 1}):{number}" if self.others else f"{name}:{number}"


def _as_it_is(value: object, id: str) -> Envelope:
    """The envelope that a line is."""
    if not isinstance(value, dict):
        raise ValueError("expected a JSON object")
    if value.get("id") is None:
        value["id"] = id
    return value


def read_events(
    source: str,
    on_error: OnError,
    *,
    max_document: int = MAX_DOCUMENT,
) -> Iterator[Envelope]:
    """The envelopes of an events file; `-` is standard input.

    A document without an id gets the source's name and its line's number, so that the
    same file read again is recognised.  A line that holds no envelope, or has more than
    `max_document` bytes, goes to `on_error`.
    """
    return (envelope for envelope, _ in read_placed(source, on_error, max_document=max_document))


def read_placed(
    source: str,
    on_error: OnError,
    *,
    max_document: int = MAX_DOCUMENT,
    after: Place | None = None,
) -> Iterator[tuple[LineEnvelope, Place]]:
    """As `read_events`, from a place on, each envelope with the place after its line.

    The end of a file that is still written to may be half a line: that is no envelope, and a
    reading that continues after the last one reads it again.
    """
    after = after or Place()
    name = STDIN if source == "-" else printable_path(source)
    with opened(source) as file:
        yield from lines_of(file, name, on_error, max_document, after, _as_it_is)


def lines_of(
    file: BinaryIO,
    name: str,
    on_error: OnError,
    max_document: int,
    after: Place,
    make: Callable[[object, str], Envelope],
) -> Iterator[tuple[LineEnvelope, Place]]:
    """The envelopes of a file's lines from a place on.  `make` makes that of a
    JSON value, given an id for one that has none; it raises ValueError or DocumentError."""
    others = after.others
    for number, start, line, end in _lines(file, name, max_document, on_error, after):
        if len(line) <= max_document and line.isspace():
            continue
        try:
            envelope = make(_json(line, max_document), after.id(name, number, start))
            found = checked(envelope, (name, number))
        except (ValueError, DocumentError) as error:
            on_error(refused(error, (name, number), {"line": number, "offset": start}, line))
        else:
            yield found, Place(number, end, others)


def checked(envelope: Envelope, source: tuple[str, int]) -> LineEnvelope:
    """The envelope of a line or row.  What the engine would refuse of it is refused here, where its
    text is at hand: raises DocumentError."""
    if not _is_plain(envelope) and not is_control(envelope):
        document_of(envelope, 0, 0)
    # There are many, and a constructor of our own would double the cost.
    found = LineEnvelope(envelope)
    found.source = source
    return found


def _is_plain(envelope: Envelope) -> bool:
    """Whether an envelope is one of those that are not refused: almost all are, and it shows."""
    stream, id, time = envelope.get("stream", "S"), envelope["id"], envelope.get("timestamp")
    return (
        type(stream) is str
        and type(id) is str
        and stream != ""
        and stream.isprintable()
        and id.isprintable()
        and (time is None or (type(time) in (int, float) and -_FAR < time < _FAR))  # type: ignore[operator]
        and (type(xml := envelope.get("xml")) is str or (xml is None and "json" in envelope))
        and envelope.get("start") is None
    )


def refused(
    error: ValueError | DocumentError,
    source: tuple[str, int],
    position: Mapping[str, int],
    raw: bytes,
) -> DocumentError:
    """The error for a line or row that has no envelope, with its place and its text."""
    if isinstance(error, DocumentError):
        problem, stream, document = error.problem, error.stream, error.document
    else:
        problem, stream, document = str(error), "?", f"{source[0]}, line {source[1]}"
    return unreadable(problem, stream=stream, document=document, raw=raw, position=position)


def as_they_come(
    entries: Iterable[T], batch: int, ended: Callable[[], bool] = lambda: False
) -> Iterator[list[T]]:
    """Batches of what is there already, up to a size, without waiting for more: a document from
    a pipe is answered immediately, a file at full speed.  Waiting is over once `ended` says so."""
    arrived: queue.Queue[tuple[T] | BaseException | None] = queue.Queue(maxsize=batch)

    def read() -> None:
        try:
            for entry in entries:
                arrived.put((entry,))
            arrived.put(None)
        except BaseException as error:
            arrived.put(error)

    def take() -> tuple[T] | BaseException | None:
        while not ended():
            with suppress(queue.Empty):
                return arrived.get(timeout=_PATIENCE)
        return None

    threading.Thread(target=read, name="xscl-events", daemon=True).start()
    while True:
        some: list[T] = []
        entry = take()
        while isinstance(entry, tuple):
            some.append(entry[0])
            if len(some) == batch or arrived.empty():
                break
            entry = take()
        if some:
            yield some
        if isinstance(entry, BaseException):
            raise entry
        if entry is None:
            return


@contextmanager
def as_far_as_it_goes(file: BinaryIO, name: str, on_error: OnError) -> Iterator[None]:
    """While a file is read: if it cannot be decompressed any further, that goes to `on_error`, and
    what was read of it is used."""
    try:
        yield
    except EOFError:
        on_error(DocumentError("the compressed file ends early", stream="?", document=name))
    except (gzip.BadGzipFile, zlib.error) as error:
        problem = f"the compressed file is damaged after {file.tell():,} bytes: {error}"
        on_error(DocumentError(problem, stream="?", document=name))


def no_constant(constant: str) -> None:
    """Refuses what Python's JSON has beyond JSON: NaN and the infinities."""
    raise ValueError(f"{constant} is no JSON")


def _lines(
    file: BinaryIO,
    name: str,
    limit: int,
    on_error: OnError,
    after: Place,
) -> Iterator[tuple[int, int, bytes, int]]:
    """The lines of a file after a place, as far as they can be decompressed: the number from 1,
    the offset, the line, and the offset of its end; of one that is too long the beginning, a byte
    more than the limit at least."""
    number, start = after.lines, sought(file, after.offset)
    with as_far_as_it_goes(file, name, on_error):
        # The end of a line is no part of the document.
        while line := file.readline(limit + 1):
            number, length = number + 1, len(line)
            rest = line
            while len(rest) > limit and not rest.endswith(b"\n"):
                rest = file.readline(limit + 1)
                length += len(rest)
            yield number, start, line, start + length
            start += length


def sought(file: BinaryIO, offset: int) -> int:
    """Seeks the line that begins at an offset or, where the one before had no end yet when it was
    read, after that end; returns where it begins."""
    if not offset:
        return 0
    file.seek(offset - 1)
    if file.read(1) != b"\n":
        end = file.peek(2)[:2]  # type: ignore[attr-defined]
        offset += 2 if end == b"\r\n" else int(end[:1] == b"\n")
        file.seek(offset)
    return offset


def _json(line: bytes, limit: int) -> object:
    """The JSON value of a line; raises ValueError with the reason where there is none."""
    if len(line) > limit and not line.endswith(b"\n"):
        raise ValueError(too_large(limit))
    try:
        try:
            return read_exactly(line)
        except ValueError:
            return json.loads(line, parse_constant=no_constant)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    except ValueError as error:
        raise ValueError(f"it is no JSON: {error}") from error
