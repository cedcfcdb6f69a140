"""Small documents and composites with queries over them, and nested loops over both.

A document is a root with leaves, a composite a few columns without structure; to the nested
loops both are nodes with labels.  A `Feeder` brings them to a join processor as stage 1 would.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import duckdb
from hypothesis import strategies as st

from tests.join_stage.witnessing import leave, witnesses_of
from tests.templates.graphs import graph
from xscl.join_stage import Batch, Chain, JoinProcessor, Plan, Strategies, TimeConstraint, plan_of
from xscl.templates import JoinGraph, minor
from xscl.xpath_stage import Witnesses, likeness

ROOT = "root"
LEAVES = ("a", "b")
COLUMNS = ("#0", "#1")
OPERATORS = {
    "=": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "<": lambda x, y: x < y,
}


@dataclass(frozen=True)
class Item:
    """A node: its label, its code, its parent's code, and the number that is its string."""

    label: str
    code: int
    parent: int | None
    string: int


@dataclass(frozen=True)
class Entity:
    """A document or, with parts, a composite."""

    number: int
    time: int
    items: tuple[Item, ...]
    start: int
    parts: tuple[int, ...]
    composite: bool


def document(number: int, time: int, root: int, leaves: Sequence[tuple[str, int]]) -> Entity:
    items = [Item(ROOT, 0, None, root)]
    items += [Item(label, 1 + i, 0, string) for i, (label, string) in enumerate(leaves)]
    return Entity(number, time, tuple(items), time, (number,), composite=False)


def composite(number: int, parts: Sequence[Entity], columns: Sequence[tuple[int, int]]) -> Entity:
    """Columns are codes and strings."""
    times = [part.time for part in parts]
    items = tuple(Item(COLUMNS[i], code, None, string) for i, (code, string) in enumerate(columns))
    numbers = tuple(part.number for part in parts)
    return Entity(number, max(times), items, min(times), numbers, composite=True)


@dataclass(frozen=True)
class Query:
    """A join graph over labelled nodes, and what joins in time."""

    graph: JoinGraph
    labels: tuple[str, ...]
    composite: tuple[bool, bool]
    constraint: TimeConstraint
    sides: int = 2
    since: int = 0

    @property
    def planned(self) -> tuple[Plan, tuple[int, ...]]:
        return plan_of(minor(self.graph), self.sides, self.composite)


Row = tuple[int, ...]  # documents, codes of kept nodes in order, strings of valued ones


def matches(query: Query, sides: Sequence[Entity]) -> set[Row]:
    """The matches of a query in these documents or composites, one for each side."""
    kinds = [side.composite for side in sides]
    if kinds != list(query.composite[: len(sides)]):
        return set()
    if any(min(side.parts) < query.since for side in sides):
        return set()
    if query.sides == 2:
        left, right = sides
        if set(left.parts) & set(right.parts):
            return set()
        if query.constraint.after and right.start <= left.time:
            return set()
        window = query.constraint.window
        if window is not None and abs(right.time - left.time) > window:
            return set()
    nodes = query.graph.nodes
    choices = [
        [item for item in sides[node.side].items if item.label == query.labels[node.number]]
        for node in nodes
    ]
    found = set()
    for chosen in product(*choices):
        at = {node.number: item for node, item in zip(nodes, chosen, strict=True)}
        if all(
            node.parent is None or at[node.number].parent == at[node.parent].code for node in nodes
        ) and all(
            OPERATORS[edge.operator](at[edge.left].string, at[edge.right].string)
            for edge in query.graph.edges
        ):
            found.add(
                (
                    *(side.number for side in sides),
                    *(at[number].code for number in sorted(query.graph.kept)),
                    *(at[number].string for number in sorted(query.graph.valued)),
                )
            )
    return found


def all_matches(
    queries: dict[int, Query], retained: Iterable[Entity], new: Collection[int]
) -> Counter[tuple[int, Row]]:
    """The matches among the retained entities with at least one that is new, by query."""
    entities = list(retained)
    found: Counter[tuple[int, Row]] = Counter()
    for number, query in queries.items():
        for sides in product(entities, repeat=query.sides):
            if any(side.number in new for side in sides):
                found.update((number, row) for row in matches(query, sides))
    return found


# Drawn.


@st.composite
def queries(draw: st.DrawFn, *, with_composites: bool = True) -> Query:
    """A filter query, or a join of documents and composites."""
    if draw(st.integers(0, 7)) == 0:
        labels = [ROOT, draw(st.sampled_from(LEAVES))]
        valued = draw(st.sets(st.sampled_from([0, 1])))
        one = replace(graph([(0, None), (0, 0)], [], [0, 1]), valued=frozenset(valued))
        return Query(one, tuple(labels), (False, False), TimeConstraint(False, None), sides=1)
    kinds = (
        draw(st.sampled_from([(False, False)] * 2 + [(True, False), (False, True), (True, True)]))
        if with_composites
        else (False, False)
    )
    parents: list[tuple[int, int | None]] = []
    labels = []
    for side, is_composite in enumerate(kinds):
        root = len(parents)
        if is_composite:
            parents += [(side, None)] * 2
            labels += list(COLUMNS)
        else:
            parents += [(side, None), (side, root), (side, root)]
            labels += [ROOT, draw(st.sampled_from(LEAVES)), draw(st.sampled_from(LEAVES))]
    lefts = [i for i, (side, _) in enumerate(parents) if side == 0]
    rights = [i for i, (side, _) in enumerate(parents) if side == 1]
    operators = st.sampled_from(["=", "=", "=", "=", "!=", "<"])
    edges = draw(
        st.lists(
            st.tuples(st.sampled_from(lefts), operators, st.sampled_from(rights)),
            max_size=2,
        )
    )
    kept = {lefts[0], rights[0], *draw(st.sets(st.integers(0, len(parents) - 1), max_size=1))}
    valued = draw(st.sets(st.sampled_from(sorted(kept)), max_size=2))
    needed = kept.union(*((left, right) for left, _, right in edges))
    # A leaf that takes part in nothing would be a filter, which is stage 1's.
    left_over = [i for i, (_, parent) in enumerate(parents) if parent is None or i in needed]
    numbers = {old: new for new, old in enumerate(left_over)}
    whole = graph(
        [
            (side, None if parent is None else numbers[parent])
            for side, parent in (parents[i] for i in left_over)
        ],
        [(numbers[left], operator, numbers[right]) for left, operator, right in edges],
        [numbers[i] for i in kept],
    )
    return Query(
        replace(whole, valued=frozenset(numbers[i] for i in valued)),
        tuple(labels[i] for i in left_over),
        kinds,
        TimeConstraint(draw(st.booleans()), draw(st.sampled_from([0, 1, 2, 3, None]))),
    )


strings = st.sampled_from([1, 1, 2, 3])


@st.composite
def documents(draw: st.DrawFn, number: int, time: int) -> Entity:
    leaves = draw(st.lists(st.tuples(st.sampled_from(LEAVES), strings), max_size=3))
    return document(number, time, draw(strings), leaves)


@st.composite
def composites(draw: st.DrawFn, number: int, parts: Sequence[Entity]) -> Entity:
    chosen = draw(st.lists(st.sampled_from(parts), min_size=1, max_size=2, unique=True))
    codes = st.integers(0, 2)
    columns = draw(st.lists(st.tuples(codes, strings), min_size=2, max_size=2))
    return composite(number, chosen, columns)


# Brought to a processor.


class Feeder:
    """A join processor, with what stage 1 and the engine keep on its behalf."""

    def __init__(self, strategies: Strategies | None = None) -> None:
        self.connection = duckdb.connect()
        self.processor = JoinProcessor(lambda: self.connection, float, likeness, strategies)
        self.spines: dict[tuple[str, ...], int] = {}
        self.paths: dict[str, int] = {ROOT: 1, "a": 2, "b": 3, "#0": -1, "#1": -2}
        self.strings: set[int] = set()
        self.queries: dict[int, Query] = {}
        self._uses: Counter[tuple[str, ...]] = Counter()
        self._chains: dict[int, list[tuple[str, ...]]] = {}
        self._accepts: list[tuple[int, tuple[str, ...]]] = []
        self._next_spine = 10
        self._next_path = 10

    def subscribe(self, number: int, query: Query, *, sole_disjunct: bool = True) -> None:
        plan, assignment = query.planned
        used: list[tuple[str, ...]] = []

        def spine(chain: Chain) -> int:
            labels = tuple(query.labels[assignment[node]] for node in chain.nodes)
            used.append(labels)
            if labels not in self.spines:
                self._next_spine += 1
                negative = labels[0] in COLUMNS
                self.spines[labels] = -self._next_spine if negative else self._next_spine
                self._accepts.append((self.paths[labels[-1]], labels))
            return self.spines[labels]

        self.processor.registry.add(
            number,
            plan,
            joins=[(spine(left), spine(right)) for left, right in plan.joins],
            singles=[spine(chain) for chain in plan.singles],
            variables=[0] * len(plan.graph.nodes),
            constraint=query.constraint,
            since=query.since,
            sole_disjunct=sole_disjunct,
        )
        self._chains[number] = used
        self.queries[number] = query
        self._uses.update(used)

    def cancel(self, number: int) -> None:
        self.processor.registry.remove(number)
        self._uses.subtract(self._chains.pop(number))
        del self.queries[number]

    def collect(self, *, exact: bool = True) -> list[str]:
        unstored = self.processor.unstored_strings(exact=exact)
        self.processor.drop_strings([*unstored])
        self.strings -= {int(value) for value in unstored.values()}
        return [*unstored.values()]

    def sizes(self) -> dict[str, int]:
        """The number of rows of the relations that documents leave."""
        self.processor.prepare()
        relations = ("node", "strings", "accept", "document", "composite")
        counts = ", ".join(f"(SELECT count(*) FROM {relation})" for relation in relations)
        (row,) = self.connection.execute(f"SELECT {counts}").fetchall()
        return dict(zip(relations, row, strict=True))

    def release(self) -> None:
        """Tells the processor which spines were released."""
        gone = [labels for labels in self.spines if not self._uses[labels]]
        spines = [self.spines.pop(labels) for labels in gone]
        self._accepts = [(path, labels) for path, labels in self._accepts if labels not in gone]
        self.processor.change(spines, [], [])

    def move(self, label: str) -> None:
        """Gives a label another leaf path, which takes over its rows if some spine ends there."""
        used = [labels for labels in self.spines if labels[-1] == label]
        old, self.paths[label] = self.paths[label], self._next_path
        self._next_path += 1
        self._accepts = [entry for entry in self._accepts if entry[0] != old]
        self._accepts += [(self.paths[label], labels) for labels in used]
        self.processor.change([], [(old, self.paths[label] if used else None)], [])

    @property
    def unsettled(self) -> set[int]:
        """The leaf paths of which the next batch says more."""
        return {path for path, _ in self._accepts}

    def publish(self, entities: Sequence[Entity]) -> Counter[tuple[int, Row]]:
        self.processor.begin(self.batch(entities))
        return self.found()

    def review(
        self, entities: Sequence[Entity], numbers: Collection[int]
    ) -> Counter[tuple[int, Row]]:
        rows = self.batch([entity for entity in entities if not entity.composite])
        whole = self.batch(entities)
        self.processor.review(
            Batch(
                whole.documents,
                whole.composites,
                rows.witnesses,
                rows.accepts,
                rows.strings,
            ),
            numbers,
        )
        return self.found()

    def found(self) -> Counter[tuple[int, Row]]:
        return Counter(
            (number, in_query_order(self.queries[number], outputs.plan, row))
            for outputs in self.processor.outputs()
            for number, rows in outputs.by_query()
            for row in rows
        )

    def batch(self, entities: Sequence[Entity]) -> Batch:
        rows = [(entity, item) for entity in entities for item in entity.items]
        new = sorted({item.string for _, item in rows} - self.strings)
        self.strings.update(new)
        accepts, self._accepts = self._accepts, []
        ordinary = [entity for entity in entities if not entity.composite]
        composed = [entity for entity in entities if entity.composite]
        witnesses = Witnesses()
        for entity in entities:
            leave(
                witnesses,
                entity.number,
                (
                    (
                        self.paths[item.label],
                        (item.code,) if item.parent is None else (item.parent, item.code),
                        item.string,
                    )
                    for item in entity.items
                ),
            )
        return Batch(
            documents=tuple((one.number, one.time, "S", f"d{one.number}") for one in ordinary),
            composites=tuple(
                (one.number, one.time, one.start, min(one.parts), one.parts) for one in composed
            ),
            witnesses=witnesses_of(witnesses),
            accepts=tuple(
                (path, self.spines[labels], tuple(int(label in LEAVES) for label in labels))
                for path, labels in accepts
            ),
            strings=tuple((number, str(number)) for number in new),
        )


def in_query_order(query: Query, plan: Plan, row: Sequence[int]) -> Row:
    """A row of a plan with its nodes in the order of the query's graph instead of the plan's."""
    _, assignment = query.planned
    sides, codes = query.sides, query.sides + len(plan.outputs)
    kept = [assignment[node] for node in plan.outputs]
    valued = [assignment[node] for node in plan.valued]
    return (
        *row[:sides],
        *(code for _, code in sorted(zip(kept, row[sides:codes], strict=True))),
        *(string for _, string in sorted(zip(valued, row[codes:], strict=True))),
    )
