"""The server: an application on a socket, in an event loop of the thread that runs it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator, Sequence

import uvicorn

from xscl.errors import XSCLError
from xscl.serve.app import application
from xscl.serve.protocol import PATIENCE, protocol
from xscl.serve.safety import Gate
from xscl.serve.service import Service

__all__ = ["Server", "listening"]

_OTHERS = 500
"""Connections in addition to those of the readers of events."""


def listening(host: str, port: int) -> socket.socket:
    """A socket at an address; raises XSCLError if it cannot be."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if hasattr(socket, "TCP_USER_TIMEOUT"):
                # Connections have it from the socket that they came to.
                milliseconds = PATIENCE * 1_000
                listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
            listener.bind(address)
        except BaseException:
            listener.close()
            raise
    except OSError as error:
        raise XSCLError(
            f"cannot listen at {host}, port {port}: {error.strerror}; name another by --host and "
            "--port"
        ) from error
    return listener


_TO_END = 5
"""Seconds in which who is sent something has to take it, when the server ends: containers are
given ten."""


class _Uvicorn(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the command's."""
        yield


class Server:
    """The server of a service; `started` is called when it listens.  A failure that has closed the
    engine ends it (`failure`); `by_fault` of one of ours, after which the state file can be opened
    again, and not as that could not be written."""

    def __init__(
        self, service: Service, gate: Gate, started: Callable[[], object] = lambda: None
    ) -> None:
        self.failure: str | None = None
        self.by_fault = False
        self._service = service
        self._started = started
        config = uvicorn.Config(
            application(service, gate),
            http=protocol(service.limits.max_readers + _OTHERS),
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=_TO_END,
        )
        self._uvicorn = _Uvicorn(config)
        service.engine.failed = self._failed

    def run(self, listeners: Sequence[socket.socket]) -> None:
        """Serves until `stop` is called."""
        self._service.engine.start()
        feeds = self._service.feeds
        try:
            if feeds is not None:
                feeds.start()
            asyncio.run(self._run(list(listeners)))
        finally:
            if feeds is not None:
                feeds.end()
            self._service.engine.end()
            self._service.trials.close()

    def stop(self) -> None:
        """Ends it in order, from any thread; a signal handler may call it."""
        self._uvicorn.should_exit = True
        self._service.news.end()
        if self._service.feeds is not None:
            self._service.feeds.stop()

    async def _run(self, listeners: list[socket.socket]) -> None:
        service = self._service
        tasks = [*map(asyncio.create_task, (service.news.beat(), service.go_by_the_clock()))]
        serving = asyncio.create_task(self._uvicorn.serve(listeners))
        while not (self._uvicorn.started or serving.done()):
            await asyncio.sleep(0.005)
        self._started()
        await serving
        for one in tasks:
            one.cancel()

    def _failed(self, reason: str, *, by_fault: bool = False) -> None:
        if self.failure is None:
            # What asks a closed engine afterwards fails as well, and says less.
            self.failure, self.by_fault = reason, by_fault
        self.stop()
