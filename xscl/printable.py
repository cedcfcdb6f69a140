"""From a text that a stranger wrote to one that a terminal only shows.

Control characters move the cursor, name windows or answer as if somebody had typed; marks of the
direction of writing turn the text around them, and a line's end begins a line that the program did
not write.
"""

from __future__ import annotations

import re

__all__ = ["escaped", "one_line", "printable"]

_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def printable(text: str) -> str:
    """A text without control characters but for line ends and tabs: each is `\ufffd`.

    >>> printable("a\\x1b[2Jb\\r\\n")
    'a\ufffd[2Jb\ufffd\\n'
    """
    return _CONTROLS.sub("\ufffd", text)


def one_line(text: str, most: int) -> str:
    """A text in one line of at most `most` characters.

    >>> one_line("a\\n  b\\x07", 10), one_line("abcdef", 4)
    ('a b\ufffd', 'abc…')
    """
    line = printable(" ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def escaped(line: str) -> str:
    """A line of JSON, in which only strings have control characters, with these escaped.

    >>> escaped('{"a": "\\x9b"}')
    '{"a": "\\\\u009b"}'
    """
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", line)
