"""A JSON value, cut into its shape and the texts of its scalars, without a tree.

The shape is the keys and brackets of a value.  It determines the tree that `json_documents` would
make, except for the texts.  A value for which this is not so, or which that tree might not
represent (a character that XML lacks, a number beyond all doubles), is left to that module.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from math import isfinite
from typing import Any

import orjson

from xscl.xpath_stage.parsing.characters import foreign_character
from xscl.xpath_stage.parsing.json_documents import number_text
from xscl.xpath_stage.parsing.markup import LONGEST

__all__ = ["are_flat", "cut_value", "plain_copies", "read_exactly", "texts_of_value"]

_MOST = 500
"""A value with more scalars is not cut."""

_PLAIN = bytes({*range(0x20, 0x100), *b"\t\n\r"})
"""The bytes of UTF-8 that a text of a tree may have."""

_STR, _DICT = {str}, {dict}
_DEEP = 100
"""Up to this depth of a value, the depth of its tree need not be checked."""

_SCALARS = {str, int, float, bool, type(None)}
_ROUNDED = 2.0**63
"""From here on a parser may have rounded an integer to a double."""

_BITS = 14_284
"""An integer with more bits may have over 4,300 digits, which Python refuses to write."""

_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_LONG = b"0" * 19
"""The minimal digits of a number of more than 64 bits."""

_SCALAR, _OBJECT, _ARRAY, _END = object(), object(), object(), object()


class _NotCut(ValueError):
    pass


def cut_value(value: object) -> tuple[Hashable, list[str]] | None:
    """The shape of a value, to be compared with other shapes, and the texts of its scalars in
    order, followed by an empty text.  None for a value that must become a tree.

    >>> cut_value({"title": "x", "link": "y"})
    (('title', 'link'), ['x', 'y', ''])
    """
    if type(value) is dict and {*map(type, value.values())} == {str} and len(value) < _MOST:
        # The keys determine a flat object of texts.
        shape, texts = [*value], [*value.values()]
    else:
        shape, texts = [], []
        try:
            _cut(value, shape, texts)
        except (ValueError, RecursionError):
            return None
    text = "".join(texts)
    if len(text) > LONGEST or not _is_plain(text):
        return None
    texts.append("")
    return tuple(shape), texts


def read_exactly(text: bytes) -> object:
    """The value of a text of JSON.  Raises ValueError for a text that this parser does not read: it
    is faster than others, but knows one encoding and rounds integers of more than 64 bits."""
    value: object = orjson.loads(text)
    if _LONG in text.translate(_AS_ZEROS) and not _is_exact(value):
        raise ValueError("an integer of more than 64 bits")
    return value


def _is_exact(value: object) -> bool:
    """Whether certainly no number of a JSON value is a rounded integer."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return all(map(_is_exact, [one for one in inner if type(one) is not str]))
    return not isinstance(value, float) or abs(value) < _ROUNDED


def are_flat(values: Sequence[object]) -> bool:
    """Whether each of some values is an object of scalars only which a tree can represent."""
    if not _DICT.issuperset(map(type, values)):
        return False
    objects: Sequence[dict[object, object]] = values  # type: ignore[assignment]
    members = [*chain.from_iterable(map(dict.values, objects))]
    kinds = {*map(type, members)}
    # Objects of a batch have few distinct keys: each is checked once.
    keys = {*chain.from_iterable(objects)}
    if not (kinds <= _SCALARS and _are_texts(keys)):
        return False
    if float in kinds:
        floats = [one for one in members if type(one) is float]
        # An infinite or NaN member makes the sum so, too.
        if not isfinite(sum(floats)) and not all(map(isfinite, floats)):
            return False
    whole = [one for one in members if type(one) is int] if int in kinds else ()
    if whole and max(map(int.bit_length, whole)) > _BITS:
        return False
    if str not in kinds:
        return True
    text = "".join([one for one in members if type(one) is str])
    return (text.isascii() and text.isprintable()) or _is_plain(text)


def plain_copies(values: Sequence[object]) -> list[object] | None:
    """Copies of JSON values, independent of the caller's, if a tree can represent each."""
    texts: list[str] = []
    keys: set[object] = set()
    try:
        copies = [_copy(one, texts, keys, _DEEP) for one in values]
    except ValueError:
        return None
    return copies if _are_texts(keys) and _is_plain("".join(texts)) else None


def texts_of_value(value: object, texts: list[str]) -> list[slice]:
    """For each element of the tree of a value, in document order: which of the value's texts it
    has."""
    found: list[slice] = []
    _find(value, 0, found)
    last = slice(len(texts) - 1, len(texts))
    return [last if one.start == one.stop else one for one in found]


def _are_texts(keys: Iterable[object]) -> bool:
    """Whether keys are texts that the names of a tree can represent."""
    return _STR.issuperset(map(type, keys)) and foreign_character("".join(keys)) is None  # type: ignore[arg-type]


def _is_plain(text: str) -> bool:
    """Whether a tree can represent a text."""
    if "\ufffe" in text or "\uffff" in text:
        return False
    try:
        return not text.encode().translate(None, _PLAIN)
    except UnicodeEncodeError:
        return False


def _copy(value: Any, texts: list[str], keys: set[object], levels: int) -> object:
    kind = type(value)
    if kind is str:
        texts.append(value)
        return value
    if kind is dict and levels:
        keys.update(value)
        return {name: _copy(one, texts, keys, levels - 1) for name, one in value.items()}
    if kind is list and levels:
        return [_copy(one, texts, keys, levels - 1) for one in value]
    if kind is int and value.bit_length() > _BITS:
        raise _NotCut
    if kind in _SCALARS and (kind is not float or isfinite(value)):
        return value
    raise _NotCut


def _cut(value: object, shape: list[object], texts: list[str]) -> None:
    kind = type(value)
    if isinstance(value, dict) and kind is dict:
        shape.append(_OBJECT)
        for key, member in value.items():
            shape.append(key)
            if type(member) is str:
                shape.append(_SCALAR)
                texts.append(member)
            else:
                _cut(member, shape, texts)
        shape.append(_END)
    elif isinstance(value, list) and kind is list:
        shape.append(_ARRAY)
        for member in value:
            _cut(member, shape, texts)
        shape.append(_END)
    else:
        shape.append(_SCALAR)
        texts.append(_text_of(value))
    if len(texts) > _MOST:
        raise _NotCut


def _text_of(value: object) -> str:
    """The text of a scalar; raises ValueError for one that a tree might not represent."""
    kind = type(value)
    if isinstance(value, str) and kind is str:
        return value
    if value is None:
        return ""
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        return str(value)
    if isinstance(value, float) and kind is float and abs(value) < _ROUNDED:
        return number_text(value)
    raise _NotCut


def _find(value: object, at: int, found: list[slice]) -> int:
    place, begin = len(found), at
    found.append(slice(at, at))
    if isinstance(value, Mapping):
        for member in value.values():
            for one in member if isinstance(member, list) else (member,):
                at = _find(one, at, found)
    elif isinstance(value, list):
        for one in value:
            at = _find(one, at, found)
    else:
        at += 1
    found[place] = slice(begin, at)
    return at
