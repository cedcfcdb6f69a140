"""Where the bodies of retained documents are: in memory up to a share of it, else in a file.

The file is temporary and has no name: it is gone with the last body in it, however the process
ends.  A body is read back from it when a match is read.  So the body stays there as long as
anything refers to it, be it the engine or a match that was returned.  The space of a dropped body
is reused for bodies of about its size.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from gzip import GzipFile
from pathlib import Path

from xscl.files.gzipped import opened
from xscl.files.named import named
from xscl.xpath_stage import PIECE, MalformedDocument

__all__ = ["LARGE", "Bodies", "Body", "is_large", "pieces_of", "size_of"]

LARGE = 16 * 1024 * 1024
"""A body of more bytes is always in the file, and parsed in pieces."""

_OVERHEAD = 250
"""The estimated overhead of a body in memory, in bytes."""

_FINE = 4
"""The leading bits of a size that count: a place is at most an eighth larger than its body."""


class Body:
    """The body of one document, text or bytes; `size` is in bytes."""

    __slots__ = ("__weakref__", "_at", "_bodies", "_content", "size", "text")

    def __init__(self, bodies: Bodies, content: bytes | None, size: int, *, text: bool) -> None:
        self._bodies = bodies
        self._content = content
        self._at = -1
        self.size = size
        self.text = text

    def read(self) -> str | bytes:
        """The body as it was put."""
        content = self._content
        if content is None:
            content = b"".join(self._bodies.read(self._at, self.size))
        return content.decode() if self.text else content

    def pieces(self) -> Iterator[bytes]:
        """Its bytes in pieces, text as UTF-8."""
        content = self._content
        if content is None:
            return self._bodies.read(self._at, self.size)
        return pieces_of(content)

    def move(self, at: int) -> None:
        """Notes that its bytes are in the file now."""
        self._at = at
        self._content = None

    def __del__(self) -> None:
        self._bodies.returned.append((self._at, self.size))


class Bodies:
    """The bodies of one engine.

    `share` are the bytes that they may have in memory, None for no bound; `memory` and `filed` are
    the bytes that they have there and in the file, whose length is `length`.
    """

    def __init__(self, share: int | None = None) -> None:
        self.share = share
        self.memory = 0
        self.filed = 0
        # Bodies are dropped on any thread, at any time: here it is only noted.
        self.returned: deque[tuple[int, int]] = deque()
        self._in_memory: deque[weakref.ref[Body]] = deque()
        self._file: int | None = None
        self.length = 0
        self._unused: dict[int, list[int]] = {}

    def __del__(self) -> None:
        if self._file is not None:
            os.close(self._file)

    def stored(self, body: str | bytes | Body) -> str | bytes | Body:
        """A body as the engine stores it: as it is, where it is small and memory has no bound."""
        if isinstance(body, Body) or (self.share is None and not is_large(body)):
            return body
        return self.put(body)

    def put(self, body: str | bytes) -> Body:
        """Stores a body, at first in memory unless it is large."""
        text = isinstance(body, str)
        if is_large(body):
            return self._put_pieces(pieces_of(body), text=text)
        content = body.encode() if isinstance(body, str) else body
        stored = Body(self, content, len(content), text=text)
        self.memory += stored.size + _OVERHEAD
        self._in_memory.append(weakref.ref(stored))
        return stored

    def copy(self, path: Path) -> Body:
        """Stores the bytes of a file, decompressed where it is gzipped; a large file is never in
        memory whole."""
        with opened(path) as file:
            if not isinstance(file, GzipFile) and os.fstat(file.fileno()).st_size <= LARGE:
                return self.put(file.read())
            return self._put_pieces(iter(lambda: file.read(PIECE), b""), text=False)

    def shrink(self) -> None:
        """Moves the bodies beyond the share to the file, the oldest first."""
        if self.returned:
            self.settle()
        while self.share is not None and self.memory > self.share and self._in_memory:
            stored = self._in_memory.popleft()()
            if stored is not None:
                self._move(stored, b"".join(stored.pieces()))

    def settle(self) -> None:
        """Processes the bodies that were dropped."""
        while self.returned:
            at, size = self.returned.popleft()
            if at < 0:
                self.memory -= size + _OVERHEAD
            else:
                self.filed -= size
                place = _place_for(size)
                self._unused.setdefault(place, []).append(at)
        while self._in_memory and self._in_memory[0]() is None:
            self._in_memory.popleft()
        if not self.filed and self._file is not None and self.length:
            os.ftruncate(self._file, 0)
            self.length = 0
            self._unused.clear()

    def read(self, at: int, size: int) -> Iterator[bytes]:
        """A part of the file in pieces."""
        assert self._file is not None
        end = at + size
        while at < end:
            piece = os.pread(self._file, min(PIECE, end - at), at)
            at += len(piece)
            yield piece

    def _put_pieces(self, pieces: Iterable[bytes], *, text: bool) -> Body:
        # Its size is known only at the end: it is written where nothing follows.
        begin = end = self.length
        for piece in pieces:
            self._write(piece, end)
            end += len(piece)
        stored = Body(self, None, end - begin, text=text)
        stored.move(begin)
        self.length = begin + _place_for(stored.size)
        self.filed += stored.size
        return stored

    def _move(self, stored: Body, content: bytes) -> None:
        place = _place_for(stored.size)
        unused = self._unused.get(place)
        at = unused.pop() if unused else self.length
        self._write(content, at)
        self.length = max(self.length, at + place)
        stored.move(at)
        self.memory -= stored.size + _OVERHEAD
        self.filed += stored.size

    def _write(self, content: bytes, at: int) -> None:
        if self._file is None:
            # It has no name from the beginning, where the system supports this.
            with tempfile.TemporaryFile() as file:
                self._file = os.dup(file.fileno())
        left = memoryview(content)
        with named(tempfile.gettempdir()):
            while left:
                written = os.pwrite(self._file, left, at)
                at += written
                left = left[written:]


def size_of(body: str | bytes | Body) -> int:
    """The bytes of a body, text as UTF-8."""
    if isinstance(body, str):
        return len(body) if body.isascii() else len(body.encode("utf-8", "surrogatepass"))
    return body.size if isinstance(body, Body) else len(body)


def is_large(body: str | bytes | Body) -> bool:
    """Whether a body is parsed in pieces."""
    if isinstance(body, str) and 4 * len(body) <= LARGE:
        return False
    return size_of(body) > LARGE


def pieces_of(body: str | bytes | Body) -> Iterator[bytes]:
    """A body in pieces, text as UTF-8; raises MalformedDocument for text that is none."""
    if isinstance(body, Body):
        yield from body.pieces()
    elif isinstance(body, bytes):
        yield from (body[begin : begin + PIECE] for begin in range(0, len(body), PIECE))
    else:
        longest = PIECE // 4
        for begin in range(0, len(body), longest):
            try:
                yield body[begin : begin + longest].encode()
            except UnicodeEncodeError as error:
                problem = f"character {begin + error.start} is a lone surrogate"
                raise MalformedDocument(problem) from error


def _place_for(size: int) -> int:
    """The bytes of the file reserved for a body."""
    coarse = max(size.bit_length() - _FINE, 0)
    return (((size - 1) >> coarse) + 1) << coarse if size else 1
