"""The plan of all queries: a DAG of m-ops, extended and trimmed as queries come and go, and run
batch by batch, in topological order of the streams."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from operator import itemgetter
from typing import Any

from xscl.pattern_stage.algebra import is_document, normal_form
from xscl.pattern_stage.algebra.localised import Localised, Operators, typed
from xscl.pattern_stage.algebra.nodes import (
    Aggregate,
    Except,
    Iterate,
    Map,
    Node,
    Once,
    Renamed,
    Repeat,
    Select,
    Source,
    Union,
    Variable,
)
from xscl.pattern_stage.algebra.nodes import Sequence as Following
from xscl.pattern_stage.algebra.nodes.map import computed
from xscl.pattern_stage.layouts import TypedEvent
from xscl.pattern_stage.plan.channels import Channel
from xscl.pattern_stage.plan.kinds.aggregates import AggregateOperator
from xscl.pattern_stage.plan.kinds.exceptions import ExceptOperator
from xscl.pattern_stage.plan.kinds.maps import MapOperator
from xscl.pattern_stage.plan.kinds.repeats import RepeatOperator
from xscl.pattern_stage.plan.kinds.selects import ConditionForm, SelectOperator
from xscl.pattern_stage.plan.kinds.sources import SourceOperator
from xscl.pattern_stage.plan.kinds.states import StateOperator
from xscl.pattern_stage.plan.kinds.unions import UnionOperator
from xscl.pattern_stage.plan.operators import Context, Operator
from xscl.pattern_stage.plan.rules import Design, design, m_op_key

__all__ = ["Network", "Template"]

_KINDS: dict[type, type[Operator]] = {
    Aggregate: AggregateOperator,
    Except: ExceptOperator,
    Following: StateOperator,
    Iterate: StateOperator,
    Map: MapOperator,
    Once: MapOperator,
    Repeat: RepeatOperator,
    Select: SelectOperator,
    Source: SourceOperator,
    Union: UnionOperator,
    Variable: MapOperator,
}

RootOutput = tuple[Operator, Channel]


@dataclass(slots=True)
class TemplateStep:
    """An operator of a query: its node, the places of its own constants and its inputs, and the
    m-op if all members share it."""

    node: Node
    places: tuple[int, ...]
    inputs: tuple[int, ...]
    type: int
    design: Design
    separate: bool = False
    """Whether a source has its own type only, sharable or not."""

    uses: int = 1
    """The number of a query's operators that read it."""

    operator: Operator | None = None
    form: ConditionForm | None = None
    """The number of a Select's condition, in the m-op that used it last."""

    own: Callable[[Sequence[Any]], tuple[Any, ...]] = field(init=False)
    """The places of the own constants among a query's."""

    def __post_init__(self) -> None:
        places = self.places
        if len(places) > 1:
            self.own = itemgetter(*places)
        elif places:
            (place,) = places
            self.own = lambda constants: (constants[place],)
        else:
            self.own = lambda constants: ()


Template = list[TemplateStep]
"""A plan, from sources to the root."""


class Network:
    """M-ops over channels."""

    def __init__(self, context: Context, classes: Mapping[int, int]) -> None:
        self._context, self._classes = context, classes
        self._operators = Operators()
        self._made: dict[object, Operator] = {}
        self._keys: dict[Operator, object] = {}
        self._sources: dict[int, dict[SourceOperator, None]] = {}
        """By type; the types of one class share theirs, except for queries that separate types."""
        self._tickets = count()
        self._agenda: list[list[Operator]] = []
        self.came = 0
        """The number of events of the last batch in all channels."""

    # Queries

    def template(self, root: Node, types: Sequence[int]) -> Template:
        """The steps of plans that have this root, in normal form."""
        return self.steps(root if root.variables else normal_form(root), types)

    def steps(self, root: Node, types: Sequence[int], *, renaming: bool = False) -> Template:
        """The steps of a plan as it is; with `renaming`, operators that only rename are
        included."""
        steps = Template()
        shared = [self._classes[one] for one in {*types} if one in self._classes]
        # Documents are distinguished by their own numbers, and two of two streams are two events.
        separate = is_document(root) or len(shared) > len({*shared})

        def placed(node: Node, at: Localised) -> int:
            if isinstance(node, Source):
                type_ = types[node.type]
                made = Design("form", True)
                for place, one in enumerate(steps):
                    if one.node is at.node and one.type == type_:
                        one.uses += 1
                        return place
                steps.append(
                    TemplateStep(at.node, (), (), type_, made, separate and type_ in self._classes)
                )
                return len(steps) - 1
            below = [*zip(node.inputs, at.inputs, strict=True)]
            renames = node is not root and _only_renames(node)
            if renames and not renaming:
                # Renaming needs no operation: its readers read its input.
                return placed(*below[0])
            ins = tuple(placed(*one) for one in below)
            made = design(at.node, self._context.without)
            steps.append(TemplateStep(at.node, at.places, ins, -1, made))
            return len(steps) - 1

        placed(
            root,
            self._operators.localise(typed(root, [self._classes.get(one, one) for one in types])),
        )
        return steps

    def add(self, template: Template, constants: Sequence[Any], since: int) -> tuple[Operator, int]:
        """Adds a query's root: its operator, and the member."""
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
        step: TemplateStep,
        made: list[Operator],
        members: tuple[int, ...],
        own: tuple[Any, ...],
    ) -> Operator:
        """The m-op of a step: an existing one, or a new one."""
        below = tuple(made[place] for place in step.inputs)
        of = step.design.of
        stream = next(self._tickets) if of == "query" else (members, own)
        key: object = m_op_key(step.node, step.design, below, stream)
        if step.separate:
            key = (key, step.type)
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
        # A right stream is read by m-ops with instances that need it.
        both = isinstance(operator, UnionOperator | ExceptOperator)
        for one in operator.inputs[: 2 if both else 1]:
            one.readers.always.append(operator)

    def remove(self, operator: Operator, member: int) -> None:
        """Removes a query, from its root's member on."""
        left, right = operator.members.left[member], operator.members.right[member]
        constants = operator.constants[member]
        gone = operator.remove(member)
        for one, below in zip(operator.inputs, (left, right), strict=False):
            self.remove(one, below)
        if gone and isinstance(operator, SourceOperator):
            self._drop_type(operator, constants[0])
        if gone and not len(operator.members):
            self._drop(operator)

    def trim(self) -> None:
        """Drops operators of removed queries; templates must be built again."""
        self._operators.keep(operator.node for operator in self._keys)

    def _drop_type(self, operator: SourceOperator, type_: int) -> None:
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
            one.readers.drop(operator)

    @property
    def operators(self) -> Iterable[Operator]:
        """All m-ops, inputs first."""
        return self._keys

    @property
    def reads(self) -> Container[int]:
        """The types of which queries read events."""
        return self._sources.keys()

    # Batches

    def run(self, events: Iterable[TypedEvent]) -> list[RootOutput]:
        """The outputs of roots for events, with their types, in order of their ends."""
        sources = self._sources
        for one in events:
            for source in sources.get(one[0], ()):
                source.coming.append(one)
                if not source.due:
                    self._call(source)
        outputs: list[RootOutput] = []
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
                    outputs.append((operator, out))
                for reader in operator.readers.of(out):
                    self._call(reader)
                if operator.readers.listeners:
                    for reader in operator.readers.listening(out):
                        self._call(reader)
            agenda.clear()
        self.came = sum([len(operator.out) for operator in done])
        for operator in done:
            operator.out = _NOTHING
        return outputs

    def _call(self, operator: Operator) -> None:
        if not operator.due:
            operator.due = True
            self._agenda[operator.rank].append(operator)

    def evict(self, watermark: int) -> None:
        """Evicts from all what no event from the watermark on can meet."""
        for operator in self._keys:
            operator.retained.evict(watermark)


def _only_renames(node: Node) -> bool:
    return isinstance(node, Variable | Renamed) or (
        isinstance(node, Map) and not computed(node.items)
    )


_NOTHING = Channel()
