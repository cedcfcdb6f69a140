"""From a scanned statement to a syntax tree: the grammar, applied.

`grammar.lark` says what a statement is and `build.py` what becomes of its parts; here the
statement's kind follows from its first word, its stretches in other languages are cut out and read
by the grammars of these, and lark's refusals are put into words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import cast

from lark import Token, Tree

from xscl.language.build import Branch, Builder, Node, as_token
from xscl.language.checks.limits import too_long
from xscl.language.checks.names import AFTER_STREAM, END_OF_WORD, RESERVED, NamePattern, unquoted
from xscl.language.events.levels import Level, root_level
from xscl.language.problems import Problem, Unreadable
from xscl.language.scan import Statement
from xscl.language.sources import build_source
from xscl.language.syntax import (
    Declared,
    Described,
    Element,
    EventPattern,
    Insert,
    Item,
    JSONObject,
    Name,
    Query,
    Select,
    Selected,
    Source,
    VariablePath,
)
from xscl.language.trees import tree_of

NOTHING_DECLARED: Mapping[str, Declared] = MappingProxyType({})

__all__ = ["NOTHING_DECLARED", "is_declaration", "parse_declaration", "parse_query"]

_STRING = re.compile(r"[ \t\r\n]*+string[ \t\r\n]*+\(")
_STREAM = NamePattern(rf"(?ai:DECLARE)[ \t\r\n]++(?ai:STREAM){END_OF_WORD}")
_DECLARATION = NamePattern(rf"(?ai:DECLARE){END_OF_WORD}(?!{AFTER_STREAM})")


def is_declaration(text: str, statement: Statement) -> bool:
    """Whether a statement declares a namespace (well or badly), and so is no query."""
    stretch = text[statement.start : statement.end]
    return _DECLARATION.of(stretch).match(stretch) is not None


def parse_declaration(text: str, statement: Statement) -> tuple[str, str] | Declared:
    """What a DECLARE in a scanned text declares: a prefix and its namespace, or a stream."""
    _readable(statement)
    stretch = text[statement.start : statement.end]
    if _STREAM.of(stretch).match(stretch) is not None:
        return _stream(text, statement)
    prefix, string = tree_of(text, statement.start, statement.end, "declaration").children
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


def _stream(text: str, statement: Statement) -> Declared:
    tree = tree_of(text, statement.start, statement.end, "stream")
    tokens = [as_token(child) for child in tree.children]
    written = [unquoted(token) if token.type == "STRING" else str(token) for token in tokens]
    stream, *names = written
    for number, name in enumerate(names):
        if name in names[:number]:
            at = statement.start + (tokens[number + 1].start_pos or 0)
            raise Unreadable(at, f"the attribute `{name}` is declared twice; leave one out")
    return Declared(Name(stream, statement.start + (tokens[0].start_pos or 0)), tuple(names))


def parse_query(
    original: str,
    text: str,
    statement: Statement,
    name: str,
    namespaces: Mapping[str, str],
    declared: Mapping[str, Declared] = NOTHING_DECLARED,
) -> tuple[Query, list[Problem]]:
    """The query that a statement of a scanned text is, and its problems.

    `original` is the text before it was scanned, `declared` are the streams that were declared
    before.  Raises `Unreadable` for a syntax error.
    """
    _readable(statement)
    builder = Builder(namespaces, [], statement.start)
    level = root_level(text, original, statement, declared) or Level(statement.start, statement.end)
    reading = _Reading(original, text, statement, name, builder, declared, level)
    query = replace(reading.read(0), named_at=statement.named_at)
    return query, builder.problems


def _readable(statement: Statement) -> None:
    problem = statement.problem or too_long(statement)
    if problem is not None:
        raise Unreadable(*problem)


class _Reading:
    """The reading of one stretch of a statement in one language: its query and the sub-queries in
    that."""

    def __init__(
        self,
        original: str,
        scanned: str,
        statement: Statement,
        name: str,
        builder: Builder,
        declared: Mapping[str, Declared],
        level: Level,
    ) -> None:
        self.original = original
        self.scanned = scanned
        self.statement = statement
        self.name = name
        self.builder = builder
        self.declared = declared
        self.level = level
        self.markups = {markup.start: markup for markup in statement.markups}
        self.patterns = {pattern.start: pattern for pattern in statement.patterns}
        # A list follows white space or a parenthesis: its place is that of SELECT's end.
        self.lists = {one.items[0]: one.items for one in statement.patterns if one.items}
        self.others = {other.start: other for other in level.others() if other.start < other.end}

    def read(self, depth: int) -> Query:
        """The query of the stretch, which is in `depth` parentheses."""
        start, end = self.level.start, self.level.end
        rule = "eql_sub_query" if depth and self.level.of_eql else self.level.rule
        tree = tree_of(self.cut(), start, end, rule, "`)`" if depth else "`;`")
        if self.level.of_eql:
            from xscl.language.eql.build import ReadEQL

            read = ReadEQL(self.builder, self.constructed, self.other, self.finished)
            return read.query(tree, depth)
        if not self.level.of_events:
            return self.query(tree, depth)
        from xscl.language.events.build import ReadEvents

        reader = ReadEvents(
            self.builder, self.declared, self.constructed, self.other, self.finished
        )
        return reader.query(tree, depth)

    def cut(self) -> str:
        """The scanned text with a sign for each part that another grammar reads."""
        text = self.scanned
        cut = [(start, other.end, "\x02") for start, other in self.others.items()]
        if self.level.rule == "query":
            for pattern in self.patterns.values():
                cut.append((pattern.start, pattern.end, "\x01"))
                if pattern.items is not None:
                    cut.append((*pattern.items, "\x01"))
        pieces: list[str] = []
        at = 0
        for start, end, sign in sorted(cut):
            if start >= at:
                pieces += (text[at:start], sign, " " * (end - start - 1))
                at = end
        return "".join([*pieces, text[at:]]) if pieces else text

    def other(self, at: int, depth: int) -> Query:
        """The query in another language that is at a place."""
        level = self.others[at]
        reading = _Reading(
            self.original,
            self.scanned,
            self.statement,
            self.name,
            self.inner(level.start),
            self.declared,
            level,
        )
        return reading.read(depth)

    def finished(self, select: Select, source: Source, at: int, publish: Name | None) -> Query:
        """The query of its parts."""
        return Query(
            name=self.name,
            select=select,
            source=source,
            text=self.original,
            at=at,
            named_at=None,
            publish=publish,
        )

    def query(self, node: Branch, depth: int) -> Query:
        """The query of a tree that is in `depth` parentheses, but an event query."""
        *selecting, last = node.children
        if isinstance(last, Token) and last.type == "QUERY":
            return self.other(self.builder.at(last), depth)
        publish: Name | None = None
        if isinstance(last, Token) and last.type == "NAME":
            publish, last = self.builder.name(last), selecting.pop()
        source: Source
        if isinstance(last, Token):
            source = self.pattern(self.builder.at(last))
        else:
            source = build_source(self.builder, last, self.query, depth)
        described = source.automaton if isinstance(source, Described) else None
        if described is not None and not depth and described.name not in ("?", self.name):
            problem = f"the description names it `{described.name}`, and `-- name:` `{self.name}`"
            self.builder.note(source.at, problem)
        if described is not None and described.publish is not None:
            name = Name(described.publish, source.at)
            if publish is not None and publish.text != name.text:
                self.builder.note(publish.at, f"the description publishes to `{name.text}`")
            publish = name
        if isinstance(source, Described) and selecting:
            source, selecting = self.fields(selecting[1], source), []
        select = self.select(selecting[1], source) if selecting else None
        return self.finished(select, source, self.builder.first(node), publish)

    def pattern(self, at: int) -> EventPattern | Described:
        from xscl.language.patterns.build import build_pattern

        if self.scanned[at] in "aA":
            from xscl.language.automata.build import build_described

            begun = self.original.index("{", at)
            end = self.patterns[at].end
            return build_described(self.inner(at), self.original, self.scanned, begun, end)
        end = self.patterns[at].end
        tree = tree_of(self.scanned, at, end, "pattern", "`)`, `PUBLISH`, `;`")
        return build_pattern(self.inner(at), tree)

    def fields(self, selection: Node, source: Described) -> Described:
        """An automaton of whose register a SELECT lists fields."""
        from xscl.language.automata.build import selected_fields

        if isinstance(selection, Token) and selection.type == "STAR":
            return source
        if isinstance(selection, Token) and selection.type == "EVENTS":
            items = cast(tuple[Item, ...], self.select(selection, source))
            return replace(source, fields=selected_fields(self.builder, items, source.automaton))
        problem = "of an automaton SELECT lists fields of its register, as in `SELECT a, b AS c`"
        self.builder.note(self.builder.first(selection), problem)
        return source

    def select(self, selection: Node, source: Source) -> Select:
        if isinstance(selection, Tree):
            return self.builder.items(selection)
        if selection.type == "STAR":
            return None
        if selection.type == "EVENTS":
            from xscl.language.patterns.build import build_items

            start, end = self.lists[self.builder.at(selection)]
            return build_items(
                self.inner(start), tree_of(self.scanned, start, end, "items", "`FROM`")
            )
        return self.constructed(selection, computing=source.language.timed)

    def constructed(self, selection: Token, *, computing: bool = True) -> Element | JSONObject:
        """The constructor at a place; `computing` says whether what it inserts may be computed."""
        at = self.builder.at(selection)
        insert, path = self.insert, self.path
        if computing:
            insert, path = self.selected_insert, self.selected
        constructed: Element | JSONObject
        if selection.type == "CONSTRUCTOR":
            from xscl.language.constructors.xml_constructor import construct

            namespaces = self.builder.namespaces
            constructed, problems = construct(self.original, self.markups[at], namespaces, insert)
        else:
            from xscl.language.constructors.json_constructor import construct_json

            constructed, problems = construct_json(self.original, at, path, computing=computing)
        self.builder.problems += problems
        return constructed

    # What is in a constructor, between two offsets.

    def insert(self, start: int, end: int) -> Insert:
        return self.inner(start).insert(tree_of(self.original, start, end, "insert", "`}`"))

    def path(self, start: int, end: int, followed_by: str) -> VariablePath | Selected:
        tree = tree_of(self.original, start, end, "variable_path", followed_by)
        return self.inner(start).variable_path(tree)

    def selected_insert(self, start: int, end: int) -> Insert:
        string = _STRING.match(self.original, start, end)
        if string is None:
            return Insert(self.selected(start, end, "`}`"), False)
        close = self.original.rfind(")", string.end(), end)
        if close < 0:
            raise Unreadable(end, "found `}`, expected `)`")
        if rest := self.original[close + 1 : end].strip():
            at = self.original.index(rest, close + 1)
            raise Unreadable(at, f"found `{rest[0]}`, expected `}}`")
        return Insert(self.selected(string.end(), close, "`)`"), True)

    def selected(self, start: int, end: int, followed_by: str) -> VariablePath | Selected:
        from xscl.language.eql.build import build_eql_cell
        from xscl.language.events.build import build_cell
        from xscl.language.patterns.build import build_selected

        rule, build = "value", build_selected
        if self.level.of_events:
            rule, build = "cell", build_cell
        elif self.level.of_eql:
            rule, build = "eql_cell", build_eql_cell
        tree = tree_of(self.original, start, end, rule, followed_by)
        return build(self.inner(start), tree)

    def inner(self, start: int) -> Builder:
        return Builder(self.builder.namespaces, self.builder.problems, start)
