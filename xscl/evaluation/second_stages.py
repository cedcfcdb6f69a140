"""The second stages of an engine as one: each wave's batch of witnesses to all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from join_stage import Batch, ChannelTuple, Wanted
from xpath_stage import Accept, Held, Strings, XPathEvaluator
from xscl.documents.intake import Intake
from xscl.evaluation.second_stage import SecondStage, StageRows, take_unheld_strings
from xscl.evaluation.stage_one import Wave
from xscl.evaluation.witness_batch import accepted, witness_batch
from xscl.queries.catalogue import Catalogue
from xscl.queries.levels.pattern_rows import PatternRows

if TYPE_CHECKING:
    from pattern_stage.plan.outputs import Outputs

__all__ = ["SecondStages", "Step"]

_TUPLES = attrgetter("tuples")


class Step(NamedTuple):
    """The rows that stages have found in a wave, or after the last one as time passed."""

    stages: Sequence[SecondStage]
    timed: Sequence[StageRows]
    of_events: Sequence[Outputs] = ()

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
        stages: Sequence[SecondStage],
        strings: Strings,
        queries: Catalogue,
        intake: Intake,
    ) -> None:
        self._xpath = xpath
        self._stages = stages
        self._step = Step(stages, ())
        self._strings = strings
        self._queries = queries
        self._intake = intake
        self._accepts: list[Accept] = []
        self._version = self._versions()
        self.constants_at: dict[int, dict[tuple[int, int], Held]] = {}

    def step(self, wave: Wave, *, ended: bool = False) -> Step | None:
        """Takes a wave into the second stages; after the last one lets them see the time, or that
        the input has `ended`, and returns None when that completes nothing."""
        if wave.documents or wave.composites:
            batch = self._batch(wave)
            for stage in self._stages:
                stage.begin(batch)
            return self._step
        watermark = self._intake.watermark
        for stage in self._stages:
            # What one completes may be taken in by those that follow, before they see the time.
            if stage.timed and (timed := stage.advance(watermark, ended=ended)):
                from pattern_stage.plan.outputs import Outputs

                of_events = [some for some in timed if isinstance(some, Outputs)]
                others = [some for some in timed if not isinstance(some, Outputs)]
                return Step((), others, of_events)
        return None

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

    def let_go(self, *, exact: bool = False) -> None:
        """Lets go of what no query can reach any more."""
        gone = self._intake.forget(exact=exact)
        if gone is not None:
            for number in gone:
                self.constants_at.pop(number, None)
            watermark = self._intake.watermark
            for stage in self._stages:
                stage.forget(watermark, gone, exact=exact)
            self._strings.forget(take_unheld_strings(self._stages, exact=exact))
        self._intake.bodies.shrink()

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
            # Only these tell the rows that they have taken over from rows out of reach.
            for stage in self._stages:
                stage.accept(accepted(self._accepts))
            self._accepts = []
        self._intake.queries_changed(changes.moved)
        return True

    def _versions(self) -> int:
        """It grows as queries come and go; of a query that can have no match, only the graph
        knows."""
        version = self._queries.graph.version
        for stage in self._stages:
            version += stage.version
        return version

    def _batch(self, wave: Wave) -> Batch:
        if self._xpath.changed:
            # Documents have shown new paths, while queries are the same.
            self._accepts += self._xpath.take_changes().accepts
        if wave.witnesses.held or self.constants_at:
            self._note_constants(wave)
        accepts, self._accepts = self._accepts, []
        strings = self._strings.take()
        return witness_batch(wave.documents, wave.composites, wave.witnesses, accepts, strings)

    def _note_constants(self, wave: Wave) -> None:
        """Notes what constants hold at the nodes of a wave's documents."""
        for document in wave.documents:
            self.constants_at.pop(document.number, None)
        for number, code, family, constants in wave.witnesses.held:
            self.constants_at.setdefault(number, {})[code, family] = constants
