"""`xscl config`: the options of the commands that read `xscl.toml`, each with its source."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from xscl.cli.options import FORM, echo_json, wrong_usage
from xscl.cli.settings.given import (
    COMMANDS,
    FILE,
    Setting,
    key_of,
    options_of,
    settings_of,
    variable_of,
)
from xscl.errors import XSCLError
from xscl.sinks.webhook_form import VARIABLE

__all__ = ["config"]


@click.command(context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True})
@click.argument("name", metavar="[COMMAND]", required=False, type=click.Choice(COMMANDS))
@click.argument("arguments", metavar="[ITS OPTIONS]...", nargs=-1, type=click.UNPROCESSED)
@FORM
@click.option("--config", "path", metavar="FILE", help=f"The file.  [default: {FILE}, if there]")
def config(name: str | None, arguments: Sequence[str], form: str, path: str | None) -> int:
    """Shows where each option of a command gets its value: xscl.toml, the environment, …

    COMMAND is run, watch or serve, with options as they would be given to it. Without COMMAND,
    shows what is set for all three.
    """
    named = COMMANDS if name is None else (name,)
    shown: dict[str, dict[str, Setting]] = {}
    read = None
    with wrong_usage():
        for each in named:
            found, read = _settings(each, arguments, path)
            if name is None:
                found = {key: one for key, one in found.items() if one.source != "default"}
            shown[each] = found
    for variable, near in _misspelt():
        click.echo(f"{variable} is no option's variable; did you mean {near}?", err=True)
    if form == "json":
        commands = {
            each: {key: _as_json(one) for key, one in found.items()}
            for each, found in shown.items()
        }
        echo_json({"file": read, "commands": commands})
        return 0
    click.echo(f"file: {read or f'none; there is no {FILE} here'}")
    console = Console(highlight=False, width=None if os.isatty(1) else 1_000)
    for each, found in shown.items():
        click.echo(f"\nxscl {each}" + ("" if found else ": nothing is set"))
        table = Table(box=None, pad_edge=False, show_header=False)
        for _ in range(3):
            table.add_column(overflow="fold")
        for key, one in found.items():
            style = "dim" if one.source == "default" else ""
            table.add_row(
                Text(f"  {key}", style), Text(_text(one.value), style), Text(one.place, style)
            )
        if found:
            console.print(table)
    return 0


def _settings(
    name: str, arguments: Sequence[str], path: str | None
) -> tuple[dict[str, Setting], str | None]:
    """The settings of a command that is given some arguments, by key; and the file."""
    from xscl.cli.main import cli

    above = click.Context(cli, info_name="xscl")
    command = cli.get_command(above, name)
    assert command is not None
    context = click.Context(command, info_name=name, parent=above)
    given = command.make_parser(context).parse_args(list(arguments))[0]
    if path is not None:
        given.setdefault("config", path)
    below, read = settings_of(command, given)
    found = {}
    for key, option in options_of(command).items():
        value = given.get(option.name or "")
        if isinstance(value, str | bool | list | tuple) and value not in ((), []):
            one = Setting(value, "option", "command line")
        else:
            one = below.get(option.name or "") or _default(option, context)
        if one.source != "default":
            try:
                option.type_cast_value(context, one.value)
            except click.BadParameter as error:
                raise XSCLError(f"{one.place}: {key_of(option)}: {error.message}") from error
        found[key] = one
    return found, read


def _default(option: click.Parameter, context: click.Context) -> Setting:
    shown = getattr(option, "show_default", None)
    value = option.get_default(context)
    if isinstance(shown, str):
        value = shown
    if not isinstance(value, str | int | float):
        value = ""
    return Setting(value if isinstance(value, bool) else str(value), "default", "default")


def _misspelt() -> Iterator[tuple[str, str]]:
    """The variables that are near to an option's, and none."""
    from xscl.cli.main import cli

    commands = (cli.get_command(click.Context(cli), name) for name in COMMANDS)
    options = [one for each in commands if each for one in options_of(each).values()]
    known = {name for one in options if (name := variable_of(one)) is not None}
    for name in os.environ:
        if name.startswith("XSCL_") and name not in {*known, VARIABLE, "XSCL_CONFIG"}:
            for near in get_close_matches(name, known, n=1, cutoff=0.8):
                yield name, near


def _text(value: str | bool | Sequence[str]) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else ", ".join(value)


def _as_json(one: Setting) -> dict[str, object]:
    value = one.value if isinstance(one.value, str | bool) else [*one.value]
    return {"value": None if value == "" else value, "from": one.source, "place": one.place}
