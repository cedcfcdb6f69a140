"""Blocks of patterns -> types of events.

Each distinct block is one type, which all patterns share.  The events of a bare stream are its
documents; those of any other block are the rows of a filter query over it, which is registered with
the stages as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from xscl.documents.events import EventType
from xscl.queries.stage_registration import StageRegistration

if TYPE_CHECKING:
    from xscl.language.syntax import Block

__all__ = ["EventTypes"]


class EventTypes:
    """The types of all patterns; each goes with the last pattern that names it."""

    def __init__(self, stages: StageRegistration) -> None:
        self._stages = stages
        self._types: dict[object, EventType] = {}
        self._uses: dict[EventType, int] = {}
        self._of_spine: dict[int, list[EventType]] = {}
        self._numbers = count()
        self._names: dict[str, int] = {}
        self._keys: dict[int, tuple[object, str]] = {}
        """By number what a type says, and its name."""

    def __iter__(self) -> Iterator[EventType]:
        return iter(self._uses)

    def of_spine(self, spine: int) -> Iterable[EventType]:
        """The types whose events a spine leaves witnesses of."""
        return self._of_spine.get(spine, ())

    def take(self, block: Block) -> EventType:
        """The type of a block, for one more pattern."""
        from xscl.language.same_query import bare

        key = bare(block)
        known = self._types.get(key)
        if known is None:
            known = self._types[key] = self._new(block)
            self._uses[known] = 0
            name = repr(key)
            self._names[name] = known.number
            self._keys[known.number] = key, name
        self._uses[known] += 1
        return known

    def selected_with(self, block: Block) -> list[EventType]:
        """The types that have no events but in documents in which a block selects something."""
        if not block.steps:
            return [one for one in self._uses if one.stream == block.stream.text]
        from xscl.language.same_query import bare

        known = self._types.get(bare(block))
        return [] if known is None else [known]

    def release(self, one: EventType) -> None:
        """Takes one pattern's use of a type back."""
        self._uses[one] -= 1
        if self._uses[one]:
            return
        del self._uses[one]
        key, name = self._keys.pop(one.number)
        del self._types[key], self._names[name]
        for number in one.numbers:
            for spine in self._stages.spines_of(number):
                self._of_spine[spine].remove(one)
                if not self._of_spine[spine]:
                    del self._of_spine[spine]
            self._stages.release(number)

    def name(self, number: int) -> str | None:
        """What a type says, as a text that knows it over a restart; None where it is gone."""
        found = self._keys.get(number)
        return None if found is None else found[1]

    def named(self, name: str) -> int | None:
        """The number of the type of a name, None where there is none any more."""
        return self._names.get(name)

    def _new(self, block: Block) -> EventType:
        number, stream = next(self._numbers), block.stream.text
        if not block.steps:
            return EventType(number, stream, whole=True)
        from xscl.dissection.dissect import dissect
        from xscl.language.syntax import Item, Name, Query, VariablePath

        query = Query("events", None, block, "", block.at, None)
        variables = dissect(query).variables
        names = [Name(variable, block.at) for variable in variables]
        items = tuple(Item(VariablePath(name, (), block.at), None) for name in names)
        dissection = dissect(replace(query, select=items or None))
        numbers = tuple(self._stages.take_numbers(len(dissection.disjuncts)))
        columns: tuple[int, ...] = ()
        for disjunct in dissection.disjuncts:
            places = {node: place for place, node in enumerate(disjunct.operators[-1].columns)}
            (output,) = disjunct.outputs
            columns = tuple(
                places[node] for node in (output, *(disjunct.selected[one] for one in variables))
            )
        one = EventType(number, stream, False, numbers, columns, variables)
        for at, disjunct in zip(numbers, dissection.disjuncts, strict=True):
            self._stages.register(at, one, "events", disjunct, 0)
            for spine in self._stages.spines_of(at):
                self._of_spine.setdefault(spine, []).append(one)
        return one
