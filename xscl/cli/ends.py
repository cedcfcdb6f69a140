"""The options of a command -> the files that it is to write and to read, none of which is both.

A new option that names a file is entered here, in `WRITTEN` or in `READ`; every command
that writes calls `check_ends` before it does anything else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

import click

from xscl.cli.options import GivenQuery
from xscl.errors import XSCLError
from xscl.files.ends import End, refuse_shared

__all__ = ["READ", "READ_FILE", "WRITTEN", "check_ends", "default_store"]

Paths = Callable[[str], Iterable[str]]

READ_FILE = "xscl.settings"
"""In the `meta` of a context: the name of the file of settings that was read."""

_WEB = re.compile("https?:", re.IGNORECASE)


def _itself(path: str) -> Iterator[str]:
    if path != "-" and not isinstance(path, GivenQuery):
        yield path


def _database(path: str) -> list[str]:
    """A database, and what is next to it."""
    return [path, *(path + suffix for suffix in (".wal", ".lock", ".holder"))]


def _ingested(folder: str) -> list[str]:
    """What an ingestion writes into its folder, on this machine."""
    from xscl.spark.ingestion.archive import Archive

    try:
        return [os.path.normpath(each) for each in Archive.at(folder).folders]
    except XSCLError:
        return []


def _feeds(source: str) -> Iterator[str]:
    """A feed file, a folder of them, or an OPML file and the files that it lists."""
    if not _WEB.match(source):
        yield source
        try:
            from xscl.sources.feed_files import listed_feeds

            files = [] if os.path.isdir(source) else listed_feeds(source).files
        except (OSError, XSCLError):
            return  # its reader reports it
        yield from (feed.address for feed in files)


WRITTEN: Mapping[str, Paths] = {
    "-o": _itself,
    "--dead-letters": _itself,
    "--state": _database,
    "--feeds-db": _database,
    "--to": _ingested,
    "--spool": _itself,
}
"""By option, the files and folders that its value has a command write."""

_IN_FOLDER = ("-o", "--dead-letters", "--state", "--feeds-db")
"""Those of a file in a folder, which must be there."""

READ: Mapping[str, Paths] = {
    "queries": _itself,
    "--params": _itself,
    "--config": _itself,
    "--events": _itself,
    "--json": _itself,
    "--docs": _itself,
    "--feed": _feeds,
    "--items": _itself,
    "--sources": _feeds,
    "--token-file": _itself,
    "--webhook-headers": _itself,
    "--webhook-body": _itself,
}
"""By option, or argument, the files and folders that its value has a command read; that of `--docs`
is a pattern."""


def check_ends() -> None:
    """Raises UsageError if the command at hand is to write a file that it is to read, too, or that
    two options name, and XSCLError where a folder to write to is missing."""
    outputs, inputs = [], []
    for option, said, value in _named(click.get_current_context()):
        if paths := WRITTEN.get(option):
            outputs += [End(said, path) for path in paths(value)]
            if option in _IN_FOLDER:
                _check_folder(said, value)
        elif paths := READ.get(option):
            inputs += [End(said, path, option == "--docs") for path in paths(value)]
    try:
        refuse_shared(outputs, inputs)
    except XSCLError as error:
        raise click.UsageError(str(error)) from error


def _check_folder(said: str, path: str) -> None:
    """Raises XSCLError if there is not a directory for a file that is to be written."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        why = "is not a directory" if os.path.exists(folder) else "does not exist"
        raise XSCLError(f"{said}: the folder {folder!r} {why}; make it, or name another file")


def default_store(queries: Iterable[str]) -> str | None:
    """The file of `--feeds-db` where none is given: it is next to the first query file; None where
    that is no file, but a pipe, say."""
    first = next(iter(queries))
    if isinstance(first, GivenQuery) or not os.path.isfile(first):
        return None
    return f"{os.path.splitext(first)[0]}.feeds.duckdb"


def _named(context: click.Context) -> Iterator[tuple[str, str, str]]:
    """The options and arguments that have a value: each by its name, with the value as it was
    written, and the part of it that names a file."""
    given = context.params
    if (settings := context.meta.get(READ_FILE)) is not None:
        yield "--config", f"--config {settings}", settings
    for parameter in context.command.params:
        value = given.get(parameter.name or "")
        name = parameter.opts[0]
        if name == "-o" and value is None:
            yield name, "standard output", "/dev/stdout"
        if name == "--feeds-db" and value is None and given["state"] is None:
            value = default_store(given["queries"])
        several = parameter.nargs == -1 or getattr(parameter, "multiple", False)
        for one in value or () if several else [value]:
            if one is not None:
                text, path = (
                    ("=".join(map(str, one)), one[1]) if isinstance(one, tuple) else (one, one)
                )
                if isinstance(path, str):
                    yield name, text if name == "queries" else f"{name} {text}", path
