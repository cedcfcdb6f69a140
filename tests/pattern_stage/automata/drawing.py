"""Drawn automata, and events for them."""

from __future__ import annotations

import random
from typing import Any

__all__ = ["STATES", "TYPES", "arc", "description", "event"]

TYPES = ("a", "b")
STATES = ("q0", "q1", "q2", "q3")


def _fence(draw: random.Random, event: bool) -> str | None:
    some = ["n > 1", "n < 3", "s = 'u'", "NOT (n = 2)", "n + 1 >= m", "m != 2"]
    if event:
        some += ["event.v > 1", "event.v = n", "event.t = s", "NOT (event.v > n)", "event.t = 'u'"]
        some += ["event.v < 2 OR event.t = s", "event.v > 1 AND n < 3", "event.w = 1"]
    return draw.choice(some) if draw.random() < 0.55 else None


def _transfer(draw: random.Random, event: bool) -> str | None:
    some = [
        "n = n + 1",
        "n = n + 1",
        "n = n - 1",
        "m = n, n = 0",
        "s = 'u'",
        "n = 0 - n",
        "n = min(n, 2), m = max(m, n)",
    ]
    if event:
        some += ["n = event.v", "s = event.t", "m = m + event.v", "n = event.v * 2, s = event.t"]
    return draw.choice([None, None, *some])


def arc(draw: random.Random, name: str, within: bool, first: bool = False) -> dict[str, Any]:
    kinds = ["consume"] * 6 + ["ignore"] * 3 + ["epsilon"] + (["end", "start"] if within else [])
    kind = "consume" if first else draw.choice(kinds)
    source, target = draw.choice(STATES[:3]), draw.choice(STATES)
    if first or kind == "start":
        source = "q0"
    if kind == "ignore":
        target = source
    if kind == "epsilon":
        # Upward alone: no circle.
        source, target = sorted(draw.sample(STATES, 2))
    made: dict[str, Any] = {"from": source, "to": target, "name": name}
    if kind != "consume":
        made["kind"] = kind
    takes = kind in ("consume", "ignore")
    if takes:
        made["event"] = draw.choice([*TYPES, "*"])
    fence = _fence(draw, takes)
    transfer = None if kind == "ignore" else _transfer(draw, takes)
    return made | ({"when": fence} if fence else {}) | ({"set": transfer} if transfer else {})


def description(draw: random.Random) -> dict[str, Any]:
    within = draw.random() < 0.7
    arcs = [arc(draw, f"a{n}", within, first=n == 0) for n in range(draw.randint(2, 7))]
    for one in arcs:
        if draw.random() < 0.2:
            one["at"] = draw.randint(0, 6)
        if draw.random() < 0.2:
            one["until"] = one.get("at", 0) + draw.randint(1, 6)
    return (
        {
            "name": "q",
            "events": {one: one.upper() for one in TYPES},
            "start": "q0",
            "states": [*STATES],
            "final": draw.sample(STATES[1:], draw.randint(1, 2)),
            "register": {"n": 1, "m": {"type": "number"}, "s": ""},
            "arcs": arcs,
        }
        | ({"within": draw.randint(1, 5)} if within else {})
        | ({"by": ["k"]} if draw.random() < 0.4 else {})
    )


def event(draw: random.Random) -> tuple[float, str, dict[str, Any]]:
    attributes = {"k": draw.choice("xy"), "v": draw.choice(["1", "2", "3", "z"])}
    attributes["t"] = draw.choice("uv")
    for name in ("k", "v", "t"):
        if draw.random() < 0.08:
            del attributes[name]
    return float(draw.randint(0, 8)), draw.choice(TYPES), attributes
