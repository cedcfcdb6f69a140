"""The members of an operator form: the distinct (members of the inputs, own constants) of all
queries (hash-consing: s_cse).

There may be hundreds of thousands, and few of them ever meet an event, so a member is a number and
no object: lists and arrays by number, and below each member of the left input the members that read
it: one, a tuple of few, or a `Bucket` of many.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["MANY", "NONE", "Bucket", "Constants", "MemberSet", "Members", "members_in"]

Constants = tuple[Any, ...]

MemberSet = Any
"""Members: None, one, a tuple, or a dict of leaves by the key that distinguishes their members."""

NONE, MANY = -1, -2
"""In `Members.below`."""

_SHORT = 2
"""Tuples of up to so many constants are likely to be shared by several members."""

_WORN = 1024
"""So many more members than there are may have been freed before unused values are searched."""

_FEW = 16
"""So many members are iterated over."""


def members_in(some: MemberSet | Bucket) -> Iterable[int]:
    """All members of a leaf or a bucket."""
    if some.__class__ is tuple:
        return some
    if some.__class__ is int:
        return (some,)
    if isinstance(some, Bucket):
        return (one for by_key in some.by.values() for one in members_in(by_key))
    return [one for leaf in some.values() for one in members_in(leaf)] if some else ()


class Bucket:
    """Many members below one of the left input, as an event finds them: by index, and in that by
    key, as `key_of` returns it for the right input's member and the constants.

        by ── index ─┬─ key ── member
                     ├─ key ── (member, member, ...)                           up to `_FEW`
                     └─ key ── {constants: member, constants: (member, ...)}   more of them

    Where none is shared (`alone`), the number takes the place of the constants.
    """

    __slots__ = ("_of", "by")

    def __init__(self, of: Members, members: Iterable[int]) -> None:
        self._of = of
        self.by: dict[Any, dict[Any, MemberSet]] = {}
        for member in members:
            self.add(member)

    def _path(self, member: int) -> tuple[object, object, object]:
        of = self._of
        constants = of.constants[member]
        assert constants is not None
        index, key = of.key_of(of.right[member], constants)
        return index, key, member if of.alone else constants

    def add(self, member: int) -> None:
        """Adds a member."""
        index, key, own = self._path(member)
        by_key = self.by.setdefault(index, {})
        leaf = by_key.get(key)
        if leaf.__class__ is tuple and len(leaf) == _FEW:
            few, leaf = leaf, {}
            for one in few:
                _put(leaf, self._path(one)[2], one)
            by_key[key] = leaf
        if leaf.__class__ is dict:
            _put(leaf, own, member)
        else:
            _put(by_key, key, member)

    def remove(self, member: int) -> bool:
        """Removes a member; returns whether none is left."""
        index, key, own = self._path(member)
        by_key = self.by[index]
        leaf = by_key[key]
        if leaf.__class__ is dict:
            _take(leaf, own, member)
            if not leaf:
                del by_key[key]
        else:
            _take(by_key, key, member)
        if not by_key:
            del self.by[index]
        return not self.by

    def leaf(self, right: int, constants: Constants) -> MemberSet:
        """The leaf with a member, if it exists."""
        index, key = self._of.key_of(right, constants)
        by_key = self.by.get(index)
        leaf = None if by_key is None else by_key.get(key)
        return leaf.get(constants) if leaf.__class__ is dict else leaf


def _put(leaves: dict[Any, MemberSet], at: object, member: int) -> None:
    there = leaves.get(at)
    leaves[at] = member if there is None else (*members_in(there), member)


def _take(leaves: dict[Any, MemberSet], at: object, member: int) -> None:
    rest = _without(members_in(leaves[at]), member)
    if rest is None:
        del leaves[at]
    else:
        leaves[at] = rest


def _without(members: Iterable[int], member: int) -> MemberSet:
    """A leaf without a member."""
    rest = tuple([one for one in members if one != member])
    return rest if len(rest) > 1 else rest[0] if rest else None


def _by_right(right: int, constants: Constants) -> tuple[object, object]:
    return None, right


class Members:
    """Members by number; with `alone` none is shared."""

    def __init__(
        self, key_of: Callable[[int, Constants], tuple[object, object]] | None, alone: bool = False
    ) -> None:
        self.key_of, self.alone = key_of or _by_right, alone
        self.constants: list[Constants | None] = []
        """Own constants; None: the number is free."""
        self.left, self.right = array("i"), array("i")
        self._uses = array("i")
        self.below = array("i")
        """By member of the left input the member that reads it, `NONE`, or `MANY` minus the index
        into `many` of those that read it: nearly all have one reader, and need no object."""
        self.many: list[tuple[int, ...] | Bucket | None] = []
        self._spare: list[int] = []
        """Free indices of `many`."""
        self._free: list[int] = []
        self._values: dict[object, object] = {}
        self._freed = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def taken(self) -> int:
        """The number of used numbers: of members, and of some removed ones."""
        return len(self.constants) - len(self._free)

    def found(self, left: int, right: int, constants: Constants, uses: int = 1) -> int | None:
        """The member, with uses added, if it exists."""
        below = self.below
        if left >= len(below) or self.alone:
            return None
        at = below[left]
        if at == NONE:
            return None
        several = (at,) if at >= 0 else self.many[MANY - at]
        leaf = several.leaf(right, constants) if isinstance(several, Bucket) else several
        for member in members_in(leaf):
            if self.constants[member] == constants and self.right[member] == right:
                self._uses[member] += uses
                return member
        return None

    def add(self, left: int, right: int, constants: Constants, uses: int = 1) -> int:
        """Adds a member."""
        below, values = self.below, self._values
        if constants:
            constants = tuple([values.setdefault(value, value) for value in constants])
            if len(constants) <= _SHORT:
                constants = values.setdefault(constants, constants)  # type: ignore[assignment]
        if self._free:
            member = self._free.pop()
            self.constants[member] = constants
            self.left[member], self.right[member], self._uses[member] = left, right, uses
        else:
            member = len(self.constants)
            self.constants.append(constants)
            self.left.append(left)
            self.right.append(right)
            self._uses.append(uses)
        if left < len(below):
            there = self.under(left)
            if there is None:
                below[left] = member
            elif there.__class__ is Bucket:
                there.add(member)
            else:
                several = (*members_in(there), member)
                self._set_under(left, several if len(several) <= _FEW else Bucket(self, several))
        else:
            below.extend([NONE] * (left - len(below)))
            below.append(member)
        self._count += 1
        return member

    def remove(self, member: int) -> bool:
        """Removes a use; returns whether it was the last.  Its number stays used until it is
        freed."""
        self._uses[member] -= 1
        if self._uses[member]:
            return False
        left = self.left[member]
        there = self.under(left)
        if there.__class__ is not Bucket:
            self._set_under(left, _without(members_in(there), member))
        elif there.remove(member):
            self._set_under(left, None)
        self._count -= 1
        return True

    def free(self, member: int) -> None:
        """Makes a number available again."""
        self.constants[member] = None
        self._free.append(member)
        self._freed += 1
        if self._freed > _WORN + len(self.constants):
            # Values of removed members are removed, too.
            self._values = {value: value for own in filter(None, self.constants) for value in own}
            self._freed = 0

    def under(self, left: int) -> Any:
        """The members that read a member of the left input."""
        at = self.below[left] if left < len(self.below) else NONE
        return at if at >= 0 else None if at == NONE else self.many[MANY - at]

    def _set_under(self, left: int, bucket: Any) -> None:
        """Stores the members that read a member of the left input."""
        at = self.below[left]
        if bucket is None or bucket.__class__ is int:
            self.below[left] = NONE if bucket is None else bucket
            if at <= MANY:
                self.many[MANY - at] = None
                self._spare.append(MANY - at)
        elif at <= MANY:
            self.many[MANY - at] = bucket
        elif self._spare:
            place = self._spare.pop()
            self.many[place] = bucket
            self.below[left] = MANY - place
        else:
            self.below[left] = MANY - len(self.many)
            self.many.append(bucket)
