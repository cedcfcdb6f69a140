"""Flink SQL, local: MATCH_RECOGNIZE for each sequence, OVER a range for each total, all in one
statement set, over a table of the file's lines with a watermark."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from pyflink.common import Configuration
from pyflink.table import EnvironmentSettings, TableEnvironment

EVENTS = """
    CREATE TABLE event (
        id STRING, `time` BIGINT, kind STRING, who STRING, amount BIGINT,
        moment AS TO_TIMESTAMP_LTZ(`time`, 0), WATERMARK FOR moment AS moment
    ) WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'json')
"""
MATCHES = """
    CREATE TABLE found (name STRING, id STRING)
    WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'csv')
"""
# A column of each has a name of its own: Flink takes two that differ in WITHIN alone for one.
SEQUENCE = """
    SELECT '{name}', T.first_of_{name} FROM event MATCH_RECOGNIZE (
        PARTITION BY who ORDER BY moment
        MEASURES A.id AS first_of_{name}, B.id AS second_id
        ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW
        PATTERN (A X*? B) WITHIN {interval}
        DEFINE A AS A.kind = '{first}', B AS B.kind = '{second}' AND B.amount > A.amount
    ) AS T
"""
TOTAL = """
    SELECT '{name}', id FROM (
        SELECT id, SUM(amount) OVER (
            PARTITION BY who ORDER BY moment
            RANGE BETWEEN {interval} PRECEDING AND CURRENT ROW
        ) AS sum_of FROM event WHERE kind = '{first}')
    WHERE sum_of > {total}
"""

Query = dict[str, Any]


def main(folder: Path) -> None:
    configuration = Configuration().set_string("parallelism.default", "1")
    for bound in ("min", "max"):
        # By default 64 MB, which is too little for the joins of a thousand queries.
        configuration.set_string(f"taskmanager.memory.network.{bound}", "1gb")
    settings = EnvironmentSettings.new_instance().in_streaming_mode()
    tables = TableEnvironment.create(settings.with_configuration(configuration).build())
    tables.execute_sql(EVENTS.format(folder / "events.jsonl"))
    found = folder / "found"
    tables.execute_sql(MATCHES.format(found))
    queries = json.loads((folder / "queries.json").read_text())
    statements = tables.create_statement_set()
    for query in queries:
        sql = (SEQUENCE if query["second"] else TOTAL).format(**query, interval=interval(query))
        statements.add_insert_sql(f"INSERT INTO found {sql}")
    statements.execute().wait()
    counts = Counter(
        line.partition(",")[0].strip('"')
        for file in found.rglob("*")
        if file.is_file()
        for line in file.read_text().splitlines()
    )
    print(json.dumps({query["name"]: counts[query["name"]] for query in queries}))


def interval(query: Query) -> str:
    """Its window; Flink takes no more than 99 of the greatest unit."""
    minutes, seconds = divmod(query["seconds"], 60)
    hours, minutes = divmod(minutes, 60)
    return f"INTERVAL '{hours}:{minutes:02}:{seconds:02}' HOUR TO SECOND"


main(Path(sys.argv[1]))
