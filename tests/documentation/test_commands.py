"""The page docs/commands.md: a section for each command, with all of its options and no other."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from xscl.cli.main import cli

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
_, *_SECTIONS = re.split(r"^## (.+)\n", PAGE, flags=re.MULTILINE)
SECTIONS = dict(zip(_SECTIONS[::2], _SECTIONS[1::2], strict=True))


def commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """A command and those within it, each by its whole name."""
    if name != "xscl":
        yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            within = command.get_command(context, each)
            assert within is not None
            yield from commands(within, f"{name} {each}")


COMMANDS = dict(commands(cli, "xscl"))


def section(name: str) -> str:
    """The section of a command; of one that is the same under another name, that one's."""
    found = re.search(r"The same as `(.+?)`", SECTIONS[name])
    if found is None:
        return SECTIONS[name]
    assert COMMANDS[found[1]] is COMMANDS[name]
    return SECTIONS[found[1]]


def test_each_command_has_a_section() -> None:
    assert sorted(SECTIONS) == sorted(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_is_explained(name: str) -> None:
    options = [one for one in COMMANDS[name].params if isinstance(one, click.Option)]
    known = {text for option in options for text in option.opts}
    cells = "".join(re.findall(r"^\| (`-.+?) \|", section(name), re.MULTILINE))
    assert set(re.findall(r"`(--?[a-z-]+)", cells)) == known


@pytest.mark.parametrize("name", COMMANDS)
def test_each_value_of_a_choice_is_explained(name: str) -> None:
    for option in COMMANDS[name].params:
        if isinstance(option.type, click.Choice):
            for value in option.type.choices:
                assert f"`{value}`" in section(name)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_has_a_help_text(name: str) -> None:
    command = COMMANDS[name]
    assert command.get_short_help_str(limit=100).endswith("."), "one whole sentence in the list"
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help or option.name == "form", option.name


def test_the_package_runs_as_a_module() -> None:
    by_name = subprocess.run(
        [sys.executable, "-m", "xscl", "--version"],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert (by_name.returncode, by_name.stdout[:5]) == (0, "xscl,"), by_name.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_an_option_speaks_of_options_that_its_command_has(name: str) -> None:
    options = [one for one in COMMANDS[name].params if isinstance(one, click.Option)]
    known = {text for option in options for text in option.opts}
    for option in options:
        # But for those of another command, which is named.
        said = re.sub("`xscl .*?`", "", f"{option.help} {option.show_default}")
        assert {*re.findall(r"(?<![\w-])--[a-z][a-z-]+", said)} <= known, said
