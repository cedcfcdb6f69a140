"""Which of a feed's items are new and which are edited, by the identities that were seen before.

An item is new if its identity (guid, else link, else a hash) has not been seen, unless one of the
same link and title was, and has left the feed: then the feed has only given a new guid to what it
had published already (churn).  An item whose content is another than when it was last seen is
edited.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

__all__ = ["FeedItem", "News", "Seen", "SeenItem"]

REMEMBERED = 1000
"""So many items of a feed are remembered that it no longer shows, the latest; all that it does."""


class FeedItem(Protocol):
    """The identity of an item and its content; `likeness` stands for its link and title together,
    None without both."""

    @property
    def identity(self) -> str: ...
    @property
    def content_hash(self) -> str: ...
    @property
    def likeness(self) -> str | None: ...


Item = TypeVar("Item", bound=FeedItem)


@dataclass(frozen=True, slots=True)
class SeenItem:
    """The part of an item that is remembered."""

    identity: str
    content_hash: str
    likeness: str | None

    @classmethod
    def of(cls, item: FeedItem) -> SeenItem:
        """The part of an item to remember."""
        return cls(item.identity, item.content_hash, item.likeness)


@dataclass(frozen=True, slots=True)
class News(Generic[Item]):
    """The news of one reading of a feed: the new items and the edited ones, both in the feed's
    order, those that have only a new guid (`renamed` has it, by the earlier one), and the
    identities that need not be remembered any more."""

    new: Sequence[Item]
    edited: Sequence[Item]
    churned: Sequence[Item]
    forgotten: Sequence[str]
    renamed: Mapping[str, str]


class Seen:
    """The items that a feed has shown, in the order in which it showed them last."""

    def __init__(self, items: Iterable[SeenItem] = (), *, remembered: int = REMEMBERED) -> None:
        self._items = {item.identity: item for item in items}
        self._alike = {item.likeness: item.identity for item in self._items.values()}
        self._remembered = remembered

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[SeenItem]:
        return iter(self._items.values())

    def take(self, items: Iterable[Item]) -> News[Item]:
        """Compares the items of a feed with those seen, which they belong to from now on.  Of two
        with one identity the first counts."""
        shown: dict[str, Item] = {}
        for item in items:
            shown.setdefault(item.identity, item)
        new = list[Item]()
        edited = list[Item]()
        churned = list[Item]()
        renamed: dict[str, str] = {}
        for identity, item in shown.items():
            before = self._items.get(identity)
            if before is not None:
                if before.content_hash != item.content_hash:
                    edited.append(item)
            elif (earlier := self._earlier(item)) is not None and earlier not in shown:
                same = self._items[earlier].content_hash == item.content_hash
                (churned if same else edited).append(item)
                renamed[earlier] = identity
            else:
                new.append(item)
        for identity, item in reversed(shown.items()):  # Feeds show the latest first.
            self.drop([identity])
            self._items[identity] = SeenItem.of(item)
            self._alike[item.likeness] = identity
        return News(new, edited, churned, self._forget(len(shown)), renamed)

    def drop(self, identities: Iterable[str]) -> None:
        """Items that are new if they come again."""
        for identity in identities:
            item = self._items.pop(identity, None)
            if item is not None and self._alike.get(item.likeness) == identity:
                del self._alike[item.likeness]

    def _earlier(self, item: Item) -> str | None:
        return None if item.likeness is None else self._alike.get(item.likeness)

    def _forget(self, shown: int) -> list[str]:
        surplus = max(len(self._items) - shown - self._remembered, 0)
        forgotten = [identity for identity, _ in zip(self._items, range(surplus), strict=False)]
        self.drop(forgotten)
        return forgotten
