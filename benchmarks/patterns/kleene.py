"""SASE+'s query template, for the product and for backtracking: `PATTERN(STOCK+ a[], STOCK b) WHERE
ES {[symbol] ∧ a[1].price % 500 = 0 ∧ P ∧ b.volume < 150} WITHIN W`."""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.patterns.backtrack import Kleene
from benchmarks.patterns.streams import Stock
from xscl.pattern_stage.pattern import Component, Pattern, Strategy, Test
from xscl.pattern_stage.values.terms import (
    Aggregate,
    Arithmetic,
    Attribute,
    Comparison,
    Constant,
    Index,
    Read,
    Term,
)

__all__ = ["QUERIES", "Constants", "by_hand", "kleene"]

QUERIES = tuple((p, s) for p in ("p1", "p2", "p3") for s in ("s2", "s3"))
"""Predicates (true, above the price before, above the least one before) and strategies."""
STRATEGIES = {"s2": Strategy.PARTITION_CONTIGUITY, "s3": Strategy.SKIP_TILL_NEXT_MATCH}
PRICE, VOLUME = Attribute(("price",)), Attribute(("volume",))


class Constants(NamedTuple):
    """What the price of a[1] is a multiple of, with a remainder, and b's volume is below."""

    begins: float = 500
    remainder: float = 0
    below: float = 150


def kleene(predicate: str, strategy: str, within: int) -> Pattern:
    """The query as a pattern over so many ticks."""
    begin, rest, below = (Constant(place, number=True) for place in range(3))
    conjuncts = [
        Comparison.of("=", Arithmetic("%", Read(0, PRICE, Index.FIRST), begin), rest),
        Comparison.of("<", Read(1, VOLUME), below),
    ]
    above: dict[str, Term] = {
        "p2": Read(0, PRICE, Index.PREVIOUS),
        "p3": Aggregate("min", 0, PRICE, previous=True),
    }
    if predicate in above:
        conjuncts.append(Comparison.of(">", Read(0, PRICE, Index.EACH), above[predicate]))
    return Pattern(
        (Component("a", kleene=True), Component("b")),
        STRATEGIES[strategy],
        tuple((one,) for one in conjuncts),
        (Test(Attribute(("symbol",))),),
        within,
    )


def by_hand(predicate: str, strategy: str, within: int, constants: Constants) -> Kleene:
    """The query for backtracking."""
    begins, rest, below = constants

    def price(event: Stock) -> int:
        return event.price

    def later(value: int, event: Stock) -> int:
        return event.price if predicate == "p2" else min(value, event.price)

    return Kleene(
        begins=lambda event: event.price % begins == rest,
        initial=price,
        takes=lambda value, event: predicate == "p1" or event.price > value,
        update=later,
        ends=lambda event: event.volume < below,
        within=within,
        contiguous=strategy == "s2",
    )
