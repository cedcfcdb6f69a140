"""A batch of documents through both stages, and all that it causes.

A batch goes in waves.  The first are the documents published; what they complete may itself be
documents: the results that a query publishes, and the composites that a chain's left part finds.
These are the next wave, within the same call, until one causes nothing; the graph of queries is
acyclic, so that it ends.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from join_stage import Batch, ChannelTuple, Wanted
from xpath_stage import (
    Accept,
    ExcessiveDocument,
    Held,
    Layout,
    MalformedDocument,
    Strings,
    Witnesses,
    XPathEvaluator,
    evaluate_json,
    evaluate_parser_events,
    evaluate_text,
    evaluate_value,
)
from xscl.documents.bodies import Body
from xscl.documents.composites import Composite, DerivedStream, OperatorRow
from xscl.documents.document import Document, as_held, from_file, is_streamed
from xscl.documents.intake import Arrivals, Intake
from xscl.documents.retention import DocumentShape
from xscl.documents.trees import in_pieces, parsed
from xscl.errors import DocumentError
from xscl.evaluation.grouping import Grouping
from xscl.evaluation.match_groups import MatchGroups
from xscl.evaluation.second_stage import SecondStage, StageRows, take_unheld_strings
from xscl.evaluation.witness_batch import accepted, witness_batch
from xscl.matches.forms import Sides
from xscl.matches.match import Match
from xscl.queries.catalogue import Catalogue
from xscl.queries.shared_query import SharedDisjunct
from xscl.queries.subscription import Subscription

__all__ = ["Delivery", "Evaluation", "Wave"]

Delivery = tuple[Subscription, Match]


@dataclass(slots=True)
class Wave:
    """Documents and composites, new ones whose numbers ascend, and their witnesses."""

    documents: list[Document] = field(default_factory=list)
    composites: list[Composite] = field(default_factory=list)
    witnesses: Witnesses = field(default_factory=Witnesses)

    def __bool__(self) -> bool:
        return bool(self.documents or self.composites)


_ENDED = Wave()
"""The wave after the last one: nothing is added to it."""

_Row = tuple[Subscription | DerivedStream, OperatorRow]


class _Step(NamedTuple):
    """The rows that stages have found in a wave, or after the last one as time passed."""

    stages: Sequence[SecondStage]
    timed: Sequence[StageRows]

    @property
    def tuples(self) -> Iterator[ChannelTuple]:
        return chain.from_iterable([stage.tuples for stage in self.stages])

    def outputs(self, wanted: Wanted) -> Iterator[StageRows]:
        for stage in self.stages:
            yield from stage.outputs(wanted)
        yield from self.timed

    def counts(self) -> Iterator[tuple[int, int]]:
        return chain.from_iterable(stage.counts().items() for stage in self.stages)


class Evaluation:
    """The stages of an engine, with its queries and the documents that it holds.

    Documents that cannot be read are reported to `on_error`, and counted.
    """

    def __init__(
        self,
        xpath: XPathEvaluator,
        stages: Sequence[SecondStage],
        strings: Strings,
        queries: Catalogue,
        intake: Intake,
        on_error: Callable[[DocumentError], object],
    ) -> None:
        self._xpath = xpath
        self._stages = stages
        self._strings = strings
        self._queries = queries
        self._intake = intake
        self._on_error = on_error
        self._grouping = Grouping(queries.stages)
        self._accepts: list[Accept] = []
        self._version = self._versions()
        # The constants of shared queries that hold at the nodes of the documents held.
        self._constants_at: dict[int, dict[tuple[int, int], Held]] = {}
        # The layouts of composites, by derived stream and codes.
        self._composed: dict[tuple[int, tuple[int, ...]], Layout] = {}

    def read(
        self, envelopes: Iterable[Mapping[str, object]], *, raising: bool = False
    ) -> tuple[Arrivals, Witnesses]:
        """Reads a batch and its witnesses whole; nothing of it counts until it is published.

        `follow_queries` comes before: duplicates are those of documents that can be reached as
        queries are now.  A document that cannot be read is raised, if `raising`.
        """
        arrivals, witnesses = self._intake.arrivals(), Witnesses()
        for envelope in envelopes:
            try:
                self._arrive(envelope, arrivals, witnesses)
            except DocumentError as error:
                if raising:
                    self._intake.skipped.malformed += 1
                    raise
                error.envelope = envelope
                arrivals.errors.append(error)
        return arrivals, witnesses

    def publish(self, arrivals: Arrivals, witnesses: Witnesses) -> list[Delivery]:
        """The matches that a batch completes, in order of the completing documents, then of the
        queries; those that need its results come after."""
        return self._cascade(self._admit(arrivals, witnesses))

    def publish_grouped(
        self, arrivals: Arrivals, witnesses: Witnesses
    ) -> tuple[MatchGroups, list[Delivery]]:
        """As `publish`, but in groups; beside them the matches that somebody waits for."""
        groups = MatchGroups(self._xpath.attribute_name)
        deliveries: list[Delivery] = []
        wave = self._admit(arrivals, witnesses)
        while step := self._step(wave):
            rows = self._rows(step.outputs(Wanted.BUT_CHANNELS))
            self._grouping.group(step.tuples, rows, self._intake.held, groups)
            wave = self._next_wave(rows, deliveries, all_of_them=False)
        self._intake.read_by(groups)
        self._let_go()
        return groups, [*groups.called(), *deliveries]

    def count(self, arrivals: Arrivals, witnesses: Witnesses) -> Counter[str]:
        """The number of matches of each query that a batch completes.

        Matches are built only of queries whose results are read.
        """
        counts: Counter[str] = Counter()
        wave = self._admit(arrivals, witnesses)
        while step := self._step(wave):
            for number, matches in step.counts():
                owner = self._queries.stages.reader(number).owner
                assert isinstance(owner, Subscription)
                counts[owner.name] += matches
            rows = self._rows(step.outputs(Wanted.BUT_SOLE_DISJUNCTS))
            owners = (owner for owner, _ in rows if isinstance(owner, Subscription))
            counts.update(owner.name for owner in owners if owner.reported)
            wave = self._next_wave(rows, None)
        self._let_go()
        return counts

    def review(self, subscription: Subscription) -> list[Delivery]:
        """The matches that a new query causes among the documents held, which are read anew."""
        self.follow_queries()
        wave = self._read_anew(subscription.streams)
        if not wave:
            return []
        numbers = subscription.all_numbers
        derived = self._queries.stages.derived_below(numbers)
        if derived:
            self._compose_anew(wave, derived)
        self.follow_queries()
        found = self._review(wave, numbers)
        deliveries: list[Delivery] = []
        following = self._next_wave(self._rows(found), deliveries)
        return deliveries + self._cascade(following)

    def restore(self, documents: Iterable[Document]) -> None:
        """Holds documents that were held before, under their numbers; their matches were returned
        then.

        Composites are not made of them: `recompose` does that when all are there.
        """
        self.follow_queries()
        wave = self._hold(
            as_held(document, self._intake.bodies, self._intake.trees) for document in documents
        )
        self._intake.bodies.shrink()
        self.follow_queries()
        self._restore(wave, ())

    def reread(self, streams: Iterable[str]) -> None:
        """Reads the documents held of some streams anew, as `review` has done for a query."""
        self.follow_queries()
        wave = self._read_anew(streams)
        self.follow_queries()
        self._review(wave, ())

    def recompose(self) -> None:
        """Makes the composites of all documents held, after `restore`."""
        numbers = self._queries.stages.derived
        if not numbers:
            return
        self.follow_queries()
        for stage in self._stages:
            stage.rejoin(numbers)
        found = _Step(self._stages, ()).outputs(Wanted.ALL)
        while wave := self._next_wave(self._rows(found), None):
            found = self._restore(wave, numbers)

    def forget(self, *, exact: bool = False) -> None:
        """Lets go of what no query can reach any more."""
        self.follow_queries()
        self._let_go(exact=exact)

    def _let_go(self, *, exact: bool = False) -> None:
        gone = self._intake.forget(exact=exact)
        if gone and self._constants_at:
            for number in gone:
                self._constants_at.pop(number, None)
        watermark = self._intake.watermark
        if gone or watermark is not None or exact:
            for stage in self._stages:
                stage.forget(watermark, gone, exact=exact)
            self._strings.forget(take_unheld_strings(self._stages, exact=exact))
        self._intake.bodies.shrink()

    def settle(self) -> None:
        """Before a query comes: what is out of reach stays so, whatever the query could reach."""
        if not self._intake.settled:
            self.follow_queries()
            self._intake.let_go_unreachable()

    # Waves.

    def _arrive(
        self, envelope: Mapping[str, object], arrivals: Arrivals, witnesses: Witnesses
    ) -> None:
        """Reads one document of a batch; whether it is late or a duplicate comes first, and what
        is refused is not parsed."""
        intake = self._intake
        document = arrivals.document(envelope)
        if arrivals.count_if_refused(document):
            return
        document = held = from_file(document, intake.bodies)
        read = self._queries.graph.read[document.stream]
        if read:
            try:
                held = as_held(document, intake.bodies, intake.trees)
            except DocumentError:
                # What a parser says of it says more.
                parsed(document)
                raise
        shape = self._evaluate(document, witnesses)
        arrivals.add(held, shape if read else None)

    def _admit(self, arrivals: Arrivals, witnesses: Witnesses) -> Wave:
        """The first wave: takes in a batch that was read."""
        self._intake.admit(arrivals)
        for error in arrivals.errors:
            self._on_error(error)
        documents = [document for document, shape in arrivals.documents if shape is not None]
        return Wave(documents, [], witnesses)

    def _read_anew(self, streams: Iterable[str]) -> Wave:
        """The documents held of some streams, with the witnesses that queries as they are now ask
        for."""
        read = set(streams)
        held = (one for one in self._intake.held.values() if one.stream in read)
        return self._hold(sorted(held, key=lambda one: one.number))

    def _compose_anew(self, wave: Wave, derived: Sequence[DerivedStream]) -> None:
        """Adds to documents read anew all composites of some derived streams: those that stand,
        and those that do not because no query before could reach them."""
        composites = self._intake.composites
        numbers = {owner.number for owner in derived}
        wave.composites = [composites[one] for owner in derived for one in sorted(owner.composites)]
        standing = {
            (owner, composites[one].documents, composites[one].codes)
            for owner in derived
            for one in owner.composites
        }

        def missing(row: _Row) -> bool:
            owner, found = row
            return (owner, found.documents, found.codes) not in standing

        self.follow_queries()
        found = self._review(wave, numbers)
        while more := self._next_wave([*filter(missing, self._rows(found))], None):
            wave.composites += more.composites
            found = self._restore(more, numbers)

    def _hold(self, documents: Iterable[Document]) -> Wave:
        """Documents that came before, with their witnesses; they are held with the shapes that
        they have now."""
        wave = Wave()
        for document in documents:
            try:
                shape = self._evaluate(document, wave.witnesses)
            except DocumentError as error:
                self._on_error(error)
                continue
            self._intake.hold(document, shape)
            wave.documents.append(document)
        return wave

    def _refuse(self, error: DocumentError) -> None:
        self._intake.skipped.malformed += 1
        self._on_error(error)

    def _evaluate(self, document: Document, witnesses: Witnesses) -> DocumentShape:
        """Stage 1; a document that causes too much work is as if it had never come, and one that
        cannot be read, too."""
        stream, number = document.stream, document.number
        try:
            if is_streamed(document):
                source, times = in_pieces(document)
                layout = evaluate_parser_events(
                    self._xpath, stream, source, number, witnesses, times=times
                )
            else:
                body = document.body.read() if isinstance(document.body, Body) else document.body
                if not document.json:
                    assert isinstance(body, str | bytes)
                    layout = evaluate_text(self._xpath, stream, body, number, witnesses)
                elif isinstance(body, bytes):
                    layout = evaluate_json(self._xpath, stream, body, number, witnesses)
                else:
                    layout = evaluate_value(self._xpath, stream, body, number, witnesses)
        except (ExcessiveDocument, MalformedDocument) as error:
            raise DocumentError(str(error), stream=document.source, document=document.id) from error
        return document.stream, layout.kinds

    def _cascade(self, wave: Wave) -> list[Delivery]:
        deliveries: list[Delivery] = []
        while step := self._step(wave):
            wave = self._next_wave(self._rows(step.outputs(Wanted.ALL)), deliveries)
        self._let_go()
        return deliveries

    def _step(self, wave: Wave) -> _Step | None:
        """Takes a wave into the second stages; after the last one lets them see the time, and
        returns None when that completes nothing."""
        if wave.documents or wave.composites:
            self._note_paths()
            batch = self._batch(wave)
            for stage in self._stages:
                stage.begin(batch)
            return _Step(self._stages, ())
        watermark = self._intake.watermark
        timed = [some for stage in self._stages for some in stage.advance(watermark)]
        return _Step((), timed) if timed else None

    def _review(self, wave: Wave, numbers: Collection[int]) -> Iterator[StageRows]:
        batch = self._batch(wave)
        for stage in self._stages:
            stage.review(batch, numbers)
        return _Step(self._stages, ()).outputs(Wanted.ALL)

    def _restore(self, wave: Wave, numbers: Collection[int]) -> Iterator[StageRows]:
        batch = self._batch(wave)
        for stage in self._stages:
            stage.restore(batch, numbers)
        return _Step(self._stages, ()).outputs(Wanted.ALL)

    def _versions(self) -> int:
        """It grows as queries come and go; of a query that can have no match, only the graph
        knows."""
        version = self._queries.graph.version
        for stage in self._stages:
            version += stage.version
        return version

    def follow_queries(self) -> None:
        """Lets the second stages and the retention follow the queries and the leaf paths."""
        version = self._versions()
        if version == self._version:
            self._note_paths()
            return
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
        self._grouping.queries_changed()
        self._composed.clear()

    def _note_paths(self) -> None:
        """Notes the leaf paths that documents have shown, while queries are the same."""
        if self._xpath.changed:
            self._accepts += self._xpath.take_changes().accepts

    def _batch(self, wave: Wave) -> Batch:
        self._note_constants(wave)
        accepts, self._accepts = self._accepts, []
        strings = self._strings.take()
        return witness_batch(wave.documents, wave.composites, wave.witnesses, accepts, strings)

    def _note_constants(self, wave: Wave) -> None:
        """Notes what constants hold at the nodes of a wave's documents."""
        if self._constants_at:
            for document in wave.documents:
                self._constants_at.pop(document.number, None)
        for number, code, family, constants in wave.witnesses.held:
            self._constants_at.setdefault(number, {})[code, family] = constants

    def _rows(self, outputs: Iterable[StageRows]) -> list[_Row]:
        """The rows of stages, each once: composites, then matches in order of the completing
        documents, then of the queries.  Disjuncts of one query may agree on a match."""
        found: dict[_Row, None] = {}
        composites = self._intake.composites
        readers = self._queries.stages.reader
        for some in outputs:
            for values in some.rows:
                reader = readers(values[0])
                owner, row = reader.owner, reader.reading.read(values[1:], composites)
                if isinstance(owner, SharedDisjunct):
                    found.update(dict.fromkeys(owner.table.matched(row, self._constants_at)))
                else:
                    found[owner, row] = None

        if not found:
            return []

        def order(entry: _Row) -> tuple[object, ...]:
            owner, row = entry
            if isinstance(owner, DerivedStream):
                return 0, owner.number, row.documents, row.codes
            return 1, max(row.documents, default=-1), owner.order, row.documents, row.codes

        return sorted(found, key=order)

    def _next_wave(
        self,
        rows: Sequence[_Row],
        deliveries: list[Delivery] | None,
        *,
        all_of_them: bool = True,
    ) -> Wave:
        """The wave that rows cause; the matches that they are join the deliveries, or if not
        `all_of_them` those that a callback or a published stream waits for.

        Without deliveries, a match is built only where it is published to a stream that is read.
        """
        if not rows:
            return _ENDED
        held = self._intake.held
        wave = Wave()
        sides = Sides(self._xpath.attribute_name)
        # Of each query the streams that it feeds, and whether anybody waits for its matches.
        known: dict[Subscription, tuple[list[str], bool]] = {}
        for owner, found in rows:
            if isinstance(owner, DerivedStream):
                composite = self._intake.compose(owner, found)
                wave.composites.append(composite)
                self._composite_witnesses(owner, composite, wave.witnesses)
                continue
            if owner not in known:
                fed = [stream for stream in owner.feeds if self._queries.graph.read[stream]]
                called = owner.on_match is not None or owner.wiring.stream is not None
                known[owner] = fed, deliveries is not None and (all_of_them or called)
            fed, wanted = known[owner]
            if not fed and not wanted:
                continue
            documents = [held[number] for number in found.documents]
            match = owner.match(found, documents, sides)
            if deliveries is not None and owner.reported:
                deliveries.append((owner, match))
            for stream in fed:
                self._publish_result(match, stream, found.known_at(documents), wave)
        return wave

    def _composite_witnesses(
        self, derived: DerivedStream, composite: Composite, to: Witnesses
    ) -> None:
        """A composite's witnesses: a row for each column that later stages ask for."""
        key = (derived.number, composite.codes)
        layout = self._composed.get(key)
        if layout is None:
            places = itertools.count()
            layout = self._composed[key] = Layout.of(
                (
                    spine,
                    (composite.codes[column],),
                    next(places) if column in derived.valued else None,
                    (),
                )
                for column, spine in derived.spines.items()
            )
        valued = dict(zip(derived.valued, composite.strings, strict=True))
        strings = [valued[column] for column in derived.spines if column in valued]
        to.leave(composite.number, layout, strings)

    def _publish_result(self, match: Match, stream: str, time: int, wave: Wave) -> None:
        """A match's result as a document of a stream."""
        number = self._intake.next_number
        result = Document(number, stream, match.id, time, match.result, match.json)
        if self._intake.count_if_duplicate(result):
            return
        document = as_held(result, self._intake.bodies, self._intake.trees)
        try:
            shape = self._evaluate(document, wave.witnesses)
        except DocumentError as error:
            self._refuse(error)
            return
        self._intake.admit_result(document, shape)
        wave.documents.append(document)
