"""From the syntax tree of a pattern to blocks, a `Pattern` and constants
(docs/semantics.md#reading-a-pattern, #conjuncts): the condition in conjunctive normal form, names
resolved, constants apart.

The query has no error (`checks/` has seen to that) and no open parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast
from typing import Literal as OneOf

from xscl.consistency import Level
from xscl.language import syntax
from xscl.language.patterns.names import bare_attribute, component_names
from xscl.language.patterns.normal_form import conjuncts
from xscl.language.same_query import bare
from xscl.language.syntax import Block, EventPattern, Query
from xscl.pattern_stage import pattern as stage
from xscl.pattern_stage.values import terms as algebra

if TYPE_CHECKING:
    from xscl.pattern_stage.processor import PatternStage

__all__ = ["CompiledPattern", "Terms", "compile_pattern"]

_INDEX = {"1": algebra.Index.FIRST, "i": algebra.Index.EACH, "i-1": algebra.Index.PREVIOUS}
_Aggregating = OneOf["avg", "sum", "min", "max", "count"]


@dataclass(frozen=True, slots=True)
class CompiledPattern:
    """A pattern as the pattern stage takes it: `blocks` are the types of each component, each
    once; `constants` stand at the places that the pattern's terms name."""

    dynamic: ClassVar = False
    eager: ClassVar = False
    composite: ClassVar = False

    pattern: stage.Pattern
    blocks: tuple[tuple[Block, ...], ...]
    constants: tuple[str | float, ...]
    level: Level | None = None
    """What it says of its consistency."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the components."""
        return tuple([component.name for component in self.pattern.components])

    @property
    def monotone(self) -> bool:
        """Whether a further event can only add matches."""
        return self.pattern.monotone

    @property
    def within(self) -> int | None:
        """The length of the window in microseconds."""
        return self.pattern.within

    def add_to(
        self,
        stage: PatternStage,
        number: int,
        types: Sequence[Sequence[int]],
        since: int,
        *,
        weak: bool = False,
        in_order: bool = False,
    ) -> None:
        """Adds it to a stage as a query that sees events with numbers not below `since`, `weak`, or
        `in_order` even where it could process them immediately."""
        stage.add(
            number,
            self.pattern,
            types,
            self.constants,
            since=since,
            weak=weak,
            in_order=in_order,
        )


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
    return CompiledPattern(pattern, blocks, tuple(terms.constants), Level.asked(source.consistency))


def _strategy(source: EventPattern) -> stage.Strategy:
    if source.selection is not None:
        return stage.Strategy[source.selection.strategy.upper()]
    if source.kind == "EVENT":
        return stage.Strategy.SKIP_TILL_ANY_MATCH
    return stage.Strategy.SKIP_TILL_NEXT_MATCH


def _distinct(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    if len(blocks) == 1:  # As of most components: there is nothing to compare.
        return blocks
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
        constant: algebra.Constant | None = None
        if test.constant is not None:
            assert isinstance(test.constant, syntax.Literal)
            constant = self.constant(test.constant.value)
        return stage.Test(attribute(test.attribute), constant)

    def comparison(self, compared: syntax.Compared[syntax.Value]) -> algebra.Comparison:
        """A comparison."""
        left, right = self.term(compared.left), self.term(compared.right)
        return algebra.Comparison.of(compared.operator, left, right)

    def term(self, value: syntax.Value) -> algebra.Term:
        """A value of a condition, or of SELECT."""
        match value:
            case syntax.Literal():
                return self.constant(value.value)
            case syntax.PerCent():
                return self.constant(value.share)
            case syntax.Minus(operand):
                return algebra.Negative(self.term(operand))
            case syntax.Arithmetic(operator, left, right):
                return algebra.Arithmetic(operator, self.term(left), self.term(right))
            case syntax.Call(function, arguments):
                return algebra.Call(function, tuple(map(self.term, arguments)))
            case syntax.Aggregate(function, read):
                assert read.variable is not None
                of = None if read.attribute is None else attribute(read.attribute)
                place = self.places[read.variable.text]
                # `aggr(a[i-1].x)` is how Table 1 of SASE+ writes `aggr(a[..i-1].x)`.
                return algebra.Aggregate(cast(_Aggregating, function), place, of, bool(read.index))
            case syntax.Read():
                return self.read(value)
            case syntax.Parameter():
                raise AssertionError(f"the parameter `:{value.name}` is not bound")

    def read(self, read: syntax.Read) -> algebra.Read | algebra.Length:
        """What a read reads."""
        if read.variable is None or read.variable.text not in self.places:
            return algebra.Read(0, attribute(bare_attribute(read)))
        place = self.places[read.variable.text]
        if read.index is None and self.kleene[place]:
            return algebra.Length(place)
        index = None
        if read.index is not None:
            index = _INDEX.get(read.index, algebra.Index.LAST)
        return algebra.Read(place, attribute(read.attribute), index)

    def constant(self, value: str | float) -> algebra.Constant:
        """A constant, at the next place."""
        self.constants.append(value)
        return algebra.Constant(len(self.constants) - 1, not isinstance(value, str))


def attribute(written: syntax.Attribute | None) -> algebra.Attribute:
    """An attribute of an event; None is its string value."""
    if written is None:
        return algebra.Attribute()
    if not written.quoted and written.attribute is None and len(written.steps) == 1:
        if written.steps[0] == "timestamp":
            return algebra.Attribute(own="timestamp")
        if written.steps[0] == "document":
            return algebra.Attribute(own="document")
    return algebra.Attribute(written.steps, written.attribute)
