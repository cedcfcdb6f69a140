"""The grammars of the pages, made of those of xscl/language: `python -m
tests.documentation.grammar_page` writes them again, each between its two comments.

A rule of lark becomes a production of EBNF, in which `[ … ]` may be left out and `{ … }` may be
repeated; a terminal becomes its text, or the name of a row in the table of
docs/language-reference.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["DOCS", "NAMED", "productions", "renewed"]

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_FILES = ROOT / "xscl" / "language"

_PART = re.compile(r"(<!-- grammar: ([\w, ]+) -->\n).*?(<!-- to here -->)", re.DOTALL)
_RULE = re.compile(r"^[!?]?([a-z_]+|[A-Z_]+(?:\.\d)?): *(.*(?:\n[ \t]+.*)*)", re.MULTILINE)
_SIGNS = re.compile(r"[()|?*+]|\w+")
_WORDS = re.compile(r"/\(\?ai:([A-Z|]+)\).*?(?:\|(\W))?/\s*$")

_RENAMED = {
    "_attribute": "declared_name",
    "_listed": "listed_name",
    "_test": "node_test",
    "_name": "node_name",
    "variable": "named",
}
"""Rules whose names differ from another's, or from a terminal's, by `_` or by case alone."""

NAMED = {
    "ANY_NAMESPACE": '"*:" name',
    "CALLED": "function",
    "CHILD": '"/"',
    "COMPARES": '( "!=" | "<>" | "≠" | "<=" | "≤" | ">=" | "≥" | "<" | ">" )',
    "CONSTRUCTOR": "xml_constructor",
    "DECORATOR": '( "$." | "$1." | "$2." )',
    "DIV": '"div"',
    "DIVIDE": '"/"',
    "DOT": '"."',
    "AT_STEP": '"/@"',
    "EQUALITY": '( "=" | "!=" )',
    "EQUALS": '( "=" | "==" )',
    "FUNCTION": "function",
    "INDEX": "index_text",
    "MOD": '"mod"',
    "NAME": "name",
    "NOUN": "variable",
    "NUMBER": "number",
    "PARAMETER": "parameter",
    "PERCENT": '"%"',
    "QNAME": "prefixed_name",
    "QUERY": "other_query",
    "RELATION": '( "<" | "<=" | ">" | ">=" )',
    "STRATEGY": "strategy",
    "STRING": "string",
    "SUBQUERY": "other_query",
    "TEST": "test_function",
    "TEXT": '"text()"',
    "UNIT": "unit",
    "VARIABLE": "variable",
    "WORD": "name",
    "EVENTS": "pattern",
}
"""Terminals that are neither a sign nor a keyword."""

_WITHIN_SELECT = {"LBRACE": "json_constructor", "EVENTS": "items_of_a_pattern"}
_LOWER = {"condition": {"OR": '"or"'}, "conjunction": {"AND": '"and"'}}
"""Terminals that mean something else in a rule."""

Node = tuple[str, list["Node"]] | str


@dataclass
class _Body:
    """The right side of a rule, read from the left."""

    signs: list[str]

    def alternatives(self) -> Node:
        found = [self.sequence()]
        while self.signs[:1] == ["|"]:
            self.signs.pop(0)
            found.append(self.sequence())
        return ("|", found) if len(found) > 1 else found[0]

    def sequence(self) -> Node:
        found: list[Node] = []
        while self.signs and self.signs[0] not in "|)":
            found.append(self.repeated())
        return (" ", found) if len(found) > 1 else found[0]

    def repeated(self) -> Node:
        sign = self.signs.pop(0)
        one: Node = sign
        if sign == "(":
            one = self.alternatives()
            self.signs.pop(0)
        if self.signs[:1] and self.signs[0] in "?*+":
            return (self.signs.pop(0), [one])
        return one


def _written(node: Node, named: Callable[[str], str], *, inside: bool = False) -> str:
    if isinstance(node, str):
        return named(node)
    kind, parts = node
    if kind == "|":
        text = " | ".join(_bare(_written(part, named)) for part in parts)
        return f"( {text} )" if inside else text
    if kind == " ":
        return " ".join(_written(part, named, inside=True) for part in parts)
    bare = _bare(_written(parts[0], named))
    if kind == "?":
        return f"[ {bare} ]"
    if kind == "*":
        return f"{{ {bare} }}"
    return f"{_written(parts[0], named, inside=True)} {{ {bare} }}"


def _bare(text: str) -> str:
    """Without parentheses around all of it."""
    return text[2:-2] if re.fullmatch(r"\( [^()]* \)", text) else text


def _rules(name: str) -> Iterator[tuple[str, str]]:
    """The rules and terminals of a grammar, each with its right side."""
    text = re.sub(r"^//.*\n", "", (_FILES / f"{name}.lark").read_text("utf-8"), flags=re.MULTILINE)
    for rule, body in _RULE.findall(text):
        yield rule.partition(".")[0], re.sub(r"->.*", "", body) if rule.islower() else body


def _terminal(body: str) -> str | None:
    """A terminal that is a sign or a keyword.

    >>> _terminal('/(?ai:AND)«END»|∧/'), _terminal('"{"'), _terminal('/(?ai:EVENT|PATTERN)«END»/')
    ('( "AND" | "∧" )', '"{"', '( "EVENT" | "PATTERN" )')
    """
    if body.startswith('"'):
        return body.replace("\\\\", "\\")
    if body == "/[!~]/":
        return '( "!" | "~" )'
    words = _WORDS.match(body)
    if words is None:
        return None
    each = [*words[1].split("|"), *filter(None, [words[2]])]
    text = " | ".join(f'"{word}"' for word in each)
    return f"( {text} )" if len(each) > 1 else text


def _of(rule: str) -> str:
    return _RENAMED.get(rule, rule.removeprefix("_"))


def productions(names: str) -> Iterator[str]:
    """The productions of some grammars, whose terminals may be in others.

    >>> next(productions("values"))
    'either = every { ( "OR" | "∨" ) every } ;'
    """
    first = names.split(", ")
    own = dict(rule for name in first for rule in _rules(name))
    signs = {
        rule.removeprefix("_"): text
        for name in ("values", "paths", *first)
        for rule, body in _rules(name)
        if rule.isupper() and (text := _terminal(body))
    }
    for rule, body in own.items():
        if rule.isupper():
            continue

        def named(sign: str, rule: str = rule) -> str:
            if sign.islower():
                return _of(sign)
            key = sign.removeprefix("_")
            others = _WITHIN_SELECT if rule.endswith("selecting") else _LOWER.get(rule, {})
            return others.get(key) or NAMED.get(key) or signs[key]

        text = _bare(_written(_Body(_SIGNS.findall(body)).alternatives(), named))
        yield _wrapped(f"{_of(rule)} = {text} ;")


def _wrapped(text: str) -> str:
    """A production, in lines of its alternatives where it is long."""
    if len(text) <= 96:
        return text
    parts, depth = [""], 0
    for sign in re.split(r"( )", text):
        depth += (sign in ("(", "[", "{")) - (sign in (")", "]", "}"))
        if sign == "|" and depth == 0:
            parts.append("")
        parts[-1] += sign
    return "\n    ".join(part.strip() for part in parts)


def renewed(page: str) -> str:
    """A page with its grammars made again."""
    return _PART.sub(
        lambda part: "\n".join([f"{part[1]}```ebnf", *productions(part[2]), f"```\n{part[3]}"]),
        page,
    )


if __name__ == "__main__":
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text("utf-8")
        if renewed(text) != text:
            page.write_text(renewed(text), "utf-8")
