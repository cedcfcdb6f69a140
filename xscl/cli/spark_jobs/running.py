"""Jobs of Spark under a command: Spark is started aside from the signals, its queries run until one
ends or the user has enough, and what made one fail is said in a line."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING

from xscl.errors import XSCLError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["aside", "one_line", "run_jobs"]

_OURS = re.compile(r"xscl\.errors\.\w+: (.+)")
_PYTHONS = re.compile(r"^(?:[\w.]+\.)?\w*(?:Error|Exception): .+", re.MULTILINE)
_TICK = 0.5
_HOUR = 3600.0


def aside(start: Callable[[], SparkSession]) -> SparkSession:
    """Starts Spark in a thread of its own: in the main thread it would take the signals over, and
    an interrupt would break its start off midway, with pages of Python and Java."""
    found: Future[SparkSession] = Future()

    def run() -> None:
        try:
            found.set_result(start())
        except BaseException as error:
            found.set_exception(error)

    threading.Thread(target=run, name="xscl-spark-start", daemon=True).start()
    return found.result()


@contextlib.contextmanager
def one_line(job: str) -> Iterator[None]:
    """Makes one line of what Spark says at length when a job cannot even start."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except Py4JJavaError as error:
        raise _failure(job, str(error.java_exception)) from error
    except PySparkException as error:
        raise _failure(job, str(error)) from error


def run_jobs(
    queries: Sequence[StreamingQuery],
    stopped: threading.Event,
    tick: Callable[[], object],
    tidy: Callable[[], object] = lambda: None,
) -> None:
    """Until one of the queries ends, or is to end; raises XSCLError if one failed."""
    from xscl.spark.streaming import finish

    next_tidy = time.monotonic()
    try:
        while not stopped.is_set() and all(query.isActive for query in queries):
            stopped.wait(_TICK)
            tick()
            if time.monotonic() >= next_tidy:
                tidy()
                next_tidy += _HOUR
        for query in queries:
            finish(query)
    finally:
        for query in queries:
            query.stop()
    for query in queries:
        if (failure := query.exception()) is not None:
            raise _failure(query.name, str(failure))


def _failure(job: str, text: str) -> XSCLError:
    """What made a job fail, without the ways through Java and back."""
    if ours := _OURS.findall(text):
        return XSCLError(ours[-1])
    # The last error of Python, where there is one, else the first line of Java's.
    found = _PYTHONS.findall(text) or text.partition("=== Streaming")[0].strip().splitlines()[:1]
    return XSCLError(f"the {job} job failed: {found[-1] if found else 'Spark does not say why'}")
