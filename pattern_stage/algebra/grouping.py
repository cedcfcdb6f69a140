"""The parts of an Aggregate: what it reads of each event, what it stores for a group, its events.

Equal aggregates of several items are stored once; AVG is computed from the values of SUM.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from xscl.pattern_stage.algebra.compiled import function, values
from xscl.pattern_stage.algebra.nodes.aggregate import Aggregate, is_aggregate
from xscl.pattern_stage.algebra.nodes.map import computed
from xscl.pattern_stage.algebra.reading import ReadContext, computed_text
from xscl.pattern_stage.algebra.texts import SideTexts
from xscl.pattern_stage.layouts import END, SLOTS, START, Layouts
from xscl.pattern_stage.values.terms import Call, Column, Form, Term, rebuilt

__all__ = ["Grouping", "Kept", "grouping"]

Kept = Literal["count", "total", "best"]
"""The accumulators of an aggregate's values."""

_KEPT: dict[str, Kept] = {"avg": "total", "count": "count", "sum": "total"}


@dataclass(frozen=True, slots=True)
class Grouping:
    """`keys` reads the values of an event's group `(a)`, `values` the input of each accumulator
    `(a, c)`; `results` are the accumulator and the method for each aggregate.  `point` makes the
    event `(a, c)` of `(t, t, None, *keys, *results)`."""

    keys: Callable[..., tuple[Any, ...]]
    values: Callable[..., tuple[Any, ...]]
    kept: tuple[Kept, ...]
    results: tuple[tuple[int, str], ...]
    point: Callable[..., tuple[Any, ...]]


def grouping(node: Aggregate, layout: Layouts) -> Grouping:
    """An Aggregate's functions."""
    texts = SideTexts.over(node.input, layout)
    calls: dict[Call, int] = {}

    def result(term: object) -> Column | None:
        """An aggregate as a column of the group."""
        if isinstance(term, Call) and is_aggregate(term.function, len(term.arguments)):
            return Column(0, f"{_RESULT}{calls.setdefault(term, len(calls))}")
        return None

    items = [rebuilt(scalar, result) for _, scalar in computed(node.items)]
    columns: dict[tuple[Kept, str], int] = {}
    results = []
    for call in calls:
        kept = _KEPT.get(call.function, "best")
        place = columns.setdefault((kept, _value(call, texts)), len(columns))
        results.append((place, {"avg": "average", "sum": "total"}.get(call.function, "result")))
    group = SideTexts({0: (_Group(node.keys, tuple(calls)), "a")}, layout)
    keys = "".join(f", a[{SLOTS + place}]" for place in range(len(node.keys)))
    made = "".join(f", {group.value(item)}" for item in items)
    return Grouping(
        keys=values(node.input, node.keys, layout),
        values=function("a, c", f"({''.join(f'{text}, ' for _, text in columns)})"),
        kept=tuple(kept for kept, _ in columns),
        results=tuple(results),
        point=function("a, c", f"(a[{START}], a[{END}], None{keys}{made})"),
    )


@dataclass(frozen=True, slots=True)
class _Group:
    """A group's results, under its keys' names and those of `result`."""

    keys: tuple[str, ...]
    calls: tuple[Call, ...]

    def read(self, name: str, form: Form, event: str, reading: ReadContext) -> str:
        """Keys come first."""
        if name.startswith(_RESULT):
            place = int(name.removeprefix(_RESULT))
            at = SLOTS + len(self.keys) + place
            if form is Form.NUMBER:
                return computed_text(at, self.calls[place], form, event)
            value = f"finite({event}[{at}])"
            return f"as_text({value})" if form is Form.TEXT else value
        return computed_text(SLOTS + self.keys.index(name), Column(0, name), form, event)


_RESULT = "\0"
"""No attribute's name begins with this."""


def _value(call: Call, texts: SideTexts) -> str:
    """The contribution of an event to an aggregate, None for nothing."""
    match call:
        case Call("count", ()):
            return "True"
        case Call("count", (of,)):
            return texts.value(of)
        case Call("sum" | "avg", (of,)):
            return f"exact({_number(of, texts)})"
        case Call("min" | "max" as name, (of,)):
            return f"ordered({_number(of, texts)}, {1 if name == 'min' else -1})"
        case Call("argmin" | "argmax" as name, (of, shown)):
            number, sign = _number(of, texts), 1 if name == "argmin" else -1
            if isinstance(shown, Column):
                return f"arranged({number}, {sign}, {texts.text(shown)}, {texts.value(shown)})"
            value = texts.reading.fresh()
            text = f"as_text({value} := {texts.value(shown)})"
            return f"arranged({number}, {sign}, {text}, {value})"
        case _:
            raise ValueError(f"{call.function} of {len(call.arguments)} is no aggregate")


def _number(of: Term, texts: SideTexts) -> str:
    """A number, NaN where there is none; a computed one that is infinite is missing."""
    if isinstance(of, Column):
        return texts.number(of)
    value = texts.reading.fresh()
    return f"(nan if ({value} := as_number({texts.value(of)})) is None else {value})"
