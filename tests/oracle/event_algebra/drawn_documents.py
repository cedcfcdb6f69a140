"""Draws documents for drawn event queries.

Few streams, names, values and times, so that collisions are common: simultaneous and overlapping
events, duplicates, missing attributes, and texts among numbers.  Numbers are halves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

__all__ = ["STREAMS", "arrivals", "documents"]

NESTED = (True, [2, "a"], [], [[2]], {"n": 2}, [{"n": 2}])
"""Values that JSON alone has."""

STREAMS = ("S", "S", "S", "T")


def _values() -> st.SearchStrategy[dict[str, Any]]:
    numbers = st.sampled_from([1, 2, 2, 3, 4, 3.5, "2", "odd", None, ..., *NESTED])
    names = st.sampled_from(["a", "a", "a", "b", "b", "ab", "2", ...])
    values = st.fixed_dictionaries(
        {"Name": names, "P": numbers, "V": numbers, "w": st.sampled_from(["a", "b", ..., ...])}
    )
    return values.map(lambda one: {name: v for name, v in one.items() if v is not ...})


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str | int | float) else ""


@st.composite
def _body(draw: st.DrawFn, stream: str) -> dict[str, Any]:
    """`xml` or `json`; of stream N with items in it."""
    many = stream == "N"
    items = draw(st.lists(_values(), min_size=1, max_size=2)) if many else [draw(_values())]
    if draw(st.booleans()):
        return {"json": {"item": items} if many else items[0]}
    name = "item" if many else "e"
    texts = ["".join(f"<{key}>{_text(v)}</{key}>" for key, v in one.items()) for one in items]
    if draw(st.booleans()):
        inner = "".join(f"<{name}>{text}</{name}>" for text in texts)
    else:
        inner = "".join(
            f"<{name}"
            + "".join(f' {key}="{_text(v)}"' for key, v in one.items() if key != "w")
            + ">"
            + (f"<w>{one['w']}</w>" if "w" in one else "")
            + f"</{name}>"
            for one in items
        )
    return {"xml": f"<f>{inner}</f>" if many else inner}


@st.composite
def _document(draw: st.DrawFn, name: str, times: Sequence[float]) -> dict[str, Any]:
    stream = draw(st.sampled_from([*STREAMS, *STREAMS, "N"]))
    time = draw(st.sampled_from(times))
    envelope = {"stream": stream, "id": name, "timestamp": time, **draw(_body(stream))}
    if draw(st.sampled_from([False, False, True])):
        envelope["start"] = max(0, time - draw(st.sampled_from([0.5, 1, 3])))
    return envelope


@st.composite
def documents(draw: st.DrawFn, most: int = 24) -> list[dict[str, Any]]:
    """Envelopes in an order of arrival that is not that of time."""
    times = [number / 2 for number in range(draw(st.sampled_from([6, 12, 24])))]
    return draw(arrivals(times, most, 0, again=True))


@st.composite
def arrivals(
    draw: st.DrawFn, times: Sequence[float], most: int, first: int, *, again: bool
) -> list[dict[str, Any]]:
    """Envelopes at some times; the ids count from `first`, or come `again`."""
    count = draw(st.sampled_from([2, most // 4, most // 2, most // 2, most]))
    found = [draw(_document(f"d{first + i}", times)) for i in range(count)]
    if again and found and draw(st.sampled_from([False, False, True])):
        one = draw(st.sampled_from(found))
        other = draw(_document(one["id"], times))
        found.insert(draw(st.integers(0, len(found))), other)
    return found
