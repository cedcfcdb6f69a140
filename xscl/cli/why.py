"""`xscl why`: why documents match a query or do not."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Annotated

import click
from rich.console import Console

from xscl.cli.options import Form, Params, QueryAndDocuments, echo_json, option, takes
from xscl.cli.queries import load_queries
from xscl.cli.report import report_of
from xscl.cli.sources import Reading, Sources, check_given, fields_of, read_sources
from xscl.engine import Engine
from xscl.errors import DocumentError, XSCLError

__all__ = ["why"]

_MOST = 50_000
"""So many documents, the last ones, are counted of an event query."""

Envelopes = Iterable[dict[str, object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of `xscl why`."""

    words: QueryAndDocuments
    name: Annotated[
        str | None, option("The query; a file of one query needs none.", "--query", metavar="NAME")
    ]
    given: Sources
    params: Params
    form: Form


@click.command()
@takes(Options)
def why(options: Options) -> int:
    """Shows why documents match a query, or why not.

    That is each filter, equality and time constraint, whether it holds, and the values.  DOC is
    the id of a document, one for each block of the query, in their order, or for each event of a
    pattern; of an automaton any number.  Without DOC: how many documents and pairs passed each
    condition, and which failed by one condition alone.
    """
    check_given(options.given)
    queries, *documents = options.words
    name = options.name
    with report_of(None) as report, Engine(on_skip=report.skip) as engine:
        bad = load_queries(engine, [queries], options.params)
        names = [subscription.name for subscription in engine.subscriptions]
        if name is None and len(names) == 1:
            (name,) = names
        if name not in names:
            known = ", ".join(names) or "none"
            problem = "which query? give --query" if name is None else f"no query is named {name!r}"
            raise click.UsageError(f"{problem}; there are: {known}")
        seen: dict[str, dict[str, dict[str, object]]] = {id: {} for id in documents}
        subscription = next(one for one in engine.subscriptions if one.name == name)
        # Those of an event query are not held.
        kept = deque[dict[str, object]](maxlen=_MOST)
        ids = set[tuple[str, object]]()
        keeps = not documents and subscription.query.language.schemas

        def watched(envelopes: Envelopes) -> Iterator[dict[str, object]]:
            for envelope in envelopes:
                stream, id = str(envelope.get("stream", "S")), envelope.get("id")
                if not {"xml", "json"}.isdisjoint(envelope):
                    if id in seen:
                        seen[id].setdefault(stream, envelope)
                    if keeps and stream in subscription.streams and (stream, id) not in ids:
                        ids.add((stream, id))
                        kept.append(envelope)
                yield envelope

        def wanted() -> Iterator[str | dict[str, object]]:
            """For each id the document: one that is held by its id, else as it came."""
            for at, id in enumerate(documents):
                place, came = documents[:at].count(id), seen[id]
                # One of a stream that is not read may be asked for, too.
                own = [one for stream, one in came.items() if stream in subscription.streams]
                there = own or [*came.values()]
                held = len(engine.held(id, stream=subscription.streams))
                if held > place or not there or (held and place >= len(there)):
                    yield id
                else:
                    yield there[min(place, len(there) - 1)]

        sources = read_sources(options.given, Reading(report.skip, fields=fields_of(options.given)))
        envelopes = (envelope for envelope, _ in chain.from_iterable(sources))
        engine.count(watched(envelopes), batch=5000)
        report.stop()
        # What cannot be read was said when it came.
        previews = zip(kept, engine.previews([*kept]), strict=True)
        some = [one for one, found in previews if not isinstance(found, DocumentError)]
        try:
            shown = engine.why(name, *wanted(), among=some if keeps else None)
        except XSCLError as error:
            raise click.UsageError(str(error)) from error
    if options.form == "json":
        echo_json(shown.to_dict())
    else:
        Console(highlight=False).print(shown)
    return 2 if bad else 0
