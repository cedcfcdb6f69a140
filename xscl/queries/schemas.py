"""What event queries publish to each stream, as later ones read it (docs/semantics.md#schemas)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xscl.queries.subscription import Subscription
    from xscl.queries.wiring import Wiring

__all__ = ["Schemas", "closed_to"]

Names = tuple[str, ...] | None
"""The attributes of what is published; None where it may have any."""


class Schemas:
    """The streams that queries publish to, with what each publishes there; `version` grows as that
    changes."""

    def __init__(self) -> None:
        self.version = 0
        self._published: dict[str, dict[Wiring, Names]] = {}
        self._as_before: Mapping[str, Names] | None = None

    @contextmanager
    def as_before(self, closed: Mapping[str, Names]) -> Iterator[None]:
        """Lets a query of an earlier run be subscribed, to which these streams were closed."""
        self._as_before = closed
        try:
            yield
        finally:
            self._as_before = None

    def of(self, stream: str) -> Names:
        """The names that all events published to a stream have, if nothing but event queries
        publishes to it, all of these names; else None."""
        if self._as_before is not None:
            return self._as_before.get(stream)
        if stream not in self._published:
            return None
        published = [*self._published[stream].values()]
        same = {None if names is None else frozenset(names) for names in published}
        return published[0] if len(same) == 1 else None

    def add(self, subscription: Subscription) -> None:
        """Takes note of a query and its sub-queries."""
        for wiring in _wirings(subscription):
            for stream in wiring.feeds:
                self.version += 1
                self._published.setdefault(stream, {})[wiring] = (
                    None if wiring.events is None else wiring.events.compiled.names
                )

    def remove(self, subscription: Subscription) -> None:
        """Takes it back."""
        for wiring in _wirings(subscription):
            for stream in wiring.feeds:
                self.version += 1
                self._published[stream].pop(wiring, None)
                if not self._published[stream]:
                    del self._published[stream]


def closed_to(subscription: Subscription) -> dict[str, tuple[str, ...]]:
    """The names of the streams that were closed to a query when it was subscribed."""
    return {
        stream: names
        for wiring in _wirings(subscription)
        if wiring.schemas is not None
        for stream, names in zip(wiring.dissection.streams, wiring.schemas, strict=True)
        if names is not None
    }


def _wirings(subscription: Subscription) -> list[Wiring]:
    wirings = [subscription.wiring]
    for inner in subscription.wiring.inner:
        wirings += _wirings(inner)
    return wirings
