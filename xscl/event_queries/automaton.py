"""The automaton of an event query in its own words: the left-deep reading of its plan in normal
form (patterns-cel.md, section 5; Hong 2009, section 4.3).

A state is a NEXT or a FOLD: the stream of its right input, its instances, its filter, rebind and
forward edges, and what is indexed there (section 6).
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Many
from dataclasses import dataclass, field

from pattern_stage.algebra.nodes import (
    Aggregate,
    Iterate,
    Map,
    Node,
    Select,
    Sequence,
    Source,
    Union,
)
from pattern_stage.algebra.terms import (
    Column,
    Constant,
    Predicate,
)
from xscl.event_queries.bounds import bounds, either_way
from xscl.event_queries.plan_words import PlanWords
from xscl.event_queries.terms import Known
from xscl.event_queries.wording import OF_ONE, OF_TWO, length, name
from xscl.language.syntax import Block

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
    """A state; `rebind` is of a FOLD alone, `until` says when an instance is let go."""

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
                draft.indexes += [f"FR on {one}" for one in _static(above)]
            case Source() | Aggregate():
                stream = (
                    self._aggregate(node)
                    if isinstance(node, Aggregate)
                    else self.words.expression(node)
                )
                said = words.condition(above, OF_ONE)
                indexes = [f"predicate index of {stream} on {one}" for one in _static(above)]
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
            taken = (*node.condition, *node.going_on)
            rebind = words.condition(taken, OF_TWO)
            if node.aggregates:
                rebind += f" ({words.items(node.aggregates, OF_TWO)})"
        stream, static = node.right, list[Predicate]()
        while isinstance(stream, Select):
            static += stream.condition
            stream = stream.input
        indexes = [f"AN on {one}" for one in _static(static)]
        indexes += [f"AI on {', '.join(keys)}" for keys in [list(_equal(node.condition))] if keys]
        indexes += draft.indexes
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
            _until(node, self.words.constants),
        )


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


def _static(conjuncts: Many[Predicate]) -> Iterator[str]:
    """The attributes that an index over constants can be on."""
    for conjunct in conjuncts:
        for left, operator, right in either_way(conjunct):
            if isinstance(left, Column) and isinstance(right, Constant) and operator != "!=":
                yield f"{name(left.name)} ({operator})"


def _equal(conjuncts: Many[Predicate]) -> Iterator[str]:
    """The attributes of the right event that have to equal one of the instance."""
    for conjunct in conjuncts:
        for left, operator, right in either_way(conjunct):
            if (
                isinstance(left, Column)
                and isinstance(right, Column)
                and (left.side == 1 != right.side)
                and operator == "="
            ):
                yield name(left.name)


def _until(node: Sequence | Iterate, constants: Many[Known]) -> str | None:
    """When no later event can satisfy θ, by its bounds on DUR."""
    until = [constants[place] for place in bounds(node.condition, (None,))]
    known = [one for one in until if isinstance(one, int | float)]
    return length(min(known)) if known else None
