"""One engine, several threads: one lock, and callbacks outside it on the publishing thread."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import xscl

PAIR = "S//a->x JOIN {x = y} S//b->y"


def test_threads_publish_together() -> None:
    with xscl.Engine() as engine:
        reported: list[tuple[str, ...]] = []
        by: set[str] = set()

        def tell(match: xscl.Match) -> None:
            reported.append(match.documents)
            by.add(threading.current_thread().name)

        engine.subscribe(PAIR, on_match=tell)

        def publish(thread: int) -> list[tuple[str, ...]]:
            found = []
            for number in range(10):
                name = "ab"[thread % 2]
                document = f"<{name}>{number}</{name}>"
                found += engine.publish("S", document, id=f"{name}{thread}.{number}")
            return [match.documents for match in found]

        with ThreadPoolExecutor(4, "publisher") as pool:
            found = [pair for pairs in pool.map(publish, range(4)) for pair in pairs]
    expected = {
        (f"a{left}.{number}", f"b{right}.{number}")
        for left in (0, 2)
        for right in (1, 3)
        for number in range(10)
    }
    assert sorted(found) == sorted(reported) == sorted(expected)
    assert all(name.startswith("publisher") for name in by)


@pytest.mark.parametrize("every", [None, 0.001])
def test_a_callback_may_wait_for_another_thread(tmp_path: Path, every: float | None) -> None:
    state = tmp_path / "state.duckdb" if every else None
    with ThreadPoolExecutor(1) as pool, xscl.Engine(state, commit_every=every) as engine:
        found: list[xscl.Match] = []

        def ask(match: xscl.Match) -> None:
            if match.documents == ("a", "b"):
                other = pool.submit(engine.publish, "S", "<b>1</b>", id="c")
                found.extend(other.result(timeout=300))

        engine.subscribe(PAIR, on_match=ask)
        engine.publish("S", "<a>1</a>", id="a")
        engine.publish("S", "<b>1</b>", id="b")
        engine.commit()
        assert [match.documents for match in found] == [("a", "c")]


def test_a_reader_of_a_stream_in_another_thread() -> None:
    with xscl.Engine() as engine, ThreadPoolExecutor(1) as pool:
        engine.subscribe("SELECT x FROM S//a->x PUBLISH out")
        stream = engine.stream("out")
        reader = pool.submit(lambda: [match.documents[0] for match in stream])
        for number in range(20):
            engine.publish("S", "<a/>", id=f"d{number}")
        engine.close()
        assert reader.result(timeout=300) == [f"d{number}" for number in range(20)]


def test_what_is_skipped_is_reported_outside_the_lock() -> None:
    """The callback may publish."""
    engine: xscl.Engine

    def fix(error: xscl.DocumentError) -> None:
        engine.publish("S", "<a/>", id=f"{error.document} fixed")

    engine = xscl.Engine(on_skip=fix)
    reported: list[str] = []
    engine.subscribe("S//a", on_match=lambda match: reported.append(match.documents[0]))
    engine.publish_many([{"id": "bad", "xml": "<a>"}, {"id": "good", "xml": "<a/>"}])
    engine.close()
    assert sorted(reported) == ["bad fixed", "good"]


def test_threads_ask_while_others_subscribe() -> None:
    with xscl.Engine() as engine, ThreadPoolExecutor(4) as pool:
        done = threading.Event()

        def subscribe(thread: int) -> None:
            for number in range(60):
                name = f"t{thread}n{number}"
                sub = engine.subscribe(f"{name}//a->x PUBLISH p{name}", name=name)
                if number % 2:
                    sub.cancel()

        def ask() -> int:
            asked = 0
            # One who has not had its turn yet asks once more.
            while not (done.is_set() and asked):
                asked += len(engine.published) + len(engine.streams) + engine.reads("t0n0")
                assert engine.skipped.total == engine.documents == 0
            return asked

        asking = [pool.submit(ask) for _ in range(2)]
        for one in [pool.submit(subscribe, thread) for thread in range(2)]:
            one.result(timeout=300)
        done.set()
        assert all(one.result(timeout=300) for one in asking)
        assert len(engine.streams) == len(engine.published) == 60
