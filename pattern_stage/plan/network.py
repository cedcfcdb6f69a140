"""The plan of all queries: a DAG of m-ops, extended as queries come, cut as they go, and run batch
by batch, in topological order of the streams.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from operator import itemgetter
from typing import Any

from pattern_stage.algebra import is_document, normal_form
from pattern_stage.algebra.localised import Localised, Operators, inputs
from pattern_stage.algebra.nodes import (
    Aggregate,
    Iterate,
    Map,
    Node,
    Select,
    Source,
    Union,
)
from pattern_stage.algebra.nodes import Sequence as Following
from pattern_stage.algebra.nodes.map import computed
from pattern_stage.plan.channels import Channel, Event
from pattern_stage.plan.kinds.aggregates import AggregateOperator
from pattern_stage.plan.kinds.iterates import IterateOperator
from pattern_stage.plan.kinds.maps import MapOperator
from pattern_stage.plan.kinds.selects import Form, SelectOperator
from pattern_stage.plan.kinds.sequences import SequenceOperator
from pattern_stage.plan.kinds.sources import SourceOperator
from pattern_stage.plan.kinds.unions import UnionOperator
from pattern_stage.plan.operators import Context, Design, Operator
from pattern_stage.plan.rules import design

__all__ = ["Network", "Template"]

_KINDS: dict[type, type[Operator]] = {
    Aggregate: AggregateOperator,
    Following: SequenceOperator,
    Iterate: IterateOperator,
    Map: MapOperator,
    Select: SelectOperator,
    Source: SourceOperator,
    Union: UnionOperator,
}

Output = tuple[Operator, Channel]


@dataclass(slots=True)
class Step:
    """An operator of a query: its node, where its own constants and its inputs stand, and the m-op
    where all members share it."""

    node: Node
    places: tuple[int, ...]
    inputs: tuple[int, ...]
    type: int
    design: Design
    apart: bool = False
    """Whether a source is of its type alone, sharable or not."""

    uses: int = 1
    """How many operators of a query read it."""

    operator: Operator | None = None
    form: Form | None = None
    """That of a Select's condition, in the m-op that took it last."""

    own: Callable[[Sequence[Any]], tuple[Any, ...]] = field(init=False)
    """The own constants among a query's."""

    def __post_init__(self) -> None:
        places = self.places
        if len(places) > 1:
            self.own = itemgetter(*places)
        elif places:
            (place,) = places
            self.own = lambda constants: (constants[place],)
        else:
            self.own = lambda constants: ()


Template = list[Step]
"""A plan, from sources to the root."""


class Network:
    """M-ops over channels."""

    def __init__(self, context: Context, classes: Mapping[int, int]) -> None:
        self._context, self._classes = context, classes
        self._operators = Operators()
        self._made: dict[object, Operator] = {}
        self._keys: dict[Operator, object] = {}
        self._sources: dict[int, dict[SourceOperator, None]] = {}
        """By type; those of one class share theirs, but for queries that keep types apart."""
        self._tickets = count()
        self._agenda: list[list[Operator]] = []
        self.came = 0
        """How many events the last batch was in all channels."""

    # Queries

    def template(self, root: Node, types: Sequence[int]) -> Template:
        """The steps of plans that have this root, in normal form."""
        root = normal_form(root)
        steps = Template()
        shared = [self._classes[one] for one in {*types} if one in self._classes]
        # Documents are told by their own numbers, and two of two streams are two events.
        apart = is_document(root) or len(shared) > len({*shared})

        def placed(node: Node, at: Localised) -> int:
            if isinstance(node, Source):
                type_ = types[node.type]
                made = Design("form", True)
                for place, one in enumerate(steps):
                    if one.node is at.node and one.type == type_:
                        one.uses += 1
                        return place
                steps.append(Step(at.node, (), (), type_, made, apart and type_ in self._classes))
                return len(steps) - 1
            below = [*zip(inputs(node), at.inputs, strict=True)]
            if isinstance(node, Map) and node is not root and not computed(node.items):
                # A name for a name is nothing to do: its readers read what it reads.
                return placed(*below[0])
            ins = tuple(placed(*one) for one in below)
            made = design(at.node, self._context.without)
            steps.append(Step(at.node, at.places, ins, -1, made))
            return len(steps) - 1

        placed(root, self._operators.localise(_typed(root, types, self._classes)))
        return steps

    def add(self, template: Template, constants: Sequence[Any], since: int) -> tuple[Operator, int]:
        """A query's root: its operator, and the member."""
        made: list[Operator] = []
        members: list[int] = []
        for step in template:
            inputs = step.inputs
            if not inputs:
                own: tuple[Any, ...] = (step.type, since)
                left = right = 0
            else:
                own = step.own(constants)
                left = members[inputs[0]]
                right = members[inputs[1]] if len(inputs) > 1 else 0
            operator = step.operator
            if operator is None or operator.gone:
                operator = self._operator(template, step, made, (left, right), own)
            if isinstance(operator, SelectOperator):
                form = step.form
                if form is None or form.of is not operator:
                    assert isinstance(step.node, Select)
                    form = step.form = operator.form(step.node)
                right = form.place
            made.append(operator)
            members.append(operator.add(left, right, own, step.uses))
        return made[-1], members[-1]

    def _operator(
        self,
        template: Template,
        step: Step,
        made: list[Operator],
        members: tuple[int, ...],
        own: tuple[Any, ...],
    ) -> Operator:
        """The m-op of a step: one that is there, or a new one."""
        below = tuple(made[place] for place in step.inputs)
        of = step.design.of
        key: object = (id(step.node), below)
        if of == "form" and isinstance(step.node, Select):
            key = (Select, id(step.node.input), below)
        if step.apart:
            key = (key, step.type)
        if of == "query":
            key = (key, next(self._tickets))
        elif of == "definition":
            key = (key, members, own)
        operator = self._made.get(key)
        if operator is None:
            kind = _KINDS[type(step.node)]
            operator = kind(step.node, below, self._context, step.design)
            self._made[key] = operator
            self._keys[operator] = key
            self._join(operator)
        if isinstance(operator, SourceOperator):
            self._sources.setdefault(step.type, {})[operator] = None
        if of == "form" and all(template[place].operator for place in step.inputs):
            step.operator = operator
        return operator

    def _join(self, operator: Operator) -> None:
        while operator.rank >= len(self._agenda):
            self._agenda.append([])
        # A right stream is read by who holds instances that wait for it.
        both = isinstance(operator, UnionOperator)
        for one in operator.inputs[: 2 if both else 1]:
            one.consumers.append(operator)

    def remove(self, operator: Operator, member: int) -> None:
        """A query less, from its root's member on."""
        left, right = operator.members.left[member], operator.members.right[member]
        constants = operator.constants[member]
        gone = operator.remove(member)
        for one, below in zip(operator.inputs, (left, right), strict=False):
            self.remove(one, below)
        if gone and isinstance(operator, SourceOperator):
            self._forget_type(operator, constants[0])
        if gone and not len(operator.members):
            self._drop(operator)

    def trim(self) -> None:
        """Forgets operators of queries that have gone; templates are to be made anew."""
        self._operators.keep(operator.node for operator in self._keys)

    def _forget_type(self, operator: SourceOperator, type_: int) -> None:
        if not any(own is not None and own[0] == type_ for own in operator.constants):
            sources = self._sources[type_]
            del sources[operator]
            if not sources:
                del self._sources[type_]

    def _drop(self, operator: Operator) -> None:
        key = self._keys.pop(operator, None)
        if key is None:
            return
        del self._made[key]
        operator.gone = True
        for one in operator.inputs:
            one.left(operator)
            for member in [*one.listeners]:
                one.ignored(operator, member)

    @property
    def operators(self) -> Iterable[Operator]:
        """All m-ops, inputs first."""
        return self._keys

    @property
    def reads(self) -> Container[int]:
        """The types of which queries read events."""
        return self._sources.keys()

    # Batches

    def run(self, events: Iterable[tuple[int, Event]]) -> list[Output]:
        """What comes of events, with their types, in order of their ends: the outputs of roots."""
        sources = self._sources
        for one in events:
            for source in sources.get(one[0], ()):
                source.coming.append(one)
                if not source.due:
                    self._call(source)
        told: list[Output] = []
        done: list[Operator] = []
        for agenda in self._agenda:
            for operator in agenda:
                operator.due = False
                out = operator.take()
                if not out:
                    continue
                operator.out = out
                done.append(operator)
                if operator.root is not None:
                    told.append((operator, out))
                for reader in operator.reading():
                    self._call(reader)
                if operator.listeners:
                    for reader in operator.listening():
                        self._call(reader)
            agenda.clear()
        self.came = sum([len(operator.out) for operator in done])
        for operator in done:
            operator.out = _NOTHING
        return told

    def _call(self, operator: Operator) -> None:
        if not operator.due:
            operator.due = True
            self._agenda[operator.rank].append(operator)

    def forget(self, watermark: int) -> None:
        """All let go of what no event from the watermark on can meet."""
        for operator in self._keys:
            operator.forget(watermark)


_NOTHING = Channel()


def _typed(node: Node, types: Sequence[int], classes: Mapping[int, int]) -> Node:
    """A plan whose sources have numbers of types, of sharable ones that of the first."""
    if isinstance(node, Source):
        type_ = types[node.type]
        return replace(node, type=classes.get(type_, type_))
    names = [name for name in ("input", "left", "right") if hasattr(node, name)]
    below: Any = {name: _typed(getattr(node, name), types, classes) for name in names}
    return replace(node, **below)
