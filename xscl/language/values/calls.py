"""The functions of patterns, and `similar`, which event queries have, too."""

from __future__ import annotations

from typing import Any

from xscl.counts import counted
from xscl.language.problems import enumerated
from xscl.language.syntax import Call, Literal
from xscl.xpath_stage.texts.likeness import MEASURES

__all__ = ["bad_call", "bad_measure"]


def bad_call(call: Call) -> str | None:
    """What is wrong with a call in a pattern, if anything is."""
    given = len(call.arguments)
    if call.function == "similar":
        if given not in (2, 3):
            return f"`similar()` takes 2 or 3 arguments, found {given}"
        return bad_measure(call)
    return (
        None if given == 1 else f"`{call.function}()` takes {counted(1, 'argument')}, found {given}"
    )


def bad_measure(call: Call) -> str | None:
    """What is wrong with the measure of a likeness, its third argument."""
    written: Any = call.arguments[2] if len(call.arguments) == 3 else None
    if written is None or (isinstance(written, Literal) and written.value in MEASURES):
        return None
    allowed = enumerated((f"'{one}'" for one in MEASURES), "and")
    return f"the third argument of `similar()` is a measure of likeness; there are {allowed}"
