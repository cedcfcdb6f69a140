"""The bytes of a JSON document, cut into outline and texts of scalars, without a parser.

The outline is what stands outside of texts, its numbers left out, and the keys: texts before a
colon.  Whatever makes that wrong (a backslash, control characters, among them the ends of lines)
is seen, and such a document is left to the parser.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from operator import itemgetter

from xpath_stage.parsing.json_shapes import text_of
from xpath_stage.parsing.markup import LONGEST

__all__ = ["cut_json", "places_of_texts"]

_PLAIN = bytes({*range(0x20, 0x100)}.difference(b"\\"))
"""The bytes of UTF-8 that a text in JSON may have as they are."""

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_TOKEN = re.compile(rf'"[^"]*"( *:)?|({_NUMBER.pattern})|true|false|null')
_CONSTANTS = ("", "true", "false")
"""The texts of scalars that are part of the outline; the first is the one of `null`, too."""

_OUTLINE = object()
"""No value has this in its shape."""

_LONG = 1_000
"""Longer numbers are left to the parser."""


def cut_json(document: bytes) -> tuple[Hashable, list[str]] | None:
    """The outline and keys of a document, to be compared with those of others, and parts: every
    other one is a text or a key, after these come constants, then the numbers.

    None for a document that must be parsed; what is no document may be cut all the same.

    >>> cut_json(b'{"a": 7, "b": "x"}')[1]
    ['{', 'a', ': 7, ', 'b', ': ', 'x', '}', '', 'true', 'false', '7']
    """
    if len(document) > LONGEST or document.translate(None, _PLAIN):
        return None
    try:
        text = document.decode()
    except UnicodeDecodeError:
        return None
    parts = text.split('"')
    if "\ufffe" in text or "\uffff" in text or not len(parts) % 2:
        return None
    outline = '"'.join(parts[::2])
    numbers = _NUMBER.findall(outline)
    if numbers:
        try:
            numbers = [_number(number) for number in numbers]
        except ValueError:
            return None
        outline = _NUMBER.sub("\0", outline)
    keys = _keys_of(outline)(parts)
    parts += _CONSTANTS
    parts += numbers
    return (_OUTLINE, outline, keys), parts


def places_of_texts(document: bytes, texts: Sequence[str], keys: int) -> list[int] | None:
    """Where in its parts the texts of a document's scalars are, in order, the last one's, which is
    empty, among them.  `texts` and the number of `keys` are those of the value that it was read
    as: None unless all documents of its outline are read like that."""
    places: list[int] = []
    quotes = numbers = 0
    text = document.decode()
    constants = text.count('"') + 1
    parts = [*text.split('"'), *_CONSTANTS]
    for token in _TOKEN.finditer(text):
        if token[0].startswith('"'):
            quotes += 2
            if token[1]:
                keys -= 1
            else:
                places.append(quotes - 1)
        elif token[2]:
            places.append(constants + len(_CONSTANTS) + numbers)
            parts.append(_number(token[2]))
            numbers += 1
        else:
            places.append(constants + ("null", "true", "false").index(token[0]))
    places.append(constants)
    # A key that an object has twice counts once.
    return None if keys or [parts[place] for place in places] != [*texts] else places


def _number(text: str) -> str:
    if len(text) > _LONG:
        raise ValueError(text)
    return text if text.isdigit() else text_of(json.loads(text))


@lru_cache(maxsize=1_000)
def _keys_of(outline: str) -> Callable[[Sequence[str]], Hashable]:
    """What takes the keys of an outline from parts."""
    after = enumerate(outline.split('"')[1:])
    places = [2 * number + 1 for number, one in after if one.lstrip(" ").startswith(":")]
    return itemgetter(*places) if places else lambda parts: ()
