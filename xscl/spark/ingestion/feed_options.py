"""The options of `format("feed")`, read from what Spark passes on: names without regard to case,
values as text.

    path              a feed file, a folder of them, an OPML file, an http(s) address; or lines of
                      such
    spool             of a stream: the folder, on a disk of the driver's, for what was fetched
    every             seconds that a feed is left alone whose server asks for nothing longer (600;
                      0 in a run that gathers once)
    timeout           seconds that one fetch may take (60)
    concurrency       fetches under way at most (16)
    spacing           seconds between two fetches from one host (1)
    contact           an address of mail or web for those whose feeds are read
    allowPrivate      whether to read from this machine and its network, too (false)
    maxDocument       bytes of a body at most (16 MiB)
    maxFilesPerTrigger, maxBytesPerTrigger
                      bodies, and bytes of them, in a batch at most (no bound, 64 MiB)
    numPartitions     tasks that a batch is read by, at most (2)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from xscl.errors import XSCLError
from xscl.polling.state import Policy
from xscl.sources.limits import MAX_DOCUMENT
from xscl.spark.ingestion.gathering import Gathering
from xscl.spark.ingestion.web_feeds import Web

__all__ = ["FeedOptions"]

_MIB = 1024 * 1024
_LARGEST = 100 * _MIB
"""Bytes of a body that Spark passes to a task in one message."""

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class FeedOptions:
    """What a reader of `format("feed")` was asked for.  Durations are seconds."""

    sources: tuple[str, ...]
    spool: Path | None = None
    every: float | None = None
    timeout: float = 60.0
    concurrency: int = 16
    spacing: float = 1.0
    contact: str | None = None
    allow_private: bool = False
    max_document: int = MAX_DOCUMENT
    most_bodies: int | None = None
    most_bytes: int = 64 * _MIB
    partitions: int = 2

    def __post_init__(self) -> None:
        if self.max_document > _LARGEST:
            raise XSCLError(
                f"a body of {self.max_document:,} bytes is more than Spark passes on in one "
                f"message; allow at most {_LARGEST:,}"
            )

    @classmethod
    def of(cls, options: Mapping[str, str]) -> FeedOptions:
        """Raises XSCLError for what cannot be meant."""
        asked = {name.lower(): value for name, value in options.items()}

        def read(name: str, kind: Callable[[str], Value], default: Value) -> Value:
            text = asked.get(name.lower())
            if text is None:
                return default
            try:
                return kind(text.strip())
            except ValueError as error:
                raise XSCLError(f'format("feed"): option {name} = {text!r}: {error}') from error

        sources = tuple(filter(None, map(str.strip, asked.get("path", "").splitlines())))
        if not sources:
            raise XSCLError(
                'format("feed") needs feeds to read: give load() a feed file, a folder of them, '
                "an OPML file or an http(s) address"
            )
        default = cls(sources)
        return cls(
            sources,
            spool=read("spool", Path, None),
            every=read("every", _seconds, default.every),
            timeout=read("timeout", _seconds, default.timeout),
            concurrency=read("concurrency", _count, default.concurrency),
            spacing=read("spacing", _seconds, default.spacing),
            contact=read("contact", str, None),
            allow_private=read("allowPrivate", _truth, False),
            max_document=read("maxDocument", _count, default.max_document),
            most_bodies=read("maxFilesPerTrigger", _count, None),
            most_bytes=read("maxBytesPerTrigger", _count, default.most_bytes),
            partitions=read("numPartitions", _count, default.partitions),
        )

    @property
    def policy(self) -> Policy:
        """How eagerly addresses are polled; once, in a batch."""
        every = Policy().every if self.every is None else self.every
        return Policy(every, self.spacing, self.concurrency, once=self.spool is None)

    @property
    def web(self) -> Web:
        """How addresses are fetched from."""
        return Web(self.timeout, self.max_document, self.allow_private, self.contact)

    def gathering(self) -> Gathering:
        """The gathering of a stream; what is known of feeds lies in the spool's folder."""
        assert self.spool is not None
        store = self.spool / "feeds.duckdb"
        return Gathering(
            self.sources,
            self.spool,
            store,
            web=self.web,
            policy=self.policy,
            once_every=self.every or 0.0,
        )

    def written(self) -> dict[str, str]:
        """As the options of a reader."""
        options: dict[str, object | None] = {
            "path": "\n".join(self.sources),
            "spool": self.spool,
            "every": self.every,
            "timeout": self.timeout,
            "concurrency": self.concurrency,
            "spacing": self.spacing,
            "contact": self.contact,
            "allowPrivate": str(self.allow_private).lower(),
            "maxDocument": self.max_document,
            "maxFilesPerTrigger": self.most_bodies,
            "maxBytesPerTrigger": self.most_bytes,
            "numPartitions": self.partitions,
        }
        return {name: str(value) for name, value in options.items() if value is not None}


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds < float("inf"):
        raise ValueError("expected seconds, 0 or more")
    return seconds


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError("expected a number from 1 on")
    return number


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("expected true or false")
    return text.lower() == "true"
