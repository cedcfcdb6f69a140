"""Groups of commands: each command is listed with the whole first sentence of its help; a name that
is misspelt is refused with the one that is near."""

from __future__ import annotations

import inspect
import os
from difflib import get_close_matches

import click

__all__ = ["Group", "summary_of", "with_default"]


def summary_of(command: click.Command) -> str:
    """The first sentence of a command's help, whole."""
    first = inspect.cleandoc(command.help or "").split("\n\n")[0]
    return " ".join(first.split())


class Group(click.Group):
    """A group whose list of commands is not cut to the width of the terminal."""

    def summaries(self, ctx: click.Context) -> dict[str, str]:
        """The names of the commands, with their summaries."""
        named = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        return {name: summary_of(one) for name, one in named.items() if one is not None}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order in which they were added."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries(ctx).items()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by its name; an option, or a name that cannot be meant, is left to click, and
        so is completion."""
        if (found := self.named(ctx, cmd_name)) is None and not ctx.resilient_parsing:
            near = get_close_matches(cmd_name, self.list_commands(ctx), n=1)
            if near:
                ctx.fail(f"there is no command {cmd_name!r}; did you mean {near[0]!r}?")
        return found

    def named(self, ctx: click.Context, name: str) -> click.Command | None:
        """A command by its name, where there is one."""
        return super().get_command(ctx, name)


def with_default(name: str) -> type[Group]:
    """A group of commands, of which the one of a name need not be named before its argument."""

    class WithDefault(Group):
        def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
            if args and args[0] not in {*self.commands, *ctx.help_option_names}:
                if not os.path.exists(args[0]):
                    self.get_command(ctx, args[0])  # which refuses one that is misspelt
                args = [name, *args]
            return super().parse_args(ctx, args)

    return WithDefault
