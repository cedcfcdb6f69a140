"""Queries say the same however their conditions are ordered."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import xscl
from xscl.language import parse
from xscl.language.parameters import Prepared
from xscl.language.same_query import normal_form, normal_form_of

Tree = str | tuple[str, tuple["Tree", ...]]
"""A condition, or some that AND or OR joins."""

QUERIES = {
    "a filter": "S/a[{}]",
    "a filter in a predicate": "S/a->x JOIN {{x/b[{}] = y}} S/b->y",
    "a predicate": "S/a[./p->p][./q->q][./r->r] JOIN {{p = y AND ({})}} S/b->y",
    "a pattern": "PATTERN SEQ(S a, T b) WHERE skip_till_any_match {{ {} }} WITHIN 5 s",
    "an event pattern": "EVENT SEQ(S a, !T b, S c) WHERE {} WITHIN 5 s",
    "an event query": "DECLARE STREAM S(p, q, r); SELECT p FROM FILTER{{{}}}(S)",
    "a composition": "SELECT * FROM (S a; T b) WHERE {}",
}
LEAVES = {
    "a filter": ("p = 1", "q > :v", "contains(r, 'x')"),
    "a filter in a predicate": ("p = 1", "q > 2", "contains(r, 'x')"),
    "a predicate": ("p = 1", "q > :v", "r = 'x'"),
    "an event query": ("p = 1", "q > :v", "r != 'x'"),
}
OTHERS = ("a.p = 1", "a.q > :v", "a.r != 'x'")

trees = st.recursive(
    st.sampled_from("012"),
    lambda inner: st.tuples(
        st.sampled_from(["and", "or"]), st.lists(inner, min_size=2, max_size=3).map(tuple)
    ),
    max_leaves=5,
)


def written(tree: Tree, leaves: tuple[str, ...], name: str, draw: random.Random) -> str:
    """A condition as text, what AND and OR join in any order."""
    if isinstance(tree, str):
        return leaves[int(tree)]
    operator, parts = tree
    texts = [f"({written(one, leaves, name, draw)})" for one in parts]
    draw.shuffle(texts)
    lower = name.startswith("a filter")
    return f" {operator if lower else operator.upper()} ".join(texts)


def said(tree: Tree) -> object:
    """What a condition says but for the order: the parts of a chain of one operator are a set."""
    if isinstance(tree, str):
        return tree
    operator, parts = tree

    def chain(one: Tree) -> frozenset[object]:
        if isinstance(one, str) or one[0] != operator:
            return frozenset([said(one)])
        return frozenset().union(*map(chain, one[1]))

    return operator, chain((operator, parts))


@pytest.mark.parametrize("name", QUERIES)
@given(tree=trees, other=trees, draw=st.randoms(use_true_random=False))
def test_the_order_of_conditions_says_nothing(
    name: str, tree: Tree, other: Tree, draw: random.Random
) -> None:
    def query(tree: Tree) -> tuple[object, object]:
        text = QUERIES[name].format(written(tree, LEAVES.get(name, OTHERS), name, draw))
        (one,), errors = parse(text)
        assert errors == []
        prepared = Prepared(one)
        bound, problems = prepared.bind({"v": 2})
        assert problems == []
        return normal_form_of(prepared), normal_form(bound)

    assert query(tree) == query(tree)
    if name not in ("a predicate", "a filter in a predicate"):
        # A predicate is compared by its disjuncts: more of them say the same.
        assert (query(tree) == query(other)) == (said(tree) == said(other))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("S/a[1][p = 1]", "S/a[p = 1][1]", False),
        ("S/a[p - 1 > 0]", "S/a[1 - p > 0]", False),
        ("S/a[p < 1]", "S/a[1 < p]", False),
        ("SELECT * FROM (S a; T b) WHERE a.p = 1, b.q = 2",
         "SELECT * FROM (S a; T b) WHERE b.q = 2, a.p = 1", True),
        ("SELECT * FROM (S a; T b)", "SELECT * FROM (T b; S a)", False),
        ("PATTERN SEQ(S+ a[], T b) WHERE skip_till_next_match { }",
         "PATTERN SEQ(S+ a, T b) WHERE skip_till_next_match { }", True),
        ("PATTERN SEQ(S+ a, T b) WHERE skip_till_next_match { }",
         "PATTERN SEQ(S a, T b) WHERE skip_till_next_match { }", False),
    ],
)  # fmt: skip
def test_what_says_the_same(one: str, other: str, same: bool) -> None:
    (first, second), errors = parse(f"{one};\n{other}")
    assert errors == []
    assert (normal_form(first) == normal_form(second)) == same


def test_a_file_in_another_order_continues(tmp_path: Path) -> None:
    path = tmp_path / "state.duckdb"
    text = "-- name: q\nS/a[p = {} and q = {}]"
    with xscl.Engine(path) as engine:
        engine.load(text.format(1, 2))
    with xscl.Engine(path) as engine:
        assert engine.plan([(text.format(2, 1), {})]).changed == ["q"]
        assert engine.plan([("-- name: q\nS/a[q = 2 and p = 1]", {})]).continuing == ["q"]
