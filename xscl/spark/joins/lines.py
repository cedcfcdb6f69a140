"""Rows of a table -> lines of JSON in a column of text, as Spark writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from xscl.spark.json_rows import json_lines

__all__ = ["Lines"]


class Lines:
    """For `mapInArrow`."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            lines = pa.array([line[:-1] for line in json_lines(batch)], pa.string())
            yield pa.RecordBatch.from_arrays([lines], names=["line"])
