"""Query text -> tokens in colours: a lexer for Pygments, which finds it by the name `xscl`.

It takes its keywords and functions from the grammars themselves, so a word that one of them gets is
coloured without another line.  A grammar knows by the place whether a word is a keyword; what
colours goes by the signs around it: `by` in `a = by` is a name.  It reads what nobody else reads,
too, such as a query that is being written: nothing is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups, include
from pygments.token import (
    Comment,
    Generic,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Whitespace,
    _TokenType,
)

from xscl.language.checks.names import NAME, PRIMED, STRING, VARIABLE
from xscl.language.grammar import STARTS, grammar
from xscl.times import is_unit

__all__ = ["XSCLLexer"]

_AS_FUNCTIONS = ("FUNCTION", "CALLED", "TEST", "AGGREGATE", "QUANTIFIER")
"""Terminals whose words are called: each has what it is called with behind it."""
_KEYWORD_FROM = 5
"""The priority of a terminal from which on it is a keyword, by the grammars' convention."""
_NEAR = 40
_NAME_BEFORE = re.compile(r"(?:[-=≠≤≥+*%,.\[@/$|]|(?<=\s)[<>])\s*\Z")
_NAME_AFTER = re.compile(r"\s*(?:[-=<>≠≤≥+*/%,.\])}]|!=|\[\])")


def _terminals() -> tuple[str, str]:
    """The patterns of keywords, and of functions, each in one."""
    keywords: set[str] = set()
    functions: set[str] = set()
    for which in STARTS:
        for terminal in grammar(which).terminals:
            if terminal.name in _AS_FUNCTIONS:
                functions.add(terminal.pattern.value)
            elif terminal.priority >= _KEYWORD_FROM:
                keywords.add(terminal.pattern.value)
    # A longer pattern is of a longer word, as `STRICT_CONTIGUITY` is.
    return tuple("|".join(sorted(some, key=len, reverse=True)) for some in (keywords, functions))  # type: ignore[return-value]


_KEYWORDS, _FUNCTIONS = _terminals()

Tokens = Iterator[tuple[int, _TokenType, str]]


def _keyword(_: object, match: re.Match[str], __: object = None) -> Tokens:
    """A keyword, but for one in lower case at a place of names."""
    word, text = match[0], match.string
    before = text[max(0, match.start() - _NEAR) : match.start()]
    named = word == word.lower() != word.upper() and (
        _NAME_BEFORE.search(before) or _NAME_AFTER.match(text, match.end())
    )
    kind = Keyword
    if named and word not in ("div", "mod"):
        # `contains` is a keyword of EQL, and a function in filters.
        kind = Name.Function if text.startswith("(", match.end()) else Name
    yield match.start(), kind, word


def _counted(_: object, match: re.Match[str], __: object = None) -> Tokens:
    """A number, and its unit, if the word after it is one."""
    yield match.start(1), Number, match[1]
    yield match.start(2), Whitespace, match[2]
    yield match.start(3), Keyword.Type if is_unit(match[3]) else Name, match[3]


class XSCLLexer(RegexLexer):  # type: ignore[misc]  # Pygments has no types
    """Queries as in a query file.

    >>> [(str(kind), text) for _, kind, text in XSCLLexer().get_tokens_unprocessed("S/item->by")]
    [('Token.Name', 'S'), ('Token.Operator', '/'), ('Token.Name.Tag', 'item'), \
('Token.Operator', '->'), ('Token.Name.Variable', 'by')]
    """

    name = "XSCL"
    aliases: ClassVar = ["xscl"]
    filenames: ClassVar = ["*.xscl"]
    url = ""

    tokens: ClassVar = {
        "root": [
            (r"(?ai:(SELECT|AUTOMATON))([ \t\r\n]*)(?=\{)", bygroups(Keyword, Whitespace), "opens"),
            (r"(?ai:(SELECT))([ \t\r\n]+)(?=<)", bygroups(Keyword, Whitespace), "constructor"),
            include("query"),
        ],
        "query": [
            (r"[ \t\r\n]+", Whitespace),
            (
                r"(--[ \t]*name[ \t]*:)([ \t]*)([^\n]*)",
                bygroups(Comment.Special, Whitespace, Name.Label),
            ),
            (r"(?<![^ \t\r\n])--[^\n]*", Comment.Single),
            (r"\(:", Comment.Multiline, "comment"),
            (STRING, String),
            (r"['\"]", Generic.Error),
            # Before the keywords: behind these signs each word is a name.
            (rf"(->)([ \t\r\n]*)(\$?{PRIMED})", bygroups(Operator, Whitespace, Name.Variable)),
            (rf"(//?)(@)({NAME}(?::{NAME})?)", bygroups(Operator, Operator, Name.Attribute)),
            (rf"(//?)({NAME}(?::{NAME})?)", bygroups(Operator, Name.Tag)),
            (rf"(@)({NAME}(?::{NAME})?)", bygroups(Operator, Name.Attribute)),
            (rf"(\.)({NAME})", bygroups(Operator, Name.Attribute)),
            (rf":{NAME}", Name.Constant),
            (
                rf"((?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))([ \t\r\n]*)(?!(?:{_KEYWORDS}))({VARIABLE})",
                _counted,
            ),
            (r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+", Number),
            (rf"(?:{_KEYWORDS})", _keyword),
            (rf"(?:{_FUNCTIONS})", Name.Function),
            # Grammars do not list the functions of filters.
            (rf"{NAME}(?=\()", Name.Function),
            (rf"\$?{NAME}:{NAME}", Name),
            (rf"\$?{PRIMED}", Name),
            (r"[][(){},;]", Punctuation),
            (r"[-+*/%=!<>≠≤≥|\\~.@$:^&?]", Operator),
        ],
        "comment": [
            (r"\(:", Comment.Multiline, "#push"),
            (r":\)", Comment.Multiline, "#pop"),
            (r"[^:()]+|[:()]", Comment.Multiline),
        ],
        # An object of JSON, with paths and names where its values are.
        "opens": [(r"\{", Punctuation, ("#pop", "object"))],
        "object": [
            (r"\{", Punctuation, "#push"),
            (r"\}", Punctuation, "#pop"),
            (r'"(?:[^"\\\n]|\\.)*"(?=\s*:)', Name.Tag),
            (r'"(?:[^"\\\n]|\\.)*"', String),
            (r"(?:true|false|null)\b", Keyword.Constant),
            (r":", Punctuation),
            include("query"),
        ],
        "constructor": [
            (rf"<{NAME}(?::{NAME})?", Name.Tag, ("#pop", "tag")),
            (r"<", Operator, "#pop"),
        ],
        "tag": [
            (r"[ \t\r\n]+", Whitespace),
            (r"/>", Name.Tag, "#pop"),
            (r">", Name.Tag, ("#pop", "content")),
            (rf"{NAME}(?::{NAME})?", Name.Attribute),
            (r"=", Operator),
            (r'"', String, "in double quotes"),
            (r"'", String, "in single quotes"),
            # What no tag has: a query again.
            (r"(?=[^ \t\r\n])", Operator, "#pop"),
        ],
        "in double quotes": [(r'[^"{}&]+', String), (r'"', String, "#pop"), include("inserts")],
        "in single quotes": [(r"[^'{}&]+", String), (r"'", String, "#pop"), include("inserts")],
        "content": [
            (rf"</{NAME}(?::{NAME})?\s*>", Name.Tag, "#pop"),
            (r"(?s)<!--.*?-->", Comment.Multiline),
            (r"(?s)<!\[CDATA\[.*?\]\]>|<\?.*?\?>", Comment.Preproc),
            (rf"<{NAME}(?::{NAME})?", Name.Tag, "tag"),
            (r"[^<{}&]+", String),
            include("inserts"),
            (r"<", Operator),
        ],
        "inserts": [
            (r"\{\{|\}\}|&#?\w+;", String.Escape),
            (r"\{", Punctuation, "insert"),
            (r"[}&]", String),
        ],
        "insert": [(r"\}", Punctuation, "#pop"), include("query")],
    }
