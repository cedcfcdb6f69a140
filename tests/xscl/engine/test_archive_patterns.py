"""Real items: three questions about what follows what, answered by patterns and by SQL."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import xscl
from benchmarks.archives import ARCHIVES
from tests.shared import needs

pytestmark = needs("data", "feed-archives")

QUESTIONS = """
-- name: again
EVENT SEQ(S a, S b) WHERE [channel, title] WITHIN 30 days;
-- name: silence
EVENT SEQ(S a, !(S b)) WHERE [channel] WITHIN 60 days;
-- name: burst
PATTERN SEQ(S a, S b, S c) WHERE partition_contiguity { [channel] } WITHIN 1 hour
"""

IN_SQL = {
    "again": """
        SELECT a.id, b.id FROM items a JOIN items b USING (channel, title)
        WHERE a.time < b.time AND b.time - a.time < 30 * 86400
    """,
    "silence": """
        SELECT a.id FROM items a WHERE NOT EXISTS (
            FROM items b WHERE b.channel = a.channel
            AND b.time > a.time AND b.time < a.time + 60 * 86400
        )
    """,
    "burst": """
        WITH ranked AS (
            SELECT *, dense_rank() OVER (PARTITION BY channel ORDER BY time) AS place FROM items
        )
        SELECT a.id, b.id, c.id
        FROM ranked a JOIN ranked b ON a.channel = b.channel AND b.place = a.place + 1
        JOIN ranked c ON c.channel = a.channel AND c.place = a.place + 2
        WHERE c.time - a.time < 3600
    """,
}


@pytest.fixture(scope="module")
def items() -> list[dict[str, Any]]:
    """The items of an archive as JSON documents, at the times when they were published."""
    found = []
    with (ARCHIVES / "tech-digest-2026" / "items.jsonl").open(encoding="utf-8") as lines:
        for place, line in enumerate(lines):
            value = json.loads(line)
            time = datetime.fromisoformat(value["published"]).timestamp()
            found.append({"stream": "S", "id": str(place), "timestamp": time, "json": value})
    return found


def test_answers_are_those_of_sql(items: list[dict[str, Any]]) -> None:
    found: dict[str, Counter[tuple[str, ...]]] = {name: Counter() for name in IN_SQL}
    with xscl.Engine() as engine:
        engine.load(QUESTIONS)
        for match in engine.run(items):
            found[match.query][match.documents] += 1
    columns = {
        "id": [one["id"] for one in items],
        "time": [one["timestamp"] for one in items],
        **{name: [one["json"][name] for one in items] for name in ("channel", "title")},
    }
    with duckdb.connect() as database:
        database.register("items", pa.table(columns))
        for name, question in IN_SQL.items():
            expected = Counter(database.execute(question).fetchall())
            assert found[name] == expected, name
            assert expected, name
