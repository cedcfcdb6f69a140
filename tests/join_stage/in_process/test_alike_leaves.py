"""Which leaves are in one index of alike texts."""

from __future__ import annotations

import xscl
from xscl.join_stage.in_process.alike_leaves import AlikeLeaves, alike_leaves

ITEM = "<i><t>a b c d</t><a>Jo Doe</a><s>a b</s></i>"


def leaves_of(*queries: str) -> list[AlikeLeaves]:
    with xscl.Engine() as engine:
        for query in queries:
            engine.subscribe(query)
        engine.publish("S", ITEM, id="s", timestamp=1)
        engine.publish("T", ITEM, id="t", timestamp=1)
        join = engine._join._in_process
        found = alike_leaves(join._registry, join._accepts, join.tokens.measures)
        return [one for of_plan in found.values() for one in of_plan]


TITLES = "S/i/t->x JOIN {similar(x, y) >= 0.6} T/i/t->y"
AUTHORS = "S/i/a->x JOIN {similar(x, y) >= 0.9} T/i/a->y"


def test_leaves_that_no_query_compares_are_apart() -> None:
    titles, authors = sorted(leaves_of(TITLES, AUTHORS), key=lambda one: one.least)
    assert (titles.least, authors.least) == (600_000, 900_000)
    assert titles.texts is not authors.texts
    assert not {*titles.spines[0]} & {*authors.spines[0]}


def test_leaves_that_hang_together_share_an_index_of_the_lowest_threshold() -> None:
    last = "S/i/a->x JOIN {similar(x, y) >= 0.7} T/i/t->y"
    (all_of_one_plan,) = leaves_of(TITLES, AUTHORS, last)
    assert all_of_one_plan.least == 600_000
    # Another tree, and so another plan: its documents are other ones, its texts the same.
    other = "S/i[./t->x][./s->z] FOLLOWED BY {similar(x, y) >= 0.5 AND z != y} T/i/t->y"
    found = leaves_of(TITLES, other)
    assert len({id(one.texts) for one in found}) == 1
    assert sorted(one.least for one in found) == [500_000, 600_000]


def test_each_measure_has_an_index() -> None:
    trigrams = TITLES.replace("(x, y)", "(x, y, 'trigrams')")
    assert len({id(one.texts) for one in leaves_of(TITLES, trigrams)}) == 2


def test_a_pair_that_is_alike_in_two_ways_is_a_match_once() -> None:
    """By the index of either pair of leaves, for queries of one plan."""
    with xscl.Engine() as engine:
        for query, name in ((TITLES, "t"), (AUTHORS, "a")):
            engine.subscribe(query, name=name)
        engine.publish("S", ITEM, id="s", timestamp=1)
        found = engine.publish("T", ITEM, id="t", timestamp=1)
        found += engine.publish("T", ITEM.replace("Jo Doe", "Al Roe"), id="u", timestamp=1)
    assert sorted((one.query, *one.documents) for one in found) == [
        ("a", "s", "t"), ("t", "s", "t"), ("t", "s", "u"),
    ]  # fmt: skip
