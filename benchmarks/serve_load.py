"""Readers of a server's events while documents are published: what they miss or have twice, how
long a match takes to reach them, and what the server has in memory.

`xscl serve` has 200 readers of events, and one more that stops reading.  20,000 documents are
published, 500 in a second, one a request.

    python benchmarks/serve_load.py [--readers 200] [--documents 20000] [--rate 500]
        [--connections 8] [--state]
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.xscl.serve.many_readers import LATENESS, QUERY, Publisher, reading, stopped
from tests.xscl.serve.process import Served, served

SOON = 0.1
"""Seconds within which 99 of 100 events are to come."""

FLAT = 32
"""MiB that the server may grow by in the second half of the documents."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--readers", type=int, default=200)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--rate", type=float, default=500.0, help="documents a second")
    parser.add_argument("--connections", type=int, default=8, help="those that publish")
    parser.add_argument("--state", action="store_true", help="with a state file")
    arguments = parser.parse_args()
    machine = platform.processor() or platform.machine()
    print(f"{machine}, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "q.xscl").write_text(QUERY)
        options = ("q.xscl", "--lateness", LATENESS)
        options = (*options, "--state", "s.duckdb") if arguments.state else options
        with served(Path(name), *options) as server, stopped(server.port):
            return measured(server, arguments)


def measured(server: Served, arguments: argparse.Namespace) -> int:
    """Prints what was found; 1 where it is not what it should be."""
    readers, documents, rate = arguments.readers, arguments.documents, arguments.rate
    connections = {"connections": arguments.connections}
    publisher = Publisher(server.port, documents)
    with reading(publisher, readers) as some:
        began, before = time.monotonic(), _processor_seconds(server)
        publishing = threading.Thread(target=publisher.publish, args=(rate,), kwargs=connections)
        publishing.start()
        sizes = []
        while publishing.is_alive():
            publishing.join(0.5)
            sizes.append(server.memory)
        took = time.monotonic() - began
        account = some.account()
        busy = (_processor_seconds(server) - before) / took
    delays = ", ".join(f"{name} {account.percentile(part) * 1000:,.0f} ms" for name, part in PARTS)
    grown = max(sizes) - max(sizes[: len(sizes) // 2])
    print(f"{documents:,} documents in {took:.1f} s: {documents / took:,.0f} a second")
    print(f"{len(account.delays):,} events to {readers} readers: {delays}")
    print(f"missing {account.missing}, twice {account.twice}, connections lost {account.again}")
    print(f"memory {sizes[0]} MiB at first, {max(sizes)} at most; the processor {busy:.0%} busy")
    right = not (account.missing or account.twice) and grown < FLAT
    right &= account.percentile(0.99) < SOON
    print(f"each match once, 99 of 100 within {SOON * 1000:.0f} ms, memory flat: ", end="")
    print("yes" if right else "NO")
    return 0 if right else 1


PARTS = (("half within", 0.5), ("99 of 100", 0.99), ("all", 1.0))


def _processor_seconds(server: Served) -> float:
    stat = Path(f"/proc/{server.command.process.pid}/stat").read_text()
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
