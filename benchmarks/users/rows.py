"""The rows of the table of what users do: what is done, with which input, and by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

from benchmarks.scale import Scale
from benchmarks.users import by_hand, inputs
from benchmarks.users.turns import Run
from datasets import ITEM, LeafJoin, feed_stream, query_text, random_joins

ITEMS = 50_000
FEW, SOME, FEWER = 10, 1_000, 10_000
"""Queries whose matches are read one by one, with a state file, and of items one by one."""
ARCHIVED, ARCHIVED_REDUCED = None, 6_000
WEEK = 7 * 86_400

SELF_JOINS = "load queries, few different"
DIFFERENT = "load queries, all different"
TOTAL = "items in batches, the number of matches"
GROUPS = "items in batches, groups read"
JSON = "items of JSON in batches, groups read"
ALONE = "items one by one"
ENDLESS = "items one by one, windows without end"
DURABLE = "items one by one, with a state file"
DELAYED = "items one by one, in a state file within 200 ms"
HELP = "`xscl --help`"
IMPORT = "`import xscl`, and its engine"
TAB = "a TAB of completion"

LINKS = "S/item[link->a] FOLLOWED BY {a = b} S/item[link->b]"
AUTHORS = "S/item[author->a] FOLLOWED BY {a = b, 1 day} S/item[author->b]"
CHAIN = """S/item[title->a] FOLLOWED BY {a = b, 200 days}
  (S/item[title->b] FOLLOWED BY {b = c, 200 days} S/item[title->c])"""
PAIRS = """
    SELECT DISTINCT a.id AS earlier, b.id AS later FROM item a JOIN item b
    ON a.value = b.value AND a.time < b.time AND b.time <= a.time + {window}
"""
TRIPLES = """
    SELECT DISTINCT a.id AS first, b.id AS second, c.id AS third
    FROM item a JOIN item b ON a.value = b.value AND a.time < b.time
    JOIN item c ON b.value = c.value AND b.time < c.time AND c.time <= b.time + 17280000
    AND c.time <= a.time + 17280000
"""


@dataclass(frozen=True, slots=True)
class Row:
    """What a user does: the worker's name for it and its input, how many of what, and the ways of
    `by_hand` to do it (and to do nothing but read)."""

    name: str
    work: str
    folder: Path
    amount: int
    unit: str
    hand: Callable[[], Run] | None = None
    floor: Callable[[], Run] | None = None


def groups(place: Path, scale: Scale) -> Iterator[list[Row]]:
    """The rows, made when their turn comes."""
    numbers = count()

    def folder(*content: object) -> Path:
        return inputs.write(place / str(next(numbers)), *content)  # type: ignore[arg-type]

    # Few queries show what the first ones cost, not the others.
    many = scale.many if scale.full else 10 * scale.many
    joins = random_joins(ITEM, many, window=WEEK)
    for name, text in (
        (SELF_JOINS, query_text(ITEM, joins)),
        (DIFFERENT, inputs.different(joins)),
    ):
        written = folder([], text)
        hand = partial(by_hand.loaded, written)
        yield [Row(name, "load", written, many, "queries", hand)]
    yield from items(folder, scale)
    yield from archives(folder, scale)
    nothing = partial(by_hand.python, "pass")
    empty = folder()
    yield [
        Row(name, work, empty, 1, "", nothing)
        for name, work in (
            (HELP, "helps"),
            (IMPORT, "imports"),
            (TAB, "completes"),
        )
    ]


def items(folder: Callable[..., Path], scale: Scale) -> Iterator[list[Row]]:
    documents = list(feed_stream(min(ITEMS, scale.items)))
    size = len(documents)
    joins = random_joins(ITEM, scale.many, window=WEEK)
    text = query_text(ITEM, joins)
    in_json = inputs.as_json(documents)
    xml, json = folder(documents, text), folder(in_json, query_text(inputs.JSON_ITEM, joins))
    floor, hand = partial(by_hand.floor, documents), partial(by_hand.batches, documents, joins)
    yield [
        Row(TOTAL, "total", xml, size, "items", hand, floor),
        Row(GROUPS, "groups", xml, size, "items", hand, floor),
        Row(
            JSON, "groups", json, size, "items",
            partial(by_hand.batches, in_json, joins), partial(by_hand.floor, in_json),
        ),
    ]  # fmt: skip
    few = self_joins(FEW)
    yield [
        Row(
            f"items in batches, {FEW} queries, matches read", "plain",
            folder(documents, query_text(ITEM, few)), size, "items",
            partial(by_hand.batches, documents, few), floor,
        )
    ]  # fmt: skip
    joins = random_joins(ITEM, min(FEWER, scale.many), window=WEEK)
    hand = partial(by_hand.alone, documents, joins)
    xml = folder(documents, query_text(ITEM, joins))
    yield [Row(ALONE, "alone", xml, size, "items", hand, floor)]
    endless = random_joins(ITEM, len(joins), window=None)
    yield [
        Row(
            ENDLESS, "alone",
            folder(documents, query_text(ITEM, endless)), size, "items",
            partial(by_hand.alone, documents, endless), floor,
        )
    ]  # fmt: skip
    fewer = documents[: max(100, size // 10)]
    some = random_joins(ITEM, min(SOME, scale.many), window=WEEK)
    written = folder(fewer, query_text(ITEM, some))
    yield [
        Row(
            name, work, written, len(fewer), "items",
            partial(by_hand.durable, fewer, some, delay), partial(by_hand.floor, fewer),
        )
        for name, work, delay in ((DURABLE, "durable", 0), (DELAYED, "delayed", 0.2))
    ]  # fmt: skip


def archives(folder: Callable[..., Path], scale: Scale) -> Iterator[list[Row]]:
    """Real items, by the command; no rows where they are absent."""
    documents = inputs.archived(ARCHIVED if scale.full else min(ARCHIVED_REDUCED, scale.items * 2))
    if not documents:
        return
    floor = partial(by_hand.floor, documents)
    for tag, query, sql in (
        ("link", LINKS, PAIRS.format(window="'Infinity'::DOUBLE")),
        ("author", AUTHORS, PAIRS.format(window=86_400)),
        ("title", CHAIN, TRIPLES),
    ):
        written = folder(documents, query)
        name = "a chain of three titles" if tag == "title" else f"{tag}s"
        yield [
            Row(
                f"{name}, as {work}", work, written, len(documents), "items",
                partial(way, written, tag, sql), floor,
            )
            for work, way in (("lines", by_hand.sql_lines), ("counts", by_hand.sql_count))
        ]  # fmt: skip


def self_joins(count: int) -> list[LeafJoin]:
    """Queries whose leaves are joined with themselves, as a title with a title: they match."""
    joins = random_joins(ITEM, 1_000 * count, window=WEEK)
    different = {frozenset(join.pairs): join for join in joins}.values()
    return [join for join in different if all(left == right for left, right in join.pairs)][:count]
