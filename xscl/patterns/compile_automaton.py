"""From the description of an automaton to its program, arcs and blocks; constants apart.

The description is right: it was checked when it was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar

from xscl.consistency import STRONG, Level
from xscl.language import syntax
from xscl.language.automata.blocks import block_of
from xscl.language.automata.check import initial_of, is_number_field, life_of, within_of
from xscl.language.automata.description import Arc, Automaton
from xscl.language.automata.expressions import read_fence, read_transfer
from xscl.language.syntax import Block
from xscl.pattern_stage.automata import program as stage
from xscl.pattern_stage.values import terms as algebra
from xscl.patterns.compile import attribute
from xscl.times import to_seconds

if TYPE_CHECKING:
    from xscl.pattern_stage.processor import PatternStage

__all__ = ["Arcs", "CompiledAutomaton", "Version", "compile_arc", "compile_automaton", "described"]


@dataclass(frozen=True, slots=True)
class Version:
    """An arc with its name, and the life that it has; what was replaced has its own."""

    arc: Arc
    life: stage.Life
    compiled: stage.Arc


@dataclass(frozen=True, slots=True)
class Arcs:
    """What of an automaton may change: its arcs, and with them its `states`, by number, of which
    some are `final`; whether they have `changed`, and how many there have been."""

    versions: tuple[Version, ...]
    states: tuple[str, ...]
    final: frozenset[int]
    changed: bool = False
    count: int = 0


@dataclass(slots=True, eq=False)
class CompiledAutomaton:
    """An automaton as the pattern stage takes it: `blocks` by type, and the arcs that it has now,
    of which `automaton` has those that it was subscribed with."""

    dynamic: ClassVar = True
    composite: ClassVar = False

    automaton: Automaton
    program: stage.Program
    blocks: tuple[tuple[Block, ...], ...]
    now: Arcs
    level: Level | None = None
    """What it says of its consistency."""
    known: dict[Arc, stage.Arc] = field(default_factory=dict)
    """Arcs without lives that came later, with what they are compiled to: what comes and goes again
    and again is checked and compiled once."""

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the states, by number."""
        return self.now.states

    @property
    def final(self) -> frozenset[int]:
        """The final states."""
        return self.now.final

    @property
    def arcs(self) -> tuple[tuple[stage.Life, stage.Arc], ...]:
        """The arcs with their lives."""
        return tuple([(one.life, one.compiled) for one in self.now.versions])

    @property
    def described(self) -> list[Arc]:
        """The arcs as they would be described."""
        if not self.now.changed:
            return [*self.automaton.arcs]
        return [described(one.arc, one.life) for one in self.now.versions]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the event types."""
        return tuple(self.automaton.events)

    @property
    def monotone(self) -> bool:
        """Whether a further event can only add matches: of no automaton."""
        return False

    @property
    def eager(self) -> bool:
        """Whether it says itself that it is `strong`, and what numbers the events of each part
        without gaps: what these decide is then reported for good, and its past does not change."""
        own = self.automaton.consistency
        return self.program.sequence is not None and own is not None and Level.of(own) == STRONG

    @property
    def within(self) -> int | None:
        """The lifetime of a run in microseconds."""
        return self.program.within

    def add_to(
        self,
        stage: PatternStage,
        number: int,
        types: Sequence[Sequence[int]],
        since: int,
        *,
        weak: bool = False,
        in_order: bool = False,
    ) -> None:
        """Adds it to a stage as a query that sees events with numbers not below `since`; all but
        `weak` automata take events in order."""
        states, of = len(self.states), [type_ for (type_,) in types]
        changed, final = self.now.changed, self.final
        stage.add_automaton(
            number, self.program, self.arcs, states, final, of, since, weak, changed=changed
        )


def described(arc: Arc, life: stage.Life) -> Arc:
    """An arc that says its life."""
    at, until = (to_seconds(int(one)) if isfinite(one) else None for one in life)
    return replace(arc, at=at, until=until)


def compile_automaton(automaton: Automaton) -> CompiledAutomaton:
    """The program, arcs and blocks of an automaton.

    >>> from xscl.language.automata.description import Arc
    >>> rising = Arc("q0", "q1", "e", when="e.price > reg.low", set="low = e.price")
    >>> one = Automaton("rising", {"e": "Stock"}, ["q1"], [rising], register={"low": 0})
    >>> compiled = compile_automaton(one)
    >>> compiled.states, compiled.final, compiled.names
    (('q0', 'q1'), frozenset({1}), ('e',))
    """
    start = automaton.start or ""
    named = (state for arc in automaton.arcs for state in (arc.source, arc.target))
    states = tuple(dict.fromkeys([*automaton.states, start, *named, *automaton.final]))
    blocks = tuple((_block(text),) for text in automaton.events.values())
    program = stage.Program(
        start=states.index(start),
        by=tuple(algebra.Attribute((name,)) for name in automaton.by),
        register=tuple(
            stage.RegisterField(is_number_field(one), initial_of(one))
            for one in automaton.register.values()
        ),
        within=within_of(automaton),
        keep=automaton.keep,
        sequence=(None if automaton.sequence is None else algebra.Attribute((automaton.sequence,))),
    )
    level = None if automaton.consistency is None else Level.of(automaton.consistency)
    versions = tuple(
        Version(arc, life_of(arc), compile_arc(automaton, arc, states)) for arc in automaton.arcs
    )
    final = frozenset(states.index(state) for state in automaton.final)
    arcs = Arcs(versions, states, final, count=len(versions))
    return CompiledAutomaton(automaton, program, blocks, arcs, level)


def compile_arc(automaton: Automaton, arc: Arc, states: tuple[str, ...]) -> stage.Arc:
    """An arc between states by number."""
    fields = {
        name: (place, place >= len(automaton.by) and is_number_field(automaton.register[name]))
        for place, name in enumerate((*automaton.by, *automaton.register))
    }
    shape = _shape(arc.when, arc.set, tuple(fields.items()))
    fence, transfer, constants = shape
    type_ = None
    if arc.event is not None and arc.event != "*":
        type_ = [*automaton.events].index(arc.event)
    return stage.Arc(
        arc.kind,
        states.index(arc.source),
        states.index(arc.target),
        type_,
        fence,
        transfer,
        constants,
    )


_Fields = tuple[tuple[str, tuple[int, bool]], ...]


@lru_cache(maxsize=10_000)
def _shape(
    when: str | None, set_: str | None, fields: _Fields
) -> tuple[algebra.Predicate, tuple[tuple[int, algebra.Term], ...], tuple[str | float, ...]]:
    """The fence, the transfer and the constants of an arc; arcs of the same text have the same."""
    terms = _Terms(dict(fields))
    fence: algebra.Predicate = algebra.Truth(True)
    if when is not None:
        condition, _ = read_fence(when)
        fence = terms.predicate(condition)
    assignments: Any = ()
    if set_ is not None:
        assignments, _ = read_transfer(set_)
    transfer = tuple(
        (terms.fields[one.field.text][0], terms.term(one.value)) for one in assignments
    )
    return fence, transfer, tuple(terms.constants)


def _block(text: str) -> Block:
    block = block_of(text)
    assert isinstance(block, Block)
    return block


class _Terms:
    """The terms of one arc: the places and types of fields, and its constants so far."""

    def __init__(self, fields: dict[str, tuple[int, bool]]) -> None:
        self.fields = fields
        self.constants: list[str | float] = []

    def predicate(self, condition: Any) -> algebra.Predicate:
        """A condition."""
        match condition:
            case syntax.Truth(value):
                return algebra.Truth(value)
            case syntax.Not(operand):
                return algebra.Not(self.predicate(operand))
            case syntax.Every(parts):
                return algebra.And(tuple(map(self.predicate, parts)))
            case syntax.Either(parts):
                return algebra.Or(tuple(map(self.predicate, parts)))
        left, right = self.term(condition.left), self.term(condition.right)
        return algebra.Comparison.of(condition.operator, left, right)

    def term(self, value: Any) -> algebra.Term:
        """A value."""
        match value:
            case syntax.Literal():
                return self.constant(value.value)
            case syntax.PerCent():
                return self.constant(value.share)
            case syntax.Minus(operand):
                return algebra.Negative(self.term(operand))
            case syntax.Arithmetic(operator, left, right):
                return algebra.Arithmetic(operator, self.term(left), self.term(right))
            case syntax.Call(function, arguments):
                return algebra.Call(function, tuple(map(self.term, arguments)))
            case syntax.Read(syntax.Name() as variable, None, read):
                if read is None:
                    return self.register(variable.text)
                if variable.text == "reg":
                    return self.register(read.steps[0])
                return algebra.Read(0, attribute(read))
        raise AssertionError(value)

    def register(self, name: str) -> algebra.Register:
        """A field of the register."""
        return algebra.Register(*self.fields[name])

    def constant(self, value: str | float) -> algebra.Constant:
        """A constant, at the next place."""
        self.constants.append(value)
        return algebra.Constant(len(self.constants) - 1, not isinstance(value, str))
