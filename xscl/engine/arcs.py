"""The arcs of one automaton of an engine, as they come and go (docs/semantics.md#changing-arcs)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from xscl.errors import DocumentError
from xscl.language.automata.description import Arc

if TYPE_CHECKING:
    from xscl.matches.match import Match

__all__ = ["ArcsOf"]

Time = float | str | datetime


class ArcsOf:
    """What `Engine.arcs` returns.  Iterating gives the arcs with their lives (`at`, `until`): what
    was replaced or deleted, too, as long as a run can be over events of its life.

    Times are seconds, ISO 8601 or a datetime.  Without `at`, a change is from now on: after the
    watermark and all events that have come.  Each method returns the matches that the change
    completes, and raises QueryError, or an ExceptionGroup of several, for one that is refused,
    which changes nothing.
    """

    def __init__(
        self,
        name: str,
        change: Callable[[Mapping[str, object]], list[Match]],
        arcs: Callable[[], list[Arc]],
    ) -> None:
        self._name, self._change, self._arcs = name, change, arcs

    def __iter__(self) -> Iterator[Arc]:
        return iter(self._arcs())

    def __len__(self) -> int:
        return len(self._arcs())

    def __repr__(self) -> str:
        return f"<arcs of automaton {self._name!r}: {len(self)}>"

    def insert(
        self, arc: Arc | Mapping[str, Any], *, at: Time | None = None, until: Time | None = None
    ) -> list[Match]:
        """Lets an arc live from `at` until before `until` (default: for good)."""
        return self._do(insert=_members(arc), at=at, until=until)

    def delete(self, name: str, *, at: Time | None = None) -> list[Match]:
        """Ends the life of the arc of a name."""
        return self._do(delete=name, at=at)

    def replace(
        self,
        name: str,
        arc: Arc | Mapping[str, Any],
        *,
        at: Time | None = None,
        until: Time | None = None,
    ) -> list[Match]:
        """Ends the life of the arc of a name, and lets another one live under that name."""
        return self._do(replace=name, **{"with": _members(arc)}, at=at, until=until)

    def _do(self, **members: object) -> list[Match]:
        line = {name: value for name, value in members.items() if value is not None}
        try:
            return self._change({"automaton": self._name, **line})
        except DocumentError as refused:
            if refused.__cause__ is None:
                raise
            raise refused.__cause__ from None


def _members(arc: Arc | Mapping[str, Any]) -> object:
    return arc.to_dict() if isinstance(arc, Arc) else arc
