"""How a command ends: a message on standard error and an exit code; in order by an interrupt or a
termination, immediately by a second one.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType

import click

from xscl.cli.log import Level, Log, log_of_command
from xscl.errors import XSCLError

__all__ = ["CODES", "STANDARD_OUTPUT", "Stopped", "ended_by_signals", "run_command"]

CODES = {
    0: "done; a service (`serve`, and `watch`, `ingest`, `spark run` without `--once`): ended by "
    "SIGTERM, too",
    1: "failed: a file, the state or a match could not be written, no feed could be read, every "
    "document was skipped, or a query was stopped",
    2: "wrong usage, a bad `xscl.toml`, or a bad query (`run` and `watch` run the good ones, and "
    "`serve`; a service that is stopped ends with 0 or 130)",
    3: "with `--strict`: a document was skipped",
    4: "matches were not delivered (`--exec`, `--webhook`)",
    130: "interrupted (SIGINT): a first interrupt lets the batch under way be finished, a second "
    "one does not",
    143: "`run`, and with `--once` `watch`, `ingest` and `spark run`: ended by SIGTERM before the "
    "end of the input",
}
"""The exit codes, each with what it says."""

STANDARD_OUTPUT = "standard output"
"""Its name, where a failure names a file."""

_FINISHING = "ending once the batch under way is finished; interrupt again to end immediately"


def run_command(command: click.Command) -> None:
    """Runs a command, and exits with its code; a failure that a user can cause is one message."""
    log = Log()
    logger, logged = logging.getLogger("xscl"), _Logged(log)
    logger.addHandler(logged)
    try:
        code = command.main(standalone_mode=False, obj=log)
    except click.ClickException as error:
        if log.json:
            log.say(error.format_message())
        else:
            error.show()
        code = error.exit_code
    except click.Abort:
        log.say("interrupted")
        code = 130
    except BrokenPipeError:
        _leave_output()
        code = 1
    except OSError as error:
        name = error.filename
        if error.errno == errno.ENOSPC and name in (None, STANDARD_OUTPUT):
            _leave_output()
            name = STANDARD_OUTPUT
        reason = error.strerror if name is not None and error.strerror else str(error)
        log.say(f"xscl: {reason}" if name is None else f"xscl: {name}: {reason}")
        code = 1
    except XSCLError as error:
        log.say(f"xscl: {error}")
        code = 1
    finally:
        logger.removeHandler(logged)
    sys.exit(code or 0)


class _Logged(logging.Handler):
    """What the package logs, in the form of the command's messages."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Writes a record as a message."""
        least = Level.ERROR if record.levelno >= logging.ERROR else Level.WARNING
        self._log.say(self.format(record), least)


def _leave_output() -> None:
    """Nothing more can be written to standard output, not even at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Stopped(threading.Event):
    """Set by a first interrupt or termination."""

    number: int | None = None
    """The signal."""

    def code(self, *, service: bool = False) -> int:
        """The exit code of what was stopped: a `service` has no other end than a termination."""
        if self.number == signal.SIGTERM:
            return 0 if service else 128 + signal.SIGTERM
        return 128 + signal.SIGINT


@contextlib.contextmanager
def ended_by_signals(ends: Sequence[Callable[[], None]]) -> Iterator[Stopped]:
    """An interrupt or a termination ends what runs in order, a second one immediately."""
    stopped, at_once = Stopped(), threading.Event()
    log = log_of_command()

    def stop(number: int, frame: FrameType | None) -> None:
        if stopped.is_set():
            at_once.set()
            raise KeyboardInterrupt
        stopped.number = number
        stopped.set()
        if (line := log.line(_FINISHING, Level.INFO)) is not None:
            _tell(line)
        for end in ends:
            end()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    except Exception as error:
        if at_once.is_set():
            # DuckDB, in a statement, makes another exception of it.
            raise KeyboardInterrupt from error
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell(text: str) -> None:
    """Writes a line from a signal handler, which no stream's lock may keep."""
    over = "\r\x1b[2K" if os.isatty(2) else ""
    with contextlib.suppress(OSError):
        os.write(2, f"{over}{text}\n".encode())
