"""`xscl check` and `xscl explain`: queries without documents."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from xscl.cli.options import QUERIES
from xscl.cli.queries import read_queries
from xscl.counts import counted
from xscl.explain import as_json, as_mermaid, as_sql, as_text, explain_file

__all__ = ["check", "explain"]


@click.command()
@QUERIES
def check(queries: Sequence[str]) -> int:
    """Checks queries, and prints each error with its place."""
    good, bad = read_queries(queries)
    if not bad:
        click.echo(f"{counted(len(good), 'query')}, no error")
    return 2 if bad else 0


@click.command()
@QUERIES
@click.option("--query", "only", metavar="NAME", help="The one query to show.  [default: all]")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "mermaid", "sql"]),
    default="text",
    show_default=True,
    help="Text, JSON, a Mermaid diagram of the join graphs, or the SQL of the templates.",
)
def explain(queries: Sequence[str], only: str | None, form: str) -> int:
    """Shows how queries are evaluated.

    That is the tree patterns, the join graph, its template and its conjunctive query.
    """
    parts, bad = read_queries(queries)
    shown = [part for part in parts if only in (None, part.query.name)]
    if only is not None and not shown:
        names = ", ".join(part.query.name for part in parts)
        raise click.UsageError(f"no query is named {only!r}; there are: {names}")
    match form:
        case "json":
            click.echo(json.dumps([as_json(part) for part in shown], indent=2, ensure_ascii=False))
        case "mermaid":
            click.echo(as_mermaid(shown))
        case "sql":
            click.echo(as_sql(shown))
        case _ if only is not None:
            click.echo(as_text(shown[0], parts))
        case _:
            click.echo(explain_file(shown))
    return 2 if bad else 0
