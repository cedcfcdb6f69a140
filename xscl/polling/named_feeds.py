"""A feed SOURCE into the feeds that it names: files, addresses, and those that are neither."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from xscl.errors import XSCLError
from xscl.sources.feed_files import listed_feeds
from xscl.web.targets import BadAddress, Credentials, feed_address, without_user

__all__ = ["NamedFeeds", "feeds_of"]

_WEB = re.compile("https?:", re.IGNORECASE)


@dataclass(slots=True)
class NamedFeeds:
    """Feed files (paths, named as the source was given) and addresses, each with the folders that
    it lies in; the credentials of addresses that have some; and what is wrong with feeds that
    cannot be read, by their names."""

    files: dict[str, tuple[str, ...]] = field(default_factory=dict)
    addresses: dict[str, tuple[str, ...]] = field(default_factory=dict)
    credentials: dict[str, Credentials | None] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    def add(self, other: NamedFeeds) -> None:
        """Adds those of another source; a feed of both lies in the folders of both."""
        for name, folders in other.files.items():
            _file(self.files, name, folders)
        for name, folders in other.addresses.items():
            _file(self.addresses, name, folders)
        self.credentials = {**other.credentials, **self.credentials}
        self.problems |= other.problems


def feeds_of(source: str) -> NamedFeeds:
    """The feeds of a source: a feed file, a folder, an OPML file of both or an http(s) address.

    Raises XSCLError for one that cannot be read.

    >>> feeds_of("https://me:secret@a.example/feed#top").addresses
    {'https://a.example/feed': ()}
    """
    feeds = NamedFeeds()
    if _WEB.match(source):
        try:
            _subscribe(feeds, source, ())
        except BadAddress as error:
            raise XSCLError(f"feed source {without_user(source)!r}: {error}") from None
        return feeds
    try:
        listed = listed_feeds(source)
    except OSError as error:
        problem = f"feed source {source!r}: it cannot be read: {error.strerror}"
        raise XSCLError(problem if error.strerror else str(error)) from error
    feeds.files = {feed.address: feed.folders for feed in listed.files}
    for feed in listed.addresses:
        try:
            _subscribe(feeds, feed.address, feed.folders)
        except BadAddress as error:
            problem = f"listed in {source}: {error}"
            feeds.problems[without_user(feed.address)] = problem
    return feeds


def _subscribe(feeds: NamedFeeds, url: str, folders: Iterable[str]) -> None:
    address, credentials = feed_address(url)
    _file(feeds.addresses, address, folders)
    if credentials is not None:
        feeds.credentials.setdefault(address, credentials)


def _file(feeds: dict[str, tuple[str, ...]], name: str, folders: Iterable[str]) -> None:
    known = feeds.get(name)
    feeds[name] = tuple(dict.fromkeys([*known, *folders] if known else folders))
