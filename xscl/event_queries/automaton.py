"""The automaton of an event query in its own words: the left-deep reading of its plan in normal
form (docs/semantics.md#states-and-instances; Hong 2009, section 4.3), with the indexes of the
operators that run.

A state is a NEXT or a FOLD: the stream of its right input, its instances, its filter, rebind and
forward edges, and what is indexed there (docs/semantics.md#sharing).
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Many
from dataclasses import dataclass, field

from xscl.event_queries.plan_words import PlanWords
from xscl.event_queries.terms import Known
from xscl.event_queries.wording import OF_ONE, OF_TWO, length, name
from xscl.language.syntax import Block
from xscl.pattern_stage.algebra.nodes import (
    Aggregate,
    Iterate,
    Map,
    Node,
    Select,
    Sequence,
    Source,
    Union,
)
from xscl.pattern_stage.layouts import Layouts
from xscl.pattern_stage.plan.kinds.conditions import index_of
from xscl.pattern_stage.plan.kinds.meetings import Meeting
from xscl.pattern_stage.plan.operators import Context
from xscl.pattern_stage.values.terms import Predicate

__all__ = ["Automaton", "Entry", "Forward", "State", "automaton"]

OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Forward:
    """An edge to another state, or to the output, and what is selected on it."""

    condition: str
    items: str | None
    target: str


@dataclass(frozen=True, slots=True)
class State:
    """A state; `rebind` is of a FOLD alone, `until` says when an instance is dropped."""

    name: str
    operator: str
    stream: str
    instances: str
    filter: str
    rebind: str | None
    forward: list[Forward]
    indexes: list[str]
    until: str | None


@dataclass(frozen=True, slots=True)
class Entry:
    """Events of a stream that become instances of a state, or are output as they are."""

    stream: str
    condition: str
    items: str | None
    target: str
    indexes: list[str]


@dataclass(frozen=True, slots=True)
class Automaton:
    """The automaton of a query, or of a stream in it that is none of its inputs: `stream`."""

    stream: str | None
    entries: list[Entry]
    states: list[State]


@dataclass(slots=True)
class _Draft:
    """A state while its edges are found; its name comes last."""

    node: Sequence | Iterate
    forward: list[tuple[str, list[str], _Draft | None]] = field(default_factory=list)
    indexes: list[str] = field(default_factory=list)
    name: str = ""


def automaton(root: Node, constants: Many[Known], blocks: Many[Block]) -> list[Automaton]:
    """The automata of a plan in normal form: of the streams of its own that it reads, then of the
    query."""
    words = PlanWords(constants, blocks)
    made = [_Reading(words).automaton(root, None)]
    done = set[Node]()
    while waiting := [node for node in words.streams if node not in done]:
        for node in waiting:
            done.add(node)
            made.append(_Reading(words).automaton(node, words.streams[node]))
    return [*reversed(made)]


class _Reading:
    """The left-deep reading of one plan."""

    def __init__(self, words: PlanWords) -> None:
        self.words = words
        self._context = Context(Layouts(), frozenset())
        self.drafts: dict[Node, _Draft] = {}
        self.entries: list[tuple[Entry, _Draft | None]] = []

    def automaton(self, root: Node, stream: str | None) -> Automaton:
        """The automaton of a plan."""
        self._into(root, None, [], [])
        for number, draft in enumerate(self.drafts.values()):
            draft.name = _letters(number)
        entries = [
            Entry(one.stream, one.condition, one.items, _name(target), one.indexes)
            for one, target in self.entries
        ]
        return Automaton(stream, entries, [self._state(one) for one in self.drafts.values()])

    def _into(
        self, node: Node, target: _Draft | None, above: list[Predicate], items: list[str]
    ) -> None:
        """Reads what leads into a state, or to the output; `above` and `items` stand between."""
        words = self.words.terms
        match node:
            case Select(condition, of):
                self._into(of, target, [*condition, *above], items)
            case Map():
                # In normal form no Select is above a Map.
                self._into(node.input, target, above, [words.listed(node), *items])
            case Union(left, right):
                self._into(left, target, above, items)
                self._into(right, target, above, items)
            case Sequence() | Iterate():
                known = self.drafts.get(node)
                draft = known or _Draft(node)
                if known is None:
                    self._into(node.left, draft, [], [])
                    self.drafts[node] = draft
                draft.forward.append((words.condition(above, OF_ONE), items, target))
                draft.indexes += [f"FR on {one}" for one in self._found_by(above)]
            case Source() | Aggregate():
                stream = (
                    self._aggregate(node)
                    if isinstance(node, Aggregate)
                    else self.words.expression(node)
                )
                said = words.condition(above, OF_ONE)
                indexes = [f"predicate index of {stream} on {one}" for one in self._found_by(above)]
                entry = Entry(stream, said, _joined(items), "", indexes)
                self.entries.append((entry, target))

    def _aggregate(self, node: Aggregate) -> str:
        words = self.words
        items = words.terms.items(node.items, OF_ONE)
        keys = f" GROUP BY {', '.join(map(name, node.keys))}" if node.keys else ""
        window = words.terms.window(node.window)
        return f"SELECT {items} FROM WINDOW{{{window}}}({words.expression(node.input)}){keys}"

    def _state(self, draft: _Draft) -> State:
        node, words = draft.node, self.words.terms
        theta = words.condition(node.condition, OF_TWO)
        rebind = None
        taken = node.condition
        if isinstance(node, Iterate):
            taken = (*node.condition, *node.continuing)
            rebind = words.condition(taken, OF_TWO)
            if node.aggregates:
                rebind += f" ({words.items(node.aggregates, OF_TWO)})"
        stream, static = node.right, list[Predicate]()
        while isinstance(stream, Select):
            static += stream.condition
            stream = stream.input
        indexes = [f"AN on {one}" for one in self._found_by(static)]
        meeting = Meeting(node, self._context)
        keys = [words.scalar(one.other, {1: ""}) for one in meeting.equal]
        indexes += [f"AI on {', '.join(keys)}"] if keys else []
        indexes += draft.indexes
        until = None if meeting.bound is None else self.words.constants[meeting.bound.place]
        forward = [
            Forward(condition, _joined(items), _name(target))
            for condition, items, target in draft.forward
        ]
        return State(
            draft.name,
            "NEXT" if isinstance(node, Sequence) else "FOLD",
            self.words.expression(node.right),
            _instances(node),
            f"NOT ({theta})" if node.condition else "FALSE",
            rebind,
            forward,
            indexes,
            length(until) if isinstance(until, int | float) else None,
        )

    def _found_by(self, condition: Many[Predicate]) -> Iterator[str]:
        """What an index over constants finds events by."""
        equal, order, _ = index_of(tuple(condition))
        found = [(one.one, "=") for one in equal] or (
            [(order.value, order.operator)] if order else []
        )
        return (f"{self.words.terms.scalar(one, OF_ONE)} ({operator})" for one, operator in found)


def _name(target: _Draft | None) -> str:
    return OUTPUT if target is None else target.name


def _letters(number: int) -> str:
    """A, B, …, Z, AA, …"""
    text = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        text = chr(ord("A") + digit) + text
    return text


def _joined(items: list[str]) -> str | None:
    return ", then ".join(items) if items else None


def _instances(node: Sequence | Iterate) -> str:
    if isinstance(node, Iterate):
        aggregates = [name(one) for one, _ in node.aggregates]
        return ", ".join(["first", "last", *aggregates])
    if not node.left.open:
        return ", ".join(map(name, node.left.names))
    return ", ".join([*map(name, node.left.names), "all else of its event"])
