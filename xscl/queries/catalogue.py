"""The subscribed queries of an engine: their names and numbers, and what they ask of each stage.

A query goes in by its parts: the spines of each stage's plan are registered with stage 1, the
plan and a row of R_T with stage 2, and what a chain's left part finds becomes a derived stream,
shared by all chains that have it.  Queries alike but for constants go in as one, their form.
What goes out takes along what nobody else uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from join_stage import Chain
from join_stage.registry import Registry
from xpath_stage import Accept, XPathEvaluator
from xscl.dissection.dissect import dissect
from xscl.dissection.parts import Disjunct, Dissection, JoinOperator
from xscl.documents.composites import Derived, Reading, RowReader, Source
from xscl.documents.retention import Shape
from xscl.errors import QueryError, StateError, line_and_column
from xscl.language.parameters import Prepared
from xscl.language.syntax import Query
from xscl.matches.match import Match
from xscl.queries.constant_table import Asked, Members
from xscl.queries.shared_query import Form, FormPart, Forms
from xscl.queries.stream_graph import StreamGraph
from xscl.queries.subscription import Standing, Subscription, Written

__all__ = ["Catalogue", "Reader"]


@dataclass(frozen=True, slots=True)
class Reader:
    """Who a number of the join stage belongs to, and how its rows are read."""

    owner: Subscription | FormPart | Derived
    reading: RowReader


@dataclass(slots=True)
class _Registered:
    """What a stage has registered, to be released with it."""

    spines: tuple[int, ...]
    below: tuple[Derived | None, ...]
    definitions: tuple[tuple[object, ...], ...]


class Catalogue:
    """Subscriptions by name, and the readers of the numbers of their stages in the join stage.

    `graph` are the streams that they read and publish; `reach` says for how long (microseconds) a
    witness of a spine can be reached by a second stage.
    """

    def __init__(
        self, xpath: XPathEvaluator, registry: Registry, reach: Callable[[int], int]
    ) -> None:
        self._xpath = xpath
        self._registry = registry
        self._reach = reach
        self.graph = StreamGraph()
        self._by_name: dict[str, Subscription] = {}
        self._readers: dict[int, Reader] = {}
        self._forms = Forms()
        self._registered: dict[int, _Registered] = {}
        self._derived: dict[tuple[object, ...], list[Derived]] = {}
        self._next_number = 0
        self._next_column = -1
        self._accepts: list[Accept] = []
        self._gone: list[int] = []
        self._variables: dict[tuple[object, ...], list[int]] = {}
        self._variable_names: set[str] = set()
        self._next_variable = 0

    def __iter__(self) -> Iterator[Subscription]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    @property
    def forms(self) -> int:
        """How many forms have members."""
        return len(self._forms)

    def reader(self, number: int) -> Reader:
        """Whose a number of the join stage is."""
        return self._readers[number]

    def readers(self, numbers: Iterable[int]) -> list[Reader]:
        """Whose some numbers of the join stage are."""
        return list(map(self._readers.__getitem__, numbers))

    def named(self, name: str) -> Subscription:
        """The subscription of a name; raises StateError if there is none."""
        if name not in self._by_name:
            known = ", ".join(self._by_name) or "none"
            raise StateError(f"no query is named {name!r}; there are: {known}")
        return self._by_name[name]

    def take_accepts(self) -> list[Accept]:
        """What the columns of new derived streams accept, since the last call."""
        accepts, self._accepts = self._accepts, []
        return accepts

    def take_gone(self) -> list[int]:
        """The columns of derived streams that are no more, since the last call."""
        gone, self._gone = self._gone, []
        return gone

    # Coming and going.

    def check(self, query: Query) -> Dissection:
        """The dissection of a query that may be subscribed.

        Raises QueryError if its name is none or is taken, or if it would close a cycle of streams.
        """
        problem = self.misnamed(query.name)
        if problem is not None:
            at = _name_place(query)
            raise QueryError(problem, query=query.name, text=query.text, at=at)
        dissection = dissect(query)
        self.graph.check(dissection)
        return dissection

    def alike(self, prepared: Prepared, name: str) -> Dissection | None:
        """The dissection of a query that is like another in all but its name, which is right."""
        return self._forms.dissection(prepared, name)

    def misnamed(self, name: str) -> str | None:
        """Why no query can have a name, if none can."""
        if not name.strip() or len(name.splitlines()) > 1:
            return f"found the name {name!r}; a query's name is a line of text"
        taken = self._by_name.get(name)
        if taken is None:
            return None
        line, column = line_and_column(taken.query.text, _name_place(taken.query))
        return (
            f"the name {name!r} is taken by the query at line {line}, column {column} "
            "of its text; choose another or cancel that one"
        )

    def add(
        self,
        dissection: Dissection,
        *,
        since: int,
        on_match: Callable[[Match], object] | None,
        cancel: Callable[[Subscription], None],
        written: Written | None = None,
    ) -> tuple[Subscription, set[int]]:
        """Subscribes a query that was checked, which sees the documents from number `since`;
        returns the numbers of its stages that are new in the join stage, too."""
        self.graph.add(dissection)
        first = self._next_number
        subscription = self._subscribe(dissection, None, since, on_match, cancel)
        subscription.written = written
        self._by_name[subscription.name] = subscription
        return subscription, {n for n in range(first, self._next_number) if n in self._readers}

    def enrol(
        self,
        prepared: Prepared,
        row: Mapping[str, object],
        name: str,
        *,
        since: int,
        on_match: Callable[[Match], object] | None,
        cancel: Callable[[Subscription], None],
        written: Written | None = None,
    ) -> Subscription | None:
        """Subscribes a prepared query with a row of values, both checked, as a member of a form;
        None where the values leave nothing in common with those of others."""
        form = self._forms.find(prepared, row)
        if form is None:
            return None
        if form.standing is None:
            self._register_form(form, name, since, cancel)
        assert form.standing is not None
        values = form.values(row)
        order = self._next_number
        self._next_number += 1
        member = Subscription(name, form.standing, order, since, on_match, values, written)
        form.size += 1
        for part in form.parts:
            for asked in part.members.asked:
                self._xpath.constants.register(asked.family, asked.constant(member))
            part.members.add(member)
        self._by_name[name] = member
        return member

    def remove(self, subscription: Subscription) -> bool:
        """Takes a subscription out; False if it was not in."""
        if self._by_name.get(subscription.name) is not subscription:
            return False
        del self._by_name[subscription.name]
        source = subscription.standing.source
        if isinstance(source, Form):
            subscription.active = False
            self._resign(source, subscription)
            return True
        self.graph.remove(subscription.outline)
        self._unsubscribe(subscription)
        return True

    def derived_below(self, numbers: Iterable[int]) -> list[Derived]:
        """The derived streams that some stages read, and those that these read in turn."""
        found: dict[Derived, None] = {}
        waiting = list(numbers)
        while waiting:
            for derived in self._registered[waiting.pop()].below:
                if derived is not None and derived not in found:
                    found[derived] = None
                    waiting.append(derived.number)
        return list(found)

    @property
    def derived(self) -> list[int]:
        """The numbers of the stages that feed derived streams."""
        return [derived.number for shared in self._derived.values() for derived in shared]

    def reach(self, shape: Shape) -> int | None:
        """How long a shape of documents or composites can be reached by a query after the
        watermark (microseconds); None if nothing reads it."""
        match shape:
            case Derived():
                if not shape.uses:
                    return None
                return max(map(self._reach, shape.spines.values()), default=0)
            case (str(stream), frozenset() as leaves):
                if not self.graph.read[stream]:
                    return None
                spines = (spine for leaf in leaves for spine in self._xpath.spines_of(leaf))
                return max(map(self._reach, spines), default=0)
        raise TypeError(shape)

    # Inside.

    def _subscribe(
        self,
        dissection: Dissection,
        internal: str | None,
        since: int,
        on_match: Callable[[Match], object] | None,
        cancel: Callable[[Subscription], None],
    ) -> Subscription:
        inner = tuple(
            self._subscribe(below, stream, since, None, cancel)
            for stream, below in dissection.subqueries
        )
        feeds = tuple(stream for stream in (internal, dissection.feeds) if stream is not None)
        numbers = self._numbers(dissection)
        standing = Standing.of(dissection, numbers, feeds, cancel, inner)
        first = numbers[0] if numbers else self._next_number
        subscription = Subscription(dissection.query.name, standing, first, since, on_match)
        for number, part in zip(numbers, dissection.disjuncts, strict=True):
            # Of the sole disjunct of a query, the join stage can count the matches.
            sole = len(dissection.disjuncts) == 1 and not feeds
            sole = sole and all(side.operator is None for side in part.operators[-1].sides)
            reading = self._register_part(number, dissection.query, part, since, sole_disjunct=sole)
            self._readers[number] = Reader(subscription, reading)
        return subscription

    def _numbers(self, dissection: Dissection) -> tuple[int, ...]:
        """Numbers for the parts of a query."""
        first = self._next_number
        self._next_number += len(dissection.disjuncts)
        return tuple(range(first, self._next_number))

    def _unsubscribe(self, subscription: Subscription) -> None:
        subscription.active = False
        for number in subscription.numbers:
            self._release(number)
        for inner in subscription.standing.inner:
            self._unsubscribe(inner)

    def _register_form(
        self, form: Form, name: str, since: int, cancel: Callable[[Subscription], None]
    ) -> None:
        """Registers a form, whose first member bears this name."""
        dissection = form.dissection
        query = dissection.query.renamed(name)
        self.graph.add(dissection)
        numbers = self._numbers(dissection)
        form.standing = Standing.of(dissection, numbers, (), cancel, source=form)
        parts = []
        for number, part in zip(numbers, dissection.disjuncts, strict=True):
            reading = self._register_part(number, query, part, since, sole_disjunct=False)
            members = self._members(form, part)
            parts.append(FormPart(form, members))
            self._readers[number] = Reader(parts[-1], reading)
        form.parts = tuple(parts)
        self._forms.add(form)

    def _resign(self, form: Form, member: Subscription) -> None:
        """Takes a member out of its form, and with the last one the form."""
        for part in form.parts:
            part.members.remove(member)
            for asked in part.members.asked:
                self._xpath.constants.release(asked.family, asked.constant(member))
        form.size -= 1
        if not form.size:
            assert form.standing is not None
            for number in form.standing.numbers:
                self._release(number)
            self.graph.remove(form.dissection)
            self._forms.remove(form)

    def _members(self, form: Form, part: Disjunct) -> Members:
        """The members of a form by what a part of it leaves open."""
        columns = part.operators[-1].columns
        asked = [
            Asked(
                opened,
                tuple(form.left_open.index(parameter.name) for parameter in opened.parameters),
                columns.index(node),
                part.patterns[node].block,
                self._xpath.constants.number(opened.family),
            )
            for node, opened in part.opened
        ]
        width = len({*part.outputs, *part.selected.values()})
        return Members(asked, width)

    def _register_part(
        self, number: int, query: Query, part: Disjunct, since: int, *, sole_disjunct: bool
    ) -> Reading:
        """Registers the stages of a part, the last one under a number."""
        derived: list[Derived] = []
        for stage in part.operators[:-1]:
            derived.append(self._derive(query, part, stage, derived, since))
        return self._register(
            number,
            query,
            part,
            part.operators[-1],
            derived,
            since=since,
            sole_disjunct=sole_disjunct,
        )

    def _derive(
        self,
        query: Query,
        part: Disjunct,
        stage: JoinOperator,
        derived: Sequence[Derived],
        since: int,
    ) -> Derived:
        """The derived stream of a stage: one that is there already, else a new one."""
        number = self._next_number
        self._next_number += 1
        reading = self._register(
            number, query, part, stage, derived, since=since, sole_disjunct=False
        )
        row = self._registry.row_of(number)
        key = (row, stage.constraint, reading.sources)
        for shared in self._derived.get(key, ()):
            if shared.since <= since:
                self._release(number)
                return shared
        valued = tuple(i for i, node in enumerate(stage.columns) if node in stage.valued)
        spines: dict[int, int] = {}
        for column in valued or (0,):
            spines[column] = self._next_column
            self._accepts.append(Accept(self._next_column, self._next_column, (0,)))
            self._next_column -= 1
        new = Derived(number, key, since, reading, spines, valued)
        self._derived.setdefault(key, []).append(new)
        self._readers[number] = Reader(new, reading)
        return new

    def _register(
        self,
        number: int,
        query: Query,
        part: Disjunct,
        stage: JoinOperator,
        derived: Sequence[Derived],
        *,
        since: int,
        sole_disjunct: bool,
    ) -> Reading:
        below = tuple(
            None if side.operator is None else derived[side.operator] for side in stage.sides
        )
        spines: list[int] = []

        def spine(chain: Chain) -> int:
            one = below[chain.side]
            if one is None:
                spines.append(self._xpath.register(part.spine(stage, chain)))
                return spines[-1]
            side = stage.sides[chain.side].operator
            assert side is not None
            return one.spines[part.operators[side].columns.index(stage.assignment[chain.nodes[-1]])]

        definitions = tuple(_definition(part, node) for node in stage.assignment)
        names = zip(definitions, stage.assignment, strict=True)
        self._registry.add(
            number,
            stage.plan,
            joins=[(spine(left), spine(right)) for left, right in stage.plan.joins],
            singles=[spine(chain) for chain in stage.plan.singles],
            variables=[self._variable(query.name, part, *named) for named in names],
            constraint=stage.constraint,
            since=since,
            sole_disjunct=sole_disjunct,
        )
        self._registered[number] = _Registered(tuple(spines), below, definitions)
        for one in below:
            if one is not None:
                one.uses += 1
        return Reading(stage.plan, tuple(one is not None for one in below), _sources(part, stage))

    def _release(self, number: int) -> None:
        """Takes out what was registered under a number, and what nobody uses then."""
        self._readers.pop(number, None)
        self._registry.remove(number)
        registered = self._registered.pop(number)
        for spine in registered.spines:
            self._xpath.release(spine)
        for definition in registered.definitions:
            self._forget_variable(definition)
        for derived in registered.below:
            if derived is not None:
                self._let_go(derived)

    def _let_go(self, derived: Derived) -> None:
        derived.uses -= 1
        if derived.uses:
            return
        self._derived[derived.key].remove(derived)
        if not self._derived[derived.key]:
            del self._derived[derived.key]
        self._gone += derived.spines.values()
        self._release(derived.number)

    def _variable(
        self, query: str, part: Disjunct, definition: tuple[object, ...], node: int
    ) -> int:
        """The number of a variable: one definition, one variable, whatever its names (law 4).

        It goes by the first name given to it, made unique by its query's where need be.
        """
        known = self._variables.get(definition)
        if known is None:
            known = self._variables[definition] = [self._next_variable, 0]
            self._next_variable += 1
            pattern = part.patterns[node]
            name = pattern.variables[0] if pattern.variables else f"_{node}"
            if name in self._variable_names:
                name = f"{query}.{name}"
            self._variable_names.add(name)
            self._registry.variables[known[0]] = name
        known[1] += 1
        return known[0]

    def _forget_variable(self, definition: tuple[object, ...]) -> None:
        known = self._variables[definition]
        known[1] -= 1
        if not known[1]:
            del self._variables[definition]
            self._variable_names.discard(self._registry.variables.pop(known[0]))


def _definition(part: Disjunct, node: int) -> tuple[object, ...]:
    pattern = part.patterns[node]
    return part.streams[pattern.block], part.definitions[node], pattern.functions


def _sources(part: Disjunct, stage: JoinOperator) -> tuple[Source, ...]:
    """Where the columns of a stage come from."""
    of_plan = {stage.assignment[node]: i for i, node in enumerate(stage.plan.outputs)}
    strings = {stage.assignment[node]: i for i, node in enumerate(stage.plan.valued)}
    side_of = {block: index for index, side in enumerate(stage.sides) for block in side.blocks}
    sources = []
    for node in stage.columns:
        side = side_of[part.patterns[node].block]
        below = stage.sides[side].operator
        if below is None:
            string = strings[node] if node in stage.valued else None
            sources.append(Source(None, of_plan[node], string))
        else:
            earlier = part.operators[below]
            valued = [n for n in earlier.columns if n in earlier.valued]
            string = valued.index(node) if node in stage.valued else None
            sources.append(Source(side, earlier.columns.index(node), string))
    return tuple(sources)


def _name_place(query: Query) -> int:
    return query.at if query.named_at is None else query.named_at
