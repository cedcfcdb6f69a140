"""The options of a command -> their values, each from where it is given first: the command line,
the environment, a file, the default.

Keys, types and variables are those of the command's options: `--dead-letters FILE` is
`dead-letters` in the file and `XSCL_DEAD_LETTERS` in the environment, a flag is true or false
there, an option that may be repeated a list, and one of the form STREAM=SOURCE a table.  What is
given replaces what a place further down gives, also where the option may be repeated.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import click

from xscl.cli.ends import READ, READ_FILE, WRITTEN
from xscl.cli.settings.files import SettingsFile
from xscl.cli.sources import SOURCES
from xscl.errors import XSCLError
from xscl.sinks.webhook_form import VARIABLE

__all__ = [
    "COMMANDS",
    "CONFIG",
    "FILE",
    "Configured",
    "Setting",
    "key_of",
    "options_of",
    "settings_of",
    "variable_of",
]

COMMANDS = ("run", "watch", "serve")
"""The commands that read a file of settings, which has a table for each."""

FILE = "xscl.toml"
"""The file that is read where none is named."""

_TOGETHER = (
    {"queries", "given_queries"},
    {source.name for source in SOURCES},
    {"verbose", "quiet"},
)
"""Options that stand for each other: whoever gives one replaces all of them."""

_NUMBERS = (click.types.IntParamType, click.types.FloatParamType)
_TEXTS = (click.Path, click.Choice, click.types.StringParamType)

CONFIG = click.option(
    "--config",
    metavar="FILE",
    expose_value=False,
    help=f"A file of these options (docs/commands.md#xscltoml).  [default: {FILE}, if there]",
)


@dataclass(frozen=True, slots=True)
class Setting:
    """The value of an option as text, texts or a truth, `source`, which of the four gives it, and
    `place`, where it is there."""

    value: str | bool | Sequence[str]
    source: str
    place: str


class Configured(click.Command):
    """A command that takes options from a file and the environment, too."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses a command line; raises UsageError for values that cannot be, with their place."""
        given, _, _ = self.make_parser(ctx).parse_args(list(args))
        try:
            found, path = settings_of(self, given)
        except XSCLError as error:
            # A help that is asked for is shown, and the log has its form.
            for one in self.get_params(ctx):
                if one.is_eager:
                    one.handle_parse_result(ctx, given, args)
            if ctx.resilient_parsing:
                return super().parse_args(ctx, args)
            raise click.UsageError(str(error), ctx) from error
        ctx.default_map = {name: one.value for name, one in found.items()}
        ctx.meta[READ_FILE] = path
        try:
            return super().parse_args(ctx, args)
        except click.BadParameter as error:
            option = error.param
            if option is None or (setting := found.get(option.name or "")) is None:
                raise
            problem = f"{setting.place}: {key_of(option)}: {error.message}"
            raise click.UsageError(problem, ctx) from error


def key_of(option: click.Parameter) -> str:
    """The key of an option in a file, or of an argument: its longest name."""
    return max(option.opts, key=len).lstrip("-")


def variable_of(option: click.Parameter) -> str | None:
    """The variable of an option in the environment; None for one whose name has other use."""
    name = f"XSCL_{key_of(option).replace('-', '_').upper()}"
    return None if name == VARIABLE else name


def options_of(command: click.Command) -> dict[str, click.Parameter]:
    """The options and arguments that a file may have, by their keys."""
    return {key_of(one): one for one in command.params if key_of(one) != "config"}


def settings_of(
    command: click.Command, given: Mapping[str, object]
) -> tuple[dict[str, Setting], str | None]:
    """What a file and the environment give to a command, by the names of its parameters, less what
    is `given` on its command line; and the name of the file.  Raises XSCLError."""
    path = given.get("config")
    if not isinstance(path, str):
        path = os.environ.get("XSCL_CONFIG") or (FILE if os.path.exists(FILE) else None)
    options = options_of(command)
    below = {} if path is None else _of_file(SettingsFile.read(path), str(command.name))
    above = dict(_of_environment(options))
    named = {name for name, value in given.items() if isinstance(value, str | bool | list | tuple)}
    named -= {name for name in named if given[name] in ((), [])}
    return _without(below, {*above, *named}) | _without(above, named), path


def _without(settings: Mapping[str, Setting], given: set[str]) -> dict[str, Setting]:
    """Settings, less those that others replace."""
    for several in _TOGETHER:
        if given & several:
            given = given | several
    return {name: one for name, one in settings.items() if name not in given}


def _of_environment(options: Mapping[str, click.Parameter]) -> Iterator[tuple[str, Setting]]:
    for option in options.values():
        variable = variable_of(option)
        if variable is not None and (text := os.environ.get(variable)):
            value: str | Sequence[str] = text
            if _is_repeated(option):
                try:
                    value = shlex.split(text)
                except ValueError as error:
                    raise XSCLError(f"{variable}: {text!r} is not words of a shell") from error
            yield option.name or "", Setting(value, "environment", variable)


def _of_file(file: SettingsFile, name: str) -> dict[str, Setting]:
    """What a file gives to a command: its own table before what is above all tables.  All of the
    file is checked."""
    from xscl.cli.main import cli

    commands = {one: cli.get_command(click.Context(cli), one) for one in COMMANDS}
    options = {one: options_of(command) for one, command in commands.items() if command}
    everywhere = {key for each in options.values() for key in each}
    found: dict[str, Setting] = {}
    own: dict[str, Setting] = {}
    for key, value in file.members.items():
        if key not in COMMANDS:
            if key not in everywhere:
                raise _unknown(file, (key,), {*everywhere, *COMMANDS}, "no option")
            for one in COMMANDS:
                if (option := options[one].get(key)) is not None:
                    setting = _setting(option, value, file, (key,))
                    if one == name:
                        found[option.name or ""] = setting
        elif not isinstance(value, dict):
            raise XSCLError(f"{file.place(key)}: {key} is a table: write [{key}] above its options")
        else:
            for inner, each in value.items():
                if (option := options[key].get(inner)) is None:
                    raise _unknown(file, (key, inner), options[key], f"no option of xscl {key}")
                setting = _setting(option, each, file, (key, inner))
                if key == name:
                    own[option.name or ""] = setting
    return _without(found, {*own}) | own


def _unknown(
    file: SettingsFile,
    keys: tuple[str, ...],
    known: Sequence[str] | set[str] | dict[str, Any],
    what: str,
) -> XSCLError:
    near = get_close_matches(keys[-1].replace("_", "-"), list(known), n=1)
    where = f"xscl help {keys[0]}" if len(keys) > 1 else "xscl config run"
    advice = f"did you mean {near[0]!r}?" if near else f"`{where}` lists them"
    return XSCLError(f"{file.place(*keys)}: {keys[-1]!r} is {what}; {advice}")


def _is_repeated(option: click.Parameter) -> bool:
    return option.nargs == -1 or getattr(option, "multiple", False)


def _setting(
    option: click.Parameter, value: object, file: SettingsFile, keys: tuple[str, ...]
) -> Setting:
    """A member of a file; raises XSCLError for one of another type than its option has."""
    place = file.place(*keys)

    def text(one: object, kind: str = "") -> str:
        if isinstance(option.type, _NUMBERS):
            right = isinstance(one, int) and not isinstance(one, bool)
        elif isinstance(option.type, _TEXTS) or _is_table(option):
            right = isinstance(one, str)
        else:  # durations, sizes, rates
            right = isinstance(one, str | int | float) and not isinstance(one, bool)
        if not right:
            raise _wrong_type(option, one, f"{place}: {keys[-1]}")
        return str(one)

    made: str | bool | Sequence[str]
    if getattr(option, "is_flag", False):
        if not isinstance(value, bool):
            raise _wrong_type(option, value, f"{place}: {keys[-1]}")
        made = value
    elif not _is_repeated(option):
        made = _relative(option, text(value), file.path)
    elif isinstance(value, dict) and _is_table(option):
        made = [
            _relative(option, f"{name}={_plain(one, place, name)}", file.path)
            for name, several in value.items()
            for one in (several if isinstance(several, list) else [several])
        ]
    else:
        several = value if isinstance(value, list) else [value]
        made = [_relative(option, text(one), file.path) for one in several]
    return Setting(made, "file", place)


def _plain(value: object, place: str, name: str) -> object:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise XSCLError(f"{place}: {name} is {_kind(value)}; write a text, or a list of texts")
    return value


def _is_table(option: click.Parameter) -> bool:
    """Whether the values of an option are of the form NAME=VALUE."""
    return "=" in (option.metavar or option.type.name)


def _wrong_type(option: click.Parameter, value: object, where: str) -> XSCLError:
    if getattr(option, "is_flag", False):
        wanted = "true or false"
    elif isinstance(option.type, _NUMBERS):
        wanted = "a number, without quotes"
    else:
        wanted = 'a text, in quotes ("…")'
        if _is_repeated(option):
            wanted += ", or a list of texts"
            if _is_table(option):
                wanted = f"a table ({(option.metavar or option.type.name).replace('=', ' = ')})"
    return XSCLError(f"{where} is {_kind(value)}; write {wanted}")


def _kind(value: object) -> str:
    kinds = {bool: "true or false", str: "a text", int: "a number", float: "a number"}
    return {**kinds, list: "a list", dict: "a table"}.get(type(value), "a date or a time")


def _relative(option: click.Parameter, value: str, path: str) -> str:
    """A value; where it names a file or a folder, from the folder of the file of settings."""
    if option.opts[0] not in {**READ, **WRITTEN}:
        return value
    head, equals, name = value.partition("=") if _is_table(option) else ("", "", value)
    if name == "-" or name.startswith(("http://", "https://")):
        return value
    return f"{head}{equals}{os.path.join(os.path.dirname(path), name)}"
