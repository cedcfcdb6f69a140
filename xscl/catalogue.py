"""The subscribed queries of an engine: their names and numbers, and what they ask of each stage.

A query goes in by its parts: the spines of each part's plan are registered with stage 1, the
plan and a row of R_T with stage 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from join_stage import Chain
from join_stage.registry import Registry
from xpath_stage import XPathEvaluator
from xscl.dissect import Dissection, Part, dissect
from xscl.errors import QueryError, StateError, line_and_column
from xscl.language.syntax import Query
from xscl.match import Match
from xscl.subscription import Subscription

__all__ = ["Catalogue"]


class Catalogue:
    """Subscriptions by name, and by the numbers of their parts in the join stage.

    `reach` says for each stream that is read how long (in microseconds) its documents can be
    reached by a query after they came; None is for good.
    """

    def __init__(self, xpath: XPathEvaluator, registry: Registry) -> None:
        self._xpath = xpath
        self._registry = registry
        self._by_name: dict[str, Subscription] = {}
        self._by_number: dict[int, Subscription] = {}
        self._next_number = 0
        self._variables: dict[tuple[object, ...], int] = {}
        self._variable_names: set[str] = set()
        self.reach: dict[str, int | None] = {}

    def __iter__(self) -> Iterator[Subscription]:
        return iter(self._by_name.values())

    def numbered(self, number: int) -> Subscription:
        """The subscription one of whose parts has this number."""
        return self._by_number[number]

    def named(self, name: str) -> Subscription:
        """The subscription of a name; raises StateError if there is none."""
        if name not in self._by_name:
            known = ", ".join(self._by_name) or "none"
            raise StateError(f"no query is named {name!r}; there are: {known}")
        return self._by_name[name]

    def check_name(self, query: Query) -> None:
        """Raises QueryError if a query's name is taken."""
        taken = self._by_name.get(query.name)
        if taken is not None:
            line, column = line_and_column(taken.query.text, _name_place(taken.query))
            raise QueryError(
                f"the name {query.name!r} is taken by the query at line {line}, column {column} "
                "of its text; choose another or cancel that one",
                query=query.name,
                text=query.text,
                at=_name_place(query),
            )

    def add(
        self,
        query: Query,
        *,
        since: int,
        on_match: Callable[[Match], object] | None,
        cancel: Callable[[Subscription], None],
    ) -> Subscription:
        """Subscribes a query, which sees the documents from number `since`."""
        dissection = dissect(query)
        numbers = tuple(range(self._next_number, self._next_number + len(dissection.parts)))
        self._next_number += len(numbers)
        subscription = Subscription(dissection, numbers, on_match, cancel)
        for number, part in zip(numbers, dissection.parts, strict=True):
            self._register(number, part, dissection, since)
            self._by_number[number] = subscription
        self._by_name[query.name] = subscription
        self._extend_reach(dissection)
        return subscription

    def remove(self, subscription: Subscription) -> bool:
        """Takes a subscription out; False if it was not in."""
        if self._by_name.get(subscription.name) is not subscription:
            return False
        del self._by_name[subscription.name]
        for number in subscription.numbers:
            del self._by_number[number]
            self._registry.remove(number)
        self.reach.clear()
        for other in self:
            self._extend_reach(other.dissection)
        return True

    def _register(self, number: int, part: Part, dissection: Dissection, since: int) -> None:
        def spine(chain: Chain) -> int:
            return self._xpath.register(part.spine(chain))

        self._registry.add(
            number,
            part.plan,
            joins=[(spine(left), spine(right)) for left, right in part.plan.joins],
            singles=[spine(chain) for chain in part.plan.singles],
            variables=[self._variable(dissection.query.name, part, n) for n in part.assignment],
            constraint=dissection.constraint,
            since=since,
            alone=len(dissection.parts) == 1,
        )

    def _variable(self, query: str, part: Part, node: int) -> int:
        """The number of a variable: one definition, one variable, whatever its names (law 4).

        It goes by the first name given to it, made unique by its query's where need be.
        """
        pattern = part.patterns[node]
        stream = part.streams[pattern.block]
        definition = (stream, part.definitions[node], pattern.functions)
        number = self._variables.get(definition)
        if number is None:
            number = self._variables[definition] = len(self._variables)
            name = pattern.variables[0] if pattern.variables else f"_{node}"
            if name in self._variable_names:
                name = f"{query}.{name}"
            self._variable_names.add(name)
            self._registry.variables[number] = name
        return number

    def _extend_reach(self, dissection: Dissection) -> None:
        constraint, streams = dissection.constraint, dissection.streams
        for block, stream in enumerate(streams):
            # The right document of FOLLOWED BY only waits for earlier ones.
            waits = len(streams) == 2 and not (constraint.after and block == 1)
            window = constraint.window if waits else 0
            known = self.reach.get(stream, 0)
            self.reach[stream] = None if window is None or known is None else max(known, window)


def _name_place(query: Query) -> int:
    return query.at if query.named_at is None else query.named_at
