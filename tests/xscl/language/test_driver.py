"""Texts are read by the tables of a grammar as lark reads them, and refused where it does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lark import Token, Tree, UnexpectedInput

from tests.xscl.language.test_grammar import TEXTS
from xscl.language.checks.names import is_plain
from xscl.language.grammar import STARTS, Grammar, driver, grammar

_MORE: tuple[tuple[Grammar, str, str], ...] = (
    ("grammar", "declaration", "DECLARE NAMESPACE p = 'http://a/'"),
    (
        "grammar",
        "query",
        "S//item->x[title->a and not(@b = 'c')]\n JOIN {a = b OR a < :p} R//@c->b",
    ),
    ("grammar", "query", "SELECT x/t AS t, y FROM (S/a->x JOIN {x = y}\nS/é->y)/b PUBLISH T"),
    ("grammar", "query", "SELECT * FROM div//div->and[div div 2 mod mod = -1] PUBLISH or"),
    ("grammar", "variable_path", "x/a/b[2]"),
    ("grammar", "insert", "string(x/a)"),
    ("patterns", "value", "a.p * -2 + 'it''s'"),
    ("events", "stream", "DECLARE STREAM S (a, 'b c')"),
)
ALL = [*_MORE, *((which, rule, text) for which, (rule, text) in TEXTS.items())]
_PIECES = st.sampled_from(
    ["", " ", "(", ")", "[", "x", "->", "'", "//", "AND", "é", "\U000e1000", ";"]
)


def by_lark(which: Grammar, rule: str, text: str) -> Tree[Token] | None:
    try:
        tree = grammar(which, is_plain(text)).parse(text, start=rule)
    except UnexpectedInput:
        return None
    assert isinstance(tree, Tree)
    return tree


def tokens(tree: Tree[Token]) -> Iterator[tuple[str, str, int | None, int | None]]:
    for one in tree.scan_values(lambda value: isinstance(value, Token)):
        yield one.type, one.value, one.start_pos, one.end_pos


def agree(which: Grammar, rule: str, text: str) -> bool:
    """Whether it is read; raises AssertionError where the two differ."""
    ours, theirs = driver(which, is_plain(text)).read(text, rule), by_lark(which, rule, text)
    assert ours == theirs
    if ours is None or theirs is None:
        return False
    assert [*tokens(ours)] == [*tokens(theirs)]
    return True


@pytest.mark.parametrize(("which", "rule", "text"), ALL)
def test_texts_are_read_as_lark_does(which: Grammar, rule: str, text: str) -> None:
    assert rule in STARTS[which]
    assert agree(which, rule, text)


@given(st.sampled_from(ALL), st.integers(0, 80), st.integers(0, 3), _PIECES)
def test_texts_with_a_mistake_are_refused_where_lark_does(
    one: tuple[Grammar, str, str], at: int, gone: int, piece: str
) -> None:
    which, rule, text = one
    agree(which, rule, text[:at] + piece + text[at + gone :])
