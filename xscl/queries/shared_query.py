"""Shared queries: queries alike but for constants, as one query with open parameters
(docs/laws.md#definitions).

What a text says without its constants is parsed, dissected and registered once, however many
subscribe it; each of these subscriptions only adds its constants.  To both stages a shared query is
a single one: it has one tree pattern, one template and one row of R_T for each disjunct.  A node
leaves witnesses for it where some subscription's constant holds, and a `ConstantTable` finds the
subscriptions that a row of it is a match of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from xscl.consistency import Level
from xscl.dissection.parts import Dissection
from xscl.language.blanks import unsigned
from xscl.language.problems import Unbound
from xscl.language.syntax import Query
from xscl.language.syntax.languages import AUTOMATA
from xscl.queries.constant_table import SharedDisjunct
from xscl.queries.subscription import Subscription
from xscl.queries.wiring import Wiring

if TYPE_CHECKING:
    from xscl.dissection.outline import Outline
    from xscl.event_queries.compile import SchemaOf
    from xscl.language.parameters import Prepared

__all__ = ["SharedQueries", "SharedQuery"]

_MOST_KNOWN = 100_000
_KNOWN: dict[tuple[type, object], object] = {}
"""Values of many subscriptions, each once."""

_Schemas = tuple[tuple[str, ...] | None, ...]
"""What event queries publish to the streams that a query reads."""


@dataclass(slots=True, eq=False)
class SharedQuery:
    """A prepared query in which some parameters are bound and the others, `left_open`, are not.

    `disjuncts` are those of its dissection, `numbers` theirs in the join stage, `wiring` is what
    its subscriptions have in common, of which there are `size`; they are set once the shared query
    is registered.
    """

    prepared: Prepared
    key: tuple[object, ...]
    bound: dict[str, object]
    left_open: tuple[str, ...]
    dissection: Dissection
    schemas: _Schemas = ()
    kinds: tuple[bool, ...] = ()
    disjuncts: tuple[SharedDisjunct, ...] = ()
    numbers: range = range(0)
    wiring: Wiring | None = None
    size: int = 0

    def values(self, row: Mapping[str, object]) -> tuple[object, ...]:
        """The values of a row that a subscription keeps; equal ones are one."""
        known = _KNOWN.setdefault
        # Most are not 0, whose sign is no part of a constant.
        values = [row[name] or unsigned(row[name]) for name in self.left_open]
        if len(_KNOWN) > _MOST_KNOWN:
            _KNOWN.clear()
        return tuple([known((type(value), value), value) for value in values])

    def fits(self, prepared: Prepared, row: Mapping[str, object], schema_of: SchemaOf) -> bool:
        """Whether it is the shared query of a row."""
        if self.prepared is not prepared or self.schemas != _schemas(self.dissection, schema_of):
            return False
        for name, kind in zip(self.left_open, self.kinds, strict=True):
            if (type(row[name]) is str) is not kind:
                return False
        bound = self.bound
        return all(type(row[name]) is type(one) and row[name] == one for name, one in bound.items())

    def query_of(self, subscription: Subscription) -> Query:
        """The query of a subscription."""
        values = dict(zip(self.left_open, subscription.values, strict=True))
        query, _ = self.prepared.bind({**self.bound, **values}, subscription.name)
        return query


@dataclass(slots=True)
class SharedQueries:
    """The shared queries that are subscribed, by what is prepared and bound in them; and what
    queries have in common that are alike in all but their names.

    `_outlines` are the dissections of queries in symbols."""

    _shared: dict[tuple[object, ...], SharedQuery] = field(default_factory=dict)
    _latest: SharedQuery | None = None
    _wirings: WeakKeyDictionary[Prepared, tuple[Wiring, _Schemas]] = field(
        default_factory=WeakKeyDictionary
    )
    _outlines: WeakKeyDictionary[Prepared, Outline] = field(default_factory=WeakKeyDictionary)
    _left_open: WeakKeyDictionary[Prepared, frozenset[str]] = field(
        default_factory=WeakKeyDictionary
    )

    def __len__(self) -> int:
        return len(self._shared)

    def find(
        self, prepared: Prepared, row: Mapping[str, object], schema_of: SchemaOf
    ) -> SharedQuery | None:
        """The shared query of a row of values, which are right: one that there is, or a new one;
        None where nothing can be left open."""
        if not prepared.parameters:
            return None
        latest = self._latest
        if latest is not None and latest.size and latest.fits(prepared, row, schema_of):
            return latest
        shared = self._latest = self._find(prepared, row, schema_of)
        return shared

    def _find(
        self, prepared: Prepared, row: Mapping[str, object], schema_of: SchemaOf
    ) -> SharedQuery | None:
        like = prepared.like or prepared
        left_open = self._left_open.get(like)
        if left_open is None:
            left_open = _candidates(like)
        if left_open:
            shared = self._shared.get(_key(prepared, row, left_open))
            if shared is not None and shared.schemas == _schemas(shared.dissection, schema_of):
                return shared
        while left_open:
            try:
                dissection = self._dissect(prepared, row, left_open)
            except Unbound as unbound:
                left_open -= {unbound.name}
                continue
            if dissection.query.language.schemas:
                break
            everywhere = _open_everywhere(like, dissection)
            if everywhere >= left_open:
                break
            left_open &= everywhere
        self._left_open[like] = left_open
        if not left_open:
            return None
        return SharedQuery(
            prepared=prepared,
            key=_key(prepared, row, left_open),
            bound={
                name: unsigned(row[name]) for name in prepared.parameters if name not in left_open
            },
            left_open=tuple(name for name in prepared.parameters if name in left_open),
            dissection=dissection,
            schemas=_schemas(dissection, schema_of),
            kinds=tuple(
                isinstance(row[name], str) for name in prepared.parameters if name in left_open
            ),
        )

    def wiring(
        self,
        prepared: Prepared,
        cancel: Callable[[Subscription], None],
        schema_of: SchemaOf,
        level: Level,
    ) -> Wiring | None:
        """What the subscriptions of a query without constants have in common, on a level if it
        asks for none; None of one that has any, or that does not stand for itself."""
        if prepared.parameters or not prepared.stands_alone:
            return None
        if (prepared.like or prepared).query.language is AUTOMATA:
            # The arcs of each may change.
            return None
        wiring, schemas = self._wirings.get(prepared, (None, ()))
        if wiring is None or schemas != _schemas(wiring.dissection, schema_of):
            dissection = self._dissect(prepared, {}, frozenset())
            wiring = Wiring.of(dissection, (), cancel, schema_of, level=level)
            self._wirings[prepared] = wiring, _schemas(dissection, schema_of)
        return wiring

    def _dissect(
        self, prepared: Prepared, row: Mapping[str, object], left_open: frozenset[str]
    ) -> Dissection:
        """The dissection of a query, some parameters of which are left open; the others have their
        values of the row."""
        like = prepared.like
        outline = None
        if like is not None and len(left_open) == len(prepared.parameters):
            outline = self._outlines.get(like)
        if outline is None:
            from xscl.dissection.dissect import dissect
            from xscl.dissection.outline import Outline

            some = len(left_open) < len(prepared.parameters)
            if some or like is None or like.query.language.schemas:
                return dissect(prepared.opened(row, left_open))
            outline = self._outlines[like] = Outline(dissect(like.opened(row, left_open)))
        return outline.named(prepared.names)

    def add(self, shared: SharedQuery) -> None:
        """Keeps a shared query that is subscribed."""
        self._shared[shared.key] = shared

    def remove(self, shared: SharedQuery) -> None:
        """Forgets a shared query that is subscribed no more."""
        if self._shared.get(shared.key) is shared:
            del self._shared[shared.key]


def _schemas(dissection: Dissection, schema_of: SchemaOf) -> _Schemas:
    if not dissection.query.language.schemas:
        return ()
    return tuple([schema_of(stream) for stream in dict.fromkeys(dissection.streams)])


def _candidates(prepared: Prepared) -> frozenset[str]:
    """The parameters that may be left open: constants of a query that stands for itself."""
    if not prepared.stands_alone:
        return frozenset()
    if prepared.query.language.schemas:
        return prepared.of_conditions
    return frozenset(prepared.constants)


def _open_everywhere(prepared: Prepared, dissection: Dissection) -> frozenset[str]:
    """The parameters that a dissection has left open wherever they stand in the query."""
    places = {
        (parameter.name, parameter.at)
        for part in dissection.disjuncts
        for _, opened in part.opened
        for parameter in opened.parameters
    }
    counts = Counter(name for name, _ in places)
    return frozenset(name for name, count in counts.items() if count == prepared.constants[name])


def _key(
    prepared: Prepared, row: Mapping[str, object], left_open: frozenset[str]
) -> tuple[object, ...]:
    """The key of a shared query: the values bound, and which of the others are numbers."""
    values = [
        isinstance(row[name], str) if name in left_open else (type(row[name]), row[name])
        for name in prepared.parameters
    ]
    return prepared, *values
