"""The second stages of an engine as one: each wave's batch of witnesses to all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from xscl.documents.intake import Intake
from xscl.evaluation.rows import FoundRow
from xscl.evaluation.second_stage import (
    SecondStage,
    StageRows,
    TimedStage,
    WitnessStage,
    take_unstored_strings,
)
from xscl.evaluation.stage_one import Wave
from xscl.evaluation.witness_batch import accepted, witness_batch
from xscl.join_stage import Batch, ChannelTuple, Wanted
from xscl.queries.catalogue import Catalogue
from xscl.queries.levels.pattern_rows import PatternRows
from xscl.xpath_stage import Accept, Satisfied, Strings, XPathEvaluator

if TYPE_CHECKING:
    from xscl.pattern_stage.plan.outputs import Outputs

__all__ = ["SecondStages", "WaveRows"]

_TUPLES = attrgetter("tuples")


class WaveRows(NamedTuple):
    """The rows that stages have found in a wave, or after the last one as time passed."""

    stages: Sequence[WitnessStage]
    timed: Sequence[StageRows] = ()
    of_events: Sequence[Outputs] = ()
    due: Sequence[FoundRow] = ()
    """Rows that were pending until now."""
    gone: Sequence[FoundRow] = ()
    """Rows that were reported and are taken back."""

    @property
    def tuples(self) -> Iterator[ChannelTuple]:
        return chain.from_iterable(map(_TUPLES, self.stages))

    @property
    def of_patterns(self) -> list[PatternRows]:
        """The rows of patterns, which come by themselves."""
        return [some for some in self.timed if isinstance(some, PatternRows)]

    def outputs(self, wanted: Wanted) -> Iterator[StageRows]:
        return chain(*[stage.outputs(wanted) for stage in self.stages], self.timed)

    def counts(self) -> Iterator[tuple[int, int]]:
        return chain.from_iterable(stage.counts().items() for stage in self.stages)


class SecondStages:
    """The second stages, as queries and leaf paths are now.

    `constants_at` has the constants of shared queries that hold at the nodes of the documents held.
    """

    def __init__(
        self,
        xpath: XPathEvaluator,
        stages: Sequence[WitnessStage],
        timed: Sequence[TimedStage],
        strings: Strings,
        queries: Catalogue,
        intake: Intake,
    ) -> None:
        self._xpath = xpath
        self._stages = stages
        self._timed = timed
        self._every: tuple[SecondStage, ...] = (*stages, *timed)
        self._step = WaveRows(stages)
        self._strings = strings
        self._queries = queries
        self._intake = intake
        self._accepts: list[Accept] = []
        self._version = self._versions()
        self.constants_at: dict[int, dict[tuple[int, int], Satisfied]] = {}

    def begin(self, wave: Wave) -> WaveRows:
        """Hands a wave to the stages of witnesses."""
        batch = self._batch(wave)
        for stage in self._stages:
            stage.begin(batch)
        return self._step

    def advance(self, *, ended: bool) -> Iterator[WaveRows]:
        """After the last wave: lets the stages of time see it, or that the input has `ended`."""
        watermark = self._intake.watermark
        for stage in self._timed:
            for timed, of_events in stage.advance(watermark, ended=ended):
                yield WaveRows((), timed, of_events)

    def review(self, wave: Wave, numbers: Collection[int]) -> Iterator[StageRows]:
        batch = self._batch(wave)
        for stage in self._stages:
            stage.review(batch, numbers)
        return self._step.outputs(Wanted.ALL)

    def restore(self, wave: Wave, numbers: Collection[int]) -> Iterator[StageRows]:
        batch = self._batch(wave)
        for stage in self._stages:
            stage.restore(batch, numbers)
        return self._step.outputs(Wanted.ALL)

    def rejoin(self, numbers: Collection[int]) -> Iterator[StageRows]:
        """The rows of some queries among all documents held."""
        for stage in self._stages:
            stage.rejoin(numbers)
        return self._step.outputs(Wanted.ALL)

    def evict(self, *, exact: bool = False) -> None:
        """Drops what no query can reach any more."""
        gone = self._intake.evict(exact=exact)
        if gone is not None:
            for number in gone:
                self.constants_at.pop(number, None)
            watermark = self._intake.watermark
            for one in self._every:
                one.evict(watermark, gone, exact=exact)
            self._strings.drop(take_unstored_strings(self._stages, exact=exact))
        self._intake.bodies.shrink()

    def withdraw(self) -> None:
        """Drops what the intake has dropped because it was retracted, before anything else is
        joined."""
        # Nothing else is dropped before the step ends: what it is about may still be taken back.
        gone = self._intake.take_gone()
        for number in gone:
            self.constants_at.pop(number, None)
        for stage in self._stages if gone else ():
            stage.withdraw(gone)

    def follow_queries(self) -> bool:
        """Lets the second stages and the retention follow the queries and the leaf paths; returns
        whether queries have come or gone."""
        version = self._versions()
        if version == self._version:
            return False
        self._version = version
        changes = self._xpath.take_changes()
        gone = {*changes.gone, *self._queries.stages.take_gone()}
        moved = {old for old, _ in changes.moved}
        if gone or moved or changes.unvalued:
            for stage in self._stages:
                stage.change(sorted(gone), changes.moved, changes.unvalued)
            self._accepts = [
                accept
                for accept in self._accepts
                if accept.spine not in gone and accept.path not in moved
            ]
        new = (*self._queries.stages.take_accepts(), *changes.accepts)
        self._accepts += (accept for accept in new if accept.spine not in gone)
        if moved:
            # Only these report the rows that they have taken over from rows out of reach.
            for stage in self._stages:
                stage.accept(accepted(self._accepts))
            self._accepts = []
        self._intake.queries_changed(changes.moved)
        return True

    def _versions(self) -> int:
        """It grows as queries come and go; of a query that can have no match, only the graph
        knows."""
        version = self._queries.graph.version
        for stage in self._every:
            version += stage.version
        return version

    def _batch(self, wave: Wave) -> Batch:
        if self._xpath.changed:
            # Documents have shown new paths, while queries are the same.
            self._accepts += self._xpath.take_changes().accepts
        if wave.witnesses.satisfied or self.constants_at:
            self._note_constants(wave)
        accepts, self._accepts = self._accepts, []
        strings = self._strings.take()
        return witness_batch(wave.documents, wave.composites, wave.witnesses, accepts, strings)

    def _note_constants(self, wave: Wave) -> None:
        """Notes what constants hold at the nodes of a wave's documents."""
        for document in wave.documents:
            self.constants_at.pop(document.number, None)
        for number, code, family, constants in wave.witnesses.satisfied:
            self.constants_at.setdefault(number, {})[code, family] = constants
