"""The packages behind an engine, put together: in memory, or as a state file keeps them."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from xscl.consistency import STRONG, Level
from xscl.documents.bodies import Bodies
from xscl.documents.events import EventNodes
from xscl.documents.intake import Intake
from xscl.documents.retention import Retention
from xscl.documents.revisable import NONE_REVISABLE, Revisable
from xscl.documents.trees import Trees
from xscl.durable.group_commit import seconds_of
from xscl.durable.points import at
from xscl.engine.transactions import Transactions
from xscl.errors import DocumentError, QueryStopped, XSCLError
from xscl.evaluation.evaluation import Evaluation
from xscl.evaluation.second_stage import SecondStage, longest_reach
from xscl.join_stage import JoinProcessor, Strategies
from xscl.memory.budget import Budget
from xscl.memory.relations import Relations
from xscl.pattern_stage.bounds import MOST
from xscl.queries.catalogue import Catalogue
from xscl.queries.levels.event_types import EventTypes
from xscl.queries.levels.pattern_levels import PatternLevels
from xscl.queries.stage_registration import StageRegistration
from xscl.queries.subscription import Subscription
from xscl.times import duration
from xscl.version import __version__
from xscl.xpath_stage import Strings, XPathEvaluator, double_of, likeness

if TYPE_CHECKING:
    from xscl.queries.registration import Registration

__all__ = ["EngineParts", "lateness_of"]


class EngineParts:
    """What an engine is made of."""

    def __init__(
        self,
        state: str | os.PathLike[str] | None = None,
        *,
        lateness: float | str | None = None,
        on_skip: Callable[[DocumentError], object] | None = None,
        query_sharing: bool = True,
        strategies: Strategies | None = None,
        memory: int | str | None = None,
        commit_every: float | str | None = None,
        without: Collection[str] = (),
        sharable: Iterable[Iterable[str]] = (),
        most_matches: int = MOST,
        on_stop: Callable[[QueryStopped], object] | None = None,
        revisable: bool | str | Iterable[str] | None = None,
        consistency: str | None = None,
        rates: Mapping[str, float] | None = None,
    ) -> None:
        if most_matches < 1:
            raise XSCLError(f"most_matches: {most_matches} is too few; give 1 or more")
        if without:
            _check_techniques(without)
        budget = Budget.of(memory)
        self._relations = Relations(budget.relations)
        strategies = _within(strategies or Strategies(), without, budget)
        self._join = JoinProcessor(self._relations.connect, double_of, likeness, strategies)
        self._strings = Strings()
        self._xpath = XPathEvaluator(self._strings)
        stages: list[SecondStage] = [self._join]
        registered = StageRegistration(self._xpath, self._join.registry, longest_reach(stages))
        patterns = PatternLevels(
            EventTypes(registered),
            EventNodes(self._xpath.attribute_name),
            lambda number: self._intake.held[number],
            without,
            _apart(sharable),
            most_matches,
        )
        stages.append(patterns)
        self._queries = Catalogue(self._xpath, registered, patterns, self._cancel)
        retention = Retention(self._queries.reach)
        self._intake = Intake(
            lateness_of(lateness),
            retention,
            bodies=Bodies(budget.bodies),
            trees=Trees(budget.trees),
        )
        self._skips: list[DocumentError] = []
        self._transactions = Transactions(on_skip, on_stop, self._release)
        self._evaluation = Evaluation(
            self._xpath,
            [self._join],
            [patterns],
            self._strings,
            self._queries,
            self._intake,
            self._skips.append,
            self._transactions.is_open,
        )
        self._query_sharing = query_sharing
        self._next_query = 1
        every = _every(commit_every)
        if every and state is None:
            raise XSCLError("commit_every is for a state file, and none is named")
        level = None if consistency is None else Level.of(consistency)
        self._queries.levels.default = level or STRONG
        self._rate(rates or {})
        self._queries.levels.stages.clocks = self._intake.clocks
        given = None if revisable is None else Revisable.of(revisable)
        self._revise(given or NONE_REVISABLE)
        if state is not None:
            self._open(state, lateness, given, level, budget.state)
            if every:
                self._transactions.group(every)

    @cached_property
    def _registration(self) -> Registration:
        """How queries get in: made for the first one, as the language is read by a grammar."""
        from xscl.queries.registration import Registration

        return Registration(self._queries, sharing=self._query_sharing)

    def _stop(self) -> list[QueryStopped]:
        """Cancels the queries that have exceeded a bound in this step."""
        stopped, stops = self._queries.levels.stopped(), []
        for subscription in [*self._queries]:
            for number in {subscription.order, *subscription.all_numbers} & stopped.keys():
                problem = f"{stopped[number]}; ask for less, such as by WITHIN or an equality"
                stops.append(QueryStopped(problem, subscription.name))
                self._cancel(subscription)
                break
        return stops

    def _cancel(self, subscription: Subscription) -> None:
        if self._transactions.closed:
            # Its subscriptions went with the engine.
            return
        with self._transactions.changing():
            self._intake.let_readers_copy()
            if not self._queries.remove(subscription):
                return
            if (keeper := self._transactions.keeper) is not None:
                keeper.cancelled(subscription)
            self._intake.settled = False
            if not len(self._queries):
                # Nothing may come any more: what the queries have held goes now.
                self._evaluation.evict(exact=True)

    def _release(self) -> None:
        self._relations.close()
        self._intake.let_readers_copy()
        # They hold documents, and with these the file of the bodies.
        self._intake.trees.clear()

    def _rate(self, rates: Mapping[str, float]) -> None:
        """From now on plans are made with these rates of streams, in documents a second."""
        for stream, rate in rates.items():
            if not 0 < rate < inf:
                raise XSCLError(f"rates: {stream!r} has {rate!r}; give documents a second, above 0")
        self._queries.levels.stages.rates.update(rates)

    def _revise(self, revisable: Revisable) -> None:
        """The documents of these streams may be retracted."""
        levels = self._queries.levels
        self._intake.revisable = levels.declared = levels.revisable = revisable

    def _open(
        self,
        state: str | os.PathLike[str],
        lateness: float | str | None,
        revisable: Revisable | None,
        level: Level | None,
        share: int,
    ) -> None:
        """Opens a state file, and becomes the engine that it keeps."""
        from xscl.durable.keeper import Going, Keeper
        from xscl.durable.recovery import recover
        from xscl.durable.state_file import StateFile

        file = StateFile(state, f"xscl {__version__}", share)
        try:
            keeper = Keeper(file, self._intake, self._queries)
            if lateness is None:
                self._intake.lateness = file.counters().lateness
            going = Going.read(file.patterns())
            if revisable is None:
                self._revise(Revisable.read(going.revisable))
            if level is None:
                self._queries.levels.default = Level.of(going.level)
            recover(file, keeper, self._registration, self._evaluation, self._intake, self._queries)
        except BaseException:
            file.close(unwritten=True)
            raise
        self._skips.clear()
        self._transactions.keeper = keeper
        at("opened")


def lateness_of(lateness: float | str | None, called: str = "lateness") -> int | None:
    """Seconds, or a span of time as text, in microseconds."""
    if lateness is None:
        return None
    try:
        text = lateness if isinstance(lateness, str) else f"{lateness:f}"
        return duration(text)
    except ValueError as error:
        raise XSCLError(f"{called}: {error}") from error


def _check_techniques(without: Collection[str]) -> None:
    from xscl.pattern_stage.switches import EVERY

    if unknown := sorted({*without} - EVERY):
        known = ", ".join(sorted(EVERY))
        raise XSCLError(f"without: {unknown[0]!r} is no technique; there are: {known}")


def _within(strategies: Strategies, without: Collection[str], budget: Budget) -> Strategies:
    """Strategies without the techniques of joins that are switched off, and within a budget."""
    memory = strategies.memory
    return replace(
        strategies,
        templates=strategies.templates and "s_⋈" not in without,
        channels=strategies.channels and "c_⋈" not in without,
        memory=memory if budget.at_hand is None else min(budget.at_hand, memory),
    )


def _apart(sharable: Iterable[Iterable[str]]) -> list[set[str]]:
    """Sets of streams as disjoint ones: what is alike to a third is alike."""
    apart: list[set[str]] = []
    for given in sharable:
        if isinstance(given, str):
            raise XSCLError(f"sharable: {given!r} is one name; give sets of streams")
        streams = {*given}
        if not all(isinstance(one, str) for one in streams):
            raise XSCLError(f"sharable: {streams!r} is no set of names of streams")
        for other in [one for one in apart if one & streams]:
            apart.remove(other)
            streams |= other
        apart.append(streams)
    return apart


def _every(commit_every: float | str | None) -> float:
    try:
        return 0.0 if commit_every is None else seconds_of(commit_every)
    except ValueError as error:
        raise XSCLError(f"commit_every: {error}") from error
