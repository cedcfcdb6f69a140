"""From the text of an XML constructor to an `Element`.

lxml judges whether it is well-formed, on a copy in which each `{expression}` is as many
spaces (in an attribute, letters), so that lxml's line and column are the query's own.  It is
built from a second copy whose expressions are numbered marks, and from which boundary white
space is gone: XQuery 3.1, section 3.9.1.4, drops white space between tags and expressions
unless a character reference or a CDATA section wrote it.  (The thesis publishes with
XQuery's constructors, section 6.2; docs/semantics.md#result-documents.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain

from lxml import etree

from xscl.language.build import unknown_prefix
from xscl.language.checks.names import NAME
from xscl.language.constructors.markup import Markup, Piece
from xscl.language.problems import Problem, Unreadable
from xscl.language.syntax import Element, Insert

__all__ = ["construct"]

Part = str | Insert | Element | tuple[str, ...]
Parts = tuple[str | Insert, ...]

# With `xml.sax.saxutils` would come HTTP, e-mail and TLS, to be imported before the first query.
_IN_QUOTES = str.maketrans({one: f"&#{ord(one)};" for one in '&<"\n\r\t'})
_PREFIX = re.compile(rf"({NAME}):")
_REFERENCE = re.compile(r"&#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}));")
_UNDEFINED = re.compile(r"Namespace prefix (\S+)(?: for (\S+))? on")
_NO_LINE_END = re.compile(r"[^\n]")
_IN_PLACE_OF = {"insert": " ", "insert in tag": "x"}
_LXML_LINE = re.compile(r" line \d+")


def construct(
    text: str, markup: Markup, namespaces: Mapping[str, str], insert: Callable[[int, int], Insert]
) -> tuple[Element, list[Problem]]:
    """The element that a constructor describes, and its problems.

    `insert` reads the expression between two offsets.  Raises `Unreadable` for markup that
    is not well-formed.
    """
    source = text[markup.start : markup.end]
    known = {p: namespaces[p] for p in _PREFIX.findall(source) if p in namespaces}
    problems = _judge(text, markup, known)
    if problems:
        return Element("unknown", (), (), ()), problems
    return _Reading(text, markup, known, insert).read(), []


def _wrapped(xml: str, known: Mapping[str, str]) -> str:
    """A constructor in an element of its own line that declares the known prefixes."""
    uris = {p: uri.translate(_IN_QUOTES) for p, uri in known.items() if p != "xml"}
    declared = " ".join(f'xmlns:{p}="{uri}"' for p, uri in uris.items())
    return f"<constructor {declared}>\n{xml}\n</constructor>"


def _judge(text: str, markup: Markup, known: Mapping[str, str]) -> list[Problem]:
    """Have lxml read a copy of the same length, without the expressions."""
    copy = "".join(
        _NO_LINE_END.sub(_IN_PLACE_OF.get(kind, r"\g<0>"), text[start:end])
        for kind, start, end in markup.pieces
    )
    parser = etree.XMLParser(no_network=True)
    try:
        etree.fromstring(_wrapped(copy, known), parser)
    except etree.XMLSyntaxError:
        complaints = list(parser.error_log)
    else:
        return []
    problems: list[Problem] = []
    for complaint in complaints:
        # A complaint about the first line is about a declared namespace.
        at = _offset(copy, complaint.line - 1, complaint.column) if complaint.line > 1 else 0
        undefined = _UNDEFINED.match(complaint.message)
        if complaint.type_name != "NS_ERR_UNDEFINED_NAMESPACE" or undefined is None:
            if complaint.type_name == "ERR_UNDECLARED_ENTITY":
                at = max(copy.rfind("&", 0, at), 0)
            reason = _LXML_LINE.sub("", complaint.message).strip()
            raise Unreadable(markup.start + at, f"found XML that is not well-formed: {reason}")
        prefix, attribute = undefined.groups()
        tag = copy.rfind("<", 0, at)
        if attribute is None:
            place = tag + 1
        else:
            named = re.compile(rf"\s{re.escape(prefix)}:{re.escape(attribute)}(?=\s*=)")
            found = named.search(copy, tag)
            place = at if found is None else found.start() + 1
        problems.append(Problem(markup.start + place, unknown_prefix(prefix)))
    return problems


def _offset(text: str, line: int, column: int) -> int:
    """The offset of a line and column, both from 1; within the text whatever they are."""
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    return max(0, min(start + column - 1, len(text) - 1))


class _Reading:
    """The building of one element; `inserts` are its expressions in order."""

    def __init__(
        self,
        text: str,
        markup: Markup,
        known: Mapping[str, str],
        insert: Callable[[int, int], Insert],
    ) -> None:
        self.known = known
        self.inserts: list[Insert] = []
        mark = _unused_character(text[markup.start : markup.end])
        if mark is None:
            raise Unreadable(markup.start, "the constructor uses every private character")
        self.mark = mark
        self.marked = re.compile(f"{self.mark}([0-9]+){self.mark}")
        self.declared: dict[etree._Element, list[tuple[str | None, str]]] = {}
        self.added: dict[str, str] = {}
        self.xml = "".join(self.copy(text, markup.pieces, insert))

    def copy(
        self, text: str, pieces: tuple[Piece, ...], insert: Callable[[int, int], Insert]
    ) -> list[str]:
        """The constructor with marks for expressions, and without boundary white space."""
        written: list[str] = []
        for index, (kind, start, end) in enumerate(pieces):
            piece = text[start:end]
            if kind in ("insert", "insert in tag"):
                piece = f"{self.mark}{len(self.inserts)}{self.mark}"
                self.inserts.append(insert(start + 1, end - 1))
            elif kind in ("brace", "brace in tag"):
                piece = piece[0]
            elif kind == "text" and not piece.strip(" \t\r\n"):
                around = {pieces[index - 1].kind, pieces[index + 1].kind}
                if around <= {"tag", "insert"}:
                    continue
            written.append(piece)
        return written

    def read(self) -> Element:
        parser = etree.XMLPullParser(
            # What is left to complain about is the marks themselves, as in `xml:id="{x}"`.
            events=("start-ns", "start"),
            no_network=True,
            recover=True,
        )
        parser.feed(_wrapped(self.xml, self.known))
        wrapper = parser.close()
        pending: list[tuple[str | None, str]] = []
        for event, item in parser.read_events():
            if isinstance(item, tuple):
                prefix, uri = map(str, item)
                pending.append((prefix or None, uri))
            elif event == "start" and item is not None:
                self.declared[item] = pending
                pending = []
        element = self.element(wrapper[0], {})
        added = tuple(sorted(self.added.items()))
        return replace(element, namespaces=element.namespaces + added)

    def element(self, node: etree._Element, scope: Mapping[str | None, str]) -> Element:
        namespaces = self.declared[node]
        scope = {**scope, **dict(namespaces)} if namespaces else scope
        if node.prefix is not None:
            self.use(node.prefix, scope)
        attributes: list[tuple[str, Parts]] = []
        for name, value in node.attrib.items():
            self.use_namespace(str(name), scope)
            attributes.append((str(name), self.parts(str(value))))
        content: list[Part] = list(self.parts(node.text))
        for child in node:
            if isinstance(child, etree._Comment):
                content.append(("comment", child.text or ""))
            elif isinstance(child, etree._ProcessingInstruction):
                content.append(("pi", str(child.target), child.text or ""))
            else:
                content.append(self.element(child, scope))
            content.extend(self.parts(child.tail))
        return Element(str(node.tag), tuple(namespaces), tuple(attributes), tuple(content))

    def parts(self, text: str | None) -> Parts:
        if not text:
            return ()
        pieces = self.marked.split(text)
        return tuple(
            self.inserts[int(piece)] if index % 2 else piece
            for index, piece in enumerate(pieces)
            if piece
        )

    def use(self, prefix: str, scope: Mapping[str | None, str]) -> None:
        """Have the root declare a prefix that nothing in the constructor declares."""
        if prefix not in scope and prefix != "xml":
            self.added[prefix] = self.known[prefix]

    def use_namespace(self, name: str, scope: Mapping[str | None, str]) -> None:
        """As `use`, for an attribute, of which lxml tells the namespace only."""
        uri = name[1:].partition("}")[0] if name.startswith("{") else None
        if uri is None or any(uri == known for p, known in scope.items() if p is not None):
            return
        for prefix, known in self.known.items():
            if known == uri:
                self.use(prefix, scope)
                return


def _unused_character(source: str) -> str | None:
    """A private character that a constructor neither holds nor refers to."""
    taken = set(source)
    for hexadecimal, decimal in _REFERENCE.findall(source):
        number = int(hexadecimal, 16) if hexadecimal else int(decimal)
        taken.add(chr(min(number, 0x10FFFF)))
    private = chain(range(0xE000, 0xF900), range(0xF0000, 0xFFFFE), range(0x100000, 0x10FFFE))
    return next((c for c in map(chr, private) if c not in taken), None)
