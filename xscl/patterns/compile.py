"""From the syntax tree of a pattern to blocks, a `Pattern` and constants (patterns-sase.md,
sections 1 and 2): the condition in conjunctive normal form, names resolved, constants apart.

The query has no error (`checks/` has seen to that) and no open parameter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf
from typing import cast

from pattern_stage import pattern as stage
from xscl.language import syntax
from xscl.language.patterns.names import bare_attribute, component_names
from xscl.language.patterns.normal_form import conjuncts
from xscl.language.same_query import bare
from xscl.language.syntax import Block, EventPattern, Query

__all__ = ["CompiledPattern", "Terms", "compile_pattern"]

_INDEX = {"1": stage.Index.FIRST, "i": stage.Index.EACH, "i-1": stage.Index.PREVIOUS}
_Aggregating = OneOf["avg", "sum", "min", "max", "count"]


@dataclass(frozen=True, slots=True)
class CompiledPattern:
    """A pattern as the pattern stage takes it: `blocks` are the types of each component, each
    once; `constants` stand at the places that the pattern's terms name."""

    pattern: stage.Pattern
    blocks: tuple[tuple[Block, ...], ...]
    constants: tuple[str | float, ...]
    weak: bool


def compile_pattern(query: Query) -> CompiledPattern:
    """The pattern of a query whose source is one.

    >>> from xscl.language import parse
    >>> [query], _ = parse("EVENT SEQ(A x, B y) WHERE [id] AND y.price > 2 * x.price WITHIN 1 min")
    >>> compiled = compile_pattern(query)
    >>> compiled.constants, compiled.pattern.within
    ((2.0,), 60000000)
    """
    source = query.source
    assert isinstance(source, EventPattern)
    terms = Terms(source)
    blocks = tuple(_distinct(component.types) for component in source.components)
    tests: list[stage.Test] = []
    clauses: list[stage.Conjunct] = []
    for clause in conjuncts(source.condition):
        if isinstance(clause[0], syntax.Equivalence):
            tests.append(terms.test(clause[0]))
        else:
            clauses.append(
                tuple(terms.comparison(cast(syntax.Compared[syntax.Value], one)) for one in clause)
            )
    pattern = stage.Pattern(
        tuple(
            stage.Component(
                terms.names[place],
                len(blocks[place]),
                component.plus,
                component.negated,
                component.any,
            )
            for place, component in enumerate(source.components)
        ),
        _strategy(source),
        tuple(clauses),
        tuple(tests),
        None if source.window is None else source.window.length,
        source.non_overlapping,
    )
    weak = source.consistency is not None and source.consistency.level == "weak"
    return CompiledPattern(pattern, blocks, tuple(terms.constants), weak)


def _strategy(source: EventPattern) -> stage.Strategy:
    if source.selection is not None:
        return stage.Strategy[source.selection.strategy.upper()]
    if source.kind == "EVENT":
        return stage.Strategy.SKIP_TILL_ANY_MATCH
    return stage.Strategy.SKIP_TILL_NEXT_MATCH


def _distinct(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    return tuple({bare(block): block for block in reversed(blocks)}.values())[::-1]


class Terms:
    """The terms of one pattern: what its names read, and its constants so far."""

    def __init__(self, source: EventPattern) -> None:
        self.names = component_names(source)
        self.places = {name: place for place, name in enumerate(self.names)}
        self.kleene = [one.plus for one in source.components]
        self.constants: list[str | float] = []

    def test(self, test: syntax.Equivalence) -> stage.Test:
        """An equivalence test."""
        constant: stage.Constant | None = None
        if test.constant is not None:
            assert isinstance(test.constant, syntax.Literal)
            constant = self.constant(test.constant.value)
        return stage.Test(attribute(test.attribute), constant)

    def comparison(self, compared: syntax.Compared[syntax.Value]) -> stage.Comparison:
        """A comparison."""
        left, right = self.term(compared.left), self.term(compared.right)
        return stage.Comparison(compared.operator, left, right)

    def term(self, value: syntax.Value) -> stage.Term:
        """A value of a condition, or of SELECT."""
        match value:
            case syntax.Literal():
                return self.constant(value.value)
            case syntax.PerCent(number):
                assert isinstance(number.value, float)
                return self.constant(number.value / 100)
            case syntax.Minus(operand):
                return stage.Negative(self.term(operand))
            case syntax.Arithmetic(operator, left, right):
                return stage.Arithmetic(operator, self.term(left), self.term(right))
            case syntax.Aggregate(function, read):
                assert read.variable is not None
                of = None if read.attribute is None else attribute(read.attribute)
                place = self.places[read.variable.text]
                # `aggr(a[i-1].x)` is how Table 1 of SASE+ writes `aggr(a[..i-1].x)`.
                return stage.Aggregate(cast(_Aggregating, function), place, of, bool(read.index))
            case syntax.Read():
                return self.read(value)
            case syntax.Parameter():
                raise AssertionError(f"the parameter `:{value.name}` is not bound")

    def read(self, read: syntax.Read) -> stage.Read | stage.Length:
        """What a read reads."""
        if read.variable is None or read.variable.text not in self.places:
            return stage.Read(0, attribute(bare_attribute(read)))
        place = self.places[read.variable.text]
        if read.index is None and self.kleene[place]:
            return stage.Length(place)
        index = None
        if read.index is not None:
            index = _INDEX.get(read.index, stage.Index.LAST)
        return stage.Read(place, attribute(read.attribute), index)

    def constant(self, value: str | float) -> stage.Constant:
        """A constant, at the next place."""
        self.constants.append(value)
        return stage.Constant(len(self.constants) - 1, not isinstance(value, str))


def attribute(written: syntax.Attribute | None) -> stage.Attribute:
    """An attribute of an event; None is its string value."""
    if written is None:
        return stage.Attribute()
    if not written.quoted and written.attribute is None and len(written.steps) == 1:
        if written.steps[0] == "timestamp":
            return stage.Attribute(own="timestamp")
        if written.steps[0] == "document":
            return stage.Attribute(own="document")
    return stage.Attribute(written.steps, written.attribute)
