"""Bodies out of their content coding (gzip, deflate, br), never beyond a bound.

A response of a kilobyte may hold a megabyte of zeros, coded twice even a gigabyte: what comes out
is counted while it comes out, piece by piece, and nothing past the bound is made.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

import brotli

__all__ = ["ACCEPTED", "BodyError", "decoded"]

ACCEPTED = b"gzip, br"

_PIECE = 1 << 16
_MOST_CODINGS = 2
_REFUSED = {"zstd", "compress", "x-compress", "dcb", "dcz", "exi", "pack200-gzip"}
_MAGIC = b"\x1f\x8b"
_GZIP = 16 + zlib.MAX_WBITS

Pieces = Iterator[bytes]


class BodyError(Exception):
    """A body that is too large, or is not what it says it is."""


def decoded(pieces: Iterable[bytes], coding: str, limit: int) -> bytes:
    """A body of at most `limit` bytes, before and after decoding.

    `coding` is the value of Content-Encoding.  Raises BodyError.

    >>> decoded([zlib.compress(b"feed")], "deflate", 100)
    b'feed'
    """
    codings = [name for name in (part.strip().lower() for part in coding.split(",")) if name]
    if len(codings) > _MOST_CODINGS:
        raise BodyError(f"its content is coded {len(codings)} times")
    stream = _bounded(iter(pieces), limit)
    for name in reversed(codings):
        if name in _REFUSED:
            raise BodyError(f"its content is coded as {name!r}, which nobody asked for")
        if name not in _DECODERS:
            # Some servers name a charset, or how they have stored it.
            continue
        stream = _bounded(_DECODERS[name](stream), limit)
    try:
        # A file that is gzipped as it lies there, which no header says.
        begin = next(filter(None, stream), b"")
        stream = chain([begin], stream)
        if begin[:2] == _MAGIC:
            stream = _bounded(_gunzip(stream), limit)
        return b"".join(stream)
    except (zlib.error, brotli.error) as error:
        raise BodyError(f"its content cannot be decompressed: {error}") from error


def _bounded(pieces: Pieces, limit: int) -> Pieces:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > limit:
            raise BodyError(f"it is larger than {limit:,} bytes")
        yield piece


def _gunzip(pieces: Pieces) -> Pieces:
    """The content of a gzip file, of several members perhaps; what follows them is no content."""
    decoder = zlib.decompressobj(_GZIP)
    for piece in pieces:
        while piece:
            if decoder.eof:
                if piece[:1] != b"\x1f":
                    return
                decoder = zlib.decompressobj(_GZIP)
            yield decoder.decompress(piece, _PIECE)
            piece = decoder.unconsumed_tail or decoder.unused_data
    yield from _rest(decoder)


def _inflate(pieces: Pieces) -> Pieces:
    """Deflate as RFC 9110 has it, in zlib's wrapping, and as some servers do, without."""
    decoder = None
    for piece in pieces:
        if decoder is None and piece:
            wrapped = piece[0] & 0x0F == 8
            decoder = zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)
        while piece and decoder is not None:
            yield decoder.decompress(piece, _PIECE)
            piece = decoder.unconsumed_tail
    if decoder is not None:
        yield from _rest(decoder)


def _rest(decoder: zlib._Decompress) -> Pieces:
    while not decoder.eof and (rest := decoder.decompress(b"", _PIECE)):
        yield rest
    if not decoder.eof:
        raise BodyError("its compressed content ends early")


def _unbrotli(pieces: Pieces) -> Pieces:
    decoder = brotli.Decompressor()
    for piece in pieces:
        yield decoder.process(piece, output_buffer_limit=_PIECE)
        while not decoder.can_accept_more_data():
            yield decoder.process(b"", output_buffer_limit=_PIECE)
    if not decoder.is_finished():
        raise BodyError("its compressed content ends early")


_DECODERS: dict[str, Callable[[Pieces], Pieces]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate,
    "br": _unbrotli,
}
