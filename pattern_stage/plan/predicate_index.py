"""The predicate index of a stream: from what conditions compare by equality to the m-ops with a
member for that, whatever else their conditions ask (s_σ; patterns-cel.md, section 6).

An event is looked up once for each set of attributes that anybody compares, and reaches those
m-ops alone that have something for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pattern_stage.plan.channels import Channel

__all__ = ["PredicateIndex"]


class PredicateIndex:
    """Readers (m-ops) by key of an event."""

    def __init__(self) -> None:
        self._by: dict[Callable[..., Any], dict[Any, tuple[Any, ...]]] = {}

    def __bool__(self) -> bool:
        return bool(self._by)

    def add(self, key_of: Callable[..., Any], key: Any, reader: object) -> None:
        """A reader of events that have this key."""
        readers = self._by.setdefault(key_of, {})
        there = readers.get(key, ())
        if reader not in there:
            readers[key] = (*there, reader)

    def remove(self, key_of: Callable[..., Any], key: Any, reader: object) -> None:
        """A reader less."""
        readers = self._by[key_of]
        left = tuple([one for one in readers[key] if one is not reader])
        if left:
            readers[key] = left
            return
        del readers[key]
        if not readers:
            del self._by[key_of]

    def met(self, channel: Channel) -> dict[Any, Channel]:
        """What each reader has of a channel."""
        found: dict[Any, Channel] = {}
        for key_of, readers in self._by.items():
            get = readers.get
            for entry in channel:
                there = get(key_of(entry[0]))
                if there is not None:
                    for reader in there:
                        some = found.get(reader)
                        if some is None:
                            some = found[reader] = Channel()
                        some.append(entry)
        return found
