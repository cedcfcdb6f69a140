"""`xscl serve`: an engine behind HTTP.

Queries come from files and over HTTP; with `--state` all of them are there again in the next run,
but for those of files whose text has changed, which begin again.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from xscl.cli.ends import check_ends
from xscl.cli.exits import ended_by_signals
from xscl.cli.feeds.feed_report import FeedReport
from xscl.cli.feeds.polling import LEAST_WAIT, Polling, Unkept
from xscl.cli.log import LOG_FORMAT, QUIET, VERBOSE, Level, log_of_command
from xscl.cli.options import (
    SOURCE,
    Consistency,
    QueriesOrNone,
    Revisable,
    by_default,
    option,
    size,
    takes,
    wrong_usage,
)
from xscl.cli.queries import QueryText, read_texts, subscribe
from xscl.cli.resume import open_engine, plan_of
from xscl.cli.settings.given import CONFIG, Configured
from xscl.counts import counted
from xscl.durable.polled import PolledFeeds
from xscl.errors import QueryStopped, XSCLError
from xscl.garbage import collect_rarely, leave_imported
from xscl.polling.relations import Envelope
from xscl.polling.watched_feeds import watched_feeds
from xscl.web.proxies import ProxySettings

if TYPE_CHECKING:
    from xscl.engine import Engine
    from xscl.serve.feeds import Feeds
    from xscl.serve.safety import Gate
    from xscl.serve.server import Server
    from xscl.serve.service import Limits, Service

__all__ = ["serve"]

_LEAST_TOKEN = 16

_OFTEN, _SOON = 5, 60.0
"""After so many faults within so many seconds a server ends: another one would come, too."""


def _number(default: int, help: str) -> Callable[[str], Callable[[Any], Any]]:
    return option(help, type=click.IntRange(1), default=default)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(Polling):
    """The options of `xscl serve`."""

    queries: QueriesOrNone
    sources: Annotated[
        Sequence[tuple[str, str]],
        option(
            "The http(s) address of a feed that is polled, or an OPML file of addresses.",
            "--feed",
            multiple=True,
            type=SOURCE,
        ),
    ]
    host: Annotated[str, option("The address at which it listens.", default="127.0.0.1")]
    port: Annotated[
        int,
        option(
            "The port at which it listens; 0 is any that is free.",
            type=click.IntRange(0, 65535),
            default=8765,
        ),
    ]
    token_file: Annotated[
        str | None,
        option(
            "The file of the token that requests bring; required unless --host is the loopback.",
            type=click.Path(exists=True, dir_okay=False),
            metavar="FILE",
        ),
    ]
    hosts: Annotated[
        Sequence[str],
        option(
            "Another host name that requests may use for this server.",
            "--allow-host",
            multiple=True,
            metavar="NAME",
        ),
    ]
    max_body: Annotated[
        int,
        option(
            "The size of a request, unpacked, above which it is refused.",
            type=size(),
            default="64 MiB",
        ),
    ]
    max_queries: Annotated[int, _number(10_000, "How many queries there may be.")]
    max_readers: Annotated[int, _number(1_000, "How many may read events at one time.")]
    keep_matches: Annotated[
        int,
        _number(
            100_000,
            "How many of the newest matches are retained for later requests; without --state, in "
            "at most 64 MiB.",
        ),
    ]
    revisable: Revisable
    consistency: Consistency
    most_matches: Annotated[
        int,
        _number(
            100_000,
            "How many matches of a pattern a step may find, and may be pending or partial, at "
            "most.",
        ),
    ]


@click.command(cls=Configured)
@takes(Options)
@VERBOSE
@QUIET
@LOG_FORMAT
@CONFIG
def serve(options: Options) -> int:
    """Answers queries and documents over HTTP, and shows them on a page.

    Queries may come over HTTP, too.  docs/serve.md has all that can be asked.
    """
    with _extra():
        from xscl.serve.service import Limits
    check_ends()
    gate = _gate(options)
    log = log_of_command()
    texts = read_texts(options.queries, options.params)
    names = ("max_body", "max_document", "max_queries", "max_readers", "keep_matches")
    limits = Limits(**{name: getattr(options, name) for name in names})
    # What a fault of ours has closed is as it was before, in the file: it must not end a server
    # with all queries that have nothing to do with it.
    failures: deque[float] = deque(maxlen=_OFTEN)
    added: list[tuple[str, str]] = []
    port = options.port
    while True:
        server, port, code = _serve_once(
            options, port, () if failures else texts, gate, limits, added
        )
        if server.failure is None:
            return code
        often = len(failures) == _OFTEN and time.monotonic() - failures[0] < _SOON
        if options.state is None or not server.by_fault or often:
            raise XSCLError(server.failure)
        failures.append(time.monotonic())
        log.say(f"{server.failure}; that is done now: please report this", Level.ERROR)


def _serve_once(
    options: Options,
    port: int,
    texts: Sequence[QueryText],
    gate: Gate,
    limits: Limits,
    added: list[tuple[str, str]],
) -> tuple[Server, int, int]:
    """Serves at a port, with the queries of some texts in addition to those of the state, and the
    feeds that requests have `added`, until it is stopped or has failed; the
    server, its port, and the exit code."""
    from xscl.serve.server import Server, listening
    from xscl.serve.service import Service

    log = log_of_command()
    skipped: list[XSCLError] = []

    def report_stop(error: QueryStopped) -> None:
        log.say(str(error), Level.ERROR)
        skipped.append(error)

    with contextlib.ExitStack() as stack:
        engine = open_engine(
            options.state,
            options.engine_lateness,
            skipped.append,
            dry_run=False,
            memory=options.memory,
            on_stop=report_stop,
            most_matches=options.most_matches,
            revisable=options.revisable or None,
            consistency=options.consistency,
        )
        stack.enter_context(engine)
        leave_imported()
        sources = [*options.sources, *added]
        options.retain_recent(engine, sources)
        bad = _take_queries(engine, texts)
        wait = LEAST_WAIT if sources else 0
        follows = by_default("lateness")
        service = Service(engine, skipped, limits, follows=follows, wait=wait)
        service.lateness = options.late
        service.follow_windows()
        service.feeds = _feeds(options, service, added)
        collect_rarely(again=False)
        listener = stack.enter_context(contextlib.closing(listening(options.host, port)))
        bound_to = listener.getsockname()[1]
        name = f"[{options.host}]" if ":" in options.host else options.host
        address = f"http://{name}:{bound_to}"
        there = counted(len(engine.subscriptions), "query")
        server = Server(
            service, gate, lambda: log.say(f"serving at {address}/, with {there}", Level.INFO)
        )
        stopped = stack.enter_context(ended_by_signals([server.stop]))
        server.run([listener])
    code = 2 if bad else 0
    return server, bound_to, stopped.code(service=True) if stopped.is_set() else code


def _feeds(options: Options, service: Service, added: list[tuple[str, str]]) -> Feeds:
    """The feeds that are polled, those that requests have `added`, too; the state
    remembers them, where there is one."""
    from xscl.serve.feeds import Feeds

    log, engine = log_of_command(), service.engine.engine
    report = FeedReport(log.say)
    with wrong_usage():
        polled = watched_feeds(
            [*options.sources, *added],
            lambda problem: log.say(f"skipped: {problem}", Level.WARNING),
        )
        proxies = ProxySettings.of_environment()
        keeper = engine.keeper
        kept = Unkept() if keeper is None else PolledFeeds(keeper, engine.transaction)
        poller = options.poller(
            polled,
            kept,
            engine,
            report,
            proxies,
            report.answered,
            revisable=options.revisable,
            on_dates=report.dated,
        )
    report.begin(poller.not_due)

    def late(envelopes: Sequence[Envelope]) -> Sequence[Envelope]:
        return report.late(envelopes, engine.watermark, service.lateness)

    def begin(stream: str) -> None:
        options.retain_recent(engine, [(stream, "")])
        service.expect_feeds(LEAST_WAIT)

    return Feeds(poller, polled, service.engine, late, service.advance, begin, added)


def _take_queries(engine: Engine, texts: Sequence[QueryText]) -> int:
    """Subscribes the queries of files in addition to those of the state, and again where one has
    changed; prints and counts the errors."""
    plan, errors = plan_of(engine, texts, stops=False)
    with engine.transaction():
        for name in plan.changed:
            engine.cancel(name)
        return subscribe(engine, texts, known=errors)[0]


def _gate(options: Options) -> Gate:
    from xscl.serve.safety import LOOPBACK, Gate, is_loopback

    host, token_file = options.host, options.token_file
    if token_file is None and not is_loopback(host):
        raise click.UsageError(
            f"--host {host}: anybody who reaches that address could ask for anything: give "
            "--token-file with a file that holds a token"
        )
    token = None
    if token_file is not None:
        token = Path(token_file).read_text(encoding="utf-8", errors="replace").strip()
        if len(token) < _LEAST_TOKEN or not token.isascii() or not token.isprintable():
            raise click.UsageError(
                f"--token-file {token_file}: the token has to be one line of at least "
                f"{_LEAST_TOKEN} ASCII characters, such as `openssl rand -hex 32` makes"
            )
    names = {host, *options.hosts, *(LOOPBACK if is_loopback(host) else ())}
    anywhere = host in ("0.0.0.0", "::")
    return Gate(frozenset(map(str.lower, names)), any_address=anywhere, token=token)


@contextlib.contextmanager
def _extra() -> Iterator[None]:
    """What is missing for a server is reported by the name that it is installed by."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise XSCLError(
            f"the server needs {error.name}: install it with `pip install 'xscl[serve]'`"
        ) from error
