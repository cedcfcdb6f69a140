"""The event queries and compositions among some that are explained: plans in normal form, and which
operators others have, too (docs/semantics.md#plans-in-normal-form, #sharing)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xscl.consistency import NOTHING, STRONG
from xscl.dissection.parts import Dissection
from xscl.event_queries.automaton import Automaton, automaton
from xscl.event_queries.compile import CompiledEvents, Step
from xscl.event_queries.identity import Operator, operators
from xscl.event_queries.schema import Schema
from xscl.event_queries.wording import OF_ONE, OF_TWO, TermWording, name
from xscl.explain.composition.text import operator_forms
from xscl.explain.sample import names_of
from xscl.explain.words import plain
from xscl.language.syntax import Block, Element, JSONObject, Query, SubQuery
from xscl.pattern_stage.algebra.nodes import Aggregate, Iterate, Map, Select, Source, Union
from xscl.pattern_stage.algebra.nodes import Sequence as Following
from xscl.pattern_stage.algebra.normal_form import normal_form
from xscl.patterns.compile_composition import CompiledComposition
from xscl.stream_names import public_name

__all__ = ["EventPlan", "EventPlans", "schema_text", "step_text"]

_MOST_NAMES = 30


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
            return NOTHING
        return "the watermark above the time of a result"

    @property
    def consistency(self) -> str:
        """Its consistency, and what that waits for."""
        return (self.compiled.level or STRONG).said(self.waits)


class EventPlans:
    """The plans of the event queries among some."""

    def __init__(self, dissections: Sequence[Dissection]) -> None:
        self._given = dissections
        # What queries that many subscriptions have in common is taken once.
        self._plans: dict[int, EventPlan] = {}
        # The queries of each operator and form, in order, by those that stand for them.
        self.of_operator: dict[str, dict[str, None]] = {}
        self._of_form: dict[str, dict[str, None]] = {}
        self.of_composition: dict[str, dict[str, None]] = {}
        """Those of each operator of compositions, by its canonical form."""
        for one in (one for dissection in dissections for one in dissection.everything()):
            if one.query.language.schemas:
                for operator in self.of(one).plan.everything():
                    self.of_operator.setdefault(operator.id, {})[one.query.name] = None
                    self._of_form.setdefault(operator.form, {})[one.query.name] = None
            elif isinstance(one.compiled, CompiledComposition):
                for form in operator_forms(one):
                    self.of_composition.setdefault(form, {})[one.query.name] = None

    def of(self, dissection: Dissection) -> EventPlan:
        """The plan of an event query."""
        compiled = dissection.compiled
        assert isinstance(compiled, CompiledEvents)
        plan = self._plans.get(id(compiled))
        if plan is None:
            root = normal_form(compiled.root)
            named = operators(root, compiled.constants, compiled.blocks)
            plan = self._plans[id(compiled)] = EventPlan(compiled, named)
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
