"""Documents into the witness relations of section 6.3.1, in a DuckDB database.

R_doc and R_bin hold the earlier documents, R_docW and R_binW a batch of current ones.  As in
section 6.6.1 no query is involved: every node of the schema is a variable, bound to its elements,
so the relations have all that any query could bind.  A string value is represented by a number, an
advantage that the thesis' own runs did not have.  The timestamp is in both relations, where
Algorithm 2 puts it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

import duckdb
import pyarrow as pa
from lxml import etree

from datasets import Schema

DOC = ("docid", "node", "strval", "ts")
BIN = ("docid", "var1", "var2", "node1", "node2", "ts")
COLUMNS = {"doc": DOC, "bin": BIN}

Rows = list[tuple[int, ...]]


class Relations:
    """R_doc, R_bin, R_docW and R_binW over documents of a schema.

    `variables` are the numbers of the schema's nodes, by their paths from the root.
    """

    def __init__(self, schema: Schema) -> None:
        self.database = duckdb.connect()
        self.database.execute("SET enable_progress_bar = false")
        self.schema = schema
        self.variables = variables(schema)
        self._strings: dict[str, int] = {}
        self._numbers = count()
        self._documents = count()
        for name, columns in COLUMNS.items():
            for suffix in ("", "w"):
                fields = ", ".join(f"{column} BIGINT" for column in columns)
                self.database.execute(f"CREATE TABLE {name}{suffix} ({fields})")

    def load(self, documents: Iterable[Mapping[str, Any]]) -> None:
        """Makes these the current documents: R_docW and R_binW have only their witnesses."""
        doc: Rows = []
        bin_: Rows = []
        for envelope in documents:
            self._witnesses(envelope, doc, bin_)
        for name, rows in (("doc", doc), ("bin", bin_)):
            self.database.execute(f"TRUNCATE {name}w")
            insert(self.database, f"{name}w", COLUMNS[name], rows)

    def merge(self) -> None:
        """Algorithm 2: the current documents join the earlier ones."""
        for name in COLUMNS:
            self.database.execute(f"INSERT INTO {name} SELECT * FROM {name}w")

    def drop(self, before: float) -> None:
        """Drops the documents that no window can reach any more."""
        if before > -float("inf"):
            for name in COLUMNS:
                self.database.execute(f"DELETE FROM {name} WHERE ts < {before}")

    def _witnesses(self, envelope: Mapping[str, Any], doc: Rows, bin_: Rows) -> None:
        document = next(self._documents)
        time = int(envelope["timestamp"])
        nodes = count()

        def visit(element: etree._Element, path: tuple[str, ...], above: Rows) -> None:
            variable = self.variables.get(path)
            if variable is None:
                return
            node = next(nodes)
            bin_.extend((document, var, variable, other, node, time) for var, other in above)
            if not len(element):
                text = element.text or ""
                number = self._strings.setdefault(text, len(self._strings))
                doc.append((document, node, number, time))
            for child in element:
                visit(child, (*path, child.tag), [*above, (variable, node)])

        visit(etree.fromstring(envelope["xml"]), (), [])


def variables(schema: Schema) -> dict[tuple[str, ...], int]:
    """A number for each node of a schema, by its path from the root.

    >>> from datasets import two_level
    >>> variables(two_level(2))
    {(): 0, ('leaf1',): 1, ('leaf2',): 2}
    """
    paths = dict.fromkeys(path[:depth] for path in schema.leaves for depth in range(len(path) + 1))
    return {path: number for number, path in enumerate(paths)}


def insert(
    database: duckdb.DuckDBPyConnection, table: str, columns: Iterable[str], rows: Rows
) -> None:
    """Appends rows of integers to a table, a column at a time."""
    if rows:
        arrays = (pa.array(column, pa.int64()) for column in zip(*rows, strict=True))
        database.register("incoming", pa.table(dict(zip(columns, arrays, strict=True))))
        database.execute(f"INSERT INTO {table} SELECT * FROM incoming")
        database.unregister("incoming")
