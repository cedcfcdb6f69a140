"""What a subscription has in its engine, and in common with those alike but for name and constants:
the form of its matches, and what stands for it in the stages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from xscl.consistency import STRONG, Level
from xscl.dissection.parts import Dissection
from xscl.documents.composites import OperatorRow
from xscl.documents.document import Document
from xscl.language.syntax import Composition, Described, Query
from xscl.matches.event_form import EventForm
from xscl.matches.event_output import Output
from xscl.matches.forms import MatchForm, Sides
from xscl.matches.match import Match
from xscl.matches.pattern_form import PatternForm, Taken

if TYPE_CHECKING:
    from xscl.event_queries.compile import CompiledEvents, SchemaOf
    from xscl.patterns.timed_query import TimedQuery
    from xscl.queries.levels.event_query import EventQuery
    from xscl.queries.subscription import Subscription

__all__ = ["QuerySource", "Wiring"]


class QuerySource(Protocol):
    """Makes the queries of subscriptions that do not keep them; `dissection` is that of all of
    them, and so are the numbers in the join stage; `left_open` are the names of their values."""

    dissection: Dissection
    numbers: range
    left_open: tuple[str, ...]

    def query_of(self, subscription: Subscription) -> Query:
        """The query of a subscription, made again."""


@dataclass(frozen=True, slots=True, eq=False)
class Wiring:
    """The parts of a subscription in its engine; subscriptions that differ in their names and
    constants alone have them in common.

    `feeds` are the streams that its results go to (an internal one is that of a sub-query), `inner`
    the subscriptions of its sub-queries, `form` is what its matches have in common; of a pattern
    there is its `pattern`, of an event query its `events`, and the `schemas` of its streams.
    `level` is its consistency, which a query around it may ask for (`asked_around`).
    """

    source: Dissection | QuerySource
    feeds: tuple[str, ...]
    cancel: Callable[[Subscription], None]
    inner: tuple[Subscription, ...]
    form: MatchForm | PatternForm | EventForm
    pattern: TimedQuery | None = None
    events: EventQuery | None = None
    schemas: tuple[tuple[str, ...] | None, ...] | None = None
    level: Level = STRONG
    asked_around: bool = False

    @classmethod
    def of(
        cls,
        dissection: Dissection,
        feeds: tuple[str, ...],
        cancel: Callable[[Subscription], None],
        schema_of: SchemaOf,
        inner: tuple[Subscription, ...] = (),
        source: QuerySource | None = None,
        *,
        level: Level,
    ) -> Wiring:
        """That of a query, given its dissection; `schema_of` says what event queries publish to a
        stream, `level` is the consistency of a query that asks for none."""
        whole = dissection if source is None else source
        compiled: Any = _compiled(dissection, schema_of, level)
        level = level if compiled is None else compiled.level
        if dissection.query.language.schemas:
            from xscl.queries.levels.event_query import EventQuery

            left_open = () if source is None else source.left_open
            events = EventQuery(compiled, feeds, left_open)
            form = EventForm(dissection.query)
            schemas = tuple(map(schema_of, dissection.streams))
            return cls(whole, feeds, cancel, inner, form, None, events, schemas, level)
        if isinstance(dissection.query.source, Described):
            from xscl.matches.automaton_form import AutomatonForm

            of_automaton = AutomatonForm(dissection.query, compiled)
            return cls(whole, feeds, cancel, inner, of_automaton, compiled, level=level)
        if isinstance(dissection.query.source, Composition):
            from xscl.matches.composition_form import CompositionForm

            of_composition = CompositionForm(dissection.query, compiled)
            return cls(whole, feeds, cancel, inner, of_composition, compiled, level=level)
        if compiled is not None:
            of_pattern = PatternForm(dissection.query, compiled)
            return cls(whole, feeds, cancel, inner, of_pattern, compiled, level=level)
        outputs: tuple[int, ...] = ()
        variables: tuple[tuple[str, int, int], ...] = ()
        if dissection.disjuncts:
            # All parts have the same columns: those of the blocks, which they share.
            part = dissection.disjuncts[0]
            columns = {node: i for i, node in enumerate(part.operators[-1].columns)}
            outputs = tuple(columns[node] for node in part.outputs)
            variables = tuple(
                (name, columns[node], part.patterns[node].block)
                for name, node in part.selected.items()
            )
        return cls(
            source=whole,
            feeds=feeds,
            cancel=cancel,
            inner=inner,
            form=_form(dissection, outputs, variables),
            level=level,
        )

    @property
    def dissection(self) -> Dissection:
        """The dissection that its subscriptions have in common."""
        return self.source if isinstance(self.source, Dissection) else self.source.dissection

    @property
    def asked(self) -> bool:
        """Whether it, or a query around it, asks for its consistency."""
        from xscl.language.level import level_of

        return self.asked_around or level_of(self.dissection.query) is not None

    def as_read(self, dissection: Dissection) -> Dissection:
        """A dissection of it, or of a query equal to it up to constants, with what it is compiled
        to."""
        if not self.timed and not self.inner:
            return dissection
        if dissection is self.dissection:
            compiled = self.pattern if self.events is None else self.events.compiled
        else:
            known = zip(dissection.streams, self.schemas or (), strict=False)
            compiled = _compiled(dissection, dict(known).get, self.level)
        inner = iter(self.inner)
        subqueries, publishing = (
            tuple((stream, next(inner).wiring.as_read(one)) for stream, one in some)
            for some in (dissection.subqueries, dissection.publishing)
        )
        return replace(dissection, subqueries=subqueries, publishing=publishing, compiled=compiled)

    @property
    def stream(self) -> str | None:
        """The stream that its matches are published to."""
        return self.form.stream

    @property
    def timed(self) -> bool:
        """Whether it is a pattern or an event query."""
        return self.pattern is not None or self.events is not None

    def query_of(self, subscription: Subscription) -> Query:
        """The syntax tree of a subscription that has no text of its own."""
        source = self.source
        return (
            subscription.outline.query
            if isinstance(source, Dissection)
            else source.query_of(subscription)
        )

    def numbers(self, order: int) -> range:
        """The numbers in the join stage of the parts of a subscription, given its place in the
        order."""
        source = self.source
        if isinstance(source, Dissection):
            return range(order, order + (len(source.disjuncts) or self.timed))
        return source.numbers if self.events is None else range(order, order + 1)

    def matches(
        self, name: str, rows: Iterable[OperatorRow], held: Mapping[int, Document], sides: Sides
    ) -> list[Match]:
        """The matches of rows, whose documents are `held`; what they share is in `sides`."""
        form = self.form
        assert not isinstance(form, EventForm)
        if isinstance(form, PatternForm):
            name_of = sides.attribute_name
            return [
                Match(name, form, Taken(row, [held[number] for number in row.documents], name_of))
                for row in rows
            ]
        of = sides.of
        return [Match(name, form, of(form, row.codes, row.documents, held)) for row in rows]

    def outputs(self, name: str, outputs: Iterable[Output]) -> list[Match]:
        """The matches of an event query's outputs."""
        form = self.form
        assert isinstance(form, EventForm)
        return [Match(name, form, output) for output in outputs]


def _compiled(
    dissection: Dissection, schema_of: SchemaOf, level: Level
) -> TimedQuery | CompiledEvents | None:
    """What a pattern, an automaton or an event query is compiled to, on a level if it asks for
    none; None of a join."""
    compiled: Any = _as_asked(dissection, schema_of)
    if compiled is None or compiled.level is not None:
        return compiled  # type: ignore[no-any-return]
    return replace(compiled, level=level)  # type: ignore[no-any-return]


def _as_asked(dissection: Dissection, schema_of: SchemaOf) -> TimedQuery | CompiledEvents | None:
    language = dissection.query.language
    if language.schemas:
        from xscl.event_queries.compile import compile_events

        return compile_events(dissection.query, schema_of)
    if isinstance(dissection.query.source, Described):
        from xscl.patterns.compile_automaton import compile_automaton

        return compile_automaton(dissection.query.source.automaton)
    if isinstance(dissection.query.source, Composition):
        from xscl.patterns.compile_composition import compile_composition

        return compile_composition(dissection.query)
    if language.timed:
        from xscl.patterns.compile import compile_pattern

        return compile_pattern(dissection.query)
    return None


def _form(
    dissection: Dissection, outputs: tuple[int, ...], variables: tuple[tuple[str, int, int], ...]
) -> MatchForm:
    # Attributes have numbers of their engine, and a form knows their names by these.
    of_attributes = any(
        node.step.test.startswith("@") for part in dissection.disjuncts for node in part.patterns
    )
    if dissection.query.select is None and not variables and not of_attributes:
        return _plain_form(dissection.feeds, outputs)
    return MatchForm(dissection.query.select, dissection.feeds, outputs, variables)


@lru_cache(maxsize=1_000)
def _plain_form(stream: str | None, outputs: tuple[int, ...]) -> MatchForm:
    """The form without a SELECT and attributes, which is the same for most queries."""
    return MatchForm(None, stream, outputs, ())
