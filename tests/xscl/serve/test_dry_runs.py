"""Dry runs are bounded whatever is asked: by documents of the streams that they read, by time, by
memory, in number; and what they have looked at is said."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from unittest import mock

import pytest

from tests.xscl.serve.asking import Asking, serving
from xscl.serve import service
from xscl.serve.trying import dry_run
from xscl.serve.trying.processes import Processes

HOLD = "-- name: hold\nS//*->x JOIN {x = y} T//*->y"
ENDLESS = "PATTERN SEQ(T+ a[], T b, !U c) WHERE skip_till_any_match {} WITHIN 1 h"


@pytest.fixture(scope="module")
def server() -> Iterator[Asking]:
    with serving(HOLD) as asking:
        for number in range(3):
            asking.publish(f"s{number}", "<a>x</a>", number)
        for number in range(40):
            asking.publish(f"t{number}", "<b>y</b>", 10 + number, stream="T")
        yield asking


def test_its_documents_are_of_the_streams_that_it_reads(server: Asking) -> None:
    with mock.patch.object(dry_run, "_DOCUMENTS", 5):
        tried = server.post("/dry-run", text="S//a")
        assert [one["documents"] for one in tried["matches"]] == [["s0"], ["s1"], ["s2"]]
        looked_at = [tried[name] for name in ("documents", "retained", "first", "last", "whole")]
        assert looked_at == [3, 3, 0, 2, True]
        tried = server.post("/dry-run", text="T//b")
        looked_at = [tried[name] for name in ("documents", "retained", "first", "last", "whole")]
        assert looked_at == [5, 40, 45, 49, False]
        assert [one["documents"] for one in tried["matches"]] == [[f"t{n}"] for n in range(35, 40)]
    tried = server.post("/dry-run", text="U//a")
    assert [tried[name] for name in ("documents", "retained", "first", "whole")] == [
        0,
        0,
        None,
        True,
    ]


def test_it_is_ended_when_it_takes_too_long_and_what_it_found_is_found(server: Asking) -> None:
    with (
        mock.patch.object(dry_run, "_SECONDS", 1.0),
        mock.patch.object(dry_run, "_GRACE", 0.5),
    ):
        tried = server.post("/dry-run", text=f"S//a;\n{ENDLESS}")
    assert (tried["whole"], tried["ended"]) == (
        False,
        "it was ended, as it took longer than 1.5 seconds",
    )
    assert tried["matches"]
    # Of all of them, what waits for more may be what takes so long.
    assert 0 < tried["documents"] <= 43
    # The next one has another process.
    assert len(server.post("/dry-run", text="S//a")["matches"]) == 3


def test_it_is_refused_more_memory() -> None:
    with (
        mock.patch.object(service, "MEMORY", 200 << 20),
        serving(HOLD) as asking,
        mock.patch.object(dry_run, "_SECONDS", 60.0),
    ):
        for number in range(24):
            asking.publish(f"t{number}", "<b>y</b>", 10 + number, stream="T")
        tried = asking.post("/dry-run", text=ENDLESS)
        assert (tried["matches"], tried["whole"]) == ([], False)
        assert tried["ended"] == "it was ended, as it took more than 200 MiB of memory"


def test_it_stops_nobody(server: Asking) -> None:
    """While one is under way others are answered, and no third one begins."""
    answers: list[object] = []
    with mock.patch.object(dry_run, "_SECONDS", 2.0), mock.patch.object(dry_run, "_GRACE", 0.0):
        endless = json.dumps({"text": ENDLESS}).encode()

        def ask() -> None:
            status = 503
            while status == 503:  # One of those that are refused below may be before it.
                answer, body = server.raw(
                    "POST", "/dry-run", endless, Content_Type="application/json"
                )
                status = answer.status
            assert status == 200, body
            answers.append(body)

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for one in threads:
            one.start()
        refused: dict[str, object] = {}
        while not refused and not answers:
            answer, _ = server.raw("GET", "/health")
            assert answer.status == 200
            answer, body = server.raw(
                "POST", "/dry-run", b'{"text": "S//a"}', Content_Type="application/json"
            )
            if answer.status == 503:
                refused = {"body": body, "again": answer.headers["Retry-After"]}
            time.sleep(0.01)
        for one in threads:
            one.join()
    assert b"2 dry runs are under way" in bytes(str(refused["body"]), "utf-8")
    assert refused["again"] == "1"
    assert len(answers) == 2


def test_a_process_that_was_ended_from_elsewhere_is_replaced() -> None:
    processes = Processes(1, 1 << 30)
    try:
        for _ in range(2):
            with processes.one() as process:
                process.send((None, "", {}))
            spare = processes._spare
            assert spare is not None
            spare._popen.kill()
            spare._popen.wait()
    finally:
        processes.close()
