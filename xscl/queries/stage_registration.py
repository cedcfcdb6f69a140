"""What subscribed queries have in the stages: spines in stage 1, plans and rows of R_T in stage 2.

A disjunct goes in by its operators, each under a number.  What a chain's left part finds becomes a
derived stream, shared by all chains that have it.  A number that is released takes along what
nobody else uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from xscl.documents.composites import ColumnSource, DerivedStream, JoinReading, RowReader
from xscl.documents.events import EventType
from xscl.join_stage import Chain
from xscl.join_stage.registry import Registry, Row
from xscl.xpath_stage import Accept, Definition, XPathEvaluator

if TYPE_CHECKING:
    from xscl.dissection.parts import Disjunct, JoinOperator, SpineAsked
    from xscl.queries.constant_table import SharedDisjunct
    from xscl.queries.subscription import Subscription
    from xscl.queries.wiring import Wiring

__all__ = ["QueryReader", "StageRegistration"]


@dataclass(frozen=True, slots=True)
class QueryReader:
    """Who a number of the join stage belongs to, and how its rows are read."""

    owner: Subscription | SharedDisjunct | DerivedStream | EventType
    reading: RowReader


_Definition = tuple[str, Definition, tuple[str, ...]]
"""A stream, a definition in it, and the functions on its nodes' values."""


class _Column(NamedTuple):
    """A leaf of what an earlier operator found: the side of it, and its column."""

    side: int
    column: int


@dataclass(slots=True, eq=False)
class _Outline:
    """What is registered of an operator, whatever its names: the leaves of its joins and singles;
    of each node assigned its block, itself and its functions; where its columns come from, and,
    over blocks alone, how its rows are read.  It goes with the last of its `uses`."""

    joins: list[tuple[SpineAsked | _Column, SpineAsked | _Column]]
    singles: list[SpineAsked | _Column]
    nodes: list[tuple[int, int, tuple[str, ...]]]
    sources: tuple[ColumnSource, ...]
    reading: JoinReading | None
    uses: int = 0

    @classmethod
    def of(cls, disjunct: Disjunct, operator: JoinOperator) -> _Outline:
        """That of an operator of a disjunct."""

        def asked(chain: Chain) -> SpineAsked | _Column:
            below = operator.sides[chain.side].operator
            if below is None:
                return disjunct.asked(operator, chain)
            columns = disjunct.operators[below].columns
            return _Column(chain.side, columns.index(operator.assignment[chain.nodes[-1]]))

        sources = _sources(disjunct, operator)
        over_blocks = all(side.operator is None for side in operator.sides)
        below = (None,) * len(operator.sides)
        patterns = [disjunct.patterns[node] for node in operator.assignment]
        return cls(
            [(asked(left), asked(right)) for left, right in operator.plan.joins],
            [asked(chain) for chain in operator.plan.singles],
            [(pattern.block, pattern.number, pattern.functions) for pattern in patterns],
            sources,
            JoinReading(operator.plan, below, sources) if over_blocks else None,
        )


@dataclass(slots=True, eq=False)
class _Registered:
    """The row of R_T of an operator, and the spines, derived streams and definitions that it uses;
    they are released with the last of its numbers."""

    disjunct: Disjunct
    operator: JoinOperator
    row: Row
    spines: list[int]
    below: tuple[DerivedStream | None, ...]
    definitions: list[_Definition]
    reading: JoinReading
    numbers: int = 1


class StageRegistration:
    """The numbers of the join stage with their readers, and the derived streams.

    `reach` says for how long (microseconds) a witness of a spine can be reached by a second stage.
    """

    def __init__(
        self, xpath: XPathEvaluator, registry: Registry, reach: Callable[[int], int]
    ) -> None:
        self._xpath = xpath
        self._registry = registry
        self._reach = reach
        self._readers: dict[int, QueryReader] = {}
        self._registered: dict[int, _Registered] = {}
        # By the identity of operators over blocks alone, which queries that say the same share.
        self._operators: dict[tuple[int, int], _Registered] = {}
        # By the identity of operators, too.
        self._outlines: dict[int, _Outline] = {}
        self._derived: dict[tuple[object, ...], list[DerivedStream]] = {}
        self._next_number = 0
        self._next_column = -1
        self._accepts: list[Accept] = []
        self._gone: list[int] = []
        self._variables: dict[_Definition, list[int]] = {}
        self._variable_names: set[str] = set()
        self._next_variable = 0

    def reader(self, number: int) -> QueryReader:
        """The owner of a number of the join stage, and how its rows are read."""
        return self._readers[number]

    def readers(self, numbers: Iterable[int]) -> list[QueryReader]:
        """The readers of some numbers of the join stage."""
        return list(map(self._readers.__getitem__, numbers))

    def numbers_of(self, asked: Callable[[Wiring], bool]) -> list[int]:
        """The numbers of the join stage that are of queries whose wiring is asked for."""
        numbers = []
        for number, reader in self._readers.items():
            owner = getattr(reader.owner, "shared", reader.owner)
            wiring = getattr(owner, "wiring", None)
            if number in self._registered and wiring is not None and asked(wiring):
                numbers.append(number)
        return numbers

    def spines_of(self, number: int) -> Sequence[int]:
        """The spines of a number of the join stage."""
        return self._registered[number].spines

    def read_by(self, number: int, reader: QueryReader) -> None:
        """Gives a number of another stage its reader."""
        self._readers[number] = reader

    def take_accepts(self) -> list[Accept]:
        """What the columns of derived streams accept that are new since the last call."""
        accepts, self._accepts = self._accepts, []
        return accepts

    def take_gone(self) -> list[int]:
        """The columns of derived streams that have gone since the last call."""
        gone, self._gone = self._gone, []
        return gone

    def derived_below(self, numbers: Iterable[int]) -> list[DerivedStream]:
        """The derived streams that some stages read, and those that these read in turn."""
        found: dict[DerivedStream, None] = {}
        waiting = list(numbers)
        while waiting:
            registered = self._registered.get(waiting.pop())
            for derived in () if registered is None else registered.below:
                if derived is not None and derived not in found:
                    found[derived] = None
                    waiting.append(derived.number)
        return list(found)

    @property
    def derived(self) -> list[int]:
        """The numbers of the stages that feed derived streams."""
        return [derived.number for shared in self._derived.values() for derived in shared]

    def reach(self, read: DerivedStream | frozenset[int]) -> int:
        """For how long after its time a composite of a derived stream, or a document with some
        leaf paths, can be reached by a query (microseconds)."""
        if isinstance(read, DerivedStream):
            spines: Iterable[int] = read.spines.values()
        else:
            spines = (spine for leaf in read for spine in self._xpath.spines_of(leaf))
        return max(map(self._reach, spines), default=0)

    def take_numbers(self, count: int) -> range:
        """New numbers; they ascend in order of subscription."""
        first = self._next_number
        self._next_number += count
        return range(first, self._next_number)

    def register(
        self,
        number: int,
        owner: Subscription | SharedDisjunct | EventType,
        query: str,
        disjunct: Disjunct,
        since: int,
        *,
        sole_disjunct: bool = False,
    ) -> None:
        """Registers the operators of a disjunct of a query of some name, the last one under a
        number, whose rows are the owner's."""
        derived: list[DerivedStream] = []
        for operator in disjunct.operators[:-1]:
            derived.append(self._derive(query, disjunct, operator, derived, since))
        reading = self._register(
            number,
            query,
            disjunct,
            disjunct.operators[-1],
            derived,
            since=since,
            sole_disjunct=sole_disjunct,
        )
        self._readers[number] = QueryReader(owner, reading)

    def _derive(
        self,
        query: str,
        disjunct: Disjunct,
        operator: JoinOperator,
        derived: Sequence[DerivedStream],
        since: int,
    ) -> DerivedStream:
        """The derived stream of a operator: one that is there already, else a new one."""
        (number,) = self.take_numbers(1)
        reading = self._register(
            number, query, disjunct, operator, derived, since=since, sole_disjunct=False
        )
        row = self._registry.row_of(number).number
        key = (row, operator.constraint, reading.sources)
        for shared in self._derived.get(key, ()):
            if shared.since <= since:
                self.release(number)
                return shared
        valued = tuple(i for i, node in enumerate(operator.columns) if node in operator.valued)
        spines: dict[int, int] = {}
        for column in valued or (0,):
            spines[column] = self._next_column
            self._accepts.append(Accept(self._next_column, self._next_column, (0,)))
            self._next_column -= 1
        new = DerivedStream(number, key, since, reading, spines, valued)
        self._derived.setdefault(key, []).append(new)
        self._readers[number] = QueryReader(new, reading)
        return new

    def _register(
        self,
        number: int,
        query: str,
        disjunct: Disjunct,
        operator: JoinOperator,
        derived: Sequence[DerivedStream],
        *,
        since: int,
        sole_disjunct: bool,
    ) -> JoinReading:
        known = self._operators.get((id(disjunct), id(operator)))
        if known is not None:
            self._registry.add_to(
                known.row,
                number,
                constraint=operator.constraint,
                since=since,
                sole_disjunct=sole_disjunct,
            )
            known.numbers += 1
            self._registered[number] = known
            return known.reading
        outline = self._outlines.get(id(operator))
        if outline is None:
            outline = self._outlines[id(operator)] = _Outline.of(disjunct, operator)
        outline.uses += 1
        below = tuple(
            [None if side.operator is None else derived[side.operator] for side in operator.sides]
        )
        spines: list[int] = []

        def spine(asked: SpineAsked | _Column) -> int:
            if isinstance(asked, _Column):
                one = below[asked.side]
                assert one is not None
                return one.spines[asked.column]
            spines.append(self._xpath.register(asked.spine(disjunct)))
            return spines[-1]

        streams, paths = disjunct.streams, disjunct.definitions
        definitions = [(streams[block], paths[node], of) for block, node, of in outline.nodes]
        self._registry.add(
            number,
            operator.plan,
            joins=[(spine(left), spine(right)) for left, right in outline.joins],
            singles=[spine(asked) for asked in outline.singles],
            thresholds=operator.thresholds,
            variables=[
                self._variable(query, disjunct, definition, node)
                for definition, node in zip(definitions, operator.assignment, strict=True)
            ],
            constraint=operator.constraint,
            since=since,
            sole_disjunct=sole_disjunct,
        )
        reading = outline.reading or JoinReading(operator.plan, below, outline.sources)
        row = self._registry.row_of(number)
        registered = _Registered(disjunct, operator, row, spines, below, definitions, reading)
        self._registered[number] = registered
        for one in below:
            if one is not None:
                one.uses += 1
        if outline.reading is not None:
            self._operators[id(disjunct), id(operator)] = registered
        return reading

    def release(self, number: int) -> None:
        """Takes out the operator of a number, and all that nobody uses then."""
        self._readers.pop(number, None)
        if number not in self._registered:
            return
        self._registry.remove(number)
        registered = self._registered.pop(number)
        registered.numbers -= 1
        if registered.numbers:
            return
        self._operators.pop((id(registered.disjunct), id(registered.operator)), None)
        outline = self._outlines[id(registered.operator)]
        outline.uses -= 1
        if not outline.uses:
            del self._outlines[id(registered.operator)]
        for spine in registered.spines:
            self._xpath.release(spine)
        for definition in registered.definitions:
            self._forget_variable(definition)
        for derived in registered.below:
            if derived is not None:
                self._evict(derived)

    def _evict(self, derived: DerivedStream) -> None:
        derived.uses -= 1
        if derived.uses:
            return
        self._derived[derived.key].remove(derived)
        if not self._derived[derived.key]:
            del self._derived[derived.key]
        self._gone += derived.spines.values()
        self.release(derived.number)

    def _variable(self, query: str, disjunct: Disjunct, definition: _Definition, node: int) -> int:
        """The number of a variable: one definition, one variable, whatever its names
        (docs/laws.md#definitions).

        It goes by the first name given to it, made unique by its query's where need be.
        """
        known = self._variables.get(definition)
        if known is None:
            known = self._variables[definition] = [self._next_variable, 0]
            self._next_variable += 1
            name = disjunct.labels.get(node) or f"_{node}"
            if name in self._variable_names:
                name = f"{query}.{name}"
            self._variable_names.add(name)
            self._registry.variables[known[0]] = name
        known[1] += 1
        return known[0]

    def _forget_variable(self, definition: _Definition) -> None:
        known = self._variables[definition]
        known[1] -= 1
        if not known[1]:
            del self._variables[definition]
            self._variable_names.discard(self._registry.variables.pop(known[0]))


def _sources(disjunct: Disjunct, operator: JoinOperator) -> tuple[ColumnSource, ...]:
    """Where the columns of a operator come from."""
    of_plan = {operator.assignment[node]: i for i, node in enumerate(operator.plan.outputs)}
    strings = {operator.assignment[node]: i for i, node in enumerate(operator.plan.valued)}
    side_of = {block: index for index, side in enumerate(operator.sides) for block in side.blocks}
    sources = []
    for node in operator.columns:
        side = side_of[disjunct.patterns[node].block]
        below = operator.sides[side].operator
        if below is None:
            string = strings[node] if node in operator.valued else None
            sources.append(ColumnSource(None, of_plan[node], string))
        else:
            earlier = disjunct.operators[below]
            valued = [n for n in earlier.columns if n in earlier.valued]
            string = valued.index(node) if node in operator.valued else None
            sources.append(ColumnSource(side, earlier.columns.index(node), string))
    return tuple(sources)
