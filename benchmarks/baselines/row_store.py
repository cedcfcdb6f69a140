"""The witness relations in SQLite, for Sequential.

DuckDB is made for few large statements, and takes milliseconds to plan one; to run a small
statement for each query, a row store in the same process, with indexes, is the better choice.
"""

from __future__ import annotations

import sqlite3

from benchmarks.baselines.relations import COLUMNS, Relations

INDEXES = {"doc": "docid, node", "bin": "var1, var2"}


def row_store(relations: Relations) -> sqlite3.Connection:
    """A copy of the relations in memory, indexed as the conjunctive queries read them."""
    store = sqlite3.connect(":memory:")
    for name, columns in COLUMNS.items():
        for table in (name, f"{name}w"):
            store.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
            rows = relations.database.execute(f"SELECT * FROM {table}").fetchall()
            store.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)
            store.execute(f"CREATE INDEX {table}_index ON {table} ({INDEXES[name]})")
    return store
