"""Static schemas: the attributes of the events of an expression, before any document has come
(docs/semantics.md#schemas).

A schema is closed, a list of names, or open: a list of computed names, and whatever else an event
has.  It knows names that were asked of it below.  Here are the schemas of NEXT, FOLD and UNION out
of those of their inputs; of all else they follow from a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

__all__ = ["Folded", "Schema", "folded", "in_sequence", "twice", "united"]

_SUFFIX = "_1"


@dataclass(frozen=True, slots=True)
class Schema:
    """`known` are names that were asked of an open schema, listed ones among them."""

    listed: tuple[str, ...]
    open: bool
    known: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.known and not self.open:
            raise ValueError("a closed schema lists all that it knows")

    @property
    def names(self) -> tuple[str, ...]:
        """The names that are listed or known."""
        return tuple(dict.fromkeys(self.listed + self.known))

    def has(self, name: str) -> bool:
        """Whether a name is listed or known."""
        return name in self.listed or name in self.known

    def find(self, name: str) -> str | None:
        """The attribute that a name reads where there is this one input; None if there is none."""
        if self.has(name):
            return name
        if name + _SUFFIX in self.listed:
            return name + _SUFFIX
        return name if self.open else None

    def asked(self, name: str) -> Schema:
        """The schema once a name was asked of it."""
        found = self.find(name)
        if found is None or not self.open or found in self.known:
            return self
        return replace(self, known=(*self.known, found))

    def beside(self, names: Iterable[str]) -> Schema:
        """The schema of `*` alongside other items."""
        items = tuple(names)
        listed = tuple(dict.fromkeys((*self.listed, *items)))
        return replace(
            self, listed=listed, known=tuple(name for name in self.known if name not in items)
        )


def _schema(listed: tuple[str, ...], known: Iterable[str] | None) -> Schema:
    """A schema; a closed one where nothing else can be known."""
    if known is None:
        return Schema(listed, False)
    return Schema(listed, True, tuple(dict.fromkeys(known)))


def twice(names: Iterable[str]) -> Iterator[str]:
    """The names that were there before."""
    before = set[str]()
    for name in names:
        if name in before:
            yield name
        before.add(name)


def united(left: Schema, right: Schema) -> Schema:
    """The schema of UNION; two closed ones have the same names."""
    listed = tuple(name for name in left.listed if name in right.listed)
    return _schema(listed, left.known + right.known if left.open or right.open else None)


def in_sequence(left: Schema, right: Schema) -> tuple[bool, tuple[str, ...], Schema]:
    """Of NEXT: whether the left's attributes are renamed, the names that are then listed twice,
    and its schema."""
    renamed = (left.open and right.open) or any(right.has(name) for name in left.names)
    suffix = _SUFFIX if renamed else ""
    listed = (*(name + suffix for name in left.listed), *right.listed)
    known = (*(name + suffix for name in left.known), *right.known)
    open_ = left.open or right.open
    schema = _schema(tuple(dict.fromkeys(listed)), known if open_ else None)
    return renamed, tuple(twice(listed)), schema


@dataclass(frozen=True, slots=True)
class Folded:
    """The names of a FOLD.

    `common`, `kept` and `right_names` are those of `Iterate`; `lacking` are names of the right
    that a closed left does not have, `twice` those that two attributes would have.
    """

    common: tuple[str, ...] | None
    kept: tuple[str, ...]
    right_names: tuple[str, ...] | None
    lacking: tuple[str, ...]
    twice: tuple[str, ...]
    schema: Schema


def folded(left: Schema, right: Schema, computed: tuple[str, ...]) -> Folded:
    """The names of a FOLD whose third part computes some."""
    if left.open and right.open:
        common = None
        kept = tuple(name for name in left.listed if not right.has(name) and name not in computed)
        right_names = None
        lacking: tuple[str, ...] = ()
        given = tuple(dict.fromkeys((*right.listed, *computed)))
    else:
        # Of an open right side nothing else is seen than what was asked of it.
        right_names = right.known if right.open else right.listed
        given = tuple(dict.fromkeys((*right_names, *computed)))
        # What an open left has is not known: all of it may be common.
        common = given if left.open else tuple(name for name in left.listed if name in given)
        kept = ()
        lacking = (
            () if left.open else tuple(name for name in right_names if name not in left.listed)
        )

    def outer(name: str) -> str:
        is_common = name not in kept if common is None else name in common
        return name + _SUFFIX if is_common else name

    listed = (*map(outer, left.listed), *given)
    known = (*map(outer, left.known), *(right.known if right_names is None else ()))
    schema = _schema(tuple(dict.fromkeys(listed)), known if left.open else None)
    return Folded(common, kept, right_names, lacking, tuple(twice(listed)), schema)
