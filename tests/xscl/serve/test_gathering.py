"""Documents of clients that were answered just now are taken together again, in one transaction."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from xscl import Engine
from xscl.durable.journal_file import JournalFile
from xscl.durable.state_file import StateFile
from xscl.errors import XSCLError
from xscl.serve.engine_thread import EngineThread, Taken, _Publishing
from xscl.serve.found.journal import Journal
from xscl.serve.gathering import Gathering

_CLIENTS = 8
_EACH = 5
_QUERY = "S//a->x JOIN {x = y, 1 day} S//a->y"


class _Patient(Gathering):
    """Waits until all are there that are expected, on a machine that is as slow as it likes."""

    def answered(self, requests: int, waiting: int, seconds: float) -> None:
        super().answered(requests, waiting, seconds)
        self.patience = 60.0


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many documents each transaction wrote."""
    found: list[int] = []
    commit = StateFile.commit

    def counted(self: StateFile, changes: Any, counters: Any) -> None:
        commit(self, changes, counters)
        if changes.documents:
            found.append(len(changes.documents))

    monkeypatch.setattr(StateFile, "commit", counted)
    return found


@contextmanager
def running(state: Path, gathering: Gathering | None) -> Iterator[EngineThread]:
    skipped: list[XSCLError] = []
    with Engine(state=state, on_skip=skipped.append) as engine:
        assert engine.keeper is not None
        engine.subscribe(_QUERY)
        journal = Journal(100, 100, JournalFile(engine.keeper, 100))
        thread = EngineThread(engine, journal, skipped, gathering=gathering)
        thread.start()
        try:
            yield thread
        finally:
            thread.end()


def published(thread: EngineThread, id: str, xml: str = "<a>v</a>") -> Future[Taken]:
    envelope = {"stream": "S", "id": id, "timestamp": 1, "xml": xml}
    job = _Publishing([envelope], Future())
    thread._put(job)
    return job.answer


def test_those_that_were_answered_together_are_waited_for(
    tmp_path: Path, commits: list[int]
) -> None:
    with running(tmp_path / "s", _Patient()) as thread:
        blocked = threading.Event()
        thread.submit(blocked.wait)
        first = [published(thread, f"0-{n}") for n in range(_CLIENTS)]
        blocked.set()
        for each in first:
            each.result()
        assert commits == [_CLIENTS]
        for turn in range(1, _EACH):
            answers = [published(thread, f"{turn}-{n}") for n in range(_CLIENTS)]
            assert all(each.result().taken == 1 for each in answers)
        assert commits == [_CLIENTS] * _EACH
        # Who stays away is waited for no longer than work that wants to be done.
        last = published(thread, "last")
        thread.submit(lambda: None).result()
        assert last.result().taken == 1
        assert commits == [*[_CLIENTS] * _EACH, 1]


def test_a_document_that_cannot_be_read_leaves_its_neighbours_alone(
    tmp_path: Path, commits: list[int]
) -> None:
    with running(tmp_path / "s", Gathering()) as thread:
        blocked = threading.Event()
        thread.submit(blocked.wait)
        texts = ["<a>v</a>", "<a>v</b>", "<a>v</a>"]
        answers = [published(thread, str(n), xml) for n, xml in enumerate(texts)]
        blocked.set()
        assert [(one.result().taken, len(one.result().problems)) for one in answers] == [
            (1, 0),
            (0, 1),
            (1, 0),
        ]
        assert commits == [2]


def test_many_clients_lose_nothing(tmp_path: Path, commits: list[int]) -> None:
    def client(thread: EngineThread, number: int) -> int:
        ids = [f"{number}-{each}" for each in range(_EACH)]
        return sum(published(thread, id).result().taken for id in ids)

    with running(tmp_path / "s", Gathering()) as thread, ThreadPoolExecutor(_CLIENTS) as pool:
        some = [pool.submit(client, thread, number) for number in range(_CLIENTS)]
        assert sum(one.result() for one in some) == _CLIENTS * _EACH
    assert sum(commits) == _CLIENTS * _EACH
    with Engine(state=tmp_path / "s") as engine:
        assert engine.documents == _CLIENTS * _EACH
