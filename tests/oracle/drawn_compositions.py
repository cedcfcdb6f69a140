"""Drawn queries in EQL, and scenes of few events: patterns of up to six events, with conditions of
each kind, on few values, so that much is equal and much ends together."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.oracle.compositions import Event, composites, text_of

__all__ = ["STREAMS", "Drawn", "drawn_events", "drawn_query"]

STREAMS = ("s", "t", "u")
_OFTEN = "ssstttu"


class Drawn(NamedTuple):
    """A query, and the events of a scene as envelopes."""

    text: str
    pattern: Any
    qualifications: list[tuple[Any, bool]]
    envelopes: list[dict[str, Any]]

    def expected(self) -> set[tuple[tuple[str, str], ...]]:
        """The matches: variables with ids of documents."""
        scene: dict[str, list[Event]] = {}
        for one in self.envelopes:
            start, end = one.get("start", one["timestamp"]), one["timestamp"]
            attributes = tuple(sorted(one["json"].items()))
            scene.setdefault(one["stream"], []).append((one["id"], start, end, attributes))
        found = composites(self.pattern, self.qualifications, scene)
        return {tuple((variable, event[0]) for variable, event in one) for one in found}


def drawn_query(dice: random.Random, *, intervals: bool = True) -> Drawn:
    """A query and a scene; with `intervals` some events last for a time."""
    names = _names()
    pattern = _pattern(dice, names, 0)
    while not 2 <= len(_variables(pattern)) <= 5:
        names = _names()
        pattern = _pattern(dice, names, 0)
    qualifications = [
        (condition, dice.random() < 0.5)
        for condition in _conditions(dice, pattern)
        for _ in range(1)
    ]
    events = drawn_events(dice, dice.randint(6, 16), intervals=intervals)
    return Drawn(text_of(pattern, qualifications), pattern, qualifications, events)


def _names() -> Iterator[str]:
    return (f"V{number}" for number in itertools.count())


def _pattern(dice: random.Random, names: Iterator[str], depth: int) -> Any:
    kind = dice.random()
    if depth > 2 or (depth and kind < 0.6):
        return "event", dice.choice(_OFTEN), next(names)
    kind = dice.random()
    if kind < (0.4 if depth else 0.75):
        return "then", [_pattern(dice, names, depth + 1) for _ in range(dice.choice([2, 2, 3]))]
    if kind < (0.6 if depth else 0.83):
        if dice.random() < 0.2:
            name = next(names)
            return "or", [("event", stream, name) for stream in STREAMS]
        return "or", [_pattern(dice, names, depth + 1) for _ in range(2)]
    if kind < (0.8 if depth else 0.9):
        return "plus", _pattern(dice, names, depth + 1)
    left, right = (_pattern(dice, names, depth + 1) for _ in range(2))
    return "except", left, right


def _variables(pattern: Any) -> list[str]:
    kind, *rest = pattern
    if kind == "event":
        return [rest[1]]
    inner = rest[0] if kind in ("or", "then") else rest
    return list(dict.fromkeys(name for one in inner for name in _variables(one)))


def _scopes(pattern: Any) -> list[tuple[list[str], list[str]]]:
    """The variables that conditions may name together: of the pattern, and for each exception its
    own with those of what it thins out."""
    kind, *rest = pattern
    if kind == "event":
        return []
    if kind == "except":
        left, right = rest
        both = (_shown(right), _shown(left))
        return [both, (_shown(right), []), *_scopes(left), *_scopes(right)]
    inner = rest[0] if kind in ("or", "then") else rest
    return [scope for one in inner for scope in _scopes(one)]


def _shown(pattern: Any) -> list[str]:
    """The variables of matches."""
    kind, *rest = pattern
    if kind == "event":
        return [rest[1]]
    if kind == "except":
        return _shown(rest[0])
    inner = rest[0] if kind in ("or", "then") else rest
    return list(dict.fromkeys(name for one in inner for name in _shown(one)))


def _conditions(dice: random.Random, pattern: Any) -> Iterator[Any]:
    scopes = [(_shown(pattern), list[str]())] * 2 + _scopes(pattern)
    for _ in range(dice.choice([0, 1, 1, 2, 2, 3])):
        own, others = dice.choice(scopes)
        yield _condition(dice, own, others, 0)


def _condition(dice: random.Random, own: list[str], others: list[str], depth: int) -> Any:
    one, other = dice.choice(own), dice.choice(own + others)
    kind = dice.random()
    if kind < 0.25:
        return "compare", ("field", one, "k"), dice.choice(["=", "=", "<>"]), ("field", other, "k")
    if kind < 0.5:
        return "compare", ("field", one, "x"), dice.choice(["<", ">=", "="]), ("number", 2)
    if kind < 0.65:
        quantifier = dice.choice(["PREV", "ALL"])
        sign = dice.choice(["<", ">=", "<>"])
        return "compare", (quantifier, other, "x"), sign, ("field", one, "x")
    if kind < 0.75:
        return "within", other, one, dice.choice([1, 2, 4])
    if kind < (0.6 if depth else 0.83):
        return "contains", ("field", one, "k"), dice.choice(["a", "b"])
    if kind < 0.88:
        sign = dice.choice("+-*/")
        value = (sign, ("field", one, "x"), ("field", other, "x"))
        return "compare", value, dice.choice(["<", "<>"]), ("number", 3)
    if depth:
        return "compare", ("field", one, "x"), "=", ("number", 1)
    if kind < 0.94:
        return "not", _condition(dice, own, others, 1)
    sign = dice.choice(["or", "and"])
    return sign, [_condition(dice, own, others, 1) for _ in range(2)]


def drawn_events(
    dice: random.Random, count: int, *, intervals: bool = True
) -> list[dict[str, Any]]:
    """So many events as envelopes, in any order."""
    return [_event(dice, place, intervals) for place in range(count)]


def _event(dice: random.Random, place: int, intervals: bool) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if dice.random() < 0.95:
        values["k"] = dice.choice(["a", "a", "b"])
    if dice.random() < 0.95:
        values["x"] = dice.choice([0, 1, 2, 3])
    end = dice.randint(2, 16)
    event = {"stream": dice.choice(_OFTEN), "id": f"d{place}", "timestamp": end, "json": values}
    if intervals and dice.random() < 0.3:
        event["start"] = end - dice.choice([1, 2])
    return event
