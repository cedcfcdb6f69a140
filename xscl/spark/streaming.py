"""What all streaming queries of ours have in common: when their batches start and end, which files
they read, what they say where a batch fails."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

__all__ = ["ANY_AGE", "finish", "in_short", "start"]

ANY_AGE = "36500d"
"""The `maxFileAge` of a stream of files: Spark passes over those that are older than its newest by
more."""

_OURS = re.compile(r"xscl\.errors\.\w+: .+")
_INTERRUPTED = "py4j.protocol.Py4JJavaError: An error occurred while calling"
"""How Spark knows a batch that it interrupted itself from one that failed."""
_LONGEST = 400
_POLL = 0.05


def start(query: DataStreamWriter, trigger: float | None) -> StreamingQuery:
    """Starts a query: a batch each `trigger` seconds, or without one all that is there, then its
    end."""
    if trigger is None:
        return query.trigger(availableNow=True).start()
    return query.trigger(processingTime=f"{round(trigger * 1000)} milliseconds").start()


def finish(query: StreamingQuery) -> None:
    """Ends a query once the batch under way, if there is one, is finished."""
    first = query.lastProgress
    while query.isActive and query.status["isTriggerActive"] and query.lastProgress == first:
        time.sleep(_POLL)
    query.stop()


def in_short(write: Callable[[DataFrame, int], None]) -> Callable[[DataFrame, int], None]:
    """For `foreachBatch`: what Java says where a batch fails is cut down to its cause.

    Spark looks for an interrupt in the text by a regular expression that takes some kilobytes of
    stack for each ten characters: over a trace of Java's its thread would die of that.
    """

    def written(batch: DataFrame, number: int) -> None:
        try:
            write(batch, number)
        except Py4JJavaError as error:
            cause = error.java_exception
            while (deeper := cause.getCause()) is not None:
                cause = deeper
            ours = _OURS.findall(str(error))
            text = ours[-1] if ours else cause.toString()
            raise RuntimeError(f"{_INTERRUPTED} a batch:\n{text[:_LONGEST]}") from None

    return written
