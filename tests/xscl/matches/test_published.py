"""Iterators over published streams, in threads and in event loops: each match once, none lost."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xscl import Engine, Match
from xscl.matches.published import MatchStream, Streams

GUARD = 300
"""Seconds after which a test that hangs has failed."""


@pytest.fixture(scope="module")
def matches() -> list[Match]:
    with Engine() as engine:
        engine.subscribe("S")
        return engine.publish_many({"id": f"d{n}", "xml": "<a/>"} for n in range(200))


def documents(matches: list[Match]) -> list[str]:
    return sorted(match.documents[0] for match in matches)


async def read(stream: MatchStream) -> list[Match]:
    return [match async for match in stream]


def in_loop(stream: MatchStream) -> list[Match]:
    return asyncio.run(asyncio.wait_for(read(stream), GUARD))


def asking(stream: MatchStream) -> asyncio.Task[Match]:
    async def ask() -> Match:
        return await anext(stream)

    return asyncio.create_task(ask())


async def settled() -> None:
    """When all tasks of the loop wait or are done."""
    for _ in range(5):
        await asyncio.sleep(0)


def test_matches_come_in_order_until_the_stream_is_closed(matches: list[Match]) -> None:
    streams = Streams()
    stream = streams.open("promos")
    with ThreadPoolExecutor() as pool:
        reader = pool.submit(list, stream)
        for match in matches:
            streams.publish("promos", match)
        stream.close()
        assert reader.result(GUARD) == matches
    assert list(stream) == []


def test_each_iterator_gets_every_match_from_its_opening_on(matches: list[Match]) -> None:
    streams = Streams()
    first, other = streams.open("promos"), streams.open("others")
    streams.publish("promos", matches[0])
    second = streams.open("promos")
    streams.publish("promos", matches[1])
    streams.publish("nobody reads this", matches[2])
    assert [len(stream) for stream in (first, second, other)] == [2, 1, 0]
    streams.close()
    assert list(first) == matches[:2]
    assert list(second) == matches[1:2]
    assert list(other) == []


def test_a_closed_iterator_gives_what_it_had_and_takes_no_more(matches: list[Match]) -> None:
    streams = Streams()
    with streams.open("promos") as stream:
        streams.publish("promos", matches[0])
        assert not stream.closed
    assert stream.closed
    stream.close()
    streams.publish("promos", matches[1])
    stream.take(matches[2])
    assert len(stream) == 1
    assert list(stream) == matches[:1]
    assert in_loop(stream) == []


def test_what_nobody_holds_collects_nothing(matches: list[Match]) -> None:
    streams = Streams()
    stream, other = streams.open("promos"), streams.open("promos")
    gone = weakref.ref(stream)
    streams.publish("promos", matches[0])
    del stream
    gc.collect()
    assert gone() is None
    streams.publish("promos", matches[1])
    assert len(other) == 2


def test_one_that_was_asked_in_vain_can_go_too() -> None:
    streams = Streams()

    async def ask() -> weakref.ref[MatchStream]:
        stream = streams.open("promos")
        for _ in range(3):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(stream), 0.001)
        return weakref.ref(stream)

    gone = asyncio.run(ask())
    gc.collect()
    assert gone() is None


def test_in_several_event_loops_and_threads(matches: list[Match]) -> None:
    streams = Streams()
    with ThreadPoolExecutor(max_workers=6) as pool:
        readers = [pool.submit(in_loop, streams.open("promos")) for _ in range(3)]
        readers += [pool.submit(list, streams.open("promos")) for _ in range(3)]
        for match in matches:
            streams.publish("promos", match)
        streams.close()
        for reader in readers:
            assert reader.result(GUARD) == matches


def test_sharing_an_iterator_is_sharing_its_matches(matches: list[Match]) -> None:
    streams = Streams()
    stream = streams.open("promos")
    with ThreadPoolExecutor(max_workers=6) as pool:
        readers = [pool.submit(in_loop, stream) for _ in range(3)]
        readers += [pool.submit(list, stream) for _ in range(3)]
        for match in matches:
            streams.publish("promos", match)
        streams.close()
        found = [match for reader in readers for match in reader.result(GUARD)]
    assert documents(found) == documents(matches)


def test_several_threads_publish(matches: list[Match]) -> None:
    streams = Streams()
    stream = streams.open("promos")

    def publish(some: list[Match]) -> None:
        for match in some:
            streams.publish("promos", match)

    with ThreadPoolExecutor() as pool:
        reader = pool.submit(in_loop, stream)
        for done in [pool.submit(publish, matches[start::4]) for start in range(4)]:
            done.result(GUARD)
        stream.close()
        assert documents(reader.result(GUARD)) == documents(matches)


def test_waiting_takes_no_threads(matches: list[Match]) -> None:
    async def wait(streams: Streams) -> list[Match]:
        before = {*threading.enumerate()}
        open_streams = [streams.open("promos") for _ in range(100)]
        async with asyncio.timeout(GUARD):
            tasks = [asking(stream) for stream in open_streams]
            await settled()
            assert {*threading.enumerate()} <= before
            threading.Thread(target=streams.publish, args=("promos", matches[0])).start()
            return await asyncio.gather(*tasks)

    assert asyncio.run(wait(Streams())) == matches[:1] * 100


def test_closing_ends_all_waiters() -> None:
    async def wait(stream: MatchStream) -> list[object]:
        async with asyncio.timeout(GUARD), stream:
            tasks = [asyncio.create_task(read(stream)) for _ in range(3)]
            await settled()
            stream.close()
            return list(await asyncio.gather(*tasks))

    streams = Streams()
    stream = streams.open("promos")
    with ThreadPoolExecutor() as pool:
        reader = pool.submit(list, stream)
        assert asyncio.run(wait(stream)) == [[], [], []]
        assert reader.result(GUARD) == []


@pytest.mark.parametrize("cancelled_first", [True, False])
def test_a_task_that_is_cancelled_takes_no_match(
    matches: list[Match], cancelled_first: bool
) -> None:
    async def cancel(stream: MatchStream) -> list[Match]:
        async with asyncio.timeout(GUARD):
            gives_up, waits = asking(stream), asking(stream)
            await settled()
            steps: list[Callable[[], object]] = [gives_up.cancel, lambda: stream.take(matches[0])]
            for step in steps if cancelled_first else reversed(steps):
                step()
            with pytest.raises(asyncio.CancelledError):
                await gives_up
            first = await waits
            stream.take(matches[1])
            return [first, await anext(stream)]

    assert asyncio.run(cancel(Streams().open("promos"))) == matches[:2]


@given(
    st.lists(
        st.tuples(st.sampled_from(["put", "ask", "cancel", "settle"]), st.integers(0, 9)),
        max_size=30,
    )
)
def test_each_match_is_read_once_by_readers_that_give_up(
    matches: list[Match], steps: list[tuple[str, int]]
) -> None:
    async def play(stream: MatchStream) -> tuple[list[Match], int]:
        tasks: list[asyncio.Task[Match]] = []
        put = 0
        for step, which in steps:
            if step == "put":
                stream.take(matches[put])
                put += 1
            elif step == "ask":
                tasks.append(asking(stream))
            elif step == "cancel" and tasks:
                tasks[which % len(tasks)].cancel()
            elif step == "settle":
                await settled()
        await settled()
        unanswered = [task for task in tasks if not task.done()]
        # No task waits while there is a match.
        assert not unanswered or not len(stream)
        stream.close()
        rest = await read(stream)
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        return [end for end in ends if isinstance(end, Match)] + rest, put

    async def guarded() -> tuple[list[Match], int]:
        return await asyncio.wait_for(play(Streams().open("promos")), GUARD)

    found, put = asyncio.run(guarded())
    assert documents(found) == documents(matches[:put])


def test_a_loop_that_is_gone_takes_no_match(matches: list[Match]) -> None:
    stream = Streams().open("promos")
    stopped, closed = asyncio.new_event_loop(), asyncio.new_event_loop()
    tasks = []
    for loop in stopped, closed:
        tasks.append(loop.create_task(read(stream)))
        loop.run_until_complete(settled())
    tasks[1].cancel()
    closed.run_until_complete(settled())
    closed.close()
    stream.take(matches[0])
    assert next(stream) == matches[0]
    stream.close()
    assert stopped.run_until_complete(tasks[0]) == []
    stopped.close()


def test_a_loop_that_was_closed_while_a_task_waited(matches: list[Match]) -> None:
    stream = Streams().open("promos")
    asked = stream.__anext__()

    async def wait() -> None:
        # Only the first step of what a task of this loop would do.
        asked.send(None)

    asyncio.run(wait())
    stream.take(matches[0])
    assert next(stream) == matches[0]
    asked.close()


def test_a_task_that_only_the_stream_knows_is_woken(matches: list[Match]) -> None:
    """An event loop has only weak references to its waiting tasks: the stream must refer to
    them."""
    streams = Streams()

    async def consume(found: asyncio.Future[Match]) -> None:
        async for match in streams.open("promos"):
            found.set_result(match)
            return

    async def publish() -> Match:
        found = asyncio.get_running_loop().create_future()
        asyncio.create_task(consume(found))  # noqa: RUF006
        await settled()
        gc.collect()
        streams.publish("promos", matches[0])
        return await asyncio.wait_for(found, GUARD)

    assert asyncio.run(publish()) == matches[0]
