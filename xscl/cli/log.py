"""What a command says on standard error -> lines of text or, for the log of a service, of JSON; and
how much of it.

The log is the object of click's contexts (`run_command` makes it), and the options here set it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum

import click

__all__ = ["LOG_FORMAT", "QUIET", "VERBOSE", "Level", "Log", "log_of_command"]


class Level(IntEnum):
    """How much a line matters."""

    DEBUG = 10
    INFO = 20
    WARNING = 30
    ERROR = 40


@dataclass(slots=True)
class Log:
    """The form of the lines, and the least level of those that are said."""

    json: bool = False
    least: Level = Level.INFO

    @property
    def for_people(self) -> bool:
        """Whether what is no line is shown, too: progress, tables."""
        return not self.json and self.least < Level.WARNING

    def line(self, text: str, level: Level) -> str | None:
        """A line as it is to be written; None if it is not to be said."""
        if level < self.least:
            return None
        if not self.json:
            return text
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        said = {"time": now, "level": level.name.lower(), "message": text}
        return json.dumps(said, ensure_ascii=False)

    def say(self, text: str, level: Level = Level.ERROR) -> None:
        """Writes a line."""
        if (line := self.line(text, level)) is not None:
            click.echo(line, err=True)


def log_of_command() -> Log:
    """The log of the command at hand."""
    context = click.get_current_context(silent=True)
    return (context and context.find_object(Log)) or Log()


def _set_form(context: click.Context, _: click.Parameter, form: str) -> None:
    context.ensure_object(Log).json = form == "json"


def _set_least(context: click.Context, option: click.Parameter, given: bool) -> None:
    if given:
        log = context.ensure_object(Log)
        if log.least != Level.INFO:
            raise click.UsageError("--verbose and --quiet exclude each other")
        log.least = Level.DEBUG if option.name == "verbose" else Level.WARNING


# Eager, that errors in other options come in the form that was asked for.
LOG_FORMAT = click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    expose_value=False,
    is_eager=True,
    callback=_set_form,
    help="The form of the messages on standard error.",
)
VERBOSE = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    expose_value=False,
    callback=_set_least,
    help="Report the result of each batch and of each fetch, too.",
)
QUIET = click.option(
    "--quiet",
    is_flag=True,
    expose_value=False,
    callback=_set_least,
    help="Say only what went wrong: no progress, no summary.",
)
