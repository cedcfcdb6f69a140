"""A user's function becomes a callback: it is refused if a call of it would not run its body.

A call of an async function only makes a coroutine.  Publishing may not await it: a callback runs on
the thread that publishes, where the user's event loop may be running, and what it does may belong
to that loop; a state file notes a match as delivered when its callback has returned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import isasyncgenfunction, iscoroutine, iscoroutinefunction, isgeneratorfunction
from typing import TYPE_CHECKING, TypeVar

from xscl.errors import XSCLError

if TYPE_CHECKING:
    from xscl.matches.match import Match

__all__ = ["Callbacks", "OnMatch", "call_back", "callback_for", "callbacks", "check_callback"]

T = TypeVar("T")

OnMatch = Callable[["Match"], object]
"""What is called with each match of a query."""


@dataclass(frozen=True, slots=True)
class Callbacks:
    """The callbacks of a query: for its matches, and for what is taken back of them."""

    on_match: OnMatch | None
    on_retract: OnMatch

    def __call__(self, match: Match) -> object:
        return None if self.on_match is None else self.on_match(match)


def callbacks(on_match: OnMatch | None, on_retract: OnMatch | None) -> OnMatch | None:
    """Both as one; raises XSCLError for one that cannot be called."""
    check_callback("on_match", on_match)
    check_callback("on_retract", on_retract)
    return on_match if on_retract is None else Callbacks(on_match, on_retract)


def callback_for(callback: OnMatch | None, match: Match) -> OnMatch | None:
    """What a match is handed to, of a query's callback: nothing gets retractions that has not
    asked for them."""
    if match.retracts:
        return callback.on_retract if isinstance(callback, Callbacks) else None
    return callback


_ADVICE = (
    "give a plain function; one that hands over to an event loop is `lambda found: "
    "asyncio.run_coroutine_threadsafe(handle(found), loop)`, and `async for match in "
    "engine.stream(name)` reads what a query publishes"
)


def check_callback(name: str, callback: object) -> None:
    """Raises XSCLError for a callback of this name that a call does not run; None is none."""
    if callback is None:
        return
    if not callable(callback):
        kind = type(callback).__name__
        raise XSCLError(f"{name} is a {kind}; give a function of one argument")
    # Of an object, it is its class that says how it is called.
    for one in (callback, type(callback).__call__):
        if iscoroutinefunction(one) or isasyncgenfunction(one):
            raise XSCLError(f"{name} is an async function, which nobody would await: {_ADVICE}")
        if isgeneratorfunction(one):
            raise XSCLError(f"{name} is a generator, whose body no call runs: {_ADVICE}")


def call_back(callback: Callable[[T], object], argument: T) -> None:
    """Calls back; raises what that raises, and XSCLError where it returns a coroutine."""
    returned = callback(argument)
    if returned is not None and iscoroutine(returned):
        returned.close()
        raise XSCLError(f"it returned a coroutine, which nobody would await: {_ADVICE}")
