"""Events come to each of many readers once, even if others do not read; and at least once where the
server is killed and started again: `make bench` does the same with 200 readers."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

import pytest

from tests.drawn import seeded
from tests.xscl.serve.asking import PATIENCE
from tests.xscl.serve.many_readers import LATENESS, QUERY, Publisher, reading, stopped
from tests.xscl.serve.process import served


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "q.xscl").write_text(QUERY)
    return tmp_path


def test_each_reader_has_each_match_once(folder: Path) -> None:
    with served(folder, "q.xscl", "--lateness", LATENESS) as server, stopped(server.port):
        publisher = Publisher(server.port, 1_500)
        with reading(publisher, 40) as readers:
            publisher.publish(rate=1_000)
            account = readers.account()
    assert (account.missing, account.twice, account.again) == (0, 0, 0)
    assert len(account.delays) == 40 * 299


@pytest.mark.drawn
def test_readers_that_come_again_have_each_match(folder: Path) -> None:
    """From a server that is killed at any moment, and started again with its state."""
    documents, portion, kills = 900, 30, 2
    options = ("q.xscl", "--lateness", LATENESS, "--state", "s.duckdb")
    chance = seeded("readers")
    at = sorted(chance.sample(range(0, documents, portion), kills))
    with contextlib.ExitStack() as stack:
        first, port = 0, 0
        for kill in (*at, None):
            with served(folder, *options, port=port) as server:
                if not port:
                    port = server.port
                    publisher = Publisher(port, documents)
                    readers = stack.enter_context(reading(publisher, 20))
                while first < documents and first != kill:
                    assert publisher.publish_some(first, first + portion)
                    first += portion
                if kill is None:
                    account = readers.account()
                else:
                    delay = chance.uniform(0.0, 0.03)
                    print(kill, delay)
                    threading.Timer(delay, server.kill).start()
                    # Where it was not answered, it is published again.
                    if publisher.publish_some(first, first + portion):
                        first += portion
                    assert server.command.ended(PATIENCE)
    assert account.missing == 0
    # Who is slow may find but the last server.
    assert 20 <= account.again <= kills * 20
