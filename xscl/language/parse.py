"""From a scanned statement to a syntax tree: the grammar, applied.

`grammar.lark` says what a statement is and `build.py` what becomes of its parts; here the
statement's kind is told from its first word, and lark's refusals are put into words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from xscl.language.build import Builder
from xscl.language.constructor import construct
from xscl.language.expected import expected, found
from xscl.language.json_constructor import construct_json
from xscl.language.names import END_OF_WORD, NAME, RESERVED, STRING, unquoted
from xscl.language.problems import Problem, Unreadable
from xscl.language.scan import Statement
from xscl.language.sources import build_source
from xscl.language.syntax import Element, Insert, JSONObject, Query, Select, VariablePath

__all__ = ["is_declaration", "parse_declaration", "parse_query"]

# What follows the name of a stream: then SELECT or DECLARE is that name.
_STREAM = r"[ \t\r\n]*+(?:/|$|(?ai:FOLLOWED[ \t\r\n]++BY|JOIN)[ \t\r\n]*+\{)"
_DECLARATION = re.compile(rf"(?ai:DECLARE){END_OF_WORD}(?!{_STREAM})")
_SELECTING = re.compile(rf"(?ai:SELECT){END_OF_WORD}(?!{_STREAM})")


def is_declaration(text: str, statement: Statement) -> bool:
    """Whether a statement declares a namespace (well or badly), and so is no query."""
    return _DECLARATION.match(text, statement.start, statement.end) is not None


def parse_declaration(text: str, statement: Statement) -> tuple[str, str]:
    """The prefix and the namespace of a DECLARE in a scanned text."""
    _readable(statement)
    prefix, string = _tree(text, statement.start, statement.end, "declaration").children
    assert isinstance(prefix, Token)
    assert isinstance(string, Token)
    uri = unquoted(string)
    if prefix in RESERVED or uri in RESERVED.values():
        if RESERVED.get(prefix) != uri or prefix == "xmlns":
            raise Unreadable(
                statement.start + (prefix.start_pos or 0),
                "`xml` and `xmlns` and their namespaces belong together",
            )
    elif not uri:
        raise Unreadable(
            statement.start + (string.start_pos or 0), "found an empty string, expected a URI"
        )
    return str(prefix), uri


def parse_query(
    original: str, text: str, statement: Statement, name: str, namespaces: Mapping[str, str]
) -> tuple[Query, list[Problem]]:
    """The query that a statement of a scanned text is, and what is wrong with it.

    `original` is the text before it was scanned.  Raises `Unreadable` for a syntax error.
    """
    _readable(statement)
    start, end = statement.start, statement.end
    builder = Builder(namespaces, [], start)
    if not _SELECTING.match(text, start, end):
        select, source = None, _tree(text, start, end, "source")
    else:
        selection, read = _tree(text, start, end, "selecting").children
        assert isinstance(read, Tree)
        select, source = _select(original, statement, selection, builder), read
    query = Query(
        name=name,
        select=select,
        source=build_source(builder, source),
        text=original,
        at=start,
        named_at=statement.named_at,
    )
    return query, builder.problems


def _readable(statement: Statement) -> None:
    if statement.problem is not None:
        raise Unreadable(*statement.problem)


def _select(
    original: str, statement: Statement, selection: Tree[Token] | Token, builder: Builder
) -> Select:
    if isinstance(selection, Tree):
        return builder.items(selection)
    if selection.type == "STAR":
        return None

    def insert(start: int, end: int) -> Insert:
        inner = Builder(builder.namespaces, builder.problems, start)
        return inner.insert(_tree(original, start, end, "insert", "`}`"))

    def path(start: int, end: int, followed_by: str) -> VariablePath:
        inner = Builder(builder.namespaces, builder.problems, start)
        return inner.variable_path(_tree(original, start, end, "variable_path", followed_by))

    constructed: Element | JSONObject
    if selection.type == "CONSTRUCTOR":
        assert statement.markup is not None
        constructed, problems = construct(original, statement.markup, builder.namespaces, insert)
    else:
        constructed, problems = construct_json(original, builder.at(selection), path)
    builder.problems += problems
    return constructed


@cache
def _grammar() -> Lark:
    grammar = files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")
    for word, pattern in (("NAME", NAME), ("STRING", STRING), ("END", END_OF_WORD)):
        grammar = grammar.replace(f"«{word}»", pattern)
    starts = ["declaration", "selecting", "source", "insert", "variable_path"]
    return Lark(grammar, parser="lalr", start=starts, maybe_placeholders=False)


def _tree(text: str, start: int, end: int, rule: str, followed_by: str = "`;`") -> Tree[Token]:
    """Apply one rule to a stretch of the text; `followed_by` is what may stand after it.

    The tree's places count from the start of the stretch (lark would count the lines before
    it anew for each one).
    """
    try:
        tree = _grammar().parse(text[start:end], start=rule)
    except UnexpectedInput as refusal:
        raise Unreadable(*_refusal(refusal, text, start, end, rule, followed_by)) from None
    assert isinstance(tree, Tree)
    return tree


def _refusal(
    refusal: UnexpectedInput, text: str, start: int, end: int, rule: str, followed_by: str
) -> tuple[int, str]:
    at = end
    if isinstance(refusal, UnexpectedCharacters):
        at = start + (refusal.pos_in_stream or 0)
    elif isinstance(refusal, UnexpectedToken) and refusal.token.type != "$END":
        at = start + (refusal.token.start_pos or 0)
    what = found(text, at, max(end, at + 1))
    # An LALR parser finishes what it can before it refuses a token; what could have stood there
    # is asked of one that has only come as far as the token before.
    parser = _grammar().parse_interactive(text[start:at], start=rule)
    try:
        parser.exhaust_lexer()
    except UnexpectedInput:
        parser = refusal.interactive_parser
    accepted = parser.accepts()  # type: ignore[no-untyped-call]
    return at, f"found {what}, expected {expected(accepted, followed_by)}"
