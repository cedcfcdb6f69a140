"""From the expression of an event query to a plan of the algebra, operator by operator, with the
schema of each (docs/semantics.md#schemas, #operators)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from xscl.event_queries.schema import Schema, folded, in_sequence, twice, united
from xscl.event_queries.scope import Scope
from xscl.event_queries.selection import Selecting
from xscl.event_queries.terms import Terms, named_in
from xscl.language import syntax
from xscl.language.conditions import paths_of
from xscl.language.events.walk import is_inlined
from xscl.language.problems import enumerated
from xscl.language.same_query import bare
from xscl.language.syntax import (
    Block,
    Both,
    Declared,
    Events,
    Expression,
    Filtered,
    Fold,
    Name,
    Next,
    Query,
    SubQuery,
    Windowed,
)
from xscl.pattern_stage.algebra.nodes import Iterate, Node, Select, Sequence, Source, Union
from xscl.stream_names import internal_name

__all__ = ["SchemaOf", "Step", "Steps"]

SchemaOf = Callable[[str], tuple[str, ...] | None]
"""The names that earlier event queries publish to a stream; None where it is open."""


@dataclass(frozen=True, slots=True)
class Step:
    """A part of an expression, or a query of which it is the SELECT: its plan, and the schema of
    its events."""

    part: Expression | Query
    node: Node
    schema: Schema
    inputs: tuple[Step, ...]


class Steps:
    """The steps of one query, its blocks so far, and how many sub-queries are streams."""

    def __init__(self, name: str, schema_of: SchemaOf, terms: Terms) -> None:
        self.name = name
        self.schema_of = schema_of
        self.terms = terms
        self.blocks: dict[object, Block] = {}
        self.inner = 0

    def query(self, query: Query) -> Step:
        """An event query: its expression, then its SELECT."""
        events = query.source
        assert isinstance(events, Events)
        declared = {one.stream.text: one for one in events.declared}
        expression = events.expression
        window = expression if isinstance(expression, Windowed) else None
        if window is not None:
            expression = window.operand
        inner = self.step(expression, declared)
        selecting = Selecting(self.terms, query, events.grouping, window)
        node, schema = selecting.over(inner.node, inner.schema)
        return Step(query, node, schema, (inner,))

    def step(self, part: Expression, declared: dict[str, Declared]) -> Step:
        """A part of an expression, in which some streams are declared."""
        match part:
            case Block():
                names = self.schema_of(part.stream.text)
                one = None if part.steps else declared.get(part.stream.text)
                if one is None:
                    return self.source(part, names)
                if names is not None and {*names} != {*one.names}:
                    self.terms.note(one.stream.at, _published_otherwise(one, names))
                return self.source(part, one.names)
            case SubQuery() if is_inlined(part):
                return self.query(part.query)
            case SubQuery():
                self.inner += 1
                stream = internal_name(f"{self.name}({self.inner})")
                return self.source(Block(Name(stream, part.at), (), part.at), None, part)
            case Filtered():
                return self.filtered(part, self.step(part.operand, declared))
            case Windowed():
                problem = "WINDOW is used right under a SELECT with aggregates, as in "
                problem += "`SELECT COUNT(*) AS n FROM WINDOW{60 s}(S)`"
                self.terms.note(part.at, problem)
                return self.step(part.operand, declared)
        left, right = self.step(part.left, declared), self.step(part.right, declared)
        match part:
            case Both():
                return self.united(part, left, right)
            case Next():
                return self.in_sequence(part, left, right)
            case Fold():
                return self.folded(part, left, right)

    def source(
        self, block: Block, names: tuple[str, ...] | None, part: Expression | None = None
    ) -> Step:
        """The events of a block; `names` are those of its stream, if it is closed."""
        key = bare(block)
        self.blocks.setdefault(key, block)
        place = list(self.blocks).index(key)
        if block.steps or names is None:
            schema = Schema((), True, tuple(dict.fromkeys(_bound(block.steps))))
            return Step(part or block, Source(place, None), schema, ())
        return Step(part or block, Source(place, names), Schema(names, False), ())

    def filtered(self, part: Filtered, inner: Step) -> Step:
        """FILTER keeps a schema, and knows its names thereafter."""
        scope = Scope("FILTER", inner.schema)
        scope.ask(named_in(part.condition))
        condition = self.terms.condition(part.condition, scope)
        node = Select(condition, inner.node) if condition else inner.node
        return Step(part, node, scope.inputs[0], (inner,))

    def united(self, part: Both, left: Step, right: Step) -> Step:
        """UNION."""
        one, other = left.schema, right.schema
        if not one.open and not other.open and set(one.listed) != set(other.listed):
            differing = [
                f"{enumerated((f'`{name}`' for name in some), 'and')} on the {side} alone"
                for side, some in (
                    ("left", [name for name in one.listed if name not in other.listed]),
                    ("right", [name for name in other.listed if name not in one.listed]),
                )
                if some
            ]
            problem = f"UNION is of events with the same attributes; {', '.join(differing)}"
            self.terms.note(part.at, f"{problem}: select or rename them in both")
        return Step(part, Union(left.node, right.node), united(one, other), (left, right))

    def in_sequence(self, part: Next, left: Step, right: Step) -> Step:
        """NEXT."""
        scope = Scope("NEXT", left.schema, right.schema)
        scope.ask(named_in(part.condition))
        condition = self.terms.condition(part.condition, scope)
        renamed, repeated, schema = in_sequence(*scope.inputs)
        self._repeated(part.at, repeated)
        node = Sequence(condition, renamed, left.node, right.node)
        return Step(part, node, schema, (left, right))

    def folded(self, part: Fold, left: Step, right: Step) -> Step:
        """FOLD."""
        computed = tuple(one.alias.text for one in part.aggregates)
        for name in set(twice(computed)):
            _, second, *_ = (one.alias for one in part.aggregates if one.alias.text == name)
            self.terms.note(second.at, f"two aggregates are named `{name}`; rename one")
        scope = Scope("FOLD", left.schema, right.schema, computed=computed)
        values = [one.value for one in part.aggregates]
        scope.ask(named_in(part.condition, part.continuing, *values))
        condition = self.terms.condition(part.condition, scope)
        continuing = self.terms.condition(part.continuing, scope)
        aggregates = tuple(
            (name, self.terms.scalar(value, scope))
            for name, value in zip(computed, values, strict=True)
        )
        names = folded(scope.inputs[0], scope.inputs[1], computed)
        if names.lacking:
            lacking = enumerated((f"`{name}`" for name in names.lacking), "and")
            problem = "the attributes of what FOLD iterates over must be among those on its left, "
            problem += f"which has no {lacking}: select the others alone, or rename"
            self.terms.note(part.at, problem)
        else:
            self._repeated(part.at, names.twice)
        node = Iterate(
            condition,
            continuing,
            aggregates,
            names.common,
            names.kept,
            names.right_names,
            left.node,
            right.node,
        )
        return Step(part, node, names.schema, (left, right))

    def _repeated(self, at: int, names: Iterable[str]) -> None:
        repeated = [f"`{name}`" for name in dict.fromkeys(names)]
        if repeated:
            problem = f"two attributes would be named {enumerated(repeated, 'and')}"
            self.terms.note(at, f"{problem}: what is on the left gets `_1`; rename one side's")


def _published_otherwise(declared: Declared, names: Iterable[str]) -> str:
    published = enumerated([f"`{name}`" for name in names], "and")
    problem = f"the stream `{declared.stream.text}` is declared with other names than are published"
    return f"{problem} to it before: {published}"


def _bound(steps: Iterable[syntax.Step]) -> Iterator[str]:
    """The variables that the steps of a block bind."""
    for step in steps:
        if step.variable is not None:
            yield step.variable.text
        for condition in step.filters:
            for path in paths_of(condition):
                yield from _bound(path.steps)
