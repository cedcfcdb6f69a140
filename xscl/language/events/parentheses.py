"""The parentheses of a text: which are open at a place, and which of these are closed before the
next `-- name:` (docs/semantics.md#statements-and-names).

Each stretch is looked at twice at most, whatever the text: once to know what is open, once ahead.
"""

from __future__ import annotations

import re

from xscl.language.checks.names import PRIMED, STRING, NamePattern, is_plain

__all__ = ["NAME_REMARK", "Parentheses", "end_of_comment"]

NAME_REMARK = re.compile(r"--[ \t]*name[ \t]*:[ \t]*(\S(?:.*\S)?)")
"""What names the statement behind it."""

_COMMENT_MARK = re.compile(r"\(:|:\)")
# A name takes its primes with it: a quote that touches a name never starts a string.
_TOKEN = NamePattern(
    rf"(?P<remark>(?<![^ \t\r\n])--[^\n]*+)|(?P<comment>\(:)|{PRIMED}|{STRING}|[()]"
)


def end_of_comment(text: str, start: int) -> int | None:
    """Where a comment ends that begins with `(:`; None where it does not."""
    depth = 0
    for mark in _COMMENT_MARK.finditer(text, start):
        depth += 1 if mark[0] == "(:" else -1
        if depth == 0:
            return mark.end()
    return None


class Parentheses:
    """The parentheses of a text; those in `skipped`, stretches in order, are none."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._plain = is_plain(text)
        self.skipped: list[tuple[int, int]] = []
        self.opened: list[int] = []
        self.at = 0
        self._passed = 0
        self._closed = set[int]()
        self._known = 0

    def read(self, start: int, end: int) -> None:
        """Goes on to a place."""
        self.at = start
        while self._passed < len(self.skipped) and self.skipped[self._passed][0] < end:
            before, after = self.skipped[self._passed]
            self._take(self.at, before, self.opened)
            self.at = max(self.at, after)
            self._passed += 1
        self._take(self.at, end, self.opened)
        self.at = end

    def closes(self) -> bool:
        """Whether the innermost parenthesis that is open here is closed."""
        if self.opened and self.at >= self._known:
            self._known = self._take(self.at, len(self._text), self.opened[:])
        return bool(self.opened) and self.opened[-1] in self._closed

    def _take(self, start: int, end: int, opened: list[int]) -> int:
        """Take the parentheses of a stretch, up to a `-- name:`; return where that is."""
        at = start
        while (found := _TOKEN.form(self._plain).search(self._text, at, end)) is not None:
            at = found.end()
            if found[0] == "(":
                opened.append(found.start())
            elif found[0] == ")" and opened:
                self._closed.add(opened.pop())
            elif found["comment"] is not None:
                at = end_of_comment(self._text, found.start()) or end
            elif found["remark"] is not None and NAME_REMARK.match(found[0]) is not None:
                return found.start()
        return max(start, end)
