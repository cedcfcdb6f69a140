"""Spark's logs of files, which its file sink and file source keep: a line of JSON for each file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

__all__ = ["names_in"]


def names_in(lines: Iterable[str]) -> Iterator[str]:
    """The names of the files that a log's lines tell of; its first line is a version.

    >>> list(names_in(["v1", '{"path":"file:///d/landing/part-0.parquet","action":"add"}']))
    ['part-0.parquet']
    """
    for line in lines:
        if line.startswith("{"):
            path: str = json.loads(line)["path"]
            yield path.rpartition("/")[2]
