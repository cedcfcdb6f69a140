"""The counting oracle against the one that tries everything, and its speed where it is needed."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from tests.oracle.feed_counts import count_matches, read_queries
from tests.oracle.patterns import Block, Document, Join, Query, Variable
from tests.oracle.standing import evaluate

LEAVES = ("feed", "title", "link", "author", "category")


def item(dice: random.Random, values: int) -> str:
    leaves = [leaf for leaf in LEAVES if dice.random() < 0.8]
    return "".join(f"<{leaf}>v{dice.randrange(values)}</{leaf}>" for leaf in leaves)


def query_text(name: str, pairs: list[tuple[str, str]], window: str) -> str:
    left = "".join(f"[./{leaf}->a{n}]" for n, (leaf, _) in enumerate(pairs, 1))
    right = "".join(f"[./{leaf}->b{n}]" for n, (_, leaf) in enumerate(pairs, 1))
    joins = " AND ".join(f"a{n}=b{n}" for n in range(1, len(pairs) + 1))
    operator = f"FOLLOWED BY {{{joins}, {window}}}"
    return f"-- name: {name}\nS//item->a0{left} {operator} S//item->b0{right};\n"


@pytest.mark.parametrize("seed", range(5))
def test_equals_nested_loops(seed: int) -> None:
    dice = random.Random(seed)
    events: list[dict[str, Any]] = [
        {
            "stream": "S",
            "id": f"d{n}",
            "timestamp": dice.randrange(40) * 21600,
            "xml": f"<item>{item(dice, 4)}</item>",
        }
        for n in range(40)
    ]
    text, queries = "", []
    for n in range(20):
        lefts = dice.sample(LEAVES, dice.randint(1, 3))
        pairs = [(leaf, leaf if dice.random() < 0.7 else dice.choice(LEAVES)) for leaf in lefts]
        days = dice.choice([1, 3, 7])
        text += query_text(f"q{n}", pairs, f"{days} days")
        sides = [
            Block(
                "S",
                [
                    Variable(f"{side}0", None, "//item"),
                    *(
                        Variable(f"{side}{k}", f"{side}0", f"./{pair[place]}")
                        for k, pair in enumerate(pairs, 1)
                    ),
                ],
                f"{side}0",
            )
            for place, side in enumerate("ab")
        ]
        joins = [(f"a{k}", "=", f"b{k}") for k in range(1, len(pairs) + 1)]
        left, right = sides
        queries.append(Query(f"q{n}", Join(left, "FOLLOWED BY", right, joins, days * 86400)))
    documents = [Document(e["stream"], e["id"], e["timestamp"], e["xml"]) for e in events]
    found = count_matches(read_queries(text), events)
    expected = Counter(row.query for row in evaluate(queries, documents))
    assert sum(found.values()) > 0
    assert found == {query.name: expected[query.name] for query in queries}


def test_a_document_id_counts_once() -> None:
    queries = read_queries(query_text("q", [("title", "title")], "INF"))
    events = [
        {"id": name, "timestamp": time, "xml": "<item><title>t</title></item>"}
        for name, time in (("a", 1), ("b", 2), ("b", 2), ("c", 2))
    ]
    assert count_matches(queries, events) == {"q": 2}


def test_other_text_is_refused() -> None:
    with pytest.raises(ValueError, match="no query of flat feed items"):
        read_queries("-- name: q\nS//a->x JOIN {x=y} S//b->y;\n")
