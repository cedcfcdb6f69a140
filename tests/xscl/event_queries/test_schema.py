"""Names of composites follow from those of their inputs (docs/semantics.md#names)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xscl.event_queries.schema import Schema, folded, in_sequence, united

NAMES = st.lists(st.sampled_from(["a", "b", "c", "a_1", "b_1"]), unique=True).map(tuple)
CLOSED = st.builds(Schema, NAMES, st.just(False))
SCHEMAS = st.one_of(CLOSED, st.builds(Schema, NAMES, st.just(True), NAMES))


@given(SCHEMAS, st.sampled_from(["a", "b", "c", "x"]))
def test_a_name_once_asked_stays_what_it_is(schema: Schema, name: str) -> None:
    asked = schema.asked(name)
    assert asked.find(name) == schema.find(name)
    assert asked.listed == schema.listed
    found = schema.find(name)
    if found is None:
        assert not schema.open
        assert not {name, f"{name}_1"} & set(schema.listed)
    else:
        assert found in (name, f"{name}_1")
        assert not schema.open or found in asked.known


@given(SCHEMAS, SCHEMAS)
def test_next_renames_the_left_where_names_collide(left: Schema, right: Schema) -> None:
    renamed, twice, schema = in_sequence(left, right)
    both = {*left.listed, *left.known} & {*right.listed, *right.known}
    assert renamed == (bool(both) or (left.open and right.open))
    mine = [name + "_1" if renamed else name for name in left.listed]
    assert set(schema.listed) == {*mine, *right.listed}
    assert set(twice) == set(mine) & set(right.listed)
    assert schema.open == (left.open or right.open)


@given(CLOSED, SCHEMAS, NAMES)
def test_fold_over_a_closed_left(left: Schema, right: Schema, computed: tuple[str, ...]) -> None:
    names = folded(left, right, computed)
    seen = right.known if right.open else right.listed
    assert names.right_names == seen
    assert set(names.lacking) == set(seen) - set(left.listed)
    assert names.common is not None
    assert set(names.common) == set(left.listed) & {*seen, *computed}
    assert not names.schema.open


@given(NAMES, NAMES, NAMES, NAMES, NAMES)
def test_fold_of_two_open_ones_keeps_what_only_the_left_computes(
    listed: tuple[str, ...],
    known: tuple[str, ...],
    right: tuple[str, ...],
    asked: tuple[str, ...],
    computed: tuple[str, ...],
) -> None:
    names = folded(Schema(listed, True, known), Schema(right, True, asked), computed)
    assert (names.common, names.right_names, names.lacking) == (None, None, ())
    assert set(names.kept) == set(listed) - {*right, *asked, *computed}
    assert {*names.kept, *right, *computed} <= set(names.schema.listed)
    assert {f"{name}_1" for name in known if name not in names.kept} <= set(names.schema.known)


@given(SCHEMAS, SCHEMAS)
def test_union_lists_what_both_list(left: Schema, right: Schema) -> None:
    schema = united(left, right)
    assert set(schema.listed) == set(left.listed) & set(right.listed)
    assert schema.open == (left.open or right.open)


STOCK = ("Name", "Price", "Volume")


@pytest.mark.parametrize("open_", [False, True])
def test_example_17(open_: bool) -> None:
    stock = Schema((), True, STOCK) if open_ else Schema(STOCK, False)
    names = folded(stock.beside(["cnt"]), stock, ("cnt",)).schema
    every = {*names.listed, *names.known}
    assert every == {*STOCK, "cnt", *(f"{name}_1" for name in (*STOCK, "cnt"))}
    assert names.find("Price") == "Price"
