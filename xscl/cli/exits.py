"""How a command ends: a message on standard error, and an exit code.

0 done; 1 the run failed; 2 wrong usage or a bad query; 3 `--strict` and documents were skipped;
130 interrupted.
"""

from __future__ import annotations

import os
import sys

import click

from xscl.errors import XSCLError

__all__ = ["run_command"]


def run_command(command: click.Command) -> None:
    """Runs a command, and exits with its code; a failure that a user can cause is one message."""
    try:
        code = command.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except click.Abort:
        click.echo("interrupted", err=True)
        code = 130
    except BrokenPipeError:
        # The reader has gone; nothing more can be said to it, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except (XSCLError, OSError) as error:
        click.echo(f"xscl: {error}", err=True)
        code = 1
    sys.exit(code or 0)
