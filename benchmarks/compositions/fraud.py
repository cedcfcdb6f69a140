"""Transactions of cards, and the query for fraud (Schultz-Møller et al., section 1.1), with the
window scaled to 12 minutes and the cards to some one transaction a minute: in EQL and in SQL."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from math import log
from random import Random
from typing import NamedTuple

import duckdb

__all__ = [
    "CARDS",
    "EQL",
    "RATE",
    "WINDOW",
    "Transaction",
    "in_batches",
    "line",
    "looking_back",
    "transactions",
]

RATE = 2_100.0
"""Transactions a second."""
CARDS = 100_000
WINDOW = 12 * 60
"""Seconds."""
EQL = (
    "SELECT * FROM (t S1; t S2; t L) WHERE FILTER(S1.acc = S2.acc), FILTER(S2.acc = L.acc), "
    "S1.amount < 100 AND S2.amount < 100 AND L.amount > 250 AND (S1, L) OCCURS WITHIN 12 min"
)

Found = tuple[int, int, int]
"""The numbers of a match's transactions."""


class Transaction(NamedTuple):
    """By its number; `time` in microseconds."""

    number: int
    time: int
    card: int
    amount: float


def transactions(count: int, cards: int = CARDS, seed: int = 1) -> Iterator[Transaction]:
    """Poisson, each of any card; amounts are log-normal with a median of 40.  A longer stream
    begins like a shorter one."""
    draw, now = Random(f"fraud {seed}"), 0.0
    for number in range(count):
        now += draw.expovariate(RATE)
        amount = round(draw.lognormvariate(log(40), 1.2), 2)
        yield Transaction(number, round(now * 1_000_000), draw.randrange(cards), amount)


def line(one: Transaction) -> str:
    """A line of JSON, whose body has 29 to 292 bytes, by a normal distribution of 150 and 30."""
    size = min(292, max(29, round(Random(one.number).gauss(150, 30))))
    body = {"acc": one.card, "amount": one.amount, "currency": "USD", "country": "US"}
    body["text"] = "x" * max(0, size - len(json.dumps(body | {"text": ""})))
    envelope = {"stream": "t", "id": str(one.number), "timestamp": one.time / 1_000_000}
    return json.dumps(envelope | {"json": body})


_TABLE = "CREATE TABLE t (number INTEGER, time BIGINT, card INTEGER, amount DOUBLE)"

_LOOK_BACK = f"""
WITH next AS (
    SELECT number, time, amount, lead(number) OVER w AS second, lead(amount) OVER w AS amount_2,
        lead(number, 2) OVER w AS third, lead(amount, 2) OVER w AS amount_3,
        lead(time, 2) OVER w AS time_3
    FROM t WINDOW w AS (PARTITION BY card ORDER BY time)
)
SELECT number, second, third FROM next
WHERE amount < 100 AND amount_2 < 100 AND amount_3 > 250 AND time_3 - time <= {WINDOW * 1_000_000}
"""

_OF_A_BATCH = f"""
SELECT a.number, b.number, l.number
FROM t l JOIN t b ON b.card = l.card AND b.time < l.time
    JOIN t a ON a.card = b.card AND a.time < b.time
WHERE l.number >= ? AND a.amount < 100 AND b.amount < 100 AND l.amount > 250
    AND l.time - a.time <= {WINDOW * 1_000_000}
    AND NOT EXISTS (FROM t x WHERE x.card = l.card AND b.time < x.time AND x.time < l.time)
    AND NOT EXISTS (FROM t x WHERE x.card = b.card AND a.time < x.time AND x.time < b.time)
"""


def looking_back(lines: Sequence[str]) -> list[Found]:
    """The matches in all transactions, by one statement at their end: the next two of each card by
    window functions."""
    with duckdb.connect() as base:
        base.execute("SET threads = 1")
        base.execute(_TABLE)
        _fill(base, lines)
        return base.execute(_LOOK_BACK).fetchall()


def in_batches(
    lines: Sequence[str], size: int, before: Sequence[str] = ()
) -> Iterator[list[Found]]:
    """The matches that end in each batch, when it has come: joins with the transactions of the
    window.  Those `before` are in the table from the beginning."""
    rest = iter(lines)
    with duckdb.connect() as base:
        base.execute("SET threads = 1")
        base.execute(_TABLE)
        _fill(base, before)
        while batch := [*islice(rest, size)]:
            first, latest = _insert(base, batch)
            base.execute("DELETE FROM t WHERE time < ?", [latest - WINDOW * 1_000_000])
            yield base.execute(_OF_A_BATCH, [first]).fetchall()


def _fill(base: duckdb.DuckDBPyConnection, lines: Sequence[str]) -> None:
    for first in range(0, len(lines), 200_000):
        _insert(base, lines[first : first + 200_000])


def _insert(base: duckdb.DuckDBPyConnection, lines: Sequence[str]) -> tuple[int, int]:
    """The first number and the latest time of what is inserted: DuckDB reads the text itself."""
    base.execute(
        """INSERT INTO t SELECT CAST(e.id AS INTEGER),
            CAST(round(CAST(e.timestamp AS DOUBLE) * 1000000) AS BIGINT),
            CAST(e.json.acc AS INTEGER), CAST(e.json.amount AS DOUBLE)
        FROM (SELECT json_transform(unnest(?), '{"id": "VARCHAR", "timestamp": "DOUBLE",
            "json": {"acc": "INTEGER", "amount": "DOUBLE"}}') AS e)""",
        [[*lines]],
    )
    first, last = (json.loads(lines[place]) for place in (0, -1))
    return int(first["id"]), round(last["timestamp"] * 1_000_000)
