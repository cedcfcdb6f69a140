"""From a scanned statement to a syntax tree: the grammar, applied.

`grammar.lark` says what a statement is and `build.py` what becomes of its parts; here the
statement's kind follows from its first word, and lark's refusals are put into words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from xscl.language.build import Branch, Builder, Node
from xscl.language.checks.limits import too_long
from xscl.language.checks.names import AFTER_STREAM, END_OF_WORD, RESERVED, unquoted
from xscl.language.grammar import STARTS, grammar
from xscl.language.problems import Problem, Unreadable
from xscl.language.scan import Statement
from xscl.language.sources import build_source
from xscl.language.syntax import (
    Element,
    EventPattern,
    Insert,
    JSONObject,
    Name,
    Query,
    Select,
    Selected,
    Source,
    VariablePath,
)

__all__ = ["is_declaration", "parse_declaration", "parse_query"]

_STRING = re.compile(r"[ \t\r\n]*+string[ \t\r\n]*+\(")
_DECLARATION = re.compile(rf"(?ai:DECLARE){END_OF_WORD}(?!{AFTER_STREAM})")


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
    """The query that a statement of a scanned text is, and its problems.

    `original` is the text before it was scanned.  Raises `Unreadable` for a syntax error.
    """
    _readable(statement)
    builder = Builder(namespaces, [], statement.start)
    reading = _Reading(original, text, statement, name, builder)
    tree = _tree(_cut(text, statement), statement.start, statement.end, "query")
    query = replace(reading.query(tree, 0), named_at=statement.named_at)
    return query, builder.problems


def _cut(text: str, statement: Statement) -> str:
    """A scanned text with a sign for each pattern, and for each list of what is selected of one."""
    for pattern in statement.patterns:
        for start, end in ((pattern.start, pattern.end), pattern.items or (0, 0)):
            if end:
                text = f"{text[:start]}\x01{' ' * (end - start - 1)}{text[end:]}"
    return text


def _readable(statement: Statement) -> None:
    problem = statement.problem or too_long(statement)
    if problem is not None:
        raise Unreadable(*problem)


class _Reading:
    """The reading of one statement: its query and the sub-queries in that."""

    def __init__(
        self, original: str, scanned: str, statement: Statement, name: str, builder: Builder
    ) -> None:
        self.original = original
        self.scanned = scanned
        self.name = name
        self.builder = builder
        self.markups = {markup.start: markup for markup in statement.markups}
        self.patterns = {pattern.start: pattern for pattern in statement.patterns}
        # A list stands behind white space or a parenthesis: its place is that of SELECT's end.
        self.lists = {one.items[0]: one.items for one in statement.patterns if one.items}

    def query(self, node: Branch, depth: int) -> Query:
        """The query that stands in `depth` parentheses."""
        *selecting, last = node.children
        publish: Name | None = None
        if isinstance(last, Token) and last.type == "NAME":
            publish, last = self.builder.name(last), selecting.pop()
        source: Source
        if isinstance(last, Token):
            source = self.pattern(self.builder.at(last))
        else:
            source = build_source(self.builder, last, self.query, depth)
        return Query(
            name=self.name,
            select=self.select(selecting[1], source) if selecting else None,
            source=source,
            text=self.original,
            at=self.builder.first(node),
            named_at=None,
            publish=publish,
        )

    def pattern(self, at: int) -> EventPattern:
        from xscl.language.patterns.build import build_pattern

        end = self.patterns[at].end
        tree = _tree(self.scanned, at, end, "pattern", "`)`, `PUBLISH`, `;`")
        return build_pattern(self.inner(at), tree)

    def select(self, selection: Node, source: Source) -> Select:
        if isinstance(selection, Tree):
            return self.builder.items(selection)
        if selection.type == "STAR":
            return None
        constructed: Element | JSONObject
        at = self.builder.at(selection)
        if selection.type == "EVENTS":
            from xscl.language.patterns.build import build_items

            start, end = self.lists[at]
            return build_items(
                self.inner(start), _tree(self.scanned, start, end, "items", "`FROM`")
            )
        insert, path = self.insert, self.path
        if isinstance(source, EventPattern):
            insert, path = self.selected_insert, self.selected
        if selection.type == "CONSTRUCTOR":
            from xscl.language.constructor import construct

            namespaces = self.builder.namespaces
            constructed, problems = construct(self.original, self.markups[at], namespaces, insert)
        else:
            from xscl.language.json_constructor import construct_json

            computing = isinstance(source, EventPattern)
            constructed, problems = construct_json(self.original, at, path, computing=computing)
        self.builder.problems += problems
        return constructed

    # What stands in a constructor, between two offsets.

    def insert(self, start: int, end: int) -> Insert:
        return self.inner(start).insert(_tree(self.original, start, end, "insert", "`}`"))

    def path(self, start: int, end: int, followed_by: str) -> VariablePath | Selected:
        tree = _tree(self.original, start, end, "variable_path", followed_by)
        return self.inner(start).variable_path(tree)

    def selected_insert(self, start: int, end: int) -> Insert:
        string = _STRING.match(self.original, start)
        inner = (
            (start, end) if string is None else (string.end(), self.original.rindex(")", 0, end))
        )
        return Insert(self.selected(*inner, "`}`"), string is not None)

    def selected(self, start: int, end: int, followed_by: str) -> VariablePath | Selected:
        from xscl.language.patterns.build import build_selected

        tree = _tree(self.original, start, end, "value", followed_by)
        return build_selected(self.inner(start), tree)

    def inner(self, start: int) -> Builder:
        return Builder(self.builder.namespaces, self.builder.problems, start)


def _tree(text: str, start: int, end: int, rule: str, followed_by: str = "`;`") -> Tree[Token]:
    """Apply one rule to a stretch of the text; `followed_by` is what may stand after it.

    The tree's places count from the start of the stretch (lark would count the lines before
    it anew for each one).
    """
    try:
        tree = _of(rule).parse(text[start:end], start=rule)
    except UnexpectedInput as refusal:
        raise Unreadable(*_refusal(refusal, text, start, end, rule, followed_by)) from None
    assert isinstance(tree, Tree)
    return tree


def _of(rule: str) -> Lark:
    """The grammar that has a rule to begin with."""
    return grammar("patterns" if rule in STARTS["patterns"] else "grammar")


def _refusal(
    refusal: UnexpectedInput, text: str, start: int, end: int, rule: str, followed_by: str
) -> tuple[int, str]:
    # What is said of mistakes alone comes with the first one.
    from xscl.language.checks.other_languages import meant
    from xscl.language.patterns.refused import meant_by_pattern
    from xscl.language.problem_words import expected, found, refused_axis

    at = end
    if isinstance(refusal, UnexpectedCharacters):
        at = start + (refusal.pos_in_stream or 0)
    elif isinstance(refusal, UnexpectedToken) and refusal.token.type != "$END":
        at = start + (refusal.token.start_pos or 0)
    if (axis := refused_axis(text, start, at)) is not None:
        return axis
    what = found(text, at, end if at < end else len(text))
    # An LALR parser finishes what it can before it refuses a token; what could have stood there
    # is asked of one that has only come as far as the token before.
    parser = _of(rule).parse_interactive(text[start:end], start=rule)
    with suppress(UnexpectedInput):
        for token in parser.iter_parse():
            if start + (token.start_pos or 0) >= at:
                break
    accepted = parser.accepts()  # type: ignore[no-untyped-call]
    if rule == "pattern" and (problem := meant_by_pattern(text[start:end], at - start)) is not None:
        return start + problem.at, problem.text
    if rule == "query" and (problem := meant(text[start:end], at - start, accepted)) is not None:
        return start + problem.at, problem.text
    words = expected(accepted, followed_by, pattern=rule in STARTS["patterns"])
    return at, f"found {what}, expected {words}"
