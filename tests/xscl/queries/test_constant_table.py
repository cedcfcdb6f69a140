"""Queries that are the same up to constants: which of them a value matches, at and around each
constant."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest

import xscl

ORDERS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}
PLACES = {
    "a filter": "S/r->r[./n {0} :limit]",
    "a filter, turned round": "S/r->r[:limit {1} ./n]",
    "a predicate": "S/r->r[./n->n] JOIN {{n {0} :limit}} S/e->e",
}
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}


def matching(query: str, limits: list[object], values: list[object]) -> dict[object, list[str]]:
    """The names of the queries that each value matches, in an engine that evaluates all as one;
    each limit is that of two queries."""
    with xscl.Engine() as engine:
        rows = [{"name": name, "limit": limit} for limit in limits for name in names(limit)]
        engine.subscribe_many(query, rows)
        engine.publish("S", "<e/>", timestamp=0)
        return {
            value: [match.query for match in engine.publish("S", f"<r><n>{value}</n></r>")]
            for value in values
        }


def names(limit: object) -> list[str]:
    return [f"{limit!r}, {n}" for n in (1, 2)]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("order", ORDERS)
def test_a_number_is_compared_with_each_constant(place: str, order: str) -> None:
    limits, values = [-1, 5, 5.5, *range(100, 300)], [-1, 3, 5, 5.5, 200, 200.5]
    query = PLACES[place].format(order, TURNED[order])
    assert matching(query, [*limits], [*values]) == {
        value: [name for limit in limits if ORDERS[order](value, limit) for name in names(limit)]
        for value in values
    }


@pytest.mark.parametrize("order", ORDERS)
def test_in_a_predicate_words_are_in_order_of_their_letters(order: str) -> None:
    limits = values = ["ann", "b", "bob", "5", "9", "10", "zoe"]

    def holds(value: str, limit: str) -> bool:
        if order not in ("=", "!=") and value.isdigit() and limit.isdigit():
            return ORDERS[order](float(value), float(limit))
        return bool(getattr(operator, ORDERS[order].__name__)(value, limit))

    assert matching(PLACES["a predicate"].format(order), [*limits], [*values]) == {
        value: [name for limit in limits if holds(value, limit) for name in names(limit)]
        for value in values
    }
