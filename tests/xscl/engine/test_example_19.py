"""Example 19 of the thesis on the events of Figure 4.3: instances as in Figure 4.4, and the match.

The text as printed has the 5 % in NEXT's braces, where it skips; around it, as in the automaton of
Figure 4.2, the instance goes with the next quote of its name (docs/semantics.md#operators).
"""

from __future__ import annotations

import pytest

import xscl

PRINTED = """
SELECT Name, MaxPrice, MinPrice, Price AS FinalPrice
FROM
  FILTER{DUR ≥ 10min} (
    (SELECT Name, Price_1 AS MaxPrice, Price AS MinPrice
FROM FILTER{Volume > 10000}(Stock)
  FOLD{$2.Name = $.Name, $2.Price < $.Price, }
Stock))
  NEXT{$2.Name = $1.Name AND
    $2.Price > 1.05*$1.MinPrice}
Stock
"""
AS_DRAWN = """
SELECT Name, MaxPrice, MinPrice, Price AS FinalPrice
FROM FILTER{Price > 1.05*MinPrice}(
  FILTER{DUR ≥ 10min} (
    (SELECT Name, Price_1 AS MaxPrice, Price AS MinPrice
FROM FILTER{Volume > 10000}(Stock)
  FOLD{$2.Name = $.Name, $2.Price < $.Price, }
Stock))
  NEXT{$2.Name = $1.Name}
Stock)
"""
QUOTES = [
    # Minutes after nine, name, price, volume; instances at A and at B then.
    (10, "IBM", 90, 15_000, 1),
    (15, "IBM", 85, 7_000, 1),
    (17, "Dell", 40, 11_000, 2),
    (21, "IBM", 81, 8_000, 3),
    (23, "MSFT", 25, 6_000, 3),
    (24, "IBM", 91, 9_000, 1),
]


@pytest.mark.parametrize("query", [PRINTED, AS_DRAWN], ids=["printed", "drawn"])
def test_the_instances_and_the_match_of_the_figures(query: str) -> None:
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe(query, name="falls")
        found, nine = [], 9 * 3600
        for minute, name, price, volume, instances in QUOTES:
            quote = {"Name": name, "Price": price, "Volume": volume}
            found += engine.publish("Stock", quote, id=f"{minute}", timestamp=nine + minute * 60)
            found += engine.advance(nine + minute * 60 + 1)
            assert engine.stats()["event_queries"]["instances"] == instances
        (match,) = found
        assert (match.start, match.time) == (nine + 600, nine + 24 * 60)
        expected = {"Name": "IBM", "MaxPrice": 90, "MinPrice": 81, "FinalPrice": 91}
        assert match.to_dict()["result"] == expected
