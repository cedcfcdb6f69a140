"""The members of an operator form: the distinct (members of the inputs, own constants) of all
queries (hash-consing: s_cse).

There may be hundreds of thousands, and few of them are ever met by an event, so a member is its
number and no object: lists and arrays by number, and below each member of the left input the
members that read it, as a number, a short tuple or, where they are many, dicts: by index and key
where events find them so, and by their constants.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["MANY", "NONE", "Bucket", "Constants", "Members", "members_in"]

Constants = tuple[Any, ...]

Bucket = Any
"""None, a member, a tuple of members, or a dict of buckets."""

NONE, MANY = -1, -2
"""In `Members.below`."""

_SHORT = 2
"""Of so many constants the tuples, too, are likely to be had by several members."""

_WORN = 1024
"""So many more members than there are may have been freed before values are looked through."""

_FEW = 16
"""So many members are gone through one by one."""


def members_in(bucket: Bucket) -> Iterator[int]:
    """All members of a bucket."""
    if isinstance(bucket, int):
        yield bucket
    elif isinstance(bucket, tuple):
        yield from bucket
    elif bucket is not None:
        for part in bucket.values():
            if part.__class__ is int:
                yield part
            else:
                yield from members_in(part)


class Members:
    """Members by number.  `key_of` says, given the right input's member and the constants, how an
    event finds a member among many: by which index, and there under which key.  With `alone` none
    is shared."""

    def __init__(
        self, key_of: Callable[[int, Constants], tuple[object, object]] | None, alone: bool = False
    ) -> None:
        self._key_of, self._alone = key_of, alone
        self.constants: list[Constants | None] = []
        """Own constants; None: the number is free."""
        self.left, self.right = array("i"), array("i")
        self._uses = array("i")
        self.below = array("i")
        """By member of the left input the one that reads it, `NONE`, or `MANY` less the place of
        what reads it in `many`: where nearly all have one, no objects."""
        self.many: list[Bucket] = []
        self._spare: list[int] = []
        """Free places in `many`."""
        self._free: list[int] = []
        self._values: dict[object, object] = {}
        self._freed = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def taken(self) -> int:
        """How many numbers are taken: of members, and of some that have gone."""
        return len(self.constants) - len(self._free)

    def found(self, left: int, right: int, constants: Constants, uses: int = 1) -> int | None:
        """The member, with uses more, if it is there."""
        below = self.below
        if left >= len(below) or self._alone:
            return None
        at = below[left]
        if at >= 0:
            if self.constants[at] != constants or self.right[at] != right:
                return None
            member: int | None = at
        else:
            member = None if at == NONE else self._find(self.many[MANY - at], right, constants)
        if member is not None:
            self._uses[member] += uses
        return member

    def add(self, left: int, right: int, constants: Constants, uses: int = 1) -> int:
        """A new member."""
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
            if below[left] == NONE:
                below[left] = member
            else:
                self._set_under(left, self._with(self.under(left), member))
        else:
            below.extend([NONE] * (left - len(below)))
            below.append(member)
        self._count += 1
        return member

    def remove(self, member: int) -> bool:
        """A use less; whether it was the last.  Its number stays taken until it is freed."""
        self._uses[member] -= 1
        if self._uses[member]:
            return False
        left = self.left[member]
        self._set_under(left, self._less(self.under(left), member))
        self._count -= 1
        return True

    def free(self, member: int) -> None:
        """Lets the number be given to another."""
        self.constants[member] = None
        self._free.append(member)
        self._freed += 1
        if self._freed > _WORN + len(self.constants):
            # Values of members that have gone go, too.
            self._values = {value: value for own in filter(None, self.constants) for value in own}
            self._freed = 0

    def under(self, left: int) -> Bucket:
        """What reads a member of the left input."""
        at = self.below[left] if left < len(self.below) else NONE
        return at if at >= 0 else None if at == NONE else self.many[MANY - at]

    def _set_under(self, left: int, bucket: Bucket) -> None:
        """Keeps what reads a member of the left input."""
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

    def _find(self, bucket: Bucket, right: int, constants: Constants) -> int | None:
        if bucket.__class__ is dict:
            if self._key_of is None:
                return bucket.get((right, constants))
            index, key = self._key_of(right, constants)
            by_key = bucket.get(index)
            bucket = None if by_key is None else by_key.get(key)
            if bucket.__class__ is dict:
                bucket = bucket.get(constants)
            if bucket is None:
                return None
        own, right_of = self.constants, self.right
        for member in (bucket,) if bucket.__class__ is int else bucket:
            if own[member] == constants and right_of[member] == right:
                return member
        return None

    def _with(self, bucket: Bucket, member: int) -> Bucket:
        if bucket is None:
            return member
        if isinstance(bucket, int):
            return (bucket, member)
        if isinstance(bucket, tuple):
            if len(bucket) < _FEW:
                return (*bucket, member)
            many: Bucket = {}
            for one in (*bucket, member):
                many = self._into(many, one)
            return many
        return self._into(bucket, member)

    def _into(self, many: dict[Any, Bucket], member: int) -> dict[Any, Bucket]:
        constants, right = self.constants[member], self.right[member]
        assert constants is not None
        if self._key_of is None:
            many[member if self._alone else (right, constants)] = member
            return many
        index, key = self._key_of(right, constants)
        by_key = many.setdefault(index, {})
        bucket = by_key.get(key)
        if isinstance(bucket, tuple) and len(bucket) == _FEW:
            few, bucket = bucket, {}
            for one in few:
                self._beside(bucket, one)
            by_key[key] = bucket
        if isinstance(bucket, dict):
            self._beside(bucket, member)
        else:
            by_key[key] = self._with(bucket, member)
        return many

    def _beside(self, many: dict[Any, Bucket], member: int) -> None:
        """Into many that have one key, by constants."""
        apart = self._apart(member)
        there = many.get(apart)
        if there is None:
            many[apart] = member
        else:
            many[apart] = (*members_in(there), member)

    def _apart(self, member: int) -> object:
        return member if self._alone else self.constants[member]

    def _less(self, bucket: Bucket, member: int) -> Bucket:
        if isinstance(bucket, int):
            return None
        if isinstance(bucket, tuple):
            rest = tuple([one for one in bucket if one != member])
            return rest if len(rest) > 1 else rest[0]
        constants, right = self.constants[member], self.right[member]
        assert constants is not None
        if self._key_of is None:
            del bucket[member if self._alone else (right, constants)]
            return bucket or None
        index, key = self._key_of(right, constants)
        by_key = bucket[index]
        part = by_key[key]
        if isinstance(part, dict):
            _put(part, self._apart(member), self._less(part[self._apart(member)], member))
            part = part or None
        else:
            part = self._less(part, member)
        _put(by_key, key, part)
        if not by_key:
            del bucket[index]
        return bucket or None


def _put(many: dict[Any, Bucket], key: object, bucket: Bucket) -> None:
    if bucket is None:
        del many[key]
    else:
        many[key] = bucket
