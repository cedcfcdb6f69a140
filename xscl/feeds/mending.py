"""What is wrong with many documents that are not well-formed, and costs nothing but itself once it
is mended: characters that were cut, and ampersands that begin nothing."""

from __future__ import annotations

import re

__all__ = ["CHARSET", "MARKS", "escaped", "whole_characters"]

MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
CHARSET = re.compile(r"""charset\s*=\s*["']?([A-Za-z0-9._:\-]+)""", re.IGNORECASE)
_DECLARED = re.compile(rb"""(?:\xef\xbb\xbf)?<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._\-]+)""")
_BARE_AMPERSAND = re.compile(
    rb"(<!\[CDATA\[(?:.*?\]\]>|.*\Z))|&(?!#\d+;|#[xX][0-9a-fA-F]+;|[A-Za-z]\w*;)", re.DOTALL
)
_RIGHT = 4
"""Of so many characters of UTF-8 for each that is none."""


def whole_characters(body: bytes, content_type: str | None) -> bytes:
    """A document in UTF-8 of which some characters were cut, without these: by one, readers would
    take all others for another encoding."""
    found = CHARSET.search(content_type or "")
    declared = _DECLARED.match(body)
    charset = found[1] if found else declared[1].decode() if declared else "utf-8"
    if body.startswith(MARKS[1:]) or charset.lower() not in ("utf-8", "utf8"):
        return body
    text = body.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    # In another encoding that is only called so, hardly a character is right.
    right = sum(not one.isascii() for one in text) - wrong if wrong else 0
    return text.encode() if right > _RIGHT * wrong else body


def escaped(body: bytes) -> bytes:
    """A document without ampersands that begin nothing, the commonest of all mistakes."""
    if body.startswith(MARKS[1:]):
        return body
    return _BARE_AMPERSAND.sub(lambda found: found[1] or b"&amp;", body)
