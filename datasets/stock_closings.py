"""Daily closings of stocks, for the double tops of the thesis' section 4.6.3.

The thesis had 112,635 closings of 24 names; these are as many of a geometric walk: each day's
logarithm of the price moves by a normal step of 2 %, less what `reversal` takes back of the step
before it.  Everything is the same for the same seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp
from random import Random
from typing import Any

__all__ = ["stock_closings"]

ROWS = 112_635
NAMES = 24
DAY = 86_400


def stock_closings(
    rows: int = ROWS,
    *,
    names: int = NAMES,
    volatility: float = 0.02,
    reversal: float = 0.05,
    seed: int = 14,
) -> Iterator[dict[str, Any]]:
    """Closings as envelopes of stream `Stock`, all names' at one time, a day after the last ones;
    no two neighbours of a name are equal.

    >>> next(stock_closings(1))["json"]
    {'Name': 'N0', 'Price': 100.0}
    """
    random = Random(seed)
    prices, steps = [100.0] * names, [0.0] * names
    for number in range(rows):
        day, name = divmod(number, names)
        price = prices[name]
        while day and price == prices[name]:
            steps[name] = random.gauss(0, volatility) - reversal * steps[name]
            price = float(f"{prices[name] * exp(steps[name]):.8g}")
        prices[name] = price
        yield {
            "stream": "Stock",
            "id": f"stock{number}",
            "timestamp": day * DAY,
            "json": {"Name": f"N{name}", "Price": price},
        }
