"""A published document: what a match holds of it, and its nodes when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from lxml import etree

from xpath_stage import parse

__all__ = ["Document", "elements"]


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A document of a stream; `time` in microseconds, `body` as it was published."""

    number: int
    stream: str
    id: str
    time: int
    body: str | bytes


@lru_cache(maxsize=256)
def elements(document: Document) -> tuple[etree._Element, ...]:
    """The elements of a document by node number.

    Parsed anew: the state holds texts, not trees.  Matches of one document tend to be read
    together, so the last trees are kept.
    """
    return tuple(parse(document.body).iter("*"))
