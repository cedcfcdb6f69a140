"""Real items: the templates of figure 4.18, and three questions more, by event queries and SQL."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import duckdb
import pyarrow as pa

import xscl
from benchmarks.archives import ARCHIVES
from benchmarks.events.workloads import DECLARED, FEED
from tests.shared import needs

pytestmark = needs("data", "feed-archives")

Envelopes = list[dict[str, Any]]

COUNTS = {
    "Stateless": """
        SELECT name, count(*) FROM asked JOIN posts USING (website) WHERE popularity > above
        GROUP BY 1
    """,
    "Concatenation": """
        SELECT name, count(*) FROM (
            SELECT name, time, lead(time, 2) OVER (PARTITION BY name ORDER BY time) AS third
            FROM asked JOIN posts USING (website) WHERE popularity > above
        ) WHERE third - time <= 100 GROUP BY 1
    """,
    "Parameterization": """
        SELECT name, count(*) FROM asked JOIN (
            SELECT website, time, popularity AS p0, lead(popularity) OVER channels AS p1,
                lead(popularity, 2) OVER channels AS p2, lead(time, 2) OVER channels AS third
            FROM posts WINDOW channels AS (PARTITION BY website, channel ORDER BY time)
        ) USING (website) WHERE p0 < p1 AND p1 < p2 AND third - time <= 100 GROUP BY 1
    """,
    "Iteration": """
        WITH ordered AS (
            SELECT *, popularity > lag(popularity) OVER channels AS grown FROM posts
            WINDOW channels AS (PARTITION BY website, channel ORDER BY time)
        ), series AS (
            SELECT *, count(*) FILTER (grown IS NOT TRUE) OVER (
                PARTITION BY website, channel ORDER BY time
            ) AS place FROM ordered
        )
        SELECT name, count(*) FROM asked JOIN series a USING (website)
        JOIN series b USING (website, channel, place)
        WHERE a.time < b.time AND b.time - a.time <= 100 GROUP BY 1
    """,
}

QUESTIONS = """
-- name: rates
SELECT channel, COUNT(*) AS posts FROM WINDOW{1 hour}(S) GROUP BY channel PUBLISH Rates;
-- name: bursts
SELECT channel, posts FROM FILTER{before < 5 AND posts >= 5}(
    (SELECT channel AS earlier, posts AS before FROM Rates) NEXT{$1.earlier = $2.channel} Rates);
-- name: renamed
SELECT link, before, title FROM FILTER{title != before}(
    (SELECT link AS url, title AS before FROM S)
    NEXT{$1.url = $2.link} (SELECT link, title FROM S));
-- name: rising
SELECT channel, cnt, points FROM FILTER{cnt >= 3}(
    (SELECT channel, points, 1 AS cnt FROM S)
    FOLD{DUR <= 1 day AND $2.channel = $.channel, $2.points > $.points, $.cnt + 1 AS cnt}
    (SELECT channel, points FROM S))
"""
"""When does a channel begin to post five times an hour?  Which posts come again under another
title?  Which series of a channel, within a day, have ever more points?"""

IN_ORDER = {
    "bursts": ("channel", "posts"),
    "renamed": ("link", "before", "title"),
    "rising": ("channel", "cnt", "points"),
}
IN_SQL = {
    "bursts": """
        WITH hours AS (
            SELECT DISTINCT channel, time, count(*) OVER (
                PARTITION BY channel ORDER BY time RANGE BETWEEN 3600 PRECEDING AND CURRENT ROW
            ) AS posts FROM items
        ), pairs AS (
            SELECT *, lag(time) OVER channels AS start, lag(posts) OVER channels AS before
            FROM hours WINDOW channels AS (PARTITION BY channel ORDER BY time)
        )
        SELECT start, time, channel, posts FROM pairs WHERE before < 5 AND posts >= 5
    """,
    "renamed": """
        WITH times AS (
            SELECT link, time, lead(time) OVER (PARTITION BY link ORDER BY time) AS later
            FROM (SELECT DISTINCT link, time FROM items)
        )
        SELECT DISTINCT a.time, b.time, a.link, a.title, b.title
        FROM items a JOIN times USING (link, time) JOIN items b ON b.link = a.link
        AND b.time = times.later WHERE a.title <> b.title
    """,
    "rising": """
        WITH RECURSIVE times AS (
            SELECT channel, time, lead(time) OVER (PARTITION BY channel ORDER BY time) AS later
            FROM (SELECT DISTINCT channel, time FROM items)
        ), series AS (
            SELECT time AS start, time, channel, points, 1 AS cnt FROM items
            UNION
            SELECT a.start, b.time, a.channel, b.points, a.cnt + 1
            FROM series a JOIN times USING (channel, time)
            JOIN items b ON b.channel = a.channel AND b.time = times.later
            WHERE b.points > a.points AND b.time - a.start <= 86400
        )
        SELECT start, time, channel, cnt, points FROM series WHERE cnt >= 3
    """,
}


def records() -> Iterator[dict[str, Any]]:
    """The records of two archives, in the order of their first fetch in each."""
    for name in ("blog-archives-2025-26", "tech-digest-2026"):
        file = ARCHIVES / name / "items.jsonl"
        with file.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def posts() -> Envelopes:
    """All items as posts, one a second; the number of fetches with an item represents its
    popularity."""
    return [
        {
            "stream": "Feed",
            "id": f"post{place}",
            "timestamp": place,
            "json": {
                "website": urlsplit(record["link"]).netloc,
                "channel": record["channel"],
                "popularity": record["snapshots"],
                "title": record["title"],
                "link": record["link"],
            },
        }
        for place, record in enumerate(records())
    ]


def test_templates_over_all_sites() -> None:
    some = posts()
    counted = Counter(post["json"]["website"] for post in some)
    sites = [site for site, _ in counted.most_common(500)]
    assert len(sites) == 500
    asked: dict[str, list[dict[str, Any]]] = {
        template: [
            {"name": f"{template} {site} {above}", "site": site, "above": above}
            for site in sites
            for above in ((3, 50) if ":above" in FEED[template] else (0,))
        ]
        for template in FEED
    }
    with xscl.Engine(lateness=0) as engine:
        for template, rows in asked.items():
            known = [
                {name: row[name] for name in row if f":{name}" in FEED[template]} for row in rows
            ]
            named = [{"name": row["name"]} | one for row, one in zip(rows, known, strict=True)]
            engine.subscribe_many(DECLARED + FEED[template], named)
        found = +engine.count(some, batch=5_000)
    columns = {name: [post["json"][name] for post in some] for name in some[0]["json"]}
    with duckdb.connect() as database:
        database.register("posts", pa.table(columns | {"time": range(len(some))}))
        for template, rows in asked.items():
            names = {"name": "name", "site": "website", "above": "above"}
            table = {names[name]: [row[name] for row in rows] for name in names}
            database.register("asked", pa.table(table))
            expected = dict(database.execute(COUNTS[template]).fetchall())
            assert {name: found[name] for name in found if name.startswith(template)} == expected
            assert len(expected) > 10


def test_answers_are_those_of_sql() -> None:
    items = []
    with (ARCHIVES / "tech-digest-2026" / "items.jsonl").open(encoding="utf-8") as lines:
        for place, line in enumerate(lines):
            value = json.loads(line)
            time = datetime.fromisoformat(value["published"]).timestamp()
            items.append({"stream": "S", "id": str(place), "timestamp": time, "json": value})
    items.sort(key=lambda item: item["timestamp"])
    found: dict[str, set[tuple[Any, ...]]] = {name: set() for name in IN_SQL}
    with xscl.Engine() as engine:
        engine.load(QUESTIONS)
        for match in engine.run(items, batch=500):
            if match.query in found:
                values = (match.result[name] for name in IN_ORDER[match.query])
                found[match.query].add((match.start, match.time, *values))
    names = ("channel", "link", "title", "points")
    columns = {name: [item["json"].get(name) for item in items] for name in names}
    with duckdb.connect() as database:
        times = [item["timestamp"] for item in items]
        database.register("items", pa.table(columns | {"time": times}))
        for name, question in IN_SQL.items():
            expected = set(database.execute(question).fetchall())
            assert found[name] == expected, name
            assert expected, name
