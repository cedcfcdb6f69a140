"""What the subscriptions of an event query have in common, which may differ in names and
constants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from xscl.consistency import STRONG, Level
from xscl.documents.events import PLACES, EventType
from xscl.event_queries.bounds import lengths
from xscl.event_queries.compile import CompiledEvents, Open
from xscl.stream_names import is_internal

if TYPE_CHECKING:
    from xscl.pattern_stage.plan.stage import EventStage

__all__ = ["EventQuery", "Member"]


class Member(Protocol):
    """A subscription of an event query: its number, the first document that it sees, its values."""

    order: int
    since: int
    values: tuple[object, ...]


@dataclass(eq=False)
class EventQuery:
    """A plan over types of events; `left_open` are the parameters whose values each subscription
    has of its own.  `feeds` are the streams that get its results; it has a sole subscription then,
    `number`.  `asked` is the consistency that is asked of it, `in_order` as in `PatternQuery`."""

    compiled: CompiledEvents
    feeds: tuple[str, ...] = ()
    left_open: Sequence[str] = ()
    types: tuple[EventType, ...] = ()
    level: int | None = None
    in_order: bool | None = None
    members: int = 0
    number: int = -1
    asked: Level = STRONG
    _numbers: tuple[int, ...] = ()
    _open: list[tuple[int, int, Callable[..., str | float | int]]] = field(init=False)

    def __post_init__(self) -> None:
        place_of = {name: place for place, name in enumerate(self.left_open)}
        self._open = [
            (place, place_of[one.name], one.make)
            for place, one in enumerate(self.compiled.constants)
            if isinstance(one, Open)
        ]

    @property
    def weak(self) -> bool:
        """Whether it waits for nothing."""
        return self.asked.name == "weak"

    def read(self, types: tuple[EventType, ...]) -> None:
        """From now on it is over these types: others each time that it comes again."""
        self.types = types
        self._numbers = tuple([one.number for one in types])

    def add_to(self, stage: EventStage, member: Member) -> None:
        """Adds a subscription to a stage."""
        constants = self._constants(member.values)
        since = member.since << PLACES
        stage.add(
            member.order,
            self.compiled.root,
            self._numbers,
            constants,
            since,
            feeds=bool(self.feeds),
            reports=not any(map(is_internal, self.feeds)),
            in_order=bool(self.in_order),
        )

    def windows(self, member: Member) -> Iterator[int]:
        """The lengths of the windows and bounds on DUR that end of a subscription, in
        microseconds."""
        if self._lengths:
            constants = self._constants(member.values)
            yield from filter(None, (constants[place] for place in self._lengths))

    def _constants(self, values: Sequence[object]) -> tuple[Any, ...]:
        if not self._open:
            return self.compiled.constants
        made: list[Any] = [*self.compiled.constants]
        for place, value, make in self._open:
            made[place] = make(values[value])
        return tuple(made)

    @cached_property
    def _lengths(self) -> tuple[int, ...]:
        return tuple(lengths(self.compiled.root))
