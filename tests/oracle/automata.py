"""Automata by their definition (docs/semantics.md#automata): every run over every epoch, again
for each question.  It shares no code with the engine.

An event is `(time, type name, attributes)`; a description is what `Automaton.to_dict` says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import isnan
from typing import Any

__all__ = ["expected"]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)(?P<percent>%(?!\s*[\w(]))?|'(?P<string>(?:[^']|'')*)'"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<sign><=|>=|!=|<>|==|.))"
)

Event = tuple[float, str, Mapping[str, Any]]


class _Reader:
    """A recursive descent over a fence or a transfer, to nested tuples."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        for found in _TOKEN.finditer(text.strip()):
            if found["percent"]:
                self.tokens.append(("number", str(float(found["number"]) / 100)))
            else:
                kind = found.lastgroup or ""
                self.tokens.append((kind, found[kind]))
        self.at = 0

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def next(self, sign: str | None = None) -> tuple[str, str]:
        token = self.peek()
        if sign is not None and token[1].upper() != sign:
            raise ValueError(f"{token} where {sign} was expected")
        self.at += 1
        return token

    def word(self, word: str) -> bool:
        kind, text = self.peek()
        if kind in ("name", "sign") and text.upper() == word:
            self.at += 1
            return True
        return False

    def fence(self) -> Any:
        some = [self.conjunction()]
        while self.word("OR"):
            some.append(self.conjunction())
        return ("or", *some)

    def conjunction(self) -> Any:
        some = [self.negation()]
        while self.word("AND"):
            some.append(self.negation())
        return ("and", *some)

    def negation(self) -> Any:
        if self.word("NOT"):
            return ("not", self.negation())
        if self.word("TRUE"):
            return ("true",)
        if self.word("FALSE"):
            return ("false",)
        start = self.at
        if self.word("("):
            try:
                inner = self.fence()
                self.next(")")
                if self.peek()[1] not in ("+", "-", "*", "/", "%", "<", ">", "=", "<=", ">=", "!="):
                    return inner
            except ValueError:
                pass
            self.at = start
        left = self.value()
        sign = self.next()[1]
        return ("compare", {"==": "=", "<>": "!="}.get(sign, sign), left, self.value())

    def value(self) -> Any:
        left = self.product()
        while self.peek()[1] in ("+", "-"):
            sign = self.next()[1]
            left = (sign, left, self.product())
        return left

    def product(self) -> Any:
        left = self.unary()
        while self.peek()[1] in ("*", "/", "%"):
            sign = self.next()[1]
            left = (sign, left, self.unary())
        return left

    def unary(self) -> Any:
        if self.word("-"):
            return ("negative", self.unary())
        if self.word("("):
            inner = self.value()
            self.next(")")
            return inner
        kind, text = self.next()
        if kind == "number":
            return ("number", float(text))
        if kind == "string":
            return ("string", text.replace("''", "'"))
        if self.peek()[1] == "(":
            self.next("(")
            arguments = [self.value()]
            while self.word(","):
                arguments.append(self.value())
            self.next(")")
            return ("call", text.lower(), *arguments)
        if self.peek()[1] == ".":
            self.next(".")
            name = self.next()[1]
            return ("field", name) if text == "reg" else ("attribute", name)
        return ("field", text)

    def transfer(self) -> list[tuple[str, Any]]:
        some = []
        while True:
            name = self.next()[1]
            self.next("=")
            some.append((name, self.value()))
            if not self.word(","):
                return some


def _text(number: float) -> str:
    return str(int(number)) if number.is_integer() else repr(number)


def _number(value: Any) -> float:
    """A value cast; NaN where that fails."""
    if isinstance(value, float):
        return value
    try:
        return float(str(value).strip())
    except ValueError:
        return float("nan")


class _Definition:
    """One automaton."""

    def __init__(self, description: Mapping[str, Any], arcs: Iterable[Mapping[str, Any]]) -> None:
        self.of = description
        self.by = description.get("by", [])
        self.fields: dict[str, tuple[str, Any]] = dict.fromkeys(self.by, ("string", None))
        for name, initial in description.get("register", {}).items():
            if isinstance(initial, dict):
                value = initial.get("initial")
                kind = initial["type"]
            else:
                value, kind = initial, "string" if isinstance(initial, str) else "number"
            self.fields[name] = kind, float(value) if isinstance(value, int | float) else value
        self.within = description.get("within")
        self.arcs = []
        for arc in arcs:
            fence = _Reader(arc["when"]).fence() if "when" in arc else ("true",)
            transfer = _Reader(arc["set"]).transfer() if "set" in arc else []
            self.arcs.append((arc, fence, transfer))

    def live(self, time: float) -> Iterator[tuple[Mapping[str, Any], Any, Any]]:
        infinite = float("inf")
        for arc in self.arcs:
            if arc[0].get("at", -infinite) <= time < arc[0].get("until", infinite):
                yield arc

    # Expressions: None is missing.

    def value(self, term: Any, register: Mapping[str, Any], event: Mapping[str, Any]) -> Any:
        match term:
            case ("number" | "string", value):
                return value
            case ("field", name):
                return register[name]
            case ("attribute", name):
                found = event.get(name)
                if isinstance(found, int | float):
                    return _text(float(found))
                return found
        values = [self.value(one, register, event) for one in term[1:] if isinstance(one, tuple)]
        if None in values:
            return None
        numbers = [_number(one) for one in values]
        match term[0]:
            case "negative":
                return -numbers[0]
            case "call":
                if any(map(isnan, numbers)):
                    return float("nan")
                return (
                    {"min": min, "max": max}[term[1]](numbers)
                    if term[1] != "abs"
                    else abs(numbers[0])
                )
            case "+":
                return numbers[0] + numbers[1]
            case "-":
                return numbers[0] - numbers[1]
            case "*":
                return numbers[0] * numbers[1]
        raise ValueError(term)

    def is_number(self, term: Any) -> bool:
        if term[0] in ("string", "attribute"):
            return False
        return term[0] != "field" or self.fields[term[1]][0] == "number"

    def holds(self, fence: Any, register: Mapping[str, Any], event: Mapping[str, Any]) -> bool:
        match fence:
            case ("true",):
                return True
            case ("false",):
                return False
            case ("not", inner):
                return not self.holds(inner, register, event)
            case ("and", *parts):
                return all(self.holds(one, register, event) for one in parts)
            case ("or", *parts):
                return any(self.holds(one, register, event) for one in parts)
        _, sign, left, right = fence
        one, other = self.value(left, register, event), self.value(right, register, event)
        if one is None or other is None:
            return False
        numbers = _number(one), _number(other)
        castable = not any(map(isnan, numbers))
        if self.is_number(left) or self.is_number(right) or (castable and sign not in ("=", "!=")):
            if not castable:
                return False
            one, other = numbers
        return {
            "=": one == other,
            "!=": one != other,
            "<": one < other,
            "<=": one <= other,
            ">": one > other,
            ">=": one >= other,
        }[sign]

    def after(self, transfer: Any, register: Any, event: Mapping[str, Any]) -> Any:
        changed = dict(register)
        for name, term in transfer:
            value = self.value(term, dict(register), event)
            if value is not None and self.fields[name][0] == "number":
                value = _number(value)
                value = None if isnan(value) else value
            elif isinstance(value, float):
                value = _text(value)
            changed[name] = value
        return tuple(changed.items())

    # Runs: (start, state, register).

    def closed(self, runs: set[Any], time: float) -> tuple[set[Any], set[Any]]:
        """Runs with those that ε-arcs make of them; and these alone."""
        reached: set[Any] = set()
        left = [*runs]
        while left:
            start, state, register = left.pop()
            for arc, fence, transfer in self.live(time):
                if arc.get("kind") != "epsilon" or arc["from"] != state:
                    continue
                one = start, arc["to"], self.after(transfer, register, {})
                if self.holds(fence, dict(register), {}) and one not in reached:
                    reached.add(one)
                    left.append(one)
        return runs | reached, reached

    def fired(self, kind: str, runs: set[Any], time: float) -> set[Any]:
        return {
            (start, arc["to"], self.after(transfer, register, {}))
            for start, state, register in runs
            for arc, fence, transfer in self.live(time)
            if arc.get("kind") == kind and arc["from"] == state
            if self.holds(fence, dict(register), {})
        }

    def taken(self, runs: set[Any], time: float, events: list[Event]) -> set[Any]:
        """What consuming makes of runs."""
        return {
            (start, arc["to"], self.after(transfer, register, attributes))
            for _, type_, attributes in events
            for arc, fence, transfer in self.live(time)
            if arc.get("kind", "consume") == "consume" and arc["event"] in (type_, "*")
            for start, state, register in runs
            if state == arc["from"] and self.holds(fence, dict(register), attributes)
        }

    def step(self, runs: set[Any], begun: set[Any], time: float, events: list[Event]) -> Any:
        """The runs after an epoch, and those that entered their state with it."""
        live = [*self.live(time)]
        taken = self.taken(runs | begun, time, events)
        passed = {
            run
            for run in runs
            if all(
                any(
                    arc.get("kind") == "ignore"
                    and arc["from"] == run[1]
                    and arc["event"] in (type_, "*")
                    and self.holds(fence, dict(run[2]), attributes)
                    for arc, fence, _ in live
                )
                for _, type_, attributes in events
            )
        }
        closed, reached = self.closed(taken | passed, time)
        return closed, taken | reached

    def initial(self, part: tuple[str, ...]) -> Any:
        values = [*part, *(initial for _, initial in [*self.fields.values()][len(self.by) :])]
        return tuple(zip(self.fields, values, strict=True))

    def matches(self, part: tuple[str, ...], events: list[Event]) -> set[Any]:
        """`(start, time, register)` of each match of a part."""
        epochs: dict[float, list[Event]] = {}
        for event in events:
            epochs.setdefault(event[0], []).append(event)
        times = sorted(epochs)
        first = self.of["start"]
        found = set()

        def final(runs: set[Any], time: float) -> None:
            found.update((run[0], time, run[2]) for run in runs if run[1] in self.of["final"])

        infinite = float("inf")
        within = infinite if self.within is None else self.within
        for place, time in enumerate(times):
            begun, _ = self.closed({(time, first, self.initial(part))}, time)
            runs, entered = self.step(set(), begun, time, epochs[time])
            final(entered, time)
            for later in times[place + 1 :]:
                if later >= time + within:
                    break
                runs, entered = self.step(runs, set(), later, epochs[later])
                final(entered, later)
            if self.within is not None:
                ended = self.fired("end", runs, time + within)
                final(self.closed(ended, time + within)[0], time + within)
            if self.within is not None:
                window = [one for one in times if time - within < one <= time]
                begun, _ = self.closed({(time - within, first, self.initial(part))}, window[0])
                begun = {run for run in begun if run[1] == first}
                runs, _ = self.closed(self.fired("start", begun, window[0]), window[0])
                for one in window[:-1]:
                    runs, _ = self.step(runs, set(), one, epochs[one])
                # A match takes the last event.
                final(self.closed(self.taken(runs, time, epochs[time]), time)[0], time)
        return found


def expected(
    description: Mapping[str, Any], arcs: Iterable[Mapping[str, Any]], events: Iterable[Event]
) -> set[Any]:
    """`(start, time, register)` of each match; `arcs` are all that ever lived, with their lives."""
    definition = _Definition(description, arcs)
    parts: dict[tuple[str, ...], list[Event]] = {}
    for event in events:
        by = tuple(event[2].get(name) for name in definition.by)
        if None not in by:
            parts.setdefault(tuple(map(str, by)), []).append(event)
    return {one for part, some in parts.items() for one in definition.matches(part, some)}
