"""`xscl.spark.run` and `xscl.spark.join`: what users call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from xscl.errors import XSCLError
from xscl.spark.joins.batch import join_batch
from xscl.spark.joins.columns import GROUPS, MATCHES
from xscl.spark.joins.live_cells import Revision
from xscl.spark.joins.plan import Queries
from xscl.spark.joins.stream import join_stream
from xscl.times import duration

__all__ = ["channels", "documents", "find", "join", "problems", "run"]


def run(
    documents: DataFrame,
    queries: str | Sequence[str],
    *,
    params: Mapping[str, object] | None = None,
    lateness: float | str = "1 day",
    grouped: bool = False,
    results: bool = True,
) -> DataFrame:
    """The matches of standing queries of any language over a DataFrame of documents, a batch or a
    stream: as `join`, with results."""
    return join(
        documents,
        queries,
        params=params,
        lateness=lateness,
        grouped=grouped,
        results=results and not grouped,
    )


def documents(
    rows: DataFrame,
    stream: str | Column,
    *,
    id: str | Column,
    timestamp: str | Column,
    document: str | Column | None = None,
) -> DataFrame:
    """The rows of a table as documents for `run`, `join` and `problems`: each is a JSON document of
    a stream, of which all columns are members, or `document` is, a struct, a map or JSON text.

    `stream` is its name, or a column; `id`, which is unique in its stream, and `timestamp` are
    columns.  Raises XSCLError for columns that are not there.
    """
    named = (("id", id), ("timestamp", timestamp), ("document", document))
    for option, column in named:
        if isinstance(column, str) and column not in rows.columns:
            found = ", ".join(f"`{name}`" for name in rows.columns)
            raise XSCLError(f"{option}: there is no column `{column}`; the columns are {found}")
    body = F.struct("*") if document is None else _column(document)
    return rows.select(
        (F.lit(stream) if isinstance(stream, str) else stream).alias("stream"),
        _column(id).alias("id"),
        _column(timestamp).alias("timestamp"),
        body.alias("json"),
    )


def _column(name: str | Column) -> Column:
    return F.col(f"`{name}`") if isinstance(name, str) else name


def join(
    documents: DataFrame,
    queries: str | Sequence[str],
    *,
    params: Mapping[str, object] | None = None,
    lateness: float | str = "1 day",
    grouped: bool = False,
    results: bool = False,
) -> DataFrame:
    """The matches of standing queries over a DataFrame of documents, a batch or a stream: of joins,
    and of queries of events.

    `documents` has the columns of an envelope: `stream` (`S` without it), `id`, `timestamp` (a
    timestamp, or seconds), and `xml` or `json`, the text of a document; a null `id` or `timestamp`
    is as bad as a document that cannot be read.  `queries` is the text of a query file, or of
    several; `params` has a table for each query with parameters, by its name.  The columns of the
    result are the members of a match; `result`, XML or JSON text, is null without `results` where
    the match has documents.
    `grouped`, a row stands for all matches of the same documents: `matches` is their number,
    `channel` identifies the queries, whose names are in the first of its rows (`channels`).

    Of documents with one stream and id the earliest counts, in a stream the first to come.
    `lateness` is for streams: a document that is earlier than the latest by more than that does not
    count.  What is skipped is in `problems`.

    Raises QueryError, or an ExceptionGroup of several, and XSCLError for columns or values that it
    cannot use.
    """
    found = find(
        documents,
        [Revision(Queries.of(queries, params))],
        lateness=lateness,
        grouped=grouped,
        results=results,
    )
    columns = GROUPS if grouped else MATCHES
    return found.where("skipped IS NULL").select(*columns.names)


def problems(
    documents: DataFrame,
    queries: str | Sequence[str],
    *,
    params: Mapping[str, object] | None = None,
    lateness: float | str = "1 day",
) -> DataFrame:
    """The documents that `join` skips: `skipped` is the problem, of which the columns `stream`,
    `id`, `time` and `body` have the document; or it is `duplicate` or `late`, and `count` says
    how many."""
    found = find(documents, [Revision(Queries.of(queries, params))], lateness=lateness)
    return skipped_of(found)


def channels(grouped: DataFrame) -> DataFrame:
    """The channels of grouped matches: `channel`, and the `queries` that it stands for."""
    return (
        grouped.where("queries IS NOT NULL")
        .select("channel", "queries")
        .dropDuplicates(["channel"])
    )


def skipped_of(found: DataFrame) -> DataFrame:
    """Of rows of `FOUND` what was skipped."""
    return found.where("skipped IS NOT NULL").selectExpr(
        *("skipped", "count", "streams[0] AS stream", "documents[0] AS id", "time", "body")
    )


def find(
    documents: DataFrame,
    revisions: Sequence[Revision],
    *,
    lateness: float | str = "1 day",
    grouped: bool = False,
    results: bool = False,
) -> DataFrame:
    """What is found under the last of some revisions of queries, as rows of `FOUND`."""
    try:
        late = duration(lateness if isinstance(lateness, str) else f"{lateness:f}")
    except ValueError as error:
        raise XSCLError(f"lateness: {error}") from error
    if documents.isStreaming:
        return join_stream(documents, revisions, lateness=late, grouped=grouped, results=results)
    return join_batch(documents, revisions[-1].queries, grouped=grouped, results=results)
