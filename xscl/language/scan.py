"""From a text to its statements, in one pass.

Strings, constructors and comments are distinguished here and nowhere else
(docs/semantics.md#statements-and-names): comments and constructors are blanked out, each character
by a space and each line's end kept, so that what the grammar reads is a text of the same length and
an offset means the same place throughout.  Each character is looked at once, whatever the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from json import JSONDecoder
from typing import TYPE_CHECKING

from xscl.language.checks.names import END_OF_WORD, NAME, PRIMED, STRING, NamePattern, is_plain
from xscl.language.events.parentheses import NAME_REMARK, Parentheses, end_of_comment
from xscl.language.problems import Problem
from xscl.xpath_stage import NO_XML

if TYPE_CHECKING:
    from xscl.language.constructors.markup import Markup

__all__ = ["Events", "Scan", "Statement", "scan"]


@dataclass(frozen=True, slots=True)
class Events:
    """The place of a pattern or an automaton, and of what is selected of its matches, where that is
    a list."""

    start: int
    end: int
    items: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: from its first character to its `;` or, without one, its last character.

    `name` and `named_at` are what `-- name:` says before it.  Of a constructor after SELECT
    only the first `<` or `{` is left in the scanned text; `markups` describe the XML
    constructors, `objects` from where to where the JSON constructors stand, `patterns` of the
    patterns.
    """

    start: int
    end: int
    name: str | None
    named_at: int | None
    markups: tuple[Markup, ...]
    objects: tuple[tuple[int, int], ...]
    problem: Problem | None
    patterns: tuple[Events, ...] = ()


@dataclass(frozen=True, slots=True)
class Scan:
    """The text with comments and constructors blanked, and its statements in order."""

    text: str
    statements: tuple[Statement, ...]


# A name takes its primes with it: a quote that touches a name never starts a string.
_TOKEN = NamePattern(
    r"(?P<blank>[ \t\r\n]++)|(?P<remark>(?<![^ \t\r\n])--[^\n]*+)|(?P<comment>\(:)"
    rf"|(?P<name>{PRIMED})|(?P<string>{STRING})|(?P<unclosed>['\"])|(?P<end>;)|.",
    re.DOTALL,
)
# What changes nothing after a token that changed nothing: any but words and signs that a query, an
# operand or a constructor may follow; brackets with nothing else between them, too.
_PLAIN = (
    rf"(?!(?ai:SELECT|FROM|NEXT|FOLD|UNION){END_OF_WORD}){PRIMED}|{STRING}"
    r"|[0-9/.,:@$=<>!*+)]|->|-(?!-)|\((?!:)"
)
_PLAIN_RUN = NamePattern(
    rf"(?:[ \t\r\n]*+(?:{_PLAIN}|\[(?:[ \t\r\n]++|{_PLAIN})*+\]))++", re.DOTALL
)
# Strings that do not upset who counts parentheses.
_NO_PARENTHESES = """(?:'(?:[^'()]|'')*+'|"(?:[^"()]|"")*+")"""
# A statement as most are: with no comment, constructor or mistake that the scanner looks for.
_ORDINARY = NamePattern(
    r"[ \t\r\n]*+(?:(?<![^ \t\r\n])(--[^\n]*+)\n[ \t\r\n]*+)?+"
    rf"((?:(?!(?ai:SELECT){END_OF_WORD}[ \t\r\n]*+[<{{]"
    rf"|(?ai:EVENT|PATTERN|AUTOMATON){END_OF_WORD}){PRIMED}"
    rf"|{_NO_PARENTHESES}|[ \t\r\n0-9/.,:@$=<>!≠≤≥%*+|)\[\]{{}}]|->|-(?!-)|\((?!:))++);"
)
# A pattern, unless its first word names a stream; where it ends before its parenthesis or text.
_EVENTS = NamePattern(
    rf"(?ai:EVENT|PATTERN){END_OF_WORD}(?![ \t\r\n]*+(?:[/;)]|\Z|(?ai:PUBLISH){END_OF_WORD}"
    rf"|(?ai:FOLLOWED[ \t\r\n]++BY){END_OF_WORD}|(?ai:JOIN)[ \t\r\n]*+\{{))"
)
# An automaton, up to its description.
_AUTOMATON = NamePattern(rf"(?ai:AUTOMATON){END_OF_WORD}[ \t\r\n]*+(?=\{{)")
# Where a description ends that is no JSON.
_END_OF_DESCRIPTION = re.compile(r";(?=[ \t\r]*(?:\n|\Z))|(?=\n[ \t]*--[ \t]*name:)")
# What only a value can follow: PUBLISH behind it is one.
_WANTS_VALUE = {*"=!<>≠≤≥+-*/(∧∨", "WHERE", "AND", "OR"}
_BEFORE_OPERANDS = {"}", "from", "next", "fold", "union", ";", "|", "\\"}
_PARAMETER = NamePattern(rf"\(:({NAME})")
_DECODER = JSONDecoder()
_NO_LINE_END = re.compile(r"[^\n]")


def scan(text: str) -> Scan:
    """Split a text at the semicolons that end its statements."""
    scanner = _Scanner(text)
    scanner.run()
    cleaned = "".join(scanner.cleaned) + text[scanner.copied :]
    statements = scanner.statements
    if NO_XML.search(text) is not None:
        statements = [_without_aliens(text, cleaned, one) for one in statements]
    return Scan(cleaned, tuple(statements))


def _without_aliens(text: str, cleaned: str, statement: Statement) -> Statement:
    """Refuse characters that no XML document can hold, wherever they would mean something."""
    places = [(cleaned, statement.start, statement.end)]
    places += [(text, markup.start, markup.end) for markup in statement.markups]
    places += [(text, start, end) for start, end in statement.objects]
    if statement.name is not None and statement.named_at is not None:
        places.append((text, statement.named_at, statement.named_at + len(statement.name)))
    found = [f for where, start, end in places if (f := NO_XML.search(where, start, end))]
    if not found:
        return statement
    alien = min(found, key=lambda f: f.start())
    problem = Problem(alien.start(), f"found U+{ord(alien[0]):04X}, which is no character of XML")
    return replace(statement, problem=problem)


class _Scanner:
    """The statement being read, and those before it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = is_plain(text)
        self.parentheses = Parentheses(text)
        self.cleaned: list[str] = []
        self.copied = 0
        self.statements: list[Statement] = []
        self.name: str | None = None
        self.named_at: int | None = None
        self.begin()

    def begin(self) -> None:
        self.start = self.end = -1
        # A constructor follows the SELECT that begins a query; one begins where an operand can
        # stand first of all: at the statement's start and after such a parenthesis.
        self.at_query = self.at_operand = self.at_source = True
        self.after_select = False
        self.brackets = 0
        self.markups: list[Markup] = []
        self.objects: list[tuple[int, int]] = []
        self.patterns: list[Events] = []
        self.selecting = self.listed = 0
        self.problem: Problem | None = None
        self.parentheses.opened.clear()

    def run(self) -> None:
        text, at = self.text, 0
        if text.startswith("\ufeff"):
            # A byte order mark says nothing in UTF-8.
            at = 1
            self.blank(0, 1)
        while at < len(text):
            if self.start < 0:
                at = self.ordinary(at)
            found = _TOKEN.form(self.plain).match(text, at)
            if found is None:
                break  # at the end: the last alternative matches anything
            kind, at = found.lastgroup, found.end()
            match kind:
                case "blank":
                    pass
                case "end" if not self.within_parentheses(found.start()):
                    self.finish(found.start())
                case "remark":
                    self.remark(found.start(), at)
                case "comment":
                    at = self.comment(found.start())
                case _:
                    at = self.token(kind, found.start(), at)
        self.finish(self.end)

    def ordinary(self, at: int) -> int:
        """Take the ordinary statements that begin at a place; return where they end."""
        while (found := _ORDINARY.form(self.plain).match(self.text, at)) is not None:
            start, end = found.span(2)
            if self.text.count("(", start, end) != self.text.count(")", start, end):
                break
            if found[1] is not None:
                self.remark(*found.span(1))
            self.statements.append(Statement(start, end, self.name, self.named_at, (), (), None))
            self.name = self.named_at = None
            at = end + 1
        return at

    def token(self, kind: str | None, start: int, end: int) -> int:
        """Take one significant token; return where the next one starts."""
        if kind == "unclosed":
            quote = self.text[start]
            self.problem = Problem(
                start, f"the string that begins here is not closed: {quote} is missing"
            )
            end = len(self.text)
        elif self.after_select and self.text[start] in "<{":
            end = self.constructor(start)
            self.selecting = 0
        elif self.at_source and (
            _EVENTS.form(self.plain).match(self.text, start)
            or _AUTOMATON.form(self.plain).match(self.text, start)
        ):
            self.start = start if self.start < 0 else self.start
            self.follow("")
            return self.events(start)
        else:
            self.brackets += self.text[start] in "[{"
        self.follow(self.text[start:end])
        if self.at_query or self.after_select:
            self.selecting = end if self.after_select else 0
        elif self.at_source:
            self.listed = start
        if self.start < 0:
            self.start = start
        if not (self.at_query or self.at_operand or self.after_select):
            run = _PLAIN_RUN.form(self.plain).match(self.text, end)
            end = end if run is None else run.end()
        self.end = end
        return end

    def constructor(self, start: int) -> int:
        if self.text[start] == "<":
            from xscl.language.constructors.markup import read_markup

            markup = read_markup(self.text, start)
            self.markups.append(markup)
            end, problem = markup.end, markup.problem
        else:
            from xscl.language.constructors.json_constructor import read_extent

            end, problem = read_extent(self.text, start)
            self.objects.append((start, end))
        self.problem = self.problem or problem
        self.blank(start + 1, end)
        return end

    def events(self, start: int) -> int:
        """Take the pattern that begins at a place; return where what follows it does."""
        described = _AUTOMATON.form(self.plain).match(self.text, start)
        at = start if described is None else self.described(described.end())
        depth, asks, before = 0, False, ""
        while (found := _TOKEN.form(self.plain).match(self.text, at)) is not None:
            kind, sign = found.lastgroup, found[0]
            word = sign.upper()
            publishes = word == "PUBLISH" and not (asks and before in _WANTS_VALUE)
            if depth == 0 and (kind == "end" or sign == ")" or publishes):
                break
            if kind == "end" and not self.within_parentheses(found.start()):
                break
            if kind == "unclosed":
                return self.token(kind, at, found.end())
            if asks and self.text.startswith("/*", at):
                at = self.slashed(at)
                continue
            at = found.end()
            if kind == "remark":
                self.blank(found.start(), at)
            elif kind == "comment":
                at = self.comment(found.start())
            elif kind != "blank":
                depth += (sign in "([{") - (sign in ")]}")
                asks = asks or (depth == 0 and word == "WHERE")
                self.end, before = at, word
        items = self.selecting, self.listed
        listed = self.text[items[0] : items[1]].strip() not in ("", "*")
        self.patterns.append(Events(start, at, items if self.selecting and listed else None))
        self.selecting = 0
        return at

    def described(self, start: int) -> int:
        """Take the description of an automaton; return where it ends."""
        try:
            members, end = _DECODER.raw_decode(self.text, start)
        except (ValueError, RecursionError) as error:
            at = getattr(error, "pos", start)
            what = getattr(error, "msg", "it is nested too deeply")
            problem = Problem(at, f"the description of the automaton is no JSON: {what}")
            self.problem = self.problem or problem
            # The statements behind it are as good as they are.
            ends = _END_OF_DESCRIPTION.search(self.text, at)
            end = len(self.text) if ends is None else ends.start()
            members = {}
        name = members.get("name")
        if isinstance(name, str) and self.name is None:
            self.name, self.named_at = name, start
        self.blank(start + 1, end)
        self.end = end
        return end

    def slashed(self, start: int) -> int:
        """Take a comment between `/*` and `*/`."""
        end = self.text.find("*/", start + 2) + 2
        if end == 1:
            problem = "the comment that begins here is not closed: `*/` is missing"
            self.problem = self.problem or Problem(start, problem)
            end = len(self.text)
        self.blank(start, end)
        return end

    def follow(self, token: str) -> None:
        """Return what can follow a token: a query, an operand, a constructor."""
        word = token.lower()
        self.after_select = self.at_query and word == "select"
        self.at_query = self.at_operand and word == "("
        self.at_source = self.at_query or (word == "from" and not self.brackets)
        self.brackets -= word in ("]", "}") and self.brackets > 0
        self.at_operand = self.at_query or (word in _BEFORE_OPERANDS and not self.brackets)

    def remark(self, start: int, end: int) -> None:
        self.blank(start, end)
        named = NAME_REMARK.match(self.text, start, end)
        if named is not None and self.start < 0:
            self.name, self.named_at = named[1], named.start(1)

    def comment(self, start: int) -> int:
        end = end_of_comment(self.text, start)
        if end is not None:
            self.blank(start, end)
            return end
        problem = "the comment that begins here is not closed: `:)` is missing"
        if (parameter := _PARAMETER.form(self.plain).match(self.text, start)) is not None:
            problem += f"; write `( :{parameter[1]}` for a parameter"
        self.problem = Problem(start, problem)
        self.blank(start, len(self.text))
        self.start = start if self.start < 0 else self.start
        self.end = max(self.end, start)
        return len(self.text)

    def within_parentheses(self, semicolon: int) -> bool:
        """Whether a `;` is in a parenthesis that is closed before the next `-- name:` and the
        text's end: then it belongs to the statement."""
        if self.text.find("(", self.start, semicolon) < 0:
            return False
        self.parentheses.read(max(self.parentheses.at, self.start), semicolon)
        return self.parentheses.closes()

    def blank(self, start: int, end: int) -> None:
        self.cleaned += [
            self.text[self.copied : start],
            _NO_LINE_END.sub(" ", self.text[start:end]),
        ]
        self.copied = end
        self.parentheses.skipped.append((start, end))

    def finish(self, end: int) -> None:
        if self.start >= 0:
            self.statements.append(
                Statement(
                    self.start,
                    end,
                    self.name,
                    self.named_at,
                    tuple(self.markups),
                    tuple(self.objects),
                    self.problem,
                    tuple(self.patterns),
                )
            )
            self.name = self.named_at = None
        self.begin()
