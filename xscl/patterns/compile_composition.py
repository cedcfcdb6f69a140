"""From a query in EQL to its composition, blocks and constants (docs/semantics.md#composites).

The query has no error and no open parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, cast

from xscl.consistency import Level
from xscl.language import syntax
from xscl.language.eql.walk import events_of, name_of
from xscl.language.same_query import bare
from xscl.language.syntax import Block, Query
from xscl.pattern_stage.algebra.nodes import Source
from xscl.pattern_stage.compositions.lowering import reach_of
from xscl.pattern_stage.compositions.plan import Conjunct, Event, plans
from xscl.pattern_stage.compositions.plan import Either as EitherPlan
from xscl.pattern_stage.compositions.planned import ASSUMED, Composition, Planned
from xscl.pattern_stage.values import terms as algebra
from xscl.pattern_stage.values.terms import RANGES, STEP, XML_ATTRIBUTE
from xscl.patterns.chains import normal_form
from xscl.patterns.compile import attribute
from xscl.stream_names import internal_name

if TYPE_CHECKING:
    from xscl.pattern_stage.plan.composites import CompositeStage

__all__ = ["CompiledComposition", "Conjuncts", "compile_composition"]


@dataclass(slots=True, eq=False)
class CompiledComposition:
    """A composition as the pattern stage takes it; `names` are those of its variables, those of
    exceptions last, with the `blocks` of each, and `streams` those of its sources; conjuncts are
    as `written`."""

    dynamic: ClassVar = False
    eager: ClassVar = False
    composite: ClassVar = True

    composition: Composition
    names: tuple[str, ...]
    blocks: tuple[tuple[Block, ...], ...]
    streams: tuple[str, ...]
    written: tuple[syntax.Qualified, ...]
    level: Level | None = None
    """What it says of its consistency."""
    running: Planned | None = None
    """The plan that it was last added to a stage with."""

    @property
    def planned(self) -> Planned:
        """The plan that it has, or would have if no rate were known."""
        return self.running or self.composition.planned([ASSUMED] * len(self.streams))

    @property
    def monotone(self) -> bool:
        """Whether a further event can only add matches."""
        return all(isinstance(one, Event | EitherPlan) for one in plans(self.composition.normal))

    @property
    def within(self) -> int | None:
        """The longest duration of a match in microseconds."""
        return reach_of(*self.composition)

    def add_to(
        self,
        stage: CompositeStage,
        number: int,
        types: Sequence[Sequence[int]],
        since: int,
        *,
        weak: bool = False,
        in_order: bool = False,
    ) -> None:
        """Adds it to a stage as a query that sees events with numbers not below `since`."""
        of = [*chain.from_iterable(types)]
        self.running = stage.add_plan(
            number, self.composition, of, since, weak=weak, in_order=in_order
        )


def compile_composition(query: Query) -> CompiledComposition:
    """The composition of a query whose source is one.

    >>> from xscl.language import parse
    >>> [query], _ = parse("SELECT * FROM (t A; t B) WHERE FILTER(A.id = B.id)")
    >>> compile_composition(query).names
    ('A', 'B')
    """
    source = query.source
    assert isinstance(source, syntax.Composition)
    every = [(one, cast(str, name_of(one))) for one in events_of(source.pattern)]
    block_of = {id(one): block for one, block in _blocks(query, source.pattern)}
    shown = {id(one) for one in _shown(source.pattern)}
    named = [name for one, name in every if id(one) in shown]
    names = tuple(dict.fromkeys([*named, *(name for _, name in every)]))
    blocks: dict[str, dict[object, Block]] = {name: {} for name in names}
    for one, name in every:
        block = block_of[id(one)]
        blocks[name].setdefault(bare(block), block)
    flat = [(name, key) for name in names for key in blocks[name]]

    def event(one: syntax.EventOf) -> Event:
        name = cast(str, name_of(one))
        type_ = flat.index((name, bare(block_of[id(one)])))
        return Event(str(names.index(name)), Source(type_, None), type_)

    terms = Conjuncts(names)
    normal = normal_form(source.pattern, event, terms.of(source.qualifications))
    return CompiledComposition(
        Composition(normal, tuple(terms.constants)),
        names,
        tuple(tuple(blocks[name].values()) for name in names),
        tuple(blocks[name][key].stream.text for name, key in flat),
        tuple(terms.written),
        Level.asked(source.consistency),
    )


def _blocks(query: Query, pattern: syntax.Structure) -> Iterator[tuple[syntax.EventOf, Block]]:
    """The events of a pattern with their blocks; that of a sub-query is of the stream of its
    results."""
    number = 0
    for one in events_of(pattern):
        block = one.block
        if isinstance(block, syntax.SubQuery):
            number += 1
            stream = syntax.Name(internal_name(f"{query.name}({number})"), block.at)
            block = Block(stream, block.steps, block.at)
        assert isinstance(block, Block)
        yield one, block


def _shown(structure: syntax.Structure) -> Iterator[syntax.EventOf]:
    """The events of a pattern that a match may have."""
    match structure:
        case syntax.EventOf():
            yield structure
        case syntax.Sequenced(parts) | syntax.Alternatives(parts):
            for one in parts:
                yield from _shown(one)
        case syntax.Repeated(operand):
            yield from _shown(operand)
        case syntax.Excepted(left):
            yield from _shown(left)


class Conjuncts:
    """The conjuncts of one query: what its names read, and its constants so far."""

    def __init__(self, names: Sequence[str]) -> None:
        self.places = {name: str(place) for place, name in enumerate(names)}
        self.constants: list[Any] = []
        self.written: list[syntax.Qualified] = []
        """Each as it was written, by its place."""

    def of(self, qualifications: Iterable[syntax.Qualification]) -> Iterator[Conjunct]:
        """The conjuncts of qualifications, split at their ANDs."""
        for one in qualifications:
            for part in _parts(one.condition):
                self.written.append(part)
                yield self.conjunct(part, one.filters, len(self.written) - 1)

    def conjunct(self, condition: syntax.Qualified, filters: bool, place: int) -> Conjunct:
        """A conjunct."""
        predicate = self.predicate(condition)
        named, quantified = set[str](), set[str]()
        for one in _inside(predicate):
            match one:
                case algebra.Column(0, name):
                    named.add(name.partition(STEP)[0])
                case algebra.Range(_, name):
                    quantified.add(name.partition(STEP)[0])
                case algebra.Spread(first, second):
                    quantified |= {first, second}
        both = frozenset(named | quantified)
        return Conjunct(predicate, both, frozenset(quantified), filters, place)

    def predicate(self, condition: syntax.Qualified) -> algebra.Predicate:
        """A condition."""
        match condition:
            case syntax.Not(operand):
                return algebra.Not(self.predicate(operand))
            case syntax.Every(parts):
                return algebra.And(tuple(map(self.predicate, parts)))
            case syntax.Either(parts):
                return algebra.Or(tuple(map(self.predicate, parts)))
            case syntax.Occurring(one, other, window):
                spread = algebra.Spread(self.places[one.text], self.places[other.text])
                self.constants.append(window.length)
                longest = algebra.Constant(len(self.constants) - 1, True)
                return algebra.Comparison("<=", spread, longest, "number")
        ranges: list[algebra.Range] = []
        left, right = (self.term(side, ranges) for side in (condition.left, condition.right))
        atom: algebra.Predicate
        if isinstance(condition, syntax.Contained):
            atom = algebra.TextTest("contains", left, right)
        else:
            atom = algebra.Comparison.of(condition.operator, left, right)
        return algebra.ForAll(tuple(ranges), atom) if ranges else atom

    def term(self, value: Any, ranges: list[algebra.Range]) -> algebra.Term:
        """A value; what reads several events has a place in `ranges`."""
        match value:
            case syntax.Literal():
                self.constants.append(value.value)
                is_text = isinstance(value.value, str)
                return algebra.Constant(len(self.constants) - 1, not is_text)
            case syntax.Minus(operand):
                return _defined(algebra.Negative(self.term(operand, ranges)))
            case syntax.Arithmetic(operator, left, right):
                first = self.term(left, ranges)
                return _defined(algebra.Arithmetic(operator, first, self.term(right, ranges)))
            case syntax.Quantified(quantifier, read):
                name, number = self.name(read)
                side = RANGES + len(ranges)
                ranges.append(algebra.Range(0, name, "all" if quantifier == "ALL" else "last"))
                return _read(side, name, number)
            case syntax.Read():
                name, number = self.name(value)
                return _read(0, name, number)
        raise AssertionError(value)

    def name(self, read: syntax.Read) -> tuple[str, bool]:
        """The name of an attribute among those of composites, and whether it is a number by
        itself."""
        assert read.variable is not None
        of = attribute(read.attribute)
        variable = self.places[read.variable.text]
        if of.own is not None:
            return f"{variable}{STEP}{of.own}()", of.own == "timestamp"
        last = () if of.attribute is None else (f"{XML_ATTRIBUTE}{of.attribute}",)
        steps = [*of.steps, *last]
        own = len(steps) == 1 and (last or steps[0] in ("timestamp()", "document()"))
        if own or steps[:1] == [""]:
            # An attribute of the node, a member called like what every event has, or one without
            # a name.
            steps = ["", *steps]
        return STEP.join([variable, *steps]), False


def _read(side: int, name: str, number: bool) -> algebra.Term:
    column = algebra.Column(side, name)
    return algebra.Call("number", (column,)) if number else column


def _defined(term: algebra.Term) -> algebra.Term:
    """A number, missing where it is not finite."""
    return algebra.Call("kept", (term,))


def _parts(condition: syntax.Qualified) -> Iterator[syntax.Qualified]:
    if isinstance(condition, syntax.Every):
        for part in condition.parts:
            yield from _parts(part)
    else:
        yield condition


def _inside(term: object) -> Iterator[object]:
    yield term
    for part in algebra.parts(term):
        yield from _inside(part)
