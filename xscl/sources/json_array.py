"""A file that is one array of JSON becomes its values, lazily: as much is read as a value takes.

Where a value is malformed, so is the array: what follows cannot be separated, and is not read.
"""

from __future__ import annotations

import json
from codecs import getincrementaldecoder
from collections.abc import Iterator
from typing import BinaryIO

from xscl.sources.envelopes import no_constant
from xscl.sources.limits import MAX_DOCUMENT, too_large

__all__ = ["array_values", "is_array"]

_PIECE = 1 << 16
_SPACE = " \t\r\n"
_WITHIN_NUMBERS = ("", ".", "e", "E")
"""What may be behind the whole part of a number, or behind what has been read."""


def is_array(begin: bytes, *, whole: bool, lined: bool = False) -> bool:
    """Whether a file that begins so is one array, and no lines of arrays; `whole`: that is all;
    `lined`: by its name it has lines, and the first one may be longer.

    >>> is_array(b"[\\n{", whole=False), is_array(b"[1]\\n[2]", whole=False)
    (True, False)
    >>> is_array(b"[1, 2", whole=False), is_array(b"[1, 2", whole=False, lined=True)
    (True, False)
    """
    begin = begin.lstrip(b"\xef\xbb\xbf \t\r\n")
    line, ended, rest = begin.partition(b"\n")
    if not begin.startswith(b"["):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return bool(whole or ended) or not lined
    return whole and not rest.strip()


def array_values(file: BinaryIO, limit: int = MAX_DOCUMENT) -> Iterator[tuple[object, int]]:
    """The values of the array that a file holds, each with its length in characters.  Raises
    ValueError where it is malformed, or a value has not ended after `limit` characters."""
    decoder = json.JSONDecoder(parse_constant=no_constant)
    decode = getincrementaldecoder("utf-8-sig")().decode
    text, at, ended, begun = "", 0, False, False
    while True:
        while at < len(text) and text[at] in _SPACE:
            at += 1
        if at < len(text) and not begun:
            if text[at] != "[":
                raise ValueError("it is no array of JSON")
            begun, at = True, at + 1
            continue
        if text[at : at + 1] == "]":
            text = text[at + 1 :]
            while not (rest := text.strip(_SPACE)) and (piece := file.read(_PIECE)):
                text = decode(piece)
            if rest:
                raise ValueError("something follows the array")
            return
        if text[at : at + 1] == ",":
            at += 1
            continue
        if at < len(text):
            try:
                value, end = decoder.raw_decode(text, at)
            except RecursionError:
                raise ValueError("it is nested too deep") from None
            except ValueError as error:
                if ended:
                    raise ValueError(f"it is no JSON: {error}") from error
            else:
                # A number may continue in what has not been read; `1.` and `1e-` are begun ones.
                if ended or text[end : end + 1] not in _WITHIN_NUMBERS:
                    yield value, end - at
                    text, at = (text[end:], 0) if end > _PIECE else (text, end)
                    continue
        if ended:
            raise ValueError("the array is not closed")
        if len(text) - at > limit:
            raise ValueError(too_large(limit))
        # As much again: a long value is not parsed at each piece.
        piece = file.read(max(_PIECE, len(text) - at))
        ended = not piece
        text, at = text[at:] + decode(piece, ended), 0
