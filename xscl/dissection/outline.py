"""The dissection of a query in symbols, and from it those of all queries of the same outline.

Queries that differ in names only have dissections that differ in names only.  So one of them is
dissected with a *symbol* in place of each name, a character that is a name of its own; the others
result from it by putting in their names.  Names are put only into what the stages get: streams,
definitions and names of variables.  The order of nodes depends on names, and with it how a
template's nodes are assigned; there are few such orders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from xscl.dissection.parts import Disjunct, Dissection, JoinOperator
from xscl.dissection.plan_operators import in_order, places, planned, step_key
from xscl.dissection.xpath_text import in_order as tests_in_order
from xscl.language.alike import SYMBOL, by_symbol
from xscl.templates import minor
from xscl.xpath_stage import Family, Filter, Step, Test

__all__ = ["Outline"]

T = TypeVar("T")


class Outline:
    """A dissection in symbols, of a query that represents others."""

    def __init__(self, dissection: Dissection) -> None:
        self._dissection = dissection
        self._disjuncts = [_OfDisjunct(disjunct) for disjunct in dissection.disjuncts]

    def named(self, names: Sequence[str]) -> Dissection:
        """The dissection with names in place of the symbols; the nodes of its tree patterns and all
        of its query but the SELECT are left in symbols."""
        put = _put_in(names)
        of = self._dissection
        query = of.query
        if query.select is not None:
            query = replace(query, select=_named(query.select, put))
        streams = tuple(map(put, of.streams))
        disjuncts = tuple([one.named(streams, put) for one in self._disjuncts])
        return Dissection(query, streams, tuple(map(put, of.variables)), disjuncts)


class _OfDisjunct:
    """A disjunct in symbols, with its distinct steps, and its planned operators."""

    def __init__(self, disjunct: Disjunct) -> None:
        self._disjunct = disjunct
        steps = dict.fromkeys(s for one in disjunct.definitions.values() for s in one)
        self._steps = list(steps)
        number = {step: i for i, step in enumerate(self._steps)}
        self._definitions = {
            node: tuple(number[step] for step in definition)
            for node, definition in disjunct.definitions.items()
        }
        self._minors = [minor(operator.graph) for operator in disjunct.operators]
        self._places = [places(graph, disjunct.patterns) for graph in self._minors]
        self._planned: dict[tuple[int, tuple[int, ...]], JoinOperator] = {}

    def named(self, streams: tuple[str, ...], put: Callable[[str], str]) -> Disjunct:
        """The disjunct in its names."""
        of = self._disjunct
        steps = [
            _step(step, put) if step.filters else Step(step.axis, put(step.test))
            for step in self._steps
        ]
        keys = [step_key(step) for step in steps]
        ways = self._definitions.items()
        of_nodes = {node: tuple([keys[i] for i in numbers]) for node, numbers in ways}
        return Disjunct(
            streams=streams,
            patterns=of.patterns,
            operators=tuple(
                [self._operator(i, in_order(one, of_nodes)) for i, one in enumerate(self._places)]
            ),
            outputs=of.outputs,
            selected={put(name): node for name, node in of.selected.items()},
            definitions={node: tuple([steps[i] for i in numbers]) for node, numbers in ways},
            opened=tuple(
                (node, replace(one, family=_family(one.family, put))) for node, one in of.opened
            ),
            labels={node: put(label) for node, label in of.labels.items()},
        )

    def _operator(self, index: int, order: tuple[int, ...]) -> JoinOperator:
        operator = self._planned.get((index, order))
        if operator is None:
            operator = planned(self._disjunct.operators[index], self._minors[index], order)
            self._planned[index, order] = operator
        return operator


def _step(step: Step, put: Callable[[str], str]) -> Step:
    filters = tests_in_order([_test(one, put) for one in step.filters]) if step.filters else ()
    return Step(step.axis, put(step.test), filters)


def _test(test: Test, put: Callable[[str], str]) -> Test:
    return _family(test, put) if isinstance(test, Family) else _filter(test, put)


def _family(family: Family, put: Callable[[str], str]) -> Family:
    return replace(family, values=_filter(family.values, put))


def _filter(filter: Filter, put: Callable[[str], str]) -> Filter:
    return replace(filter, expression=put(filter.expression))


def _put_in(names: Sequence[str]) -> Callable[[str], str]:
    """A function that puts names into a text that has their symbols."""
    alone = by_symbol(names)

    def put(text: str) -> str:
        name = alone.get(text)
        if name is not None:
            return name
        return text if text.isascii() else SYMBOL.sub(lambda found: alone[found[0]], text)

    return put


def _named(node: T, put: Callable[[str], str]) -> T:
    """A syntax tree with names put in."""
    made: Any = node
    if isinstance(node, str):
        made = put(node)
    elif isinstance(node, tuple):
        made = tuple(_named(part, put) for part in node)
    elif is_dataclass(node):
        kind: Any = type(node)
        made = kind(*(_named(getattr(node, one.name), put) for one in fields(node)))
    return cast(T, made)
