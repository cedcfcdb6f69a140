"""The automaton of a pattern in its query's own words: Figure 2 of SASE+, with what each state
keeps (the computation state V and its masks, section 4.2), and the plan of SASE's Figure 6."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from xscl.consistency import NOTHING
from xscl.language.same_query import bare
from xscl.language.syntax import EventPattern, Query
from xscl.pattern_stage.automaton import Ignoring, Move, StackPlan
from xscl.pattern_stage.automaton import Negated as NegatedPart
from xscl.pattern_stage.compiler.compile import automaton_of
from xscl.pattern_stage.compiler.conditions import Edge, edge_of
from xscl.pattern_stage.layouts import Layouts
from xscl.pattern_stage.pattern import Conjunct
from xscl.pattern_stage.values.terms import Aggregate, Index, Leaf, Length, Read, leaves
from xscl.patterns.compile import CompiledPattern
from xscl.patterns.written import Place, Written
from xscl.times import span

__all__ = ["PEEKING", "Automaton", "Negated", "State", "automaton", "template_id"]

PEEKING = "with the event that begins"
"""The beginning of what is said of an edge that is taken together with the next one."""


@dataclass(frozen=True, slots=True)
class State:
    """A state; `edges` have the formulas of each, joined by AND; `mask` has the columns that an
    edge from here on still reads."""

    name: str
    component: str
    kleene: bool
    edges: dict[str, list[str]]
    mask: list[str]


@dataclass(frozen=True, slots=True)
class Negated:
    """A negated component: the interval in which it is forbidden, and the events that are."""

    name: str
    component: str
    interval: str
    conditions: list[str]


@dataclass(frozen=True, slots=True)
class Automaton:
    """The states of a pattern in order, without F; what it waits for; its plan, line by line."""

    states: list[State]
    negated: list[Negated]
    partition: list[str]
    columns: list[str]
    waits: str
    plan: list[str]


def template_id(compiled: CompiledPattern) -> str:
    """The name of the automaton that all patterns share which differ in constants alone."""
    types = [[bare(block) for block in some] for some in compiled.blocks]
    return sha256(repr((compiled.pattern, types)).encode()).hexdigest()[:12]


def automaton(query: Query, compiled: CompiledPattern) -> Automaton:
    """The automaton of a query whose source is a pattern: what the pattern stage makes of it, in
    the query's words."""
    return _Words(query, compiled).automaton()


class _Words:
    """One pattern, its automaton, and the words for the parts of both."""

    def __init__(self, query: Query, compiled: CompiledPattern) -> None:
        assert isinstance(query.source, EventPattern)
        self.source, self.pattern = query.source, compiled.pattern
        numbers: dict[Hashable, int] = {}
        types = tuple(
            tuple(numbers.setdefault(bare(block), len(numbers)) for block in some)
            for some in compiled.blocks
        )
        self.made = automaton_of(self.pattern, types, Layouts())
        self.written = Written(query.source, query.text, self.pattern)
        self.tests = [text for text, _ in self.written.tests]
        self.window = None if self.pattern.within is None else span(self.pattern.within)
        self.positive = list(dict.fromkeys(move.component for move in self.made.moves))

    def automaton(self) -> Automaton:
        """All of it."""
        partition = [text for text, test in self.written.tests if test.constant is None]
        return Automaton(
            [self.state(number) for number in range(len(self.made.moves))],
            [self.negated(one) for one in self.made.negated],
            partition,
            self.columns((self.positive[0], Edge.BEGIN)),
            self.waits(),
            [] if self.made.sequence is None else self.plan(self.made.sequence, partition),
        )

    def clause(self, conjunct: Conjunct) -> str:
        """A conjunct, within others."""
        text = self.written.clause(conjunct)
        return text if len(conjunct) == 1 else f"({text})"

    def conjuncts(self, at: int, edge: Edge) -> list[str]:
        """The conjuncts that are on an edge."""
        return list(map(self.clause, self.written.positive.get((at, edge), ())))

    def component(self, at: int) -> str:
        """A component, as it was written."""
        return self.written.wording.component(self.source.components[at])

    def state(self, number: int) -> State:
        """The state that a move is made from: `x` or `a[1]`, with its begin, or `a[i]`, with take
        and proceed."""
        move = self.made.moves[number]
        at = move.component
        loops = move.source == move.target
        edge = Edge.TAKE if loops else Edge.BEGIN
        holds = [*self.tests, *self.conjuncts(at, edge)]
        within = [f"within {self.window} of {self.begun()}"] if self.window and number else []
        edges = {"take" if loops else "begin": [*holds, *within]}
        if number:
            edges["ignore"] = [self.ignore(holds)]
        if loops:
            edges["proceed"] = self.proceed(at, self.made.moves[number + 1 : number + 2])
        shown = f"{self.made.names[at]}[i]" if loops else self.begun(at)
        columns = self.columns((at, edge))
        return State(shown, self.component(at), self.made.kleene[at], edges, columns)

    def proceed(self, at: int, following: Sequence[Move]) -> list[str]:
        """What has to hold for a Kleene plus to end: with it the next begins (peeking)."""
        holds = self.conjuncts(at, Edge.PROCEED)
        for move in following:
            holds += self.conjuncts(move.component, Edge.BEGIN)
            holds.append(f"{PEEKING} {self.begun(move.component)}")
        return holds

    def ignore(self, formulas: list[str]) -> str:
        """When an epoch may be ignored."""
        match self.made.ignoring:
            case Ignoring.NONE:
                return "false"
            case Ignoring.NONE_OF_PARTITION:
                return f"not in the partition of {' AND '.join(self.tests)}"
            case Ignoring.UNMOVED:
                return f"NOT ({' AND '.join(formulas) or 'true'})"
            case Ignoring.ALL:
                return "true"

    # What a run keeps.

    def columns(self, since: Place) -> list[str]:
        """The columns of V that some edge from a state on reads: of events that are taken then.
        Stacks have no runs, and so no V."""
        kept: dict[str, None] = {}
        if self.made.sequence is not None:
            return []
        if self.window is not None:
            kept[f"{self.begun()}.timestamp"] = None
        kept.update((text, None) for text, test in self.written.tests if test.constant is None)
        for place, conjuncts in self.written.positive.items():
            for conjunct in conjuncts if place >= since else ():
                for leaf, text in self.written.reads(conjunct):
                    if edge_of(leaf) < place or _is_kept(leaf):
                        kept[text] = None
        return list(kept)

    def begun(self, at: int | None = None) -> str:
        """The first event of a component, or of all."""
        at = self.positive[0] if at is None else at
        return self.made.names[at] + ("[1]" if self.made.kleene[at] else "")

    def last(self, at: int) -> str:
        """The last event of a component."""
        name = self.made.names[at]
        return f"{name}[{name}.LEN]" if self.made.kleene[at] else name

    # Negation.

    def negated(self, made: NegatedPart) -> Negated:
        """A negated component."""
        if made.after is not None and made.before is not None:
            interval = f"({self.last(made.after)}, {self.begun(made.before)})"
        elif made.after is None:
            start = f"{self.last(self.positive[-1])} - {self.window}" if self.window else "-INF"
            interval = f"({start}, {self.begun()})"
        else:
            interval = f"({self.last(made.after)}, {self.begun()} + {self.window})"
        at = made.component
        conditions = [*self.tests, *map(self.clause, self.written.negative[at])]
        return Negated(self.made.names[at], self.component(at), interval, conditions)

    # Telling.

    def waits(self) -> str:
        """What `strong` waits for (docs/semantics.md#final-matches-of-patterns)."""
        if self.pattern.monotone:
            return NOTHING
        if self.pattern.non_overlapping:
            return "the watermark past the time of the match: what completes with it competes"
        if self.pattern.components[-1].negated:
            return f"the watermark at the start of the match + {self.window}"
        return "the watermark at the time of the last event"

    def plan(self, sequence: StackPlan, partition: list[str]) -> list[str]:
        """The plan of SASE's Figure 6, from the bottom up."""
        stacks = ", ".join(self.made.names[at] for at in sequence.components)
        tests = [one for one in self.tests if one not in partition]
        joined = list(partition)
        if sequence.tests:
            stacks += f", partitioned by {' and '.join(partition)}"
            joined = []
        pushed = f"; {self.window} in the scan and in construction" if self.window else ""
        lines = [f"sequence scan and construction: stacks {stacks}{pushed}"]
        for at in sequence.components:
            scan = list(tests)
            for conjunct in self.written.positive.get((at, Edge.BEGIN), ()):
                read = {one.component for one in leaves(conjunct) if isinstance(one, Read)}
                (scan if read <= {at} else joined).append(self.clause(conjunct))
            if scan:
                lines.append(f"scan of {self.made.names[at]}: {' AND '.join(scan)}")
        if joined:
            lines.append(f"construction: {' AND '.join(joined)}")
        for one in map(self.negated, self.made.negated):
            lines.append(f"negation of {one.name}, by an index over {one.interval}")
        return lines


def _is_kept(leaf: Leaf) -> bool:
    """Whether what is read on its own edge is of what the run has retained by then."""
    if isinstance(leaf, Read):
        return leaf.index in (Index.PREVIOUS, Index.LAST)
    return isinstance(leaf, Aggregate | Length)
