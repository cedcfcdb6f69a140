"""What names an expression's events have, and what a name in a condition or item reads
(docs/semantics.md#schemas)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

__all__ = ["Refused", "Schema", "unique"]


class Refused(Exception):
    """A query that has no meaning."""


@dataclass(frozen=True)
class Schema:
    """The names that are listed; where it is open, those that were asked of it, too, listed ones
    among them."""

    listed: tuple[str, ...] = ()
    open: bool = True
    known: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """All that it lists or knows."""
        return (*self.listed, *sorted(self.known - set(self.listed)))

    def has(self, name: str) -> bool:
        return name in self.listed or name in self.known

    def ask(self, name: str) -> tuple[Schema, str]:
        """The schema thereafter, and the name that is meant."""
        if not self.has(name):
            if f"{name}_1" in self.listed:
                name = f"{name}_1"
            elif not self.open:
                raise Refused(f"unknown name {name}")
        return self.knowing([name]), name

    def knowing(self, names: Iterable[str]) -> Schema:
        return replace(self, known=self.known | set(names)) if self.open else self


def unique(names: Iterable[str]) -> tuple[str, ...]:
    """Names without duplicates."""
    every = tuple(names)
    if len(set(every)) != len(every):
        raise Refused(f"a name twice: {every}")
    return every
