"""The generators of both papers, seeded: SASE's twenty types, SASE+'s stocks.

One event a tick, so that a window of W events is one of W ticks.
"""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import comb
from typing import NamedTuple

__all__ = ["Stock", "Typed", "results_per_event", "sequences", "stocks", "typed"]

TYPES = 20
HIGHEST = 1_000
"""The highest price and volume."""


class Typed(NamedTuple):
    """An event of a type, from 1, with the values of attr1 …"""

    tick: int
    type: int
    values: tuple[int, ...]


class Stock(NamedTuple):
    """A trade of a stock, whose symbol is from 1."""

    tick: int
    symbol: int
    price: int
    volume: int


def typed(events: int, domains: Sequence[int], *, types: int = TYPES, seed: int = 1) -> list[Typed]:
    """Events of types drawn uniformly, with a value of each domain (SASE, table 1)."""
    dice = random.Random(seed).random
    return [
        Typed(tick, 1 + int(dice() * types), tuple([int(dice() * size) for size in domains]))
        for tick in range(events)
    ]


def results_per_event(window: int, length: int, types: int, domain: int) -> float:
    """The matches of a sequence with one equivalence test that an event completes on average: the
    ways to choose earlier events within the window, C(W − 1, L − 1) / (T^L · V^(L−1)).

    (The paper divides C(W, L) by W: that is the number for separate batches of W events.)
    """
    return comb(window - 1, length - 1) / (types**length * domain ** (length - 1))


def sequences(events: Sequence[Typed], tests: int, window: int) -> int:
    """How many sequences of E1, E2, E3 there are that are equal in so many attributes."""
    found = 0
    stacks = [defaultdict[tuple[int, ...], list[int]](list) for _ in range(2)]
    for event in events:
        if event.type > 3:
            continue
        key = event.values[:tests]
        if event.type < 3:
            stacks[event.type - 1][key].append(event.tick)
            continue
        firsts, seconds = (stack[key] for stack in stacks)
        low = bisect_right(firsts, event.tick - window)
        for second in seconds[bisect_right(seconds, event.tick - window) :]:
            found += bisect_left(firsts, second) - low
    return found


def stocks(
    events: int, *, up: float = 0.7, symbols: int = 2, seed: int = 1, turning: bool = True
) -> Iterator[Stock]:
    """Trades of symbols drawn uniformly; a price goes up with one probability, down or nowhere with
    half of the rest each, by 1 (SASE+, section 6.1), and turns at the ends of its range or leaves
    it."""
    dice = random.Random(seed)
    prices = {symbol: dice.randint(1, HIGHEST) for symbol in range(1, symbols + 1)}
    turned = dict.fromkeys(prices, 1)
    for tick in range(events):
        symbol, drawn = dice.randint(1, symbols), dice.random()
        step = 1 if drawn < up else -1 if drawn < (1 + up) / 2 else 0
        price = prices[symbol] + step * turned[symbol]
        if turning and not 1 <= price <= HIGHEST:
            turned[symbol] *= -1
            price = prices[symbol] + step * turned[symbol]
        prices[symbol] = price
        yield Stock(tick, symbol, price, dice.randint(1, HIGHEST))
