"""What an engine says of itself: its queries, the documents that it holds, its sizes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from xscl.consistency import STRONG
from xscl.counts import counted
from xscl.documents.intake import Skipped
from xscl.engine.parts import EngineParts
from xscl.errors import XSCLError
from xscl.evaluation.stats import stats
from xscl.notebook import short, table
from xscl.queries.pending import Pending
from xscl.queries.subscription import Subscription
from xscl.stream_names import is_internal
from xscl.times import to_seconds

if TYPE_CHECKING:
    from xscl.dissection.parts import Dissection
    from xscl.engine.held import Envelopes
    from xscl.queries.wiring import Wiring
    from xscl.why import AutomatonFunnel, AutomatonWhy, Funnel, Why

__all__ = ["Answers"]

_EXPLAINED = 200
"""So many queries stand for all that are alike but for names and constants."""

Envelope = Mapping[str, object]


class Answers(EngineParts):
    """Answers questions, and changes nothing."""

    @property
    def skipped(self) -> Skipped:
        """How many documents were skipped, by reason."""
        with self._transactions.asking():
            return self._intake.skipped

    @property
    def documents(self) -> int:
        """How many documents were taken in."""
        with self._transactions.asking():
            return self._intake.documents

    @property
    def streams(self) -> list[str]:
        """The streams that queries read, sorted."""
        with self._transactions.asking():
            return sorted(stream for stream in self._queries.graph.read if not is_internal(stream))

    @property
    def published(self) -> list[str]:
        """The streams that queries publish, in order of subscription."""
        with self._transactions.asking():
            return self._queries.graph.published

    def reads(self, stream: str) -> bool:
        """Whether any query reads a stream."""
        with self._transactions.asking():
            return self._queries.graph.read[stream] > 0

    @property
    def watermark(self) -> float | None:
        """The time (seconds) before which documents are late; None while none is."""
        with self._transactions.asking():
            mark = self._intake.watermark
            return None if mark is None else to_seconds(mark)

    def pending(self) -> dict[str, Pending]:
        """How many `matches` of patterns and event queries are pending, by name, and `until` which
        time (seconds): they are found once the watermark has passed what they need, or with
        `flush`.  Where a query reads what others publish, their pending matches are not yet there
        for it."""
        with self._transactions.asking():
            self._evaluation.follow_queries()
            return self._evaluation.pending()

    def explain(self, name: str | None = None) -> str:
        """What became of the query of a name: the text of `xscl explain`; without a name, of all of
        them, with their templates and streams."""
        from xscl.explain import as_text, explain_file

        with self._transactions.asking():
            if name is not None:
                return as_text(self._queries.named(name).dissection, self._sample())
            levels = self._queries.levels
            return explain_file(self._sample(), levels.stages.without, levels.stages.sharable)

    def _sample(self) -> Sequence[Dissection]:
        """The queries; of very many alike but for names and constants some that stand for all."""
        from xscl.explain import Sample

        if len(self._queries) <= _EXPLAINED:
            return [one.dissection for one in self._queries]
        alike: dict[Wiring, list[Subscription]] = {}
        for one in self._queries:
            alike.setdefault(one.wiring, []).append(one)
        most = max(1, _EXPLAINED // max(1, len(alike)))
        return Sample(
            ([one.dissection for one in some[:most]], [one.name for one in some[most:]])
            for some in alike.values()
        )

    def why(
        self, name: str, *documents: str | Envelope, among: Iterable[Envelope] | None = None
    ) -> Why | Funnel | AutomatonWhy | AutomatonFunnel:
        """Why some documents match the query of a name, or do not: each condition with the values
        on both sides.  A document for each block of the query, in their order (of a pattern one for
        each event, of an event query those of a match and any that it skips between, of an
        automaton any number, for which its runs are judged): the id of one that is held, or an
        envelope.

        Without documents, a funnel: how many of those held, or `among` others, and of their pairs,
        came through each condition; of an automaton how far its runs come.  Event queries hold no
        documents: they need `among`.  Raises StateError for an id that is not held.
        """
        from xscl.engine.held import funnel_of, named
        from xscl.patterns.compile_automaton import CompiledAutomaton
        from xscl.patterns.compile_composition import CompiledComposition
        from xscl.why import (
            Withheld,
            why,
            why_automaton,
            why_composition,
            why_events,
            why_sequence,
        )

        with self._transactions.asking():
            subscription = self._queries.named(name)
            dissection, wiring = subscription.dissection, subscription.wiring
            events = wiring.events
            if not documents and events is not None and among is None:
                problem = "an event query holds no documents to count; name those of a match, or "
                raise XSCLError(f"{problem}give documents to count `among`")
            # They are read when nobody is kept out of the engine any more.
            held = [*self._intake.readable] if wiring.pattern is not None or not documents else []
            if among is not None:
                held = [*map(self._intake.document, among)]
            # Of blocks each has its stream; of events any may be of any.
            read = [*dissection.streams]
            given = []
            for at, asked in enumerate(documents):
                if isinstance(asked, Mapping):
                    given.append(self._intake.document(asked))
                elif wiring.timed:
                    given.append(named(asked, read, self._intake, documents[:at].count(asked)))
                else:
                    given.append(named(asked, read[at : at + 1], self._intake))
            if events is not None:
                foreign = {*dissection.streams}.isdisjoint(one.stream for one in given)
                for one in self._queries if foreign else ():
                    if (stream := one.wiring.stream) in dissection.streams:
                        raise XSCLError(
                            f"query {name!r} reads {stream}, the results of query {one.name!r}, "
                            "and none of these documents: ask for that query"
                        )
            clocks, mark = self._intake.clocks, self._intake.watermark
            times = [clocks[one] for one in dissection.streams if one in clocks]
            newest = max(times, default=None)
        if not documents:
            return funnel_of(dissection, held)
        if isinstance(dissection.compiled, CompiledAutomaton):
            withheld = Withheld(
                dissection.compiled.level or STRONG,
                mark,
                newest,
                dissection.compiled.automaton.sequence if dissection.compiled.eager else None,
            )
            return why_automaton(dissection, given, held, withheld)
        if isinstance(dissection.compiled, CompiledComposition):
            return why_composition(dissection, given, held)
        if events is not None:
            return why_events(dissection, given)
        if wiring.pattern is not None:
            return why_sequence(dissection, given, held)
        return why(dissection.query, given)

    def hint(
        self, name: str, sample: Iterable[Envelope] = (), *, names_only: bool = False
    ) -> str | None:
        """What keeps the query of a name from matching, in a sentence, for one that has found
        nothing: a name that no document had, a filter that none met, values that none have in
        common; None where nothing is known.  Of the documents held, 200 are looked at, drawn by
        stream; what no query can reach is not held, so that a `sample` of what was published helps.
        With `names_only`, of one that has matches, only a name that no document had."""
        from xscl.engine.held import Asked, hint

        with self._transactions.asking():
            dissection = self._queries.named(name).dissection
            fed = self._queries.graph.published
            asked = Asked(self._xpath.paths, fed, names_only)
            return hint(dissection, self._intake, sample, asked)

    def holds(self, id: str) -> bool:
        """Whether a document of an id is held, of whatever stream: one that queries of
        `history=True` see, as a query can reach it and it was read for more than its columns."""
        with self._transactions.asking():
            self._evaluation.follow_queries()
            return bool(self._intake.named(id))

    def held(
        self, id: str | None = None, *, stream: str | Collection[str] | None = None
    ) -> Envelopes:
        """The documents that are held now, as `holds` means it, as envelopes: those of an id, of a
        stream or several, or all, the latest to come first; each is read when it is asked for.  The
        `len` of what is returned is how many follow."""
        from xscl.engine.held import Envelopes

        streams = {stream} if isinstance(stream, str) else stream
        with self._transactions.asking():
            self._evaluation.follow_queries()
            intake = self._intake
            some = [*intake.readable] if id is None else intake.named(id)
            some = [one for one in some if one.body is not None]
        if streams is not None:
            some = [one for one in some if one.source in streams]
        return Envelopes(some)

    def stats(self, *, exact: bool = False) -> dict[str, object]:
        """The sizes of all that the engine holds.

        Documents that no query can reach any more are dropped with those that come, some time
        later; with `exact` they are dropped first, which takes as long as a large batch.
        """
        if exact:
            with self._transactions.changing():
                self._evaluation.evict(exact=True)
                self._join.prepare()
        with self._transactions.asking():
            return stats(
                self._intake,
                self._queries,
                self._xpath,
                self._join,
                self._strings,
                self._relations,
            )

    def __repr__(self) -> str:
        # Nobody waits for what is in the engine, and a closed one may be shown.
        keeper = self._transactions.keeper
        state = "" if keeper is None else f" {short([str(keeper.file.path)])}"
        if self._transactions.closed:
            return f"<Engine{state}: closed>"
        queries, taken = counted(len(self._queries), "query"), self._intake.documents
        held = f"{counted(taken, 'document')} taken, {len(self._intake.retained):,} held"
        return f"<Engine{state}: {queries}, {held}>"

    def _repr_html_(self) -> str:
        if self._transactions.closed:
            return table(repr(self).strip("<>"), ())
        with self._transactions.asking():
            rows = ((one.name, ", ".join(sorted(one.streams))) for one in self._queries)
            heads, total = ("query", "streams"), len(self._queries)
            return table(repr(self).strip("<>"), rows, heads=heads, of=total)
