"""What all streaming queries of ours have in common: when their batches start, which files they
read."""

from __future__ import annotations

from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

__all__ = ["ANY_AGE", "start"]

ANY_AGE = "36500d"
"""The `maxFileAge` of a stream of files: Spark passes over those that are older than its newest by
more."""


def start(query: DataStreamWriter, trigger: float | None) -> StreamingQuery:
    """Starts a query: a batch each `trigger` seconds, or without one all that is there, then its
    end."""
    if trigger is None:
        return query.trigger(availableNow=True).start()
    return query.trigger(processingTime=f"{round(trigger * 1000)} milliseconds").start()
