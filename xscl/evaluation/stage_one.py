"""Documents into their witnesses, by stage 1: those of a new batch, and again those retained."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from xscl.documents.arrivals import Arrivals, Documents, Identified
from xscl.documents.bodies import Body
from xscl.documents.composites import Composite
from xscl.documents.document import (
    Document,
    advance_of,
    as_stored,
    from_file,
    is_arc_change,
    is_streamed,
    retraction_of,
    without_body,
)
from xscl.documents.events import TypedEvents
from xscl.documents.intake import Intake
from xscl.documents.retention import NO_LEAVES, DocumentShape
from xscl.documents.runs import Run, in_runs
from xscl.documents.trees import in_pieces, parsed
from xscl.errors import DocumentError, MatchError
from xscl.evaluation.arc_changes import ArcChanges
from xscl.evaluation.promises import breaks_promise, note_promise, promised_streams
from xscl.matches.unwritten import made_of
from xscl.queries.levels.pattern_levels import PatternLevels
from xscl.queries.stream_graph import StreamGraph
from xscl.stream_names import is_internal, public_name
from xscl.xpath_stage import (
    ExcessiveDocument,
    MalformedDocument,
    Witnesses,
    XPathEvaluator,
    are_flat,
    evaluate_json,
    evaluate_parser_events,
    evaluate_text,
    evaluate_value,
)

if TYPE_CHECKING:
    from xscl.matches.match import Match

__all__ = ["Preview", "StageOne", "Wave"]


class Wave(Struct):
    """Documents and composites, new ones whose numbers ascend, their witnesses, and the events that
    documents are as such."""

    documents: list[Document] = []
    composites: list[Composite] = []
    witnesses: Witnesses = field(default_factory=Witnesses)
    events: list[TypedEvents] = []

    def __bool__(self) -> bool:
        return bool(self.documents or self.composites)


class Preview(NamedTuple):
    """A document's time (microseconds), and whether any query finds in it what it asks of one."""

    time: int
    of_use: bool


class StageOne:
    """Stage 1 of an engine, with the intake of its documents.

    Documents held that cannot be read again are reported to `on_error`.
    """

    def __init__(
        self,
        xpath: XPathEvaluator,
        graph: StreamGraph,
        intake: Intake,
        patterns: PatternLevels,
        arcs: ArcChanges,
        on_error: Callable[[DocumentError], object],
    ) -> None:
        self._xpath = xpath
        self._graph = graph
        self._patterns = patterns
        self._intake = intake
        self._arcs = arcs
        self._on_error = on_error
        self._of_events: tuple[object, frozenset[str]] = None, frozenset()

    def read(self, envelopes: Sequence[Mapping[str, object]], *, raising: bool = False) -> Arrivals:
        """Reads a batch and its witnesses whole; nothing of it counts until it is admitted.

        Documents have followed the queries before: duplicates are those of documents that can be
        reached as queries are now.  A document that cannot be read is raised, if `raising`.
        """
        arrivals = self._intake.arrivals()
        arcs_alone = all("automaton" in one for one in envelopes)
        for run, some in self._runs(envelopes):
            if run is not None:
                arrivals.add_run(arrivals.judged(run))
                continue
            for envelope in some:
                try:
                    self._arrive(envelope, arrivals, arcs_alone=arcs_alone)
                except DocumentError as error:
                    if raising:
                        self._intake.skipped.malformed += 1
                        raise
                    error.envelope = envelope
                    arrivals.errors.append(error)
        self._read_together(arrivals)
        for stream, documents in arrivals.values.items():
            arrivals.events += self._patterns.readers.of_documents(stream, documents)
        return arrivals

    def previews(
        self, envelopes: Sequence[Mapping[str, object]]
    ) -> Iterator[Preview | DocumentError]:
        """How each document would be taken in, or why it cannot be read."""
        streams = self._streams_of_events()
        for run, some in self._runs(envelopes):
            if run is not None and None not in run.times:
                # Nothing is asked of them but to be events.
                of_use = (stream in streams for stream in run.streams)
                yield from map(Preview, run.times, of_use)
                continue
            for one in some:
                try:
                    yield self._preview(one)
                except DocumentError as error:
                    yield error

    def _preview(self, envelope: Mapping[str, object]) -> Preview:
        document = self._intake.document(envelope)
        stream, found = document.stream, Wave()
        _, leaves = self.evaluate(document, found)
        # A document that is an event as such may be nothing else.
        event = self._patterns.timed and self._patterns.readers.whole(stream)
        some = bool(leaves) or bool(found.witnesses) or event
        return Preview(document.time, some and self._graph.read[stream] > 0)

    def hold(self, documents: Iterable[Document]) -> Wave:
        """Documents that came before, with their witnesses; they are held with the shapes that
        they have now."""
        wave = Wave()
        for document in documents:
            if document.body is None:
                self._intake.retain(document, (document.stream, NO_LEAVES))
                continue
            try:
                shape = self.evaluate(document, wave)
            except DocumentError as error:
                self._on_error(error)
                continue
            self._intake.retain(document, shape)
            wave.documents.append(document)
        return wave

    def evaluate(self, document: Document, to: Wave | Arrivals) -> DocumentShape:
        """Stage 1; a document that causes too much work is as if it had never come, and one that
        cannot be read, too."""
        number, stream, body = document.number, document.stream, document.body
        witnesses = to.witnesses
        try:
            if is_streamed(document):
                source, times = in_pieces(document)
                layout = evaluate_parser_events(
                    self._xpath, stream, source, number, witnesses, times=times
                )
            else:
                if isinstance(body, Body):
                    body = body.read()
                if not document.json:
                    assert isinstance(body, str | bytes)
                    layout = evaluate_text(self._xpath, stream, body, number, witnesses)
                elif isinstance(body, bytes):
                    layout = evaluate_json(self._xpath, stream, body, number, witnesses)
                else:
                    layout = evaluate_value(self._xpath, stream, body, number, witnesses)
        except (ExcessiveDocument, MalformedDocument) as error:
            raise DocumentError(str(error), stream=document.source, document=document.id) from error
        return stream, layout.kinds

    def _take(
        self,
        document: Document,
        to: Wave | Arrivals,
        held: Document | None = None,
        *,
        columns: bool = True,
    ) -> DocumentShape:
        """Stage 1, and the events that a document is as such, of one that somebody may change as
        it is `held`; without `columns`, event queries have theirs already."""
        stream, patterns = document.stream, self._patterns
        if not (patterns.timed and patterns.readers.whole(stream)):
            return self.evaluate(document, to)
        if document.json or not self._is_of_events(stream):
            shape = self.evaluate(document, to)
        else:
            # Its tree is parsed for its events alone.
            shape = stream, NO_LEAVES
        if document.json and isinstance(to, Arrivals):
            # What is nested is read later, when the publisher may have changed it.
            if held is None or are_flat([document.body]):
                held = document
            to.values.setdefault(stream, []).append(held)
        else:
            to.events += patterns.readers.of_whole(document, columns=columns)
        return shape

    def _runs(
        self, envelopes: Sequence[Mapping[str, object]]
    ) -> Iterable[tuple[Run | None, Sequence[Mapping[str, object]]]]:
        """A batch in runs of documents of which nothing but events is read, or nothing at all."""
        streams = self._streams_of_events()
        if not streams:
            return ((None, envelopes),)
        read, promised = self._graph.read, promised_streams(self._intake.promises)

        def may_come(stream: object) -> bool:
            if stream in promised:
                return False
            if stream in streams:
                return True
            if not isinstance(stream, str) or not stream.isprintable() or is_internal(stream):
                return False
            return stream != "" and not read[stream]

        return in_runs(envelopes, may_come)

    def _streams_of_events(self) -> frozenset[str]:
        """The streams whose documents may come as events as such, and nothing else of them is
        read."""
        version = self._graph.version, self._patterns.version
        if version != self._of_events[0]:
            streams = self._patterns.readers.streams if self._patterns.timed else ()
            of_events = [one for one in streams if not is_internal(one) and self._is_of_events(one)]
            self._of_events = version, frozenset(of_events)
        return self._of_events[1]

    def _is_of_events(self, stream: str) -> bool:
        """Whether no tree pattern is of documents of a stream."""
        return self._xpath.automaton.root(stream) is None

    def _read_together(self, arrivals: Arrivals) -> None:
        """Reads the documents of all runs of a batch, as `_arrive` does one, by stream."""
        if not arrivals.runs:
            return
        readers, intake = self._patterns.readers, self._intake
        for stream, columns in arrivals.runs.items():
            numbers, ids, times, values = columns
            some: Documents
            retained = stream in self._intake.retention.floors
            if self._graph.only_columns(stream) and not retained:
                some = Identified(stream, numbers, ids, times, stream in readers.identified)
            else:
                some = [
                    as_stored(Document(*one, True), intake.bodies, intake.trees)
                    for one in zip(numbers, repeat(stream), ids, times, values, strict=False)
                ]
            arrivals.events += readers.of_values(stream, values, numbers, ids, times)
            shape = (stream, NO_LEAVES) if self._graph.read[stream] or retained else None
            arrivals.parts.append((some, shape))

    def _arrive(
        self,
        envelope: Mapping[str, object],
        arrivals: Arrivals,
        *,
        arcs_alone: bool,
    ) -> None:
        """Reads one document of a batch; whether it is late or a duplicate comes first, and what
        is refused is not parsed.  `arcs_alone`: the batch has nothing but changes of arcs."""
        intake = self._intake
        if "advance" in envelope and (time := advance_of(envelope)) is not None:
            if "where" in envelope:
                note_promise(envelope, time, arrivals)
            else:
                arrivals.advance(time, str(envelope.get("id")))
            return
        if "automaton" in envelope and is_arc_change(envelope):
            self._arcs.read(envelope, arrivals, alone=arcs_alone)
            return
        if "retract" in envelope and (retracted := retraction_of(envelope)) is not None:
            arrivals.retract(*retracted)
            return
        document = arrivals.document(envelope)
        if arrivals.count_if_refused(document):
            return
        if isinstance(document.body, Path):
            document = from_file(document, intake.bodies)
        if intake.promises and breaks_promise(document, intake.promises):
            arrivals.late += 1
            return
        held = document
        retained = document.stream in intake.retention.floors
        read = retained or self._graph.read[document.stream]
        if read and not retained and self._graph.only_columns(document.stream):
            self._arrive_as_columns(document, arrivals)
            return
        if read:
            try:
                held = as_stored(document, intake.bodies, intake.trees)
            except DocumentError:
                # What a parser says of it says more.
                parsed(document)
                raise
        shape = self._take(document, arrivals, held if read else None)
        arrivals.add(held, shape if read else None)

    def _arrive_as_columns(self, document: Document, arrivals: Arrivals) -> None:
        """Reads a document that event queries alone read: its columns are all that is kept, and
        nothing in them may be changed by whoever has published it."""
        self._take(as_stored(document, self._intake.bodies, self._intake.trees), arrivals)
        arrivals.add(without_body(document), (document.stream, NO_LEAVES))

    def result_of(self, match: Match, stream: str) -> tuple[str, object, bool] | None:
        """The id and the result of a match, and whether that is JSON; None of one that cannot be
        made, which is reported and counted as what cannot be read of the stream."""
        for _, made in made_of((match,), _result, partial(self._refuse, stream)):
            return made
        return None

    def _refuse(self, stream: str, error: MatchError) -> None:
        self._intake.skipped.malformed += 1
        name = f"a result of query {error.query!r}"
        refused = DocumentError(str(error), stream=public_name(stream), document=name)
        refused.__cause__ = error.__cause__
        self._on_error(refused)

    def admit_result(self, result: Document, wave: Wave, *, columns: bool = True) -> None:
        """Takes in the result document of a match; without `columns`, event queries have it
        already."""
        if self._intake.count_if_duplicate(result):
            return
        document = as_stored(result, self._intake.bodies, self._intake.trees)
        try:
            # A JSON value is read as it is, and not out of the text that is held.
            shape = self._take(result if result.json else document, wave, columns=columns)
        except DocumentError as error:
            self._intake.skipped.malformed += 1
            self._on_error(error)
            return
        self._intake.admit_result(document, shape)
        wave.documents.append(document)


def _result(match: Match) -> tuple[str, object, bool]:
    return match.id, match.result, match.json
