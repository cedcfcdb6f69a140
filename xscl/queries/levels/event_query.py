"""What the subscriptions of an event query have in common, which may differ in names and
constants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xscl.documents.events import PLACES, EventType
from xscl.event_queries.bounds import lengths
from xscl.event_queries.compile import CompiledEvents, Open
from xscl.stream_names import is_internal

if TYPE_CHECKING:
    from pattern_stage.plan.stage import EventStage
    from xscl.queries.levels.levels import Member
    from xscl.queries.levels.stage_holders import Plan

__all__ = ["EventQuery"]


@dataclass(eq=False)
class EventQuery:
    """A plan over types of events; `left_open` are the parameters whose values each subscription
    has of its own.  `feeds` are the streams that get its results; it has a sole subscription then,
    `number`.  `weak` has the stages of subscriptions that wait for nothing."""

    compiled: CompiledEvents
    feeds: tuple[str, ...] = ()
    left_open: Sequence[str] = ()
    types: tuple[EventType, ...] = ()
    level: int | None = None
    members: int = 0
    number: int = -1
    weak: dict[int, Plan] = field(default_factory=dict)
    _numbers: tuple[int, ...] = ()
    _open: list[tuple[int, int, Callable[..., str | float | int]]] = field(init=False)

    def __post_init__(self) -> None:
        place_of = {name: place for place, name in enumerate(self.left_open)}
        self._open = [
            (place, place_of[one.name], one.make)
            for place, one in enumerate(self.compiled.constants)
            if isinstance(one, Open)
        ]

    def read(self, types: tuple[EventType, ...]) -> None:
        """From now on it is over these types: others each time that it comes again."""
        self.types = types
        self._numbers = tuple([one.number for one in types])

    def add_to(self, stage: EventStage, member: Member) -> None:
        """Adds a subscription to a stage."""
        constants = self._constants(member.values)
        since = member.since << PLACES
        stage.add(
            member.number,
            self.compiled.root,
            self._numbers,
            constants,
            since,
            feeds=bool(self.feeds),
            told=not any(map(is_internal, self.feeds)),
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
