"""What a join reads as a stream: files of envelopes, or the items of an ingestion, as documents for
`find`.

Spark lists the files, cuts what is new into batches, and notes each batch before it is made.  Of an
ingestion's batch that is being written again, files may be listed that are gone when they are read
(they are passed over), or that come again under other names.  It makes no difference: the items
are the same, and a document that comes again is known by its stream and id for as long as it could
match, and late from then on.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from glob import iglob
from pathlib import Path

import pyarrow as pa
from pyspark import Accumulator
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamReader

from xscl.documents.document import is_control, unwrapped
from xscl.errors import DocumentError, XSCLError
from xscl.matches.result_forms import dumps
from xscl.sources.envelopes import LineEnvelope, Place, lines_of
from xscl.sources.limits import TOO_DEEP
from xscl.spark.columns import MOMENT, batch_of, spark_columns
from xscl.spark.folders import is_remote, place_of
from xscl.spark.joins.columns import UNREADABLE
from xscl.spark.streaming import ANY_AGE
from xscl.times import from_timestamp
from xscl.xpath_stage import MalformedDocument

__all__ = ["Events", "Items", "Source"]

_ITEM = pa.schema(
    [("stream", pa.string()), ("id", pa.string()), ("timestamp", MOMENT), ("xml", pa.string())]
)
_EVENT = pa.schema([*_ITEM, ("json", pa.string()), (UNREADABLE, pa.string()), ("start", MOMENT)])

_WITHOUT_END = 1 << 31
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Items:
    """The items of the folder that `xscl ingest --to` fills; `kind` distinguishes it from other
    sources."""

    folder: str
    kind = "--items"

    def check(self) -> None:
        """Raises XSCLError where there are none, on this machine."""
        place = Path(self._items)
        if not is_remote(self.folder) and not any(place.glob("batch=*/_SUCCESS")):
            raise XSCLError(
                f"no ingested items in {self.folder!r}: give the folder that `xscl ingest --to` "
                "fills, once it has a whole batch"
            )

    def documents(self, spark: SparkSession, read: Accumulator[int]) -> DataFrame:
        """A stream of them; each that is read is counted.  Raises XSCLError for other columns."""
        try:
            there = spark.read.parquet(self._items).columns
        except AnalysisException as error:
            raise XSCLError(f"no ingested items in {self.folder!r}: {_first(error)}") from error
        if missing := [name for name in _ITEM.names if name not in there]:
            raise XSCLError(
                f"{self._items}: no column {' and no '.join(f'`{name}`' for name in missing)}; its "
                f"columns are {', '.join(f'`{name}`' for name in there)}; expected what "
                "`xscl ingest` writes: `stream`, `id`, `timestamp` and `xml`"
            )
        rows = (
            _stream(spark, 64 << 20)
            .schema(spark_columns(_ITEM))
            .option("ignoreMissingFiles", "true")
            .parquet(self._items)
            .select(*_ITEM.names)
        )
        return rows.mapInArrow(_Counting(read), spark_columns(_ITEM))

    @property
    def _items(self) -> str:
        place = place_of(self.folder).rstrip("/")
        if is_remote(place):
            return place if place.endswith("/items") else f"{place}/items"
        return f"{place}/items" if Path(place, "items").is_dir() else place


@dataclass(frozen=True, slots=True)
class Events:
    """The envelopes of JSON Lines in the files of a pattern, gzipped where they end in `.gz`."""

    pattern: str
    kind = "--events"

    def check(self) -> None:
        """Raises XSCLError where there is no such file, on this machine."""
        folder, deep, name = self._parts
        if "**" in folder or "**" in name or (deep and "/" in name):
            raise XSCLError(
                f"--events {self.pattern}: `**`, for any depth, has to be the only folder before "
                "the name of the files, as in `logs/**/*.jsonl`"
            )
        if not is_remote(self.pattern) and not any(iglob(place_of(self.pattern), recursive=True)):
            raise XSCLError(f"--events {self.pattern}: there is no such file")

    def documents(self, spark: SparkSession, read: Accumulator[int]) -> DataFrame:
        """A stream of them; each line that is not blank is counted."""
        folder, deep, name = self._parts
        files = _stream(spark, 128 << 20).option("lineSep", "\n")
        if deep:
            # To Spark's own patterns `**` is one folder.
            files = files.option("recursiveFileLookup", "true").option("pathGlobFilter", name)
        lines = files.text(folder).selectExpr("CAST(value AS BINARY) AS line")
        return lines.mapInArrow(_Envelopes(read), spark_columns(_EVENT))

    @property
    def _parts(self) -> tuple[str, str, str]:
        """The pattern, or what is before and after a `**` in it."""
        return place_of(self.pattern).partition("/**/")


Source = Items | Events


def _stream(spark: SparkSession, size: int) -> DataStreamReader:
    """A stream of files, of which a batch has so many bytes."""
    # Files are never too old: a job that was down for weeks takes up where it was.
    return spark.readStream.option("maxBytesPerTrigger", str(size)).option("maxFileAge", ANY_AGE)


@dataclass(frozen=True)
class _Counting:
    """Rows as they are, counted."""

    read: Accumulator[int]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            self.read.add(batch.num_rows)
            yield batch


@dataclass(frozen=True)
class _Envelopes:
    """Lines into rows of `_EVENT`, for `mapInArrow`."""

    read: Accumulator[int]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows: list[tuple[object, ...]] = []
            lines = io.BytesIO(b"\n".join([*batch.column(0).to_pylist(), b""]))
            refuse = _refusing(rows)
            for envelope, _ in lines_of(lines, "?", refuse, _WITHOUT_END, Place(), _whole):
                rows.append(_row(envelope))
            self.read.add(len(rows))
            yield batch_of(rows, _EVENT)


def _whole(value: object, id: str) -> dict[str, object]:
    """The envelope that a line is.  It has an id and a time of its own: a task that is tried again
    would make up others."""
    if not isinstance(value, dict):
        raise ValueError("expected a JSON object")
    if is_control(value):
        raise ValueError("a control line, which is for `xscl run`: a job has documents alone")
    for name in ("id", "timestamp"):
        if value.get(name) is None:
            raise ValueError(f"it has no `{name}`")
    name = "xml" if value.get("xml") is not None else "json"
    text = value.get(name)
    if name == "json" and name in value:
        # As the column has it.
        body = unwrapped(text) if isinstance(text, str) else text
        try:
            text = value[name] = body.decode() if isinstance(body, bytes) else dumps(body)
        except RecursionError:
            raise ValueError(TOO_DEEP) from None
    if isinstance(text, str) and not text.isascii() and _LONE_SURROGATE.search(text):
        raise ValueError(f"its `{name}` holds half a surrogate pair, which is no character")
    return value


def _row(envelope: LineEnvelope) -> tuple[object, ...]:
    xml = envelope.get("xml")
    return (
        envelope.get("stream", "S"),
        envelope["id"],
        from_timestamp(envelope["timestamp"]),
        xml,
        envelope["json"] if xml is None else None,
        None,
        None if (start := envelope.get("start")) is None else from_timestamp(start),
    )


def _refusing(rows: list[tuple[object, ...]]) -> Callable[[DocumentError], None]:
    """Adds the rows of lines that are no envelopes."""

    def refuse(error: DocumentError) -> None:
        cause = error.__cause__
        raw = cause.raw if isinstance(cause, MalformedDocument) else None
        text = raw.decode(errors="replace") if isinstance(raw, bytes) else raw
        text = None if text is None else text.removesuffix("\n")
        rows.append(("?", None, None, None, text, error.problem, None))

    return refuse


def _first(error: Exception) -> str:
    return str(error).partition("\n")[0]
