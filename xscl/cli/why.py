"""`xscl why`: why documents match a query or do not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import click
from rich.console import Console

from xscl.cli.options import PARAMS, QUERY_AND_DOCUMENTS
from xscl.cli.queries import load_queries
from xscl.cli.report import report_of
from xscl.cli.sources import Reading, check_given, fields_of, read_sources, source_options
from xscl.engine import Engine
from xscl.errors import XSCLError

__all__ = ["why"]

Envelopes = Iterable[dict[str, object]]


@click.command()
@QUERY_AND_DOCUMENTS
@click.option("--query", "name", metavar="NAME", help="The query; a file of one query needs none.")
@source_options
@PARAMS
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def why(
    words: Sequence[str],
    name: str | None,
    params: Sequence[tuple[str, str]],
    form: str,
    **given: Sequence[Any],
) -> int:
    """Shows why documents match a query, or why not.

    That is each filter, equality and time constraint, whether it holds, and the values.  DOC is
    the id of a document, one for each block of the query, in their order, or for each event of a
    pattern.  Without DOC: how many
    documents and pairs passed each condition, and which failed by one condition alone.
    """
    check_given(given)
    queries, *documents = words
    with report_of(None) as report, Engine(on_skip=report.skip) as engine:
        bad = load_queries(engine, [queries], params)
        names = [subscription.name for subscription in engine.subscriptions]
        if name is None and len(names) == 1:
            (name,) = names
        if name not in names:
            known = ", ".join(names) or "none"
            problem = "which query? give --query" if name is None else f"no query is named {name!r}"
            raise click.UsageError(f"{problem}; there are: {known}")
        seen: dict[str, dict[str, object]] = {}

        def watched(envelopes: Envelopes) -> Iterator[dict[str, object]]:
            for envelope in envelopes:
                if envelope.get("id") in documents:
                    seen.setdefault(str(envelope["id"]), envelope)
                yield envelope

        sources = read_sources(given, Reading(report.skip, fields=fields_of(given)))
        envelopes = (envelope for envelope, _ in chain.from_iterable(sources))
        engine.count(watched(envelopes), batch=5000)
        report.stop()
        wanted = (id if engine.holds(id) else seen.get(id, id) for id in documents)
        try:
            told = engine.why(name, *wanted)
        except XSCLError as error:
            raise click.UsageError(str(error)) from error
    if form == "json":
        click.echo(json.dumps(told.to_dict(), indent=2, ensure_ascii=False))
    else:
        Console(highlight=False).print(told)
    return 2 if bad else 0
