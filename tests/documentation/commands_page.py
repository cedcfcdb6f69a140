"""The parts of docs/commands.md that are made of the code: `python -m
tests.documentation.commands_page` writes them again, each between its two comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from xscl.cli.exits import CODES
from xscl.cli.helping.examples import EXAMPLES
from xscl.cli.helping.groups import summary_of
from xscl.cli.main import cli

__all__ = ["COMMANDS", "PAGE", "made", "renewed"]

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"

_PART = re.compile(r"(<!-- made of the code: (.+?) -->\n).*?(<!-- to here -->)", re.DOTALL)
_DEFAULT = re.compile(r"\s*\[default: (.*)\]$")


def _commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """A command and those within it, each by its whole name."""
    if name != "xscl":
        yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            within = command.get_command(context, each)
            assert within is not None
            yield from _commands(within, f"{name} {each}")


COMMANDS = dict(_commands(cli, "xscl"))


def renewed(page: str) -> str:
    """A page with its parts made again."""
    return _PART.sub(lambda part: f"{part[1]}{made(part[2])}\n{part[3]}", page)


def made(what: str) -> str:
    """A part: the list of commands, the exit codes, or a command by its name."""
    if what == "the commands":
        rows = [
            f"| [`{name}`](#{name.replace(' ', '-')}) | {summary_of(command)} |"
            for name, command in COMMANDS.items()
            if name.count(" ") == 1
        ]
        return "\n".join(["| command | what it does |", "| --- | --- |", *rows])
    if what == "the exit codes":
        rows = [f"| {code} | {means} |" for code, means in CODES.items()]
        return "\n".join(["| exit code | meaning |", "| --- | --- |", *rows])
    return _command(what)


def _command(name: str) -> str:
    command = COMMANDS[name]
    text = (command.help or "").split("\n\n")
    paragraphs = [_linked(" ".join(part.split())) for part in text]
    twin = next(one for one in COMMANDS if COMMANDS[one] is command)
    if twin != name:
        return f"{paragraphs[0]} The same as `{twin}`."
    examples = EXAMPLES[name.partition(" ")[2]]
    lines = [line for one in examples for line in (f"# {one.does}", one.line)]
    parts = ["\n\n".join(paragraphs), "\n".join(["```text", *lines, "```"])]
    if rows := list(_rows(name, command)):
        parts.append("\n".join(["| option | meaning |", "| --- | --- |", *rows]))
    return "\n\n".join(parts)


def _rows(name: str, command: click.Command) -> Iterator[str]:
    """A row for each option; those that a command further up has, too, are one at the end."""
    above: dict[str, str] = {}
    for earlier, other in COMMANDS.items():
        if earlier == name:
            break
        for option in _options(other):
            above.setdefault(_row(option), earlier)
    same: dict[str, list[str]] = {}
    for option in _options(command):
        row = _row(option)
        if row in above:
            same.setdefault(above[row], []).append(row)
    yield from (row for option in _options(command) if (row := _row(option)) not in above)
    for other_name, rows in same.items():
        cells = ", ".join(row.split(" | ")[0].removeprefix("| ") for row in rows)
        yield f"| {cells} | as for [`{other_name}`](#{other_name.replace(' ', '-')}) |"


def _options(command: click.Command) -> list[click.Option]:
    return [one for one in command.params if isinstance(one, click.Option)]


def _row(option: click.Option) -> str:
    if option.is_flag:
        value = ""
    elif isinstance(option.type, click.Choice):
        value = f" {max(option.opts, key=len).lstrip('-').rpartition('-')[2].upper()}"
    else:
        value = f" {option.metavar or _word(option.type)}"
    cell = ", ".join(f"`{one}{value}`" for one in option.opts)
    help = option.help or ""
    if isinstance(option.show_default, str):
        default = option.show_default
    elif found := _DEFAULT.search(help):
        default = found[1]
    elif option.show_default and not option.is_flag:
        default = f"`{option.default}`"
    else:
        default = ""
    help = _linked(_DEFAULT.sub("", help)).rstrip(".")
    if isinstance(option.type, click.Choice):
        help += f": {', '.join(f'`{one}`' for one in option.type.choices)}"
    if option.multiple and "repeated" not in help:
        help += "; may be repeated"
    if option.required:
        help += "; required"
    return f"| {cell} | {help}{f'. Default: {default}' if default else ''} |".replace("<", "&lt;")


def _word(kind: click.ParamType) -> str:
    if isinstance(kind, click.Path):
        return "FILE"
    if isinstance(kind, click.types.IntParamType):
        return "N"
    return kind.name.upper() if kind.name.islower() else kind.name


def _linked(text: str) -> str:
    """A text with links in place of the names of pages."""
    text = re.sub(r"docs/commands\.md(#[\w-]+)", r"[below](\1)", text)
    return re.sub(r"docs/([\w-]+)\.md(#[\w-]+)?", r"[\1.md](\1.md\2)", text)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
