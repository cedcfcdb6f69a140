"""Writes the terms of a query as the nested loops take them: every step is a variable, those
without a name a hidden one, and a predicate is its disjuncts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count, product

from tests.oracle import patterns
from tests.oracle.patterns import Conjuncts, Variable
from tests.oracle.terms import (
    Block,
    Branch,
    Compared,
    Number,
    Predicate,
    Query,
    Side,
    Source,
    Step,
    Text,
    VariablePath,
)
from tests.oracle.xpath import path_in_xpath, step_in_xpath

__all__ = ["query_in_loops"]


def query_in_loops(name: str, query: Query, namespaces: Mapping[str, str]) -> patterns.Query:
    """The query under a name; ValueError for what is not XPath 1.0."""
    return _Writer(name, namespaces).query(query)


class _Writer:
    def __init__(self, name: str, namespaces: Mapping[str, str]) -> None:
        self._name = name
        self._namespaces = dict(namespaces)
        self._hidden = (f"_{number}" for number in count())

    def query(self, query: Query) -> patterns.Query:
        source = self._source(query.source)
        return patterns.Query(self._name, source, query.select, query.publish, self._namespaces)

    def _source(self, source: Source) -> patterns.Source:
        if isinstance(source, Block):
            return self._block(source)
        operator = source.operator
        first, *others = _disjuncts(operator.predicate)
        return patterns.Join(
            self._source(source.left),
            operator.kind,
            self._source(source.right),
            first,
            operator.window,
            others,
        )

    def _block(self, block: Block) -> patterns.Block:
        stream = block.stream if isinstance(block.stream, str) else self.query(block.stream)
        variables: list[Variable] = []
        path = block.path or (Step("/", "*"),)
        return patterns.Block(stream, variables, self._steps(path, None, variables))

    def _steps(self, path: Sequence[Step], parent: str | None, variables: list[Variable]) -> str:
        for step in path:
            name = step.variable or next(self._hidden)
            where = "" if parent is None else "."
            variables.append(Variable(name, parent, where + step_in_xpath(step)))
            for filter in step.filters:
                for part in filter.parts:
                    if isinstance(part, Branch):
                        self._steps(part.path, name, variables)
            parent = name
        assert parent is not None
        return parent


def _disjuncts(predicate: Predicate | None) -> list[Conjuncts]:
    """The conjunctions of which one must hold."""
    if predicate is None:
        return [()]
    if isinstance(predicate, Compared):
        return [[(_side(predicate.left), predicate.sign, _side(predicate.right))]]
    parts = map(_disjuncts, predicate.parts)
    if predicate.sign == "OR":
        return [one for part in parts for one in part]
    return [[each for one in some for each in one] for some in product(*parts)]


def _side(side: Side) -> patterns.Side:
    match side.value:
        case VariablePath(variable, path):
            if not path and not side.functions:
                return variable
            return patterns.Term(variable, path_in_xpath(path, "."), side.functions)
        case Text(value):
            return patterns.Term(None, functions=side.functions, constant=value)
        case Number(written):
            shortest = f"{float(written):g}"
            return patterns.Term(None, functions=side.functions, constant=shortest)
