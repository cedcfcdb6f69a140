"""The lexer for Pygments: each word of the grammars has its colour, and any text is read whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.token import Keyword, Name, Operator, Token

import xscl.language
from xscl.language.highlight import XSCLLexer

GRAMMARS = sorted(Path(xscl.language.__file__).parent.glob("*.lark"))
_WORDS = re.compile(r"^[A-Z_]+\.[456]: /\(\?ai:((?:[^()]|\(\?:[^()]*\))*)\)", re.MULTILINE)


def expanded(pattern: str) -> Iterator[str]:
    """The texts of a pattern of words, `(?:A|B)` and `[_-]`."""
    parts = re.findall(r"\(\?:(.*?)\)|\[(.*?)\]|([^][()]+)", pattern)
    choices = [a.split("|") if a else [*b] if b else [c] for a, b, c in parts]
    yield from map("".join, product(*choices))


def words() -> Iterator[tuple[str, str]]:
    """Each word of each grammar."""
    for file in GRAMMARS:
        for pattern in _WORDS.findall(file.read_text("utf-8")):
            # Bars that are within no group.
            for one in re.split(r"\|(?![^()]*\))", pattern):
                yield from ((file.stem, word) for word in expanded(one))


EACH = sorted(set(words()))


def tokens(text: str) -> list[tuple[object, str]]:
    return [(kind, part) for _, kind, part in XSCLLexer().get_tokens_unprocessed(text)]


def test_the_words_are_found() -> None:
    assert {file for file, _ in EACH} >= {"grammar", "patterns", "events", "automata", "eql"}
    assert {("patterns", "SKIP_TILL_ANY_MATCH"), ("eql", "OCCURS"), ("events", "FOLD")} <= {*EACH}
    assert len(EACH) > 50


@pytest.mark.parametrize(("file", "word"), EACH)
def test_a_word_of_a_grammar_has_its_colour(file: str, word: str) -> None:
    for spelt in (word, word.upper()):
        coloured = {
            kind
            for behind in (" x", " (", " {", "(")
            for kind, part in tokens(spelt + behind)
            if part == spelt
        }
        assert coloured & {Keyword, Name.Function}, (file, spelt)


@pytest.mark.parametrize(
    "text",
    ["{a = by AND c = d}", "S/item[by = 'x']", "S/by", "S/a->by", "@by", "a.by", "[by, within]"],
)
def test_a_name_is_no_keyword(text: str) -> None:
    assert not [part for kind, part in tokens(text) if kind is Keyword and part in ("by", "within")]


def test_a_statement() -> None:
    kinds = {
        part: kind
        for kind, part in tokens(
            '-- name: q\nselect <a b="{x/y}">{string(t)} {{</a> '
            "from S/item[contains(title, 'it''s')]->t;\n"
            'SELECT {"k": x, "l": [1]} FROM S JOIN {x = :p, 7 days} AUTOMATON {"start": "s"}'
        )
    }
    assert kinds["q"] is Name.Label
    assert kinds["from"] is kinds["select"] is kinds["JOIN"] is kinds["AUTOMATON"] is Keyword
    assert kinds["contains"] is kinds["string"] is Name.Function
    assert kinds["days"] is Keyword.Type
    assert kinds[":p"] is Name.Constant
    assert kinds['"k"'] is kinds['"start"'] is kinds["<a"] is Name.Tag
    assert kinds["->"] is Operator
    assert kinds["'it''s'"] in Token.Literal.String


@given(st.text(alphabet="abS/-><{}[]()'\"$:;.=~ \n1*;SELECT|&?"))
def test_any_text_is_read_whole(text: str) -> None:
    assert "".join(part for _, part in tokens(text)) == text
