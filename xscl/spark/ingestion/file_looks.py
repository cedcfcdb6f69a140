"""A look at a feed file: whether it is new or has changed, and then its bytes.

A file is taken to be as it was if its time of modification and its size are.  Both are kept as the
ETag of what is known of the feed, so that files and addresses are remembered in one way.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import replace

from xscl.polling.state import FeedState
from xscl.sources.limits import read_body, too_large
from xscl.spark.ingestion.bodies import Body
from xscl.web.exchange import Validators

__all__ = ["look", "trouble"]


def look(
    path: str,
    folders: Iterable[str],
    known: Mapping[str, FeedState],
    *,
    now: float,
    most_bytes: int,
) -> tuple[Body, FeedState] | None:
    """What is new of a file, and what is known of it from then on; None if it is as it was.
    `known` is what is known of all feeds, by their names.

    One that cannot be read, or has more than `most_bytes`, is a problem, reported once for each of
    its states.  It is tried again at each look: rights change without a trace in the file.
    """
    name = _printable(path)
    before = known.get(name)
    mark = None
    try:
        found = os.stat(path)
        mark = b"%d %d" % (found.st_mtime_ns, found.st_size)
        if before is not None and before.error is None and before.validators.etag == mark:
            return None
        if not stat.S_ISREG(found.st_mode):
            folder = stat.S_ISDIR(found.st_mode)
            problem = "is a folder that cannot be read" if folder else "is no file"
        # The size is asked first, so that what is too large is not read at each look.
        elif found.st_size > most_bytes or len(body := read_body(path, most_bytes)) > most_bytes:
            problem = too_large(most_bytes)
        else:
            return Body(name, found.st_mtime, tuple(folders), body=body), FeedState(
                name, name, validators=Validators(mark), last_fetch=now, last_success=now
            )
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    return trouble(path, folders, problem, known, now=now, mark=mark)


def trouble(
    path: str,
    folders: Iterable[str],
    problem: str,
    known: Mapping[str, FeedState],
    *,
    now: float,
    mark: bytes | None = None,
) -> tuple[Body, FeedState] | None:
    """The same for what cannot be read: None if that is known."""
    name = _printable(path)
    before = known.get(name, FeedState(name, name))
    if before.error == problem and before.validators.etag == mark:
        return None
    state = replace(
        before,
        validators=Validators(mark),
        last_fetch=now,
        failures=before.failures + 1,
        error=problem,
    )
    return Body(name, now, tuple(folders), problem=problem), state


def _printable(path: str) -> str:
    """A path as text, whatever bytes its name has."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
