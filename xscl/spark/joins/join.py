"""`xscl.spark.join`: what users call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame

from xscl.spark.joins.batch import join_batch
from xscl.spark.joins.columns import GROUPS, MATCHES
from xscl.spark.joins.plan import Queries

__all__ = ["join"]


def join(
    documents: DataFrame,
    queries: str | Sequence[str],
    *,
    params: Mapping[str, object] | None = None,
    lateness: float | str = "1 day",
    grouped: bool = False,
    results: bool = False,
) -> DataFrame:
    found = join_batch(documents, Queries.of(queries, params), grouped=grouped, results=results)
    columns = GROUPS if grouped else MATCHES
    return found.where("skipped IS NULL").select(*columns.names)
