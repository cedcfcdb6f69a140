"""The sentence of a syntax error: what was found, and what could have stood there.

The parser knows the terminals that it would have accepted; the sentence has people's own words,
and one word for a family of terminals that always come together (all that can start a path).
An axis of XPath that the language does not have is refused by name, with what to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from xscl.language.checks.names import NAME, STRING
from xscl.language.problems import Problem, enumerated

__all__ = ["expected", "found", "refused_axis"]

# From the top: the first line whose terminals are all acceptable takes them away.
_WORDS: tuple[tuple[str, str], ...] = (
    ("DOT NAME QNAME ANY_NAMESPACE STAR AT TEXT NUMBER", "a path such as `./title`"),
    ("DIV MOD PLUS MINUS STAR EQUALITY RELATION AND OR", "an operator"),
    (
        "VARIABLE INF NUMBER STRING PARAMETER MINUS FUNCTION _LPAR _RBRACE _COMMA",
        "a predicate such as `x = y`, a window such as `7 days`, `}`",
    ),
    ("VARIABLE INF NUMBER STRING MINUS FUNCTION _LPAR _RPAR", "a variable, a string, a number"),
    ("VARIABLE INF NUMBER STRING PARAMETER MINUS FUNCTION _LPAR", "a comparison such as `x = y`"),
    ("VARIABLE INF NUMBER STRING MINUS FUNCTION", "a variable, a string, a number"),
    ("NAME QNAME ANY_NAMESPACE STRING STAR", "a name, `*`"),
    ("NAME QNAME ANY_NAMESPACE STAR", "a name, `*`"),
    ("EQUALITY RELATION", "a comparison such as `=`"),
    ("INF NUMBER PARAMETER MINUS", "a window such as `7 days`"),
    ("VARIABLE INF", "a variable"),
    ("VARIABLE", "a variable"),
    ("NAME QNAME", "a name"),
    ("NAME", "a name"),
    ("NUMBER", "a number"),
    ("STRING", "a string"),
    ("PARAMETER", "a parameter"),
    ("FUNCTION", "a function"),
    ("CONSTRUCTOR LBRACE", "an XML constructor, a JSON constructor"),
    ("UNIT", "a unit such as `days`"),
    ("AT", "`@`"),
    ("STAR", "`*`"),
    ("MINUS", "`-`"),
    ("_LPAR", "`(`"),
    ("LBRACE", "`{`"),
    ("_IS", "`=`"),
    ("SLASH", "`/`"),
    ("DSLASH", "`//`"),
    ("_LBRACKET", "`[`"),
    ("_RBRACKET", "`]`"),
    ("_RPAR", "`)`"),
    ("_ARROW", "`->`"),
    ("AND", "`AND`"),
    ("OR", "`OR`"),
    ("_COMMA", "`,`"),
    ("_RBRACE", "`}`"),
    ("_DECLARE", "`DECLARE`"),
    ("_NAMESPACE", "`NAMESPACE`, `STREAM`"),
    ("SELECT", "`SELECT`"),
    ("_AS", "`AS`"),
    ("_FROM", "`FROM`"),
    ("FOLLOWED", "`FOLLOWED BY`"),
    ("_BY", "`BY`"),
    ("JOIN", "`JOIN`"),
    ("_PUBLISH", "`PUBLISH`"),
)

_OF_PATTERNS: tuple[tuple[str, str], ...] = (
    (
        "WORD NUMBER STRING PARAMETER AGGREGATE AT PLUS MINUS _LPAR LBRACKET",
        "a comparison such as `a.x = b.x`, a test such as `[x]`",
    ),
    ("WORD NUMBER STRING PARAMETER AGGREGATE AT PLUS MINUS _LPAR", "a value such as `a.x`"),
    ("STAR DIVIDE REMAINDER PLUS MINUS EQUALS COMPARES", "an operator"),
    ("STAR DIVIDE REMAINDER PLUS MINUS", "an operator"),
    ("EQUALS COMPARES", "a comparison such as `=`"),
    ("_POINT _CHILD AT_STEP LBRACKET", "an attribute such as `.x`"),
    ("_CHILD AT_STEP", "`/`"),
    ("EQUALS", "`=`"),
    ("NUMBER STRING PARAMETER MINUS WORD AT", "a constant"),
    ("WORD STRING AT", "an attribute"),
    ("_SEQ NAME STRING ANY NOT", "a component such as `S a`, `SEQ(A a, B b)`"),
    ("NAME STRING ANY NOT", "a component such as `S a`"),
    ("NAME STRING ANY", "a stream such as `S`"),
    ("NAME STRING", "a stream such as `S`"),
    ("INDEX _RBRACKET", "an index such as `[1]`"),
    ("WORD", "a name"),
    ("NOUN", "a variable"),
    ("STRATEGY", "a strategy such as `skip_till_next_match`"),
    ("LBRACKET", "`[`"),
    ("PLUS", "`+`"),
    ("OPEN", "`(`"),
    ("_ALSO", "`AND`"),
    ("_OTHERWISE", "`OR`"),
    ("_WHERE", "`WHERE`"),
    ("_WITHIN", "`WITHIN`"),
    ("ALL _NON", "`ALL`, `NON OVERLAPPING`"),
    ("OVERLAPPING", "`OVERLAPPING`"),
    ("LEVEL", "`strong`, `middle`, `weak`"),
    ("_OUTPUT", "`OUTPUT`"),
    ("_CONSISTENCY", "`CONSISTENCY`"),
    ("EVENT", "`EVENT`"),
)

_OF_EVENTS: tuple[tuple[str, str], ...] = (
    (
        "WORD NUMBER STRING PARAMETER CALLED TEST TRUTH NOT DECORATOR DUR MINUS _LPAR",
        "a condition such as `x = 1`",
    ),
    ("WORD NUMBER STRING PARAMETER CALLED DECORATOR DUR MINUS STAR", "a value such as `x`, `*`"),
    ("WORD NUMBER STRING PARAMETER CALLED DECORATOR DUR MINUS _LPAR", "a value such as `x`"),
    ("WORD STRING DUR", "an attribute"),
    ("STAR SLASH PLUS MINUS EQUALS COMPARES", "an operator"),
    ("STAR SLASH PLUS MINUS", "an operator"),
    ("EQUALS COMPARES", "a comparison such as `=`"),
    ("WORD STRING", "an attribute"),
    ("WORD", "a name"),
    ("FILTER WINDOW NAME STRING _LPAR", "a stream, `FILTER{…}(…)`, `WINDOW{…}(…)`, `(`"),
    ("NAME STRING", "a stream"),
    ("SUBQUERY", ""),
    ("PERCENT", ""),
    ("NEXT", "`NEXT`"),
    ("FOLD", "`FOLD`"),
    ("UNION", "`UNION`"),
    ("GROUP", "`GROUP BY`"),
    ("_ALSO", "`AND`"),
    ("_OTHERWISE", "`OR`"),
    ("_LBRACE", "`{`"),
    ("LEVEL", "`strong`, `middle`, `weak`"),
    ("_CONSISTENCY", "`CONSISTENCY`"),
    ("_STREAM", "`STREAM`"),
)
_OF_AUTOMATA: tuple[tuple[str, str], ...] = (
    ("NOUN NUMBER STRING PARAMETER CALLED TRUTH NOT MINUS _LPAR", "a fence such as `e.x = r`"),
    ("NOUN NUMBER STRING PARAMETER CALLED MINUS _LPAR", "a value such as `e.x`, `r`"),
    ("STAR DIVIDE REMAINDER PLUS MINUS EQUALS COMPARES", "an operator"),
    ("STAR DIVIDE REMAINDER PLUS MINUS", "an operator"),
    ("EQUALS COMPARES", "a comparison such as `=`"),
    ("_POINT", "an attribute such as `.x`"),
    ("_CHILD AT_STEP", "`/`"),
    ("WORD STRING AT", "an attribute"),
    ("WORD", "a name"),
    ("EQUALS", "`=`"),
    ("NOUN", "a field"),
    ("PERCENT", ""),
    ("_ALSO", "`AND`"),
    ("_OTHERWISE", "`OR`"),
)
_OF_EQL: tuple[tuple[str, str], ...] = (
    (
        "WORD NUMBER STRING PARAMETER QUANTIFIER NOT FILTER MINUS _LPAR",
        "a qualification such as `A.x = B.x`, `FILTER(A.x = B.x)`",
    ),
    ("WORD NUMBER STRING PARAMETER QUANTIFIER NOT MINUS _LPAR", "a predicate such as `A.x = B.x`"),
    ("WORD NUMBER STRING PARAMETER QUANTIFIER MINUS STAR", "a value such as `A.x`, `*`"),
    ("WORD NUMBER STRING PARAMETER QUANTIFIER MINUS _LPAR", "a value such as `A.x`"),
    (
        "STAR DIVIDE PLUS MINUS EQUALS COMPARES CONTAINS",
        "an operator, a comparison such as `=`, `CONTAINS`",
    ),
    ("STAR DIVIDE PLUS MINUS", "an operator"),
    ("EQUALS COMPARES CONTAINS", "a comparison such as `=`, `CONTAINS`"),
    ("_POINT", "an attribute such as `.x`"),
    ("_CHILD AT_STEP", "`/`"),
    ("WORD STRING AT", "an attribute"),
    ("WORD STRING", "an attribute"),
    ("SELECT NAME STRING _LPAR", "`SELECT`, a stream such as `t`, `(`"),
    ("NAME STRING _LPAR", "a stream such as `t`, `(`"),
    ("NAME STRING", "a stream such as `t`"),
    ("WORD", "a variable"),
    ("AS NOUN", "a variable"),
    ("NOUN", "a variable"),
    ("_THEN", "`;`"),
    ("_UNLESS", "`\\`"),
    ("_ELSE", "`|`"),
    ("PLUS", "`+`"),
    ("_ALSO", "`AND`"),
    ("_OTHERWISE", "`OR`"),
    ("_OCCURS", "`OCCURS WITHIN`"),
    ("_WITHIN", "`WITHIN`"),
    ("_WHERE", "`WHERE`"),
    ("LEVEL", "`strong`, `middle`, `weak`"),
    ("_CONSISTENCY", "`CONSISTENCY`"),
    ("SUBQUERY", ""),
)
_WORDS_OF = {
    "grammar": (),
    "patterns": _OF_PATTERNS,
    "events": _OF_EVENTS,
    "automata": _OF_AUTOMATA,
    "eql": _OF_EQL,
}

_FOUND = re.compile(
    rf":?{NAME}'*+|{STRING}|[0-9]+(?:\.[0-9]*)?|->|--|//|::|\.\.|[<>!]=|.", re.DOTALL
)
_LONGEST = 40

_PARENT = "name the parent first, as in `S//b/a` for `S//a[parent::b]`"
_ANCESTOR = "name the ancestor first, as in `S//b//a` for `S//a[ancestor::b]`"
_DESCENDANT = "write `//` before the name, in a filter `.//`"
_SIBLING = "ask for both below their parent, as in `p[./a][./b]`; their order cannot be asked for"
_AROUND = "ask for both below an element, as in `p[.//a][.//b]`; their order cannot be asked for"
_INSTEAD = {
    "ancestor": _ANCESTOR,
    "ancestor-or-self": _ANCESTOR,
    "attribute": "write `@` before the name",
    "child": "write `/` before the name, in a filter `./`",
    "descendant": _DESCENDANT,
    "descendant-or-self": _DESCENDANT,
    "following": _AROUND,
    "following-sibling": _SIBLING,
    "namespace": "write the declared prefix of a namespace before the name, as in `dc:creator`",
    "parent": _PARENT,
    "preceding": _AROUND,
    "preceding-sibling": _SIBLING,
    "self": "write `.` in a filter for the node itself, and its name where its step is",
}
# From the beginning of a word alone: a long one would be looked at from each of its letters.
_AXIS = re.compile(rf"(?<![\w.\-])({NAME})[ \t\r\n]*+::")


def expected(terminals: Iterable[str], end: str, grammar: str) -> str:
    """The acceptable terminals of a grammar in words; `end` is what may follow the text."""
    left = set(terminals)
    words: list[str] = []
    for names, word in (*_WORDS_OF[grammar], *_WORDS):
        family = set(names.split())
        if family <= left:
            left -= family
            words += word.split(", ") if word else ()
    if "$END" in left:
        words += end.split(", ")
    return enumerated(dict.fromkeys(words))


def found(text: str, at: int, end: int) -> str:
    """The word at an offset, and before another; a text ends with white space."""
    token = _FOUND.match(text, at, end)
    if token is None or token[0] in " \t\r\n":
        return "the end of the text"
    word = token[0] if len(token[0]) <= _LONGEST else token[0][: _LONGEST - 1] + "…"
    return f"`{word}`" if word.isprintable() else f"U+{ord(word[0]):04X}"


def refused_axis(text: str, start: int, at: int) -> Problem | None:
    """The problem of an axis of XPath, if the text from `start` on has one whose `::` (or `..`) is
    refused at `at`: it says what to write instead."""
    if text.startswith("..", at):
        return Problem(at, f"`..` is not part of the language; {_PARENT}")
    for axis in _AXIS.finditer(text, start, at + 2):
        if axis.end() == at + 2 and axis[1] in _INSTEAD:
            problem = f"the axis `{axis[1]}::` is not part of the language; {_INSTEAD[axis[1]]}"
            return Problem(axis.start(), problem)
    return None
