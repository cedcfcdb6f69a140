"""From a path and the name of a child to the child's path: what the walk over a document reads.

The path table fills it on demand.  Where a name reaches states with filters, there is no single
path: the transition leads to a *choice*, which each node decides by its filters.  Choices are
shared, and counted by the transitions that lead to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xscl.xpath_stage.filters import plain
from xscl.xpath_stage.patterns import Filter, Test

__all__ = ["DEAD", "SKIP", "Choice", "Choices", "Transitions"]

DEAD = 0
"""The path of all nodes at and below which no pattern can match."""

SKIP = -1
"""Instead of a path: the node is no element (a comment, a processing instruction)."""


MOST_SINGLE = 64
"""So many filters at most are tested one by one where they compare one name with texts."""

Filtered = tuple[int, tuple[int, ...]]
"""A state with the places of its filters."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A name below a path that reaches states with filters, so that each node decides by its
    filters.

    `free` are the states that it reaches in any case, `filtered` the others with their filters, as
    indices into `tests`, which has each filter once.  Of very many filters that compare one name
    with texts, `texts` has the places by name and text, and `of_text` the states by the place of
    such a filter; `others` are the states without one.
    """

    free: frozenset[int]
    filtered: tuple[Filtered, ...]
    tests: tuple[Test, ...] = ()
    texts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    of_text: Mapping[int, Sequence[Filtered]] = field(default_factory=dict)
    others: Sequence[Filtered] = ()

    @classmethod
    def of(cls, free: frozenset[int], filtered: Sequence[tuple[int, tuple[Test, ...]]]) -> Choice:
        """The choice among states with their filters."""
        places: dict[Test, int] = {}
        for _, tests in filtered:
            for test in tests:
                places.setdefault(test, len(places))
        some = tuple((state, tuple(places[test] for test in tests)) for state, tests in filtered)
        texts = _texts(places)
        if not texts:
            return cls(free, some, tuple(places))
        known = {place for of_name in texts.values() for place in of_name.values()}
        of_text: dict[int, list[Filtered]] = {}
        others: list[Filtered] = []
        for one in some:
            place = next((place for place in one[1] if place in known), None)
            (others if place is None else of_text.setdefault(place, [])).append(one)
        return cls(free, some, tuple(places), texts, of_text, others)


def _texts(places: Mapping[Test, int]) -> dict[str, dict[str, int]]:
    """The places of filters that compare one name with texts, where these are very many."""
    if len(places) <= MOST_SINGLE:
        return {}
    found: dict[str, dict[str, int]] = {}
    for test, place in places.items():
        one = plain(test) if isinstance(test, Filter) else None
        if one is not None and one.operator == "=" and isinstance(one.constant, str):
            found.setdefault(one.name, {})[one.constant] = place
    return {name: some for name, some in found.items() if len(some) > MOST_SINGLE}


_NONE = Choice(frozenset(), ())


class Choices:
    """The choices to which transitions lead, as numbers below `SKIP`.

    The number n stands for the place -2 - n, which is reused when no transition leads there any
    more.
    """

    def __init__(self) -> None:
        self._listed: list[Choice] = []
        self._keys: list[object] = []
        self._uses: list[int] = []
        self._places: dict[object, int] = {}
        self._unused: list[int] = []

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, number: int) -> Choice:
        return self._listed[-2 - number]

    def take(self, choice: Choice) -> int:
        """The number of a choice, with one more transition that leads to it."""
        # A state always has the same filters.
        key = choice.free, tuple(state for state, _ in choice.filtered)
        place = self._places.get(key)
        if place is None:
            if self._unused:
                place = self._unused.pop()
            else:
                place = len(self._listed)
                self._listed.append(_NONE)
                self._keys.append(None)
                self._uses.append(0)
            self._places[key] = place
            self._listed[place], self._keys[place] = choice, key
        self._uses[place] += 1
        return -2 - place

    def release(self, number: int) -> None:
        """Removes one transition that leads to the choice with this number."""
        place = -2 - number
        self._uses[place] -= 1
        if not self._uses[place]:
            del self._places[self._keys[place]]
            self._listed[place], self._keys[place] = _NONE, None
            self._unused.append(place)


class Transitions(dict[object, int]):
    """From the names below one path (Clark names, after `@` an attribute's) to paths, or to
    negative numbers: `SKIP`, and below it those of choices."""

    __slots__ = ("_choices", "_find", "path")

    def __init__(
        self, path: int, find: Callable[[Transitions, object], int], choices: Choices
    ) -> None:
        super().__init__()
        self.path = path
        self._find = find
        self._choices = choices

    def __missing__(self, name: object) -> int:
        return self._find(self, name)

    def keep(self, kept: dict[object, int]) -> None:
        """Drops all transitions but these, which lead to paths; the others are computed again on
        demand."""
        for target in self.values():
            if target < SKIP:
                self._choices.release(target)
        self.clear()
        self.update(kept)
