"""`xscl serve`: an engine behind HTTP.

Queries come from files and over HTTP; with `--state` all of them are there again in the next run,
but for those of files whose text has changed, which begin anew.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xscl.cli.ends import check_ends
from xscl.cli.exits import ended_by_signals
from xscl.cli.feeds.feed_report import FeedReport
from xscl.cli.feeds.polling import LEAST_WAIT, HowToPoll, Unkept
from xscl.cli.log import LOG_FORMAT, QUIET, VERBOSE, Level, log_of_command
from xscl.cli.options import (
    ALLOW_PRIVATE,
    CONTACT,
    EVERY,
    LINKS,
    MAX_DOCUMENT,
    MEMORY,
    PARAMS,
    QUERIES_OR_NONE,
    RETAIN,
    RETAIN_MOST,
    SOURCE,
    STATE,
    UPDATES,
    Duration,
    Size,
)
from xscl.cli.queries import QueryText, read_texts, subscribe
from xscl.cli.resume import open_engine, retain_recent
from xscl.counts import counted
from xscl.durable.polled import PolledFeeds
from xscl.errors import QueryStopped, XSCLError
from xscl.feeds import Rules
from xscl.garbage import collect_rarely, leave_imported
from xscl.polling.relations import Envelope
from xscl.polling.watched_feeds import watched_feeds
from xscl.times import to_seconds
from xscl.web.proxies import ProxySettings

if TYPE_CHECKING:
    from xscl.engine import Engine
    from xscl.serve.feeds import Feeds
    from xscl.serve.safety import Gate
    from xscl.serve.service import Service

__all__ = ["serve"]

_LEAST_TOKEN = 16

_OFTEN, _SOON = 5, 60.0
"""After so many faults within so many seconds a server ends: another one would come, too."""


@click.command()
@QUERIES_OR_NONE
@click.option(
    "--feed",
    "sources",
    multiple=True,
    type=SOURCE,
    help="The http(s) address of a feed that is polled, or an OPML file of addresses.",
)
@EVERY
@CONTACT
@ALLOW_PRIVATE
@UPDATES
@LINKS
@STATE
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="The address at which it listens."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="The port at which it listens; 0 is any that is free.",
)
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="The file of the token that requests bring; asked for unless --host is the loopback.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="Another name by which requests may call this server.",
)
@click.option(
    "--lateness",
    type=Duration(),
    show_default="the widest window of the queries that ends, a day at least",
    help="How late a document may arrive and still be joined.",
)
@PARAMS
@MAX_DOCUMENT
@click.option(
    "--max-body",
    type=Size(),
    default="64 MiB",
    show_default=True,
    help="The size of a request, unpacked, above which it is refused.",
)
@click.option(
    "--max-queries",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="How many queries there may be.",
)
@click.option(
    "--max-readers",
    type=click.IntRange(1),
    default=1_000,
    show_default=True,
    help="How many may read events at one time.",
)
@click.option(
    "--keep-matches",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    help="How many of the newest matches are kept for those who ask for them later.",
)
@click.option(
    "--most-matches",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    help="How many matches of a pattern a step may find, and may be pending or partial, at most.",
)
@RETAIN
@RETAIN_MOST
@MEMORY
@VERBOSE
@QUIET
@LOG_FORMAT
def serve(
    queries: Sequence[str],
    sources: Sequence[tuple[str, str]],
    every: float,
    contact: str | None,
    allow_private: bool,
    updates: bool,
    links: Rules,
    state: str | None,
    host: str,
    port: int,
    token_file: str | None,
    hosts: Sequence[str],
    lateness: int | None,
    params: Sequence[tuple[str, str]],
    max_document: int,
    max_body: int,
    max_queries: int,
    max_readers: int,
    keep_matches: int,
    most_matches: int,
    retain: int | None,
    retain_most: int,
    memory: int | None,
) -> int:
    """Answers queries and documents over HTTP, and shows them on a page.

    Queries may come over HTTP, too.  docs/serve.md has all that can be asked.
    """
    with _extra():
        from xscl.serve.server import Server, listening
        from xscl.serve.service import Limits, Service
    check_ends()
    gate = _gate(host, hosts, token_file)
    log = log_of_command()
    texts = read_texts(queries, params)
    given = click.get_current_context().get_parameter_source("lateness")
    follows = given is click.core.ParameterSource.DEFAULT
    late = None if lateness is None else to_seconds(lateness)
    bound = None if follows else "INF" if late is None else late
    limits = Limits(
        max_body=max_body,
        max_document=max_document,
        max_queries=max_queries,
        max_readers=max_readers,
        keep_matches=keep_matches,
    )

    def life(at: int, some: Sequence[QueryText]) -> tuple[Server, int, int]:
        """Serves at a port, with the queries of some texts beside those of the state, until it is
        stopped or has failed; the server, its port, and the exit code."""
        skipped: list[XSCLError] = []

        def report_stop(error: QueryStopped) -> None:
            log.say(str(error), Level.ERROR)
            skipped.append(error)

        with contextlib.ExitStack() as stack:
            engine = stack.enter_context(
                open_engine(
                    state,
                    bound,
                    skipped.append,
                    dry_run=False,
                    memory=memory,
                    on_stop=report_stop,
                    most_matches=most_matches,
                )
            )
            leave_imported()
            retain_recent(engine, sources, retain, retain_most)
            bad = _take_queries(engine, some)
            wait = LEAST_WAIT if sources else 0
            service = Service(engine, skipped, limits, follows=follows, wait=wait)
            service.lateness = late
            service.follow_windows()
            if sources:
                how = HowToPoll(every, False, contact, allow_private, updates, links, max_document)
                service.feeds = _feeds(sources, how, service)
            collect_rarely(again=False)
            listener = stack.enter_context(contextlib.closing(listening(host, at)))
            bound_to = listener.getsockname()[1]
            name = f"[{host}]" if ":" in host else host
            address = f"http://{name}:{bound_to}"
            there = counted(len(engine.subscriptions), "query")
            server = Server(
                service, gate, lambda: log.say(f"serving at {address}/, with {there}", Level.INFO)
            )
            stopped = stack.enter_context(ended_by_signals([server.stop]))
            server.run([listener])
        return server, bound_to, 130 if stopped.is_set() else 2 if bad else 0

    # What a fault of ours has closed is as it was before, in the file: it must not end a server
    # with all queries that have nothing to do with it.
    failures: deque[float] = deque(maxlen=_OFTEN)
    while True:
        server, port, code = life(port, () if failures else texts)
        if server.failure is None:
            return code
        often = len(failures) == _OFTEN and time.monotonic() - failures[0] < _SOON
        if state is None or not server.by_fault or often:
            raise XSCLError(server.failure)
        failures.append(time.monotonic())
        log.say(f"{server.failure}; that is done now: please report this", Level.ERROR)


def _feeds(sources: Sequence[tuple[str, str]], how: HowToPoll, service: Service) -> Feeds:
    """The feeds that are polled; the state remembers them, where there is one."""
    from xscl.serve.feeds import Feeds

    log, engine = log_of_command(), service.engine.engine
    report = FeedReport(
        lambda text: log.say(text, Level.WARNING),
        lambda text: log.say(text, Level.INFO),
        lambda text: log.say(text, Level.DEBUG),
    )
    try:
        polled = watched_feeds(
            sources, lambda problem: log.say(f"skipped: {problem}", Level.WARNING)
        )
        proxies = ProxySettings.of_environment()
        keeper = engine.keeper
        kept = Unkept() if keeper is None else PolledFeeds(keeper, engine.transaction)
        poller = how.poller(polled, kept, engine, report, proxies, report.answered)
    except (XSCLError, FileNotFoundError, ValueError) as error:
        raise click.UsageError(str(error)) from error
    report.begin(poller.not_due)

    def late(envelopes: Sequence[Envelope]) -> Sequence[Envelope]:
        return report.late(envelopes, engine.watermark, service.lateness)

    return Feeds(poller, polled, service.engine, late, service.advance)


def _take_queries(engine: Engine, texts: Sequence[QueryText]) -> int:
    """Subscribes the queries of files beside those of the state, and anew where one has changed;
    prints and counts the errors."""
    plan = engine.plan((one.text, one.tables) for one in texts)
    with engine.transaction():
        for name in plan.changed:
            engine.cancel(name)
        return subscribe(engine, texts)[0]


def _gate(host: str, hosts: Sequence[str], token_file: str | None) -> Gate:
    from xscl.serve.safety import LOOPBACK, Gate, is_loopback

    if token_file is None and not is_loopback(host):
        raise click.UsageError(
            f"--host {host}: whoever reaches that address could ask for anything: give "
            "--token-file with a file that holds a token"
        )
    token = None
    if token_file is not None:
        token = Path(token_file).read_text(encoding="utf-8").strip()
        if len(token) < _LEAST_TOKEN or not token.isascii() or not token.isprintable():
            raise click.UsageError(
                f"--token-file {token_file}: the token has to be one line of at least "
                f"{_LEAST_TOKEN} ASCII characters, such as `openssl rand -hex 32` makes"
            )
    names = {host, *hosts, *(LOOPBACK if is_loopback(host) else ())}
    anywhere = host in ("0.0.0.0", "::")
    return Gate(frozenset(map(str.lower, names)), any_address=anywhere, token=token)


@contextlib.contextmanager
def _extra() -> Iterator[None]:
    """What is missing for a server is told by the name that it is installed by."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise XSCLError(
            f"the server needs {error.name}: install it with `pip install 'xscl[serve]'`"
        ) from error
