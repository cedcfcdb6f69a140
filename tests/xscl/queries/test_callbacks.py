"""Functions of users as callbacks: each is called whole, or refused with what to do."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any

import pytest

import xscl


async def waits(found: object) -> None:
    """A user's handler."""


async def waits_and_yields(found: object) -> AsyncIterator[None]:
    yield


def yields(found: object) -> Iterator[None]:
    yield


class Waiting:
    async def __call__(self, found: object) -> None:
        """A user's handler."""

    async def take(self, found: object) -> None:
        """Another."""


class Taken:
    """What is called to be made: its instances are no callbacks."""

    def __init__(self, found: object) -> None:
        self.found = found

    async def __call__(self) -> None:
        """Something else."""


NEVER_RUN = [waits, waits_and_yields, yields, partial(waits), Waiting(), Waiting().take]


@pytest.mark.parametrize("callback", [*NEVER_RUN, "print", 7])
@pytest.mark.parametrize(
    "give",
    [
        lambda engine, callback: engine.subscribe("S//a", on_match=callback),
        lambda engine, callback: engine.subscribe_many("S//a", [{}], on_match=callback),
        lambda engine, callback: engine.load("S//a", on_match=callback),
    ],
)
def test_a_callback_that_a_call_would_not_run_is_refused(
    give: Callable[[xscl.Engine, Any], object], callback: Any
) -> None:
    with xscl.Engine() as engine:
        with pytest.raises(xscl.XSCLError, match=r"on_match is .*[:;] give a"):
            give(engine, callback)
        assert engine.subscriptions == []
        # The engine continues, with the name free.
        give(engine, [].append)
        assert len(engine.publish("S", "<a/>")) == 1


@pytest.mark.parametrize("callback", NEVER_RUN)
def test_on_skip_is_a_callback_too(callback: Any) -> None:
    with pytest.raises(xscl.XSCLError, match="on_skip is"):
        xscl.Engine(on_skip=callback)


@pytest.mark.parametrize("callback", [[].append, Taken, partial(print, end=""), str])
def test_whatever_a_call_runs_is_a_callback(callback: Any) -> None:
    with xscl.Engine(on_skip=callback) as engine:
        engine.subscribe("S//a", on_match=callback)
        assert len(engine.publish("S", "<a/>")) == 1


def test_a_coroutine_that_is_returned_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    with xscl.Engine(on_skip=lambda error: waits(str(error))) as engine:
        engine.subscribe("S//a", name="q", on_match=lambda match: waits(match.id))
        with caplog.at_level(logging.ERROR, "xscl"):
            assert len(engine.publish("S", "<a/>")) == 1
            engine.publish_many([{"xml": "<a>"}])
    reported = [str(record.exc_info[1]) for record in caplog.records if record.exc_info]
    assert len(reported) == 2
    assert all("nobody would await" in one for one in reported)


def test_the_advice_works() -> None:
    async def main() -> list[str]:
        loop, handled = asyncio.get_running_loop(), []

        async def handle(match: xscl.Match) -> None:
            handled.append(match.query)

        with xscl.Engine() as engine:
            engine.subscribe(
                "S//a",
                name="q",
                on_match=lambda found: asyncio.run_coroutine_threadsafe(handle(found), loop),
            )
            await asyncio.to_thread(engine.publish, "S", "<a/>")
            engine.publish("S", "<a/>")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return handled

    assert asyncio.run(main()) == ["q", "q"]
