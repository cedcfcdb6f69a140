"""Matches -> what is made of each, be it a line, an entry or a parcel.  A match for which that
fails is left out, reported and counted; the others are not affected.

All input is checked where it enters, so that a failure here is a fault of this program.  It must
not close an engine, nor end a server, with all queries that have nothing to do with it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from xscl.errors import MatchError
from xscl.printable import one_line

if TYPE_CHECKING:
    from xscl.matches.match import Match

__all__ = ["Report", "log_unwritten", "made_of", "unwritten"]

T = TypeVar("T")

Report = Callable[[MatchError], object]

log = logging.getLogger("xscl")

_LONGEST = 300
"""The maximal number of characters of a reason, which may be of any length."""


def log_unwritten(error: MatchError) -> None:
    """Logs the error in one line, with the place in the code."""
    place = error.__cause__ if log.isEnabledFor(logging.DEBUG) else None
    log.error("%s", error, exc_info=place)


def made_of(
    matches: Iterable[Match], make: Callable[[Match], T], report: Report = log_unwritten
) -> Iterator[tuple[Match, T]]:
    """Each match with its derived form; a match for which that fails is reported."""
    for match in matches:
        try:
            made = make(match)
        except Exception as error:
            # Anything may be wrong with one match, and the others are unaffected.
            report(unwritten(match, error))
        else:
            yield match, made


def unwritten(match: Match, error: Exception) -> MatchError:
    """The error of a match that cannot be written for that reason."""
    reason = one_line(f"{type(error).__name__}: {error}", _LONGEST)
    try:
        documents = match.documents
    except Exception:
        # Its fault may affect these, too: it is reported in any case.
        documents = ()
    made = MatchError(
        f"it cannot be written ({reason}); please report this", match.query, documents
    )
    made.__cause__ = error
    return made
