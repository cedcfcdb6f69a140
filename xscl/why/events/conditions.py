"""The findings of the conditions of event queries, each with the values that it compares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from xscl.documents.attributes import MISSING
from xscl.language.events.unparse import condition
from xscl.language.syntax import EventCondition, Every, Truth
from xscl.pattern_stage.algebra import frozen
from xscl.pattern_stage.algebra.nodes import Aggregate
from xscl.pattern_stage.values import terms
from xscl.times import moment, span
from xscl.why.events.makes import Made, sight_of
from xscl.why.events.values import Sight
from xscl.why.findings import Finding, judged_by, values_of

__all__ = ["before", "judged", "of_group", "passed_by", "texts_of"]


def judged(
    written: EventCondition | None, made: Sequence[terms.Predicate], sight: Sight
) -> Iterator[Finding]:
    """Each conjunct of a condition, as it is written and as it was made."""
    for text, one in zip(texts_of(written), made, strict=True):
        yield judged_by(sight, one, Finding("comparison", None, text, None))


def texts_of(written: EventCondition | None) -> Iterator[str]:
    """The texts of the conjuncts; what is TRUE is none."""
    match written:
        case None | Truth(True):
            return
        case Every(parts):
            for part in parts:
                yield from texts_of(part)
        case _:
            yield condition(written)


def before(name: str, end: int, event: Made) -> Finding:
    """That an event starts after another has ended."""
    left, right = values_of([moment(end)]), values_of([moment(event.start)])
    return Finding("time", None, f"{name} before {event.name}", end < event.start, left, right)


def passed_by(text: str, found: Iterable[Finding], event: Made, taken: Made) -> Finding:
    """That an event is skipped before another is taken, given what is found of its condition."""
    refused = next((one for one in found if not one.holds), None)
    if refused is not None:
        note = f"{refused.text} refuses it"
        return replace(refused, kind="documents", text=text, holds=True, note=note)
    together = event.end == taken.end
    ways = "is taken, too" if together else f"is taken before {taken.name}"
    return Finding("documents", None, text, together, note=f"nothing refuses it, so it {ways}")


def of_group(node: Aggregate, events: Sequence[Made], constants: Sequence[Any]) -> list[Finding]:
    """That events are in one window, and in one group."""
    found: list[Finding] = []
    if len(events) < 2:
        return found
    ends = [event.end for event in events]
    if node.window is not None:
        length, reach = constants[node.window], max(ends) - min(ends)
        text = f"within WINDOW{{{span(length)}}}" if length else "at one time (there is no WINDOW)"
        found.append(Finding("time", None, text, reach <= length, values_of([span(reach)])))
    for key in node.keys:
        texts = [sight_of(event, constants).text(terms.Column(0, key)) for event in events]
        shown = values_of("(none)" if text is None else text for text in texts)
        holds = len({frozen(event.attributes.get(key, MISSING)) for event in events}) == 1
        found.append(Finding("comparison", None, f"GROUP BY {key}", holds, shown))
    return found
