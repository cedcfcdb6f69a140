"""The page docs/commands.md: it is made of the code of today, and has a section for each command,
with all of its options and no other."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import pytest

from tests.commands import xscl
from tests.documentation.commands_page import COMMANDS, PAGE, renewed
from xscl import times
from xscl.cli.helping.examples import EXAMPLES
from xscl.cli.helping.groups import summary_of
from xscl.cli.main import cli

TEXT = PAGE.read_text(encoding="utf-8")
_, *_SECTIONS = re.split(r"^## (.+)\n", TEXT, flags=re.MULTILINE)
SECTIONS = dict(zip(_SECTIONS[::2], _SECTIONS[1::2], strict=True))


def section(name: str) -> str:
    """The section of a command; of one that is the same under another name, that one's."""
    found = re.search(r"The same as `(.+?)`", SECTIONS[name])
    if found is None:
        return SECTIONS[name]
    assert COMMANDS[found[1]] is COMMANDS[name]
    return SECTIONS[found[1]]


def test_the_page_is_of_today() -> None:
    """Where it is not, `python -m tests.documentation.commands_page` makes it again."""
    assert renewed(TEXT) == TEXT
    made = re.findall(r"^<!-- made of the code: (.+?) -->$", TEXT, re.MULTILINE)
    assert made == ["the commands", "the exit codes", *COMMANDS]


def test_each_command_has_a_section() -> None:
    assert list(SECTIONS) == ["xscl.toml", *COMMANDS]


def test_the_units_of_durations() -> None:
    (row,) = re.findall(r"^\| duration \| (.*?);", TEXT, re.MULTILINE)
    named = re.findall("`(.+?)`", row)
    lengths = {times.microseconds("1", unit) for unit in named}
    assert lengths == {times.microseconds("1", unit) for unit in times._UNITS}


def test_each_command_has_examples() -> None:
    assert {f"xscl {name}".strip() for name in EXAMPLES} == {"xscl", *COMMANDS}
    for name, examples in EXAMPLES.items():
        assert examples
        for one in examples:
            command = f"xscl {name.removesuffix(' run').removesuffix(' show')}".strip()
            assert command in one.line


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_is_explained(name: str) -> None:
    options = [one for one in COMMANDS[name].params if isinstance(one, click.Option)]
    known = {text for option in options for text in option.opts}
    cells = "".join(re.findall(r"^\| (`-.+?) \|", section(name), re.MULTILINE))
    assert set(re.findall(r"`(--?[a-z-]+)", cells)) == known


def with_referred(text: str) -> Sequence[str]:
    """A section, and those that its table refers to."""
    referred = re.findall(r"\| as for \[`(.+?)`\]", text)
    return [text, *(SECTIONS[name] for name in referred)]


@pytest.mark.parametrize("name", COMMANDS)
def test_each_value_of_a_choice_is_explained(name: str) -> None:
    for option in COMMANDS[name].params:
        if isinstance(option.type, click.Choice) and isinstance(option, click.Option):
            for value in option.type.choices:
                assert any(f"`{value}`" in one for one in with_referred(section(name)))


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_has_a_help_text(name: str) -> None:
    command = COMMANDS[name]
    assert summary_of(command).endswith((".", "…")), "one whole sentence in the list"
    assert len(summary_of(command)) <= 100
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, option.name


def test_the_list_of_commands_is_of_their_helps() -> None:
    context = click.Context(cli)
    assert isinstance(cli, click.Group)
    for name in cli.list_commands(context):
        assert f"| [`xscl {name}`]" in TEXT
        command = cli.get_command(context, name)
        assert command is not None
        (listed,) = re.findall(
            rf"^  {name} .*(?:\n {{6,}}.*)*", cli.get_help(context), re.MULTILINE
        )
        assert " ".join(listed.split()) == f"{name} {summary_of(command)}"


def test_the_package_runs_as_a_module() -> None:
    by_name = subprocess.run(
        [sys.executable, "-m", "xscl", "--version"],
        check=False,
        cwd=PAGE.parents[1],
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


def test_the_file_of_options(tmp_path: Path) -> None:
    """The example is read, and the first command is as the page says."""
    (file,) = re.findall(r"^```toml\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    section = SECTIONS["xscl.toml"]
    (block,) = re.findall(r"^```text\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert xscl("sample", ".", at=tmp_path).returncode == 0
    (tmp_path / "xscl.toml").write_text(file, encoding="utf-8")
    outputs = []
    for line in block.splitlines():
        command, _, said = line.partition("#")
        before, _, words = command.partition("xscl ")
        environment = {**os.environ, **dict(one.split("=", 1) for one in before.split())}
        done = xscl(*shlex.split(words), at=tmp_path, environment=environment)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
        if words.strip() == "run":
            meant = shlex.split(said.partition("as xscl ")[2])
            if meant:
                (tmp_path / "empty").mkdir()
                (tmp_path / "xscl.toml").rename(tmp_path / "empty" / "xscl.toml")
                assert xscl(*meant, at=tmp_path).stdout == done.stdout
                (tmp_path / "empty" / "xscl.toml").rename(tmp_path / "xscl.toml")
    counts, config, lines, text = outputs
    assert counts.startswith("reviewed\t")
    assert "xscl.toml, line" in config
    assert lines.startswith("{")
    assert " reviewed  " in text
