"""The automaton of a pattern in its query's own words: Figure 2 of SASE+, with what each state
keeps (the computation state V and its masks, section 4.2), and the plan of SASE's Figure 6."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from pattern_stage.pattern import Strategy
from xscl.language.patterns.normal_form import Clause
from xscl.language.patterns.unparse import PatternWording, read
from xscl.language.same_query import bare
from xscl.language.syntax import EventPattern, Query
from xscl.patterns.compile import CompiledPattern
from xscl.patterns.edges import Edge, Placed, Placement
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
    """The automaton of a query whose source is a pattern."""
    return _Words(query, compiled).automaton()


class _Words:
    """One pattern and the words for its parts."""

    def __init__(self, query: Query, compiled: CompiledPattern) -> None:
        assert isinstance(query.source, EventPattern)
        self.source = query.source
        self.pattern = compiled.pattern
        self.placement = Placement(query.source)
        self.wording = PatternWording(query.text)
        self.tests = [self.wording.atom(test) for test in self.placement.tests]
        self.names = self.placement.names
        components = self.pattern.components
        self.positive = [at for at, one in enumerate(components) if not one.negated]
        self.window = None if self.pattern.within is None else span(self.pattern.within)

    def automaton(self) -> Automaton:
        """All of it."""
        steps = [
            (at, edge)
            for at in self.positive
            for edge in ((Edge.BEGIN, Edge.TAKE) if self.kleene(at) else (Edge.BEGIN,))
        ]
        states = [self.state(at, edge, number) for number, (at, edge) in enumerate(steps)]
        return Automaton(
            states,
            [self.negated(at) for at, one in enumerate(self.pattern.components) if one.negated],
            self.partition(),
            self.columns((self.positive[0], Edge.BEGIN)),
            self.waits(),
            self.plan() if self.source.kind == "EVENT" else [],
        )

    def partition(self) -> list[str]:
        """The tests that make partitions by values."""
        return [self.wording.atom(one) for one in self.placement.tests if one.constant is None]

    def kleene(self, at: int) -> bool:
        """Whether a component is a Kleene plus."""
        return self.pattern.components[at].kleene

    def clause(self, clause: Clause) -> str:
        """A conjunct."""
        text = " OR ".join(map(self.wording.atom, clause))
        return text if len(clause) == 1 else f"({text})"

    def conjuncts(self, at: int, edge: Edge) -> list[str]:
        """The conjuncts that stand on an edge."""
        return list(map(self.clause, self.placement.positive.get((at, edge), ())))

    def state(self, at: int, edge: Edge, number: int) -> State:
        """A state: `x` or `a[1]`, with its begin, or `a[i]`, with take and proceed."""
        name = self.names[at]
        within = [f"within {self.window} of {self.first()}"] if self.window and number else []
        holds = [*self.tests, *self.conjuncts(at, edge)]
        formulas = [*holds, *within]
        edges: dict[str, list[str]] = {}
        if edge is Edge.BEGIN:
            edges["begin"] = formulas
            shown = f"{name}[1]" if self.kleene(at) else name
        else:
            edges["take"] = formulas
            shown = f"{name}[i]"
        if number or edge is not Edge.BEGIN:
            edges["ignore"] = [self.ignore(holds)]
        if edge is Edge.TAKE:
            edges["proceed"] = self.proceed(at)
        types = self.wording.component(self.source.components[at])
        return State(shown, types, self.kleene(at), edges, self.columns((at, edge)))

    def proceed(self, at: int) -> list[str]:
        """What has to hold for a Kleene plus to end: with it the next begins (peeking)."""
        own = self.conjuncts(at, Edge.PROCEED)
        following = [one for one in self.positive if one > at]
        if not following:
            return own
        begin = self.conjuncts(following[0], Edge.BEGIN)
        name = self.names[following[0]] + ("[1]" if self.kleene(following[0]) else "")
        return [*own, *begin, f"{PEEKING} {name}"]

    def ignore(self, formulas: list[str]) -> str:
        """When an epoch may be ignored."""
        match self.pattern.strategy:
            case Strategy.STRICT_CONTIGUITY:
                return "false"
            case Strategy.PARTITION_CONTIGUITY:
                return f"not in the partition of {' AND '.join(self.tests)}"
            case Strategy.SKIP_TILL_NEXT_MATCH:
                return f"NOT ({' AND '.join(formulas) or 'true'})"
            case Strategy.SKIP_TILL_ANY_MATCH:
                return "true"

    # What a run keeps.

    def columns(self, since: tuple[int, Edge]) -> list[str]:
        """The columns of V that some edge from a state on reads: of events that are taken then."""
        kept: dict[str, None] = {}
        if self.window is not None:
            kept[f"{self.first()}.timestamp"] = None
        kept.update(dict.fromkeys(self.partition()))
        for place, clauses in sorted(self.placement.positive.items()):
            for one in (one for clause in clauses for one in self.placement.reads(clause)):
                if place >= since and (one.place < place or _is_kept(one)):
                    shown = read(one.read)
                    function = None if one.aggregate is None else one.aggregate.function
                    kept[shown if function is None else f"{function}({shown})"] = None
        return list(kept)

    def first(self) -> str:
        """The first event."""
        at = self.positive[0]
        return self.names[at] + ("[1]" if self.kleene(at) else "")

    def last(self, at: int) -> str:
        """The last event of a component."""
        name = self.names[at]
        return f"{name}[{name}.LEN]" if self.kleene(at) else name

    # Negation.

    def negated(self, at: int) -> Negated:
        """A negated component."""
        before = [one for one in self.positive if one < at]
        after = [one for one in self.positive if one > at]
        if before and after:
            following = self.names[after[0]] + ("[1]" if self.kleene(after[0]) else "")
            interval = f"({self.last(before[-1])}, {following})"
        elif after:
            start = f"{self.last(self.positive[-1])} - {self.window}" if self.window else "-INF"
            interval = f"({start}, {self.first()})"
        else:
            interval = f"({self.last(before[-1])}, {self.first()} + {self.window})"
        conditions = [*self.tests, *map(self.clause, self.placement.negative.get(at, ()))]
        types = self.wording.component(self.source.components[at])
        return Negated(self.names[at], types, interval, conditions)

    # Telling.

    def waits(self) -> str:
        """What `strong` waits for (patterns-sase.md, section 6)."""
        if self.pattern.monotone:
            return "nothing: told at once"
        if self.pattern.non_overlapping:
            return "the watermark past the time of the match: what completes with it competes"
        if self.pattern.components[-1].negated:
            return f"the watermark at the start of the match + {self.window}"
        return "the watermark at the time of the last event"

    def plan(self) -> list[str]:
        """The plan of SASE's Figure 6, from the bottom up."""
        stacks = ", ".join(self.names[at] for at in self.positive)
        equal = self.partition()
        parts = f", partitioned by {equal[0]}" if equal else ""
        pushed = f"; {self.window} in the scan and in construction" if self.window else ""
        lines = [f"sequence scan and construction: stacks {stacks}{parts}{pushed}"]
        for at in self.positive:
            single = [
                self.clause(clause)
                for clause in self.placement.positive.get((at, Edge.BEGIN), ())
                if {one.place[0] for one in self.placement.reads(clause)} <= {at}
            ]
            if single:
                lines.append(f"scan of {self.names[at]}: {' AND '.join(single)}")
        several = [
            self.clause(clause)
            for _, clauses in sorted(self.placement.positive.items())
            for clause in clauses
            if len({one.place[0] for one in self.placement.reads(clause)}) > 1
        ]
        if several or self.tests:
            lines.append(f"construction: {' AND '.join([*self.tests, *several])}")
        for at, one in enumerate(self.pattern.components):
            if one.negated:
                lines.append(
                    f"negation of {one.name}, by an index over {self.negated(at).interval}"
                )
        return lines


def _is_kept(one: Placed) -> bool:
    """Whether a read that stands on its own edge is of what the run has kept by then."""
    return one.place[1] is Edge.PROCEED or one.read.index in ("i-1", "..i-1")
