"""What a transaction is to write: gathered while a batch is dealt with, then written in columns."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from xscl.documents.document import Document
from xscl.documents.retention import Floor
from xscl.polling.relations import Changes as FeedChanges
from xscl.queries.registration import Text

__all__ = ["CALLBACK", "CLOSED", "Changes", "Counters", "Found", "Kept", "Tallied", "Undelivered"]

CALLBACK = "callback"
"""The sink of the matches that wait for a subscription's `on_match`."""


CLOSED = "\n"
"""By this, in addition to values of parameters: the names of the streams that were closed to a
query."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A subscription as it is kept (see schema.py); `parameters` is a JSON object, None where the
    text has all."""

    number: int
    name: str
    text: int
    written: str
    parameters: str | None
    since: int
    position: int
    history: bool


@dataclass(frozen=True, slots=True)
class Undelivered:
    """A match that waits to be handed over: by what (`sink`), its id and query, its JSON form, and
    where that does not define it its result as XML."""

    number: int
    sink: str
    query: str
    match: str
    body: str
    markup: str | None = None


class Found(NamedTuple):
    """A match in the journal of a server: its number, id and query, and its JSON."""

    number: int
    match: str
    query: str
    line: str


class Tallied(NamedTuple):
    """How many matches a query has found since a time, and at which rate they came at another; as
    in the relation of a server."""

    query: str
    matches: int
    since: float
    rate: float
    measured: float


@dataclass(frozen=True, slots=True)
class Counters:
    """The numbers of an engine, as in the relation of this name; times in microseconds."""

    next_number: int = 0
    latest: int | None = None
    last_arrival: int = 0
    documents: int = 0
    malformed: int = 0
    duplicate: int = 0
    late: int = 0
    lateness: int | None = None
    next_subscription: int = 0
    next_text: int = 0
    next_undelivered: int = 0
    advanced: int | None = None
    flushed: int = 0
    unknown: int = 0


@dataclass(slots=True)
class Changes:
    """What has come, and what has gone; what goes is deleted first."""

    documents: list[Document] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)
    texts: dict[int, Text] = field(default_factory=dict)
    subscribed: dict[str, Kept] = field(default_factory=dict)
    cancelled: set[str] = field(default_factory=set)
    reviews: list[tuple[int, int, list[str]]] = field(default_factory=list)
    inputs: dict[str, str] = field(default_factory=dict)
    documents_read: list[tuple[str, str]] = field(default_factory=list)
    sources_read: set[str] = field(default_factory=set)
    outputs: dict[str, int] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    undelivered: list[Undelivered] = field(default_factory=list)
    delivered: list[int] = field(default_factory=list)
    feeds: FeedChanges | None = None
    patterns: dict[str, str | None] = field(default_factory=dict)
    """What patterns must remember that has changed, as JSON by query; None: nothing any more."""
    found: list[Found] = field(default_factory=list)
    tallies: dict[str, Tallied] = field(default_factory=dict)
    floors: dict[str, Floor | None] = field(default_factory=dict)
    """Streams whose recent documents are retained from now on, or no more."""
    oldest_found: int = 0
    """The number before which the journal drops matches."""
