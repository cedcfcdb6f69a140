"""The event queries among some that are explained: compiled in their order, their plans in normal
form, and which operators others have, too (patterns-cel.md, sections 5 and 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pattern_stage.algebra.nodes import Aggregate, Iterate, Map, Select, Source, Union
from pattern_stage.algebra.nodes import Sequence as Following
from pattern_stage.algebra.normal_form import normal_form
from xscl.dissection.parts import Dissection
from xscl.event_queries.automaton import Automaton, automaton
from xscl.event_queries.compile import CompiledEvents, Step, compile_events
from xscl.event_queries.identity import Operator, operators
from xscl.event_queries.published import Published
from xscl.event_queries.schema import Schema
from xscl.event_queries.wording import OF_ONE, OF_TWO, TermWording, name
from xscl.explain.sample import names_of
from xscl.explain.words import plain
from xscl.language.syntax import Block, Element, Events, JSONObject, Query, SubQuery
from xscl.stream_names import public_name

__all__ = ["EventPlan", "EventPlans", "is_events", "schema_text", "step_text"]

_MOST_NAMES = 30


def is_events(dissection: Dissection) -> bool:
    """Whether a query is one of events, and so has no join."""
    return isinstance(dissection.query.source, Events)


@dataclass(frozen=True, slots=True)
class EventPlan:
    """What is shown of an event query: how it compiled, its plan in normal form."""

    compiled: CompiledEvents
    plan: Operator

    @property
    def automata(self) -> list[Automaton]:
        """The automaton, after those of the streams that it reads."""
        return automaton(self.plan.node, self.compiled.constants, self.compiled.blocks)

    @property
    def waits(self) -> str:
        """What its results wait for."""
        if self.compiled.monotone:
            return "nothing: told at once"
        return "the watermark above the time of a result"

    @property
    def consistency(self) -> str:
        """Its consistency, and what that waits for."""
        return "weak" if self.compiled.weak else f"strong, waits for {self.waits}"


class EventPlans:
    """The event queries among some, compiled in their order: what one publishes a later one
    reads."""

    def __init__(self, dissections: Sequence[Dissection]) -> None:
        self._given = dissections
        # By identity, of those given and of those that were asked for beside.
        self._plans: dict[int, EventPlan] = {}
        self._beside: list[Dissection] = []
        # What queries that many subscriptions have in common is compiled once.
        self._alike: dict[tuple[object, ...], EventPlan] = {}
        # The queries of each operator and form, in order, by those that stand for them.
        self.of_operator: dict[str, dict[str, None]] = {}
        self._of_form: dict[str, dict[str, None]] = {}
        published = Published()
        for dissection in self._given:
            for one in dissection.everything():
                if is_events(one):
                    self._add(one, one.query.name, published)
            published.add(dissection.query, self._step(dissection))

    def _add(self, dissection: Dissection, of: str, published: Published) -> None:
        plan = self._plans[id(dissection)] = self._compiled(dissection, published)
        for operator in plan.plan.everything():
            self.of_operator.setdefault(operator.id, {})[of] = None
            self._of_form.setdefault(operator.form, {})[of] = None

    def _compiled(self, dissection: Dissection, published: Published) -> EventPlan:
        query, schemas = dissection.query, dissection.schemas
        if schemas is None:
            schemas = tuple(map(published, dissection.streams))
        key = id(query.source), id(query.select), schemas, dissection.subqueries and query.name
        plan = self._alike.get(key)
        if plan is None:
            compiled = compile_events(
                query, dict(zip(dissection.streams, schemas, strict=True)).get
            )
            root = normal_form(compiled.root)
            named = operators(root, compiled.constants, compiled.blocks)
            plan = self._alike[key] = EventPlan(compiled, named)
        return plan

    def _step(self, dissection: Dissection) -> Step | None:
        plan = self._plans.get(id(dissection))
        return None if plan is None else plan.compiled.step

    def of(self, dissection: Dissection) -> EventPlan:
        """The plan of one of them, or of one that stands for the one of its name."""
        plan = self._plans.get(id(dissection))
        if plan is None:
            published = Published()
            for one in self._given:
                if dissection.query.name in names_of(self._given, one.query.name):
                    break
                published.add(one.query, self._step(one))
            plan = self._plans[id(dissection)] = self._compiled(dissection, published)
            self._beside.append(dissection)
        return plan

    def shared(self, plan: EventPlan, name: str) -> Iterator[tuple[Operator, list[str]]]:
        """The greatest parts of a plan that other queries have, too, with these."""
        left = [plan.plan]
        while left:
            top = left.pop()
            others = [one for one in self.of_operator.get(top.id, ()) if one != name]
            if not others:
                left += reversed(top.inputs)
            elif not isinstance(top.node, Source):
                yield top, others

    def channel(self, plan: EventPlan) -> list[str]:
        """The queries whose plans are equal but for constants: their results are one channel."""
        alike = self._of_form.get(plan.plan.form, ())
        return [name for one in alike for name in names_of(self._given, one)]


def schema_text(schema: Schema) -> str:
    """A schema in words.

    >>> schema_text(Schema(("cnt",), True, ("Name",))), schema_text(Schema(("a", "b"), False))
    ('open: cnt, Name, …', 'closed: a, b')
    """
    names = [*map(name, schema.names[:_MOST_NAMES])]
    if len(schema.names) > _MOST_NAMES:
        names.append(f"{len(schema.names) - _MOST_NAMES} more")
    names += ["…"] if schema.open else []
    return f"{'open' if schema.open else 'closed'}: {', '.join(names)}"


def step_text(step: Step, compiled: CompiledEvents) -> str:
    """An operator after its sign, as it is written, with its names as they are resolved."""
    words = TermWording(compiled.constants)
    node = step.node
    if isinstance(step.part, Block | SubQuery):
        assert isinstance(node, Source)
        block = compiled.blocks[node.type]
        return "  " + plain(public_name(block.stream.text)) + ("//…" if block.steps else "")
    match node:
        case Select(condition):
            return f"σ FILTER{{{words.condition(condition, OF_ONE)}}}"
        case Map(items=items) if _constructs(step):
            return f"π constructor of {', '.join(words.scalar(one, OF_ONE) for _, one in items)}"
        case Map():
            return f"π SELECT {words.listed(node)}"
        case Union():
            return "∪ UNION"
        case Following(()):
            return "; NEXT"
        case Following(condition):
            return f"; NEXT{{{words.condition(condition, OF_TWO)}}}"
        case Iterate():
            return f"µ FOLD{{{words.fold(node)}}}"
        case Aggregate(window, keys, items):
            by = f" GROUP BY {', '.join(map(name, keys))}" if keys else ""
            return (
                f"α SELECT {words.items(items, OF_ONE)}{by} over WINDOW{{{words.window(window)}}}"
            )
        case _:
            return "σ FILTER{}"


def _constructs(step: Step) -> bool:
    return isinstance(step.part, Query) and isinstance(step.part.select, Element | JSONObject)
