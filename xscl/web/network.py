"""Connections for one retrieval: to checked addresses only, and all done by one deadline.

A name is resolved once, the addresses it has are checked, and the connection is made to one of
those, in numbers: a name server that answers otherwise the next time (DNS re-binding) changes
nothing.  The time that is left is the bound of every single wait, so a server that sends a byte
now and then gains none by it.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Iterable
from typing import Any

import httpcore

from xscl.web.addresses import is_public

__all__ = ["Deadline", "Network", "RefusedAddress", "Resolve", "resolve"]

Resolve = Callable[[str, int], list[str]]
"""The addresses, in numbers, of a name; raises OSError if there are none."""

SocketOptions = Iterable[Any]

_CONNECTING = 10.0
"""The most that one address may take to accept a connection, in seconds."""


class RefusedAddress(Exception):
    """A name all of whose addresses are refused."""


class Deadline:
    """The end of the time that something may take, in seconds from now."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """The seconds that are left; raises TimeoutError if none are."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("it took too long")
        return left


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a name, as the system knows them."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class Network(httpcore.NetworkBackend):
    """The connections of one retrieval, which ends with a deadline.

    `proxy` is the user's own, if there is one on the way: its name and port may be anywhere.
    """

    def __init__(
        self,
        deadline: Deadline,
        *,
        allow_private: bool,
        proxy: tuple[str, int] | None = None,
        resolve: Resolve = resolve,
    ) -> None:
        self._deadline = deadline
        self._allow_private = allow_private
        self._proxy = proxy
        self._resolve = resolve

    def addresses(self, host: str, port: int) -> list[str]:
        """The addresses of a name that a feed may live at.

        Raises RefusedAddress if it has only others, OSError if it has none.
        """
        found = self._resolve(host, port)
        if self._allow_private:
            return found
        allowed = [address for address in found if is_public(address)]
        if found and not allowed:
            raise RefusedAddress(
                f"{host} is at {', '.join(found)}, which is not of the public Internet; "
                "--allow-private reads feeds from there, too"
            )
        return allowed

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: SocketOptions | None = None,
    ) -> httpcore.NetworkStream:
        """A connection to the first address of a name that accepts one."""
        named = (host, port)
        try:
            addresses = self._resolve(*named) if named == self._proxy else self.addresses(*named)
        except OSError as error:
            raise httpcore.ConnectError(f"{host} has no address: {error}") from error
        backend = httpcore.SyncBackend()
        failure: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in addresses:
            seconds = min(_CONNECTING, self._deadline.left())
            try:
                return _Stream(backend.connect_tcp(address, port, seconds), self._deadline)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure


class _Stream(httpcore.NetworkStream):
    """A connection whose every wait ends with the deadline."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        left = self._deadline.left()
        secured = self._stream.start_tls(ssl_context, server_hostname, left)
        return _Stream(secured, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
