"""The fenced blocks of the pages -> blocks of the site, with a label and in colours.

A page stays plain Markdown: a block's info string has its kind (and the file, or the query, that it
is about), and the tests of the pages run it by that kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from pygments.lexer import Lexer, RegexLexer, bygroups, using
from pygments.lexers.data import JsonLexer
from pygments.lexers.html import XmlLexer
from pygments.token import Comment, Generic, Name, Operator, Punctuation, String, Text, Whitespace
from pygments.token import _TokenType as Kind

from xscl.language.highlight import XSCLLexer

__all__ = ["LEXERS", "labelled"]

_LABELS = {
    "documents": "Documents",
    "ebnf": "Grammar",
    "error": "Error",
    "feed": "Feed",
    "matches": "Matches",
    "params": "Parameters",
    "skipped": "Reported",
    "xscl": "Query",
}
_FENCE = re.compile(r"^```([\w-]+)(?: (.+))?\n((?:.*\n)*?)```$", re.MULTILINE)
_FOLDED = "feed"
_OUTPUT = ("json", "text")

Tokens = Iterator[tuple[int, Kind, str]]


class ElidedJsonLexer(JsonLexer):
    """JSON, in which `…` stands for what differs each time, and strings may hold XML."""

    def get_tokens_unprocessed(self, text: str) -> Tokens:
        """The tokens of some values of JSON."""
        for place, kind, value in super().get_tokens_unprocessed(text):
            if kind in String and "<" in value:
                for at, inner, part in _MARKUP.get_tokens_unprocessed(value):
                    yield place + at, inner, part
            else:
                yield place, Comment if value == "…" else kind, value


class _MarkupInString(RegexLexer):
    """XML in a string, whose quotes are escaped."""

    tokens: ClassVar = {
        "root": [
            (r"<!--.*?-->", Comment.Multiline),
            (r"(</?)([\w:.-]+)", bygroups(Punctuation, Name.Tag), "tag"),
            (r"[^<]+|<", String),
        ],
        "tag": [
            (r"/?>", Punctuation, "#pop"),
            (r"([\w:.-]+)(=)", bygroups(Name.Attribute, Operator)),
            (r"'[^']*'|\\\"[^\"]*\\\"", String),
            (r"[^>]", String),
        ],
    }


_MARKUP = _MarkupInString()


class MatchesLexer(RegexLexer):
    """`query document,document -> result` a line, or a match as JSON."""

    tokens: ClassVar = {
        "root": [
            (r"\{.*\n", using(ElidedJsonLexer)),
            (
                r"([^\s>]+)( ?)([^\s>]*)( )(->)",
                bygroups(Name.Function, Whitespace, Name.Constant, Whitespace, Operator),
            ),
            (r"[ \n]+", Whitespace),
            (r"<.*\n", using(XmlLexer)),
            (r"\S.*\n", using(ElidedJsonLexer)),
        ]
    }


class ReportLexer(RegexLexer):
    """What is wrong, then the line in which it is, and a caret."""

    tokens: ClassVar = {
        "root": [
            (r"    *\^\n", Generic.Error),
            (r"    .*\n", using(XSCLLexer)),
            (r"`[^`\n]*`", String.Backtick),
            (r"line \d+, column \d+|'[^'\n]*'", Name.Label),
            (r"[^`'\n]+?(?=line \d|[`'\n])|[`']", Text),
            (r"\n", Whitespace),
        ]
    }


class TableLexer(RegexLexer):
    """Comma-separated values, with a row of names first."""

    tokens: ClassVar = {
        "root": [(r"[^,\n]+", Name.Tag), (r",", Punctuation), (r"\n", Whitespace, "rows")],
        "rows": [(r'"(?:[^"]|"")*"|[^,\n]+', String), (r",", Punctuation), (r"\n", Whitespace)],
    }


LEXERS: dict[str, type[Lexer]] = {
    "documents": ElidedJsonLexer,
    "error": ReportLexer,
    "feed": XmlLexer,
    "json": ElidedJsonLexer,
    "matches": MatchesLexer,
    "params": TableLexer,
    "skipped": ReportLexer,
    "xscl": XSCLLexer,
}
"""The lexer of each kind of block that is no language known to Pygments."""


def labelled(page: str) -> str:
    """A page whose blocks have labels; those that would bury others are folded away."""
    parts, end, before = [], 0, ""
    for fence in _FENCE.finditer(page):
        parts += [page[end : fence.start()], _labelled(fence, before)]
        end, before = fence.end(), fence[1]
    return "".join([*parts, page[end:]])


def _labelled(fence: re.Match[str], before: str) -> str:
    """A block, with the kind of the one before."""
    kind, about, body = fence.groups()
    if kind in _OUTPUT and before == "shell":
        return _captioned(kind, "Output", body)
    if kind not in _LABELS:
        # A doctest ends with a blank line, which is no line of the block.
        return f"{fence[0].removesuffix('```').rstrip()}\n```"
    label = _LABELS[kind]
    if kind == _FOLDED:
        summary = f"<summary>{label} <code>{about or ''}</code></summary>"
        return f'<details class="block">{summary}\n\n```{kind}\n{body}```\n\n</details>'
    if kind == "xscl" and body.count("-- name:") > 1:
        label = "Queries"
    return _captioned(kind, f"{label} of {about}" if about else label, body)


def _captioned(kind: str, caption: str, body: str) -> str:
    return f"```{{code-block}} {kind}\n:caption: {caption}\n\n{body}```"
