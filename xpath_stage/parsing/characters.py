"""Checks whether text from outside is text: only characters that XML 1.0 has.

One rule for ids, names, keys, values and parameters: whatever passes is valid in a result, XML or
JSON, in UTF-8, and in a state file.  XML 1.0, production 2: no control characters but tab and line
ends, no half of a surrogate pair, not U+FFFE or U+FFFF.
"""

from __future__ import annotations

import re

__all__ = ["NO_XML", "foreign_character"]

NO_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""A character that no XML document can hold."""


def foreign_character(text: str) -> str | None:
    """The first character of a text that XML does not have, in words; None if there is none.

    >>> foreign_character("a\\n"), foreign_character("a\\x01")
    (None, 'U+0001, which is no character of XML')
    """
    # Whatever is printable is a character of XML; for almost all texts this test suffices.
    if text.isprintable() or (found := NO_XML.search(text)) is None:
        return None
    return f"U+{ord(found[0]):04X}, which is no character of XML"
