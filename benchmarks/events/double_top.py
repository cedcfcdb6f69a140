"""Double-Top in four formulations: by FOLD, by resubscription, and in SQL by window functions and
by self-joins (the thesis' figure 4.16)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import duckdb
import pyarrow as pa

__all__ = ["FOLDS", "RESUBSCRIPTION", "in_sql", "smoothed", "table_of"]

PRICES = "(SELECT Name, Price FROM Prices)"
NEAR = "FILTER{{Price >= 0.9*{0} AND Price <= 1.1*{0}}}"

FOLDS = f"""
-- name: tops
SELECT Name, A, B, C, D, Price AS E FROM FILTER{{Price <= A}}(
  (SELECT Name, A, B, C, Price AS D, Price FROM {NEAR.format("B")}(
    (SELECT Name, A, B, Price AS C, Price FROM {NEAR.format("A")}(
      (SELECT Name, A, Price AS B, Price FROM FILTER{{Price >= 1.2*A}}(
        (SELECT Name, Price AS A, Price FROM FILTER{{Price < P}}(
          (SELECT Name AS N, Price AS P FROM Prices) NEXT{{$2.Name = $1.N}} {PRICES}))
        FOLD{{$2.Name = $.Name, $2.Price > $.Price}} {PRICES}))
      FOLD{{$2.Name = $.Name, $2.Price < $.Price}} {PRICES}))
    FOLD{{$2.Name = $.Name, $2.Price > $.Price}} {PRICES}))
  FOLD{{$2.Name = $.Name, $2.Price < $.Price}} {PRICES})
"""
"""A fall to A, a rise to B, a fall to C, a rise to D, and each price of the fall from there that is
not above A."""

EXTREMUM = """
-- name: {name}
SELECT Name, MAX(P2) AS Price FROM FILTER{{P2 {sign} Price}}(FILTER{{P2 {sign} P1}}(
  (SELECT Name AS N, Price AS P1 FROM Prices)
  NEXT{{$2.M = $1.N}} (SELECT Name AS M, Price AS P2 FROM Prices))
  NEXT{{$2.Name = $1.N}} (SELECT Name, Price FROM Prices)) GROUP BY Name PUBLISH Extrema;
"""

RESUBSCRIPTION = (
    EXTREMUM.format(name="maxima", sign=">")
    + EXTREMUM.format(name="minima", sign="<")
    + f"""
-- name: tops
SELECT Name, A, B, C, D, Price AS E FROM FILTER{{Price <= A}}(
  (SELECT Name AS N, A, B, C, Price AS D FROM {NEAR.format("B")}(
    (SELECT Name AS N, A, B, Price AS C FROM {NEAR.format("A")}(
      (SELECT Name AS N, A, Price AS B FROM FILTER{{Price >= 1.2*A}}(
        (SELECT Name AS N, Price AS A FROM Extrema) NEXT{{$2.Name = $1.N}} Extrema))
      NEXT{{$2.Name = $1.N}} Extrema))
    NEXT{{$2.Name = $1.N}} Extrema))
  NEXT{{$2.Name = $1.N}} Extrema)
"""
)
"""Extrema as points, when the price after them is known, and five that follow each other."""

EXTREMA = {
    "CQL1": """
        SELECT name, day, price FROM (
            SELECT *, lag(price) OVER names AS before, lead(price) OVER names AS after FROM prices
            WINDOW names AS (PARTITION BY name ORDER BY day)
        ) WHERE (price - before) * (after - price) < 0
    """,
    "CQL2": """
        SELECT b.name, b.day, b.price FROM numbered a
        JOIN numbered b ON a.name = b.name AND b.place = a.place + 1
        JOIN numbered c ON b.name = c.name AND c.place = b.place + 1
        WHERE (b.price - a.price) * (c.price - b.price) < 0
    """,
}
TOPS = {
    "CQL1": """
        SELECT name, a, b, c, d, price AS e FROM (
            SELECT name, price, lag(price, 4) OVER names AS a, lag(price, 3) OVER names AS b,
                lag(price, 2) OVER names AS c, lag(price, 1) OVER names AS d FROM extrema
            WINDOW names AS (PARTITION BY name ORDER BY day)
        )
    """,
    "CQL2": """
        SELECT a.name, a.price AS a, b.price AS b, c.price AS c, d.price AS d, e.price AS e
        FROM extrema a
        JOIN extrema b ON a.name = b.name AND b.place = a.place + 1
        JOIN extrema c ON a.name = c.name AND c.place = a.place + 2
        JOIN extrema d ON a.name = d.name AND d.place = a.place + 3
        JOIN extrema e ON a.name = e.name AND e.place = a.place + 4
    """,
}
ROW = "row_number() OVER (PARTITION BY name ORDER BY day) AS place"
SMOOTHED = """
    SELECT name, day, avg(price) OVER (
        PARTITION BY name ORDER BY day RANGE BETWEEN {} PRECEDING AND CURRENT ROW
    ) AS price FROM closings
"""
CONDITION = """
    WHERE b >= 1.2 * a AND c >= 0.9 * a AND c <= 1.1 * a AND d >= 0.9 * b AND d <= 1.1 * b
    AND e <= a
"""


def smoothed(text: str, days: int) -> str:
    """Queries over mean prices of so many days in place of `Prices`; of one day these are the
    closings."""
    if days == 1:
        return text.replace("Prices", "Stock")
    # Both ends belong to a window.
    return (
        "-- name: smoothed\n"
        f"SELECT Name, AVG(Price) AS Price FROM WINDOW{{{days - 1} days}}(Stock) GROUP BY Name "
        f"PUBLISH Prices;\n{text}"
    )


def table_of(closings: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Closings as a table."""
    rows = [(e["json"]["Name"], e["timestamp"] // 86_400, e["json"]["Price"]) for e in closings]
    names, days, prices = zip(*rows, strict=True)
    return pa.table({"name": names, "day": days, "price": prices})


def in_sql(way: str, days: int, closings: pa.Table) -> list[tuple[Any, ...]]:
    """The double tops that a formulation finds: name, A, B, C, D, E."""
    with duckdb.connect(config={"threads": 1}) as database:
        database.register("closings", closings)
        for name, query in (
            ("prices", SMOOTHED.format(days - 1)),
            ("numbered", f"SELECT *, {ROW} FROM prices"),
            ("extrema", f"SELECT *, {ROW} FROM ({EXTREMA[way]})"),
        ):
            if way == "CQL2" or name != "numbered":
                database.execute(f"CREATE TEMP TABLE {name} AS {query}")
        return database.execute(f"SELECT * FROM ({TOPS[way]}) {CONDITION}").fetchall()
