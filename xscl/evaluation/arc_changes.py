"""Lines among the events that change the arcs of an automaton: read with their batch, each judged
as if those before were done, and done when the batch is admitted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xscl.documents.arrivals import Arrivals
from xscl.documents.intake import Intake
from xscl.errors import DocumentError, XSCLError
from xscl.language.automata.description import BadDescription
from xscl.queries.catalogue import Catalogue
from xscl.queries.levels.pattern_query import PatternQuery

__all__ = ["ArcChanges", "NotTogether"]


class NotTogether(Exception):
    """Arcs change so that documents of the same batch are to be taken in another step."""


class ArcChanges:
    """The changes of arcs of one engine."""

    def __init__(self, queries: Catalogue, intake: Intake) -> None:
        self._queries, self._intake = queries, intake

    def read(self, line: Mapping[str, object], arrivals: Arrivals, *, alone: bool) -> None:
        """Notes a change; raises DocumentError, whose cause says more, for one that is refused, and
        NotTogether unless the batch, which has documents, or has changes `alone`, is one step."""
        from xscl.language.automata.changes import ArcChange
        from xscl.patterns.change_arcs import changed_arcs, needed_arcs, reads_no_more

        try:
            change = ArcChange.of(line)
            name = change.automaton
            compiled = self._queries.automaton(name)
            known = arrivals.arcs.get(name)
            if known is None:
                known = needed_arcs(compiled, self._intake.watermark), float("inf")
            arcs, first = known
            mark = self._intake.watermark_at(arrivals.latest, arrivals.advanced)
            number = self._queries.named(name).order
            query = self._queries.levels.patterns[number]
            newest, weak = self._newest(query, mark, arrivals), query.weak
            eager = self._queries.levels.is_eager(query)
            after, since = changed_arcs(
                compiled, arcs, change, newest, mark, weak=weak, eager=eager
            )
        except (XSCLError, ExceptionGroup) as error:
            raise _refused(line, error) from error
        if not alone and (
            weak
            or not reads_no_more(compiled, arcs, after)
            or not self._queries.levels.takes_arcs_along(number)
        ):
            raise NotTogether
        arrivals.arcs[name] = after, min(first, since)

    def apply(self, arrivals: Arrivals) -> Iterator[int]:
        """Does what was noted; gives the numbers of automata that need of events that have come
        what was not kept of them."""
        for name, (arcs, since) in arrivals.arcs.items():
            self._queries.automaton(name).now = arcs
            number = self._queries.named(name).order
            if self._queries.levels.rearrange(number, arcs, since):
                yield number

    def _newest(self, query: PatternQuery, watermark: int | None, arrivals: Arrivals) -> int | None:
        """The latest time of a document of an automaton's streams, and of the watermark."""
        streams = {one.stream for one in query.types}
        clocks = (self._intake.clocks, arrivals.clocks)
        times = [clock[one] for clock in clocks for one in streams & clock.keys()]
        return max(times if watermark is None else [*times, watermark], default=None)


def _refused(line: Mapping[str, object], error: Exception) -> DocumentError:
    name, id = str(line["automaton"]), line.get("id")
    some = error.exceptions if isinstance(error, ExceptionGroup) else (error,)
    problem = "; ".join(map(_said, some))
    refused = DocumentError(problem, stream="?", document=name if id is None else str(id))
    where = "" if id is None else f", {id}"
    refused.args = (f"arcs of automaton {name!r}{where}: {problem}",)
    return refused


def _said(error: Exception) -> str:
    if not isinstance(error, BadDescription):
        return str(error)
    place = error.pointer or "/"
    return f"{place}{f', column {error.column}' if error.source else ''}: {error.problem}"
