"""A composition for people and for programs: its normal form with each conjunct where it decides,
what each rule made of its plan, and what the operators cost
(docs/how-it-runs.md#compositions)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from xscl.consistency import STRONG
from xscl.dissection.parts import Dissection
from xscl.explain.composition.words import (
    Words,
    compiled_of,
    composition_notes,
    figure,
    part_lines,
    waits_for,
)
from xscl.pattern_stage.compositions.canonical import canonical, canonicals
from xscl.pattern_stage.compositions.operators import operators
from xscl.pattern_stage.compositions.plan import (
    Chain,
)
from xscl.pattern_stage.compositions.tree import tree
from xscl.patterns.compile_composition import CompiledComposition
from xscl.stream_names import is_internal, public_name
from xscl.times import span, to_seconds

__all__ = [
    "composition_lines",
    "composition_members",
    "composition_template",
    "operator_forms",
]

Sharing = Mapping[str, Iterable[str]]
"""The queries that have an operator, by its canonical form."""

# For people.


def composition_lines(dissection: Dissection, sharing: Sharing) -> Iterator[str]:
    """The text of a composition, line by line, without its name; `sharing` are the queries that
    have an operator, by its form."""
    compiled, words = compiled_of(dissection), Words(dissection)
    rewriting = compiled.planned.rewriting
    yield f"  composition: {words.normal(compiled.composition.normal)}"
    yield from (f"    {line}" for line in part_lines(compiled.composition.normal, words))
    yield f"  consistency {(compiled.level or STRONG).said(waits_for(compiled))}"
    yield f"  template {_id(compiled)}"
    if compiled.monotone:
        yield "  kept: nothing, since each event is a match by itself"
    elif compiled.within is None:
        yield "  kept: each event for good"
    else:
        yield f"  kept: each event for {span(compiled.within)} after its time"
    yield f"  rates: {', '.join(_rates(compiled))}"
    yield "  rules"
    for row, text in zip(rewriting.rows, _row_plans(compiled, words), strict=True):
        cost = f"{figure(row.cost_before)} → {figure(row.cost_after)}"
        said = f"{text}, cost {cost}" if row.applied else f"no: {row.why}"
        yield f"    {row.rule:<16} {said}"
    yield "  operators"
    shown = _operators(dissection, words, sharing)
    yield from (f"    {line}" for line in _table(shown, dissection.query.name))
    yield from (f"  note: {note}" for note in composition_notes(dissection))


def _rates(compiled: CompiledComposition) -> Iterator[str]:
    for stream, (rate, how) in _by_stream(compiled).items():
        yield f"{stream} {figure(rate)} events a second, {how}"


def _by_stream(compiled: CompiledComposition) -> dict[str, Any]:
    streams = map(public_name, compiled.streams)
    return dict(zip(streams, compiled.planned.rates, strict=True))


def _row_plans(compiled: CompiledComposition, words: Words) -> list[str]:
    """The plan after each rule, by its variables."""
    return [words.plan(row.made) for row in compiled.planned.rewriting.rows]


def operator_forms(dissection: Dissection) -> list[str]:
    """The canonical forms of the operators of a composition's plan, in their order: those of other
    queries that have one of them have the same operator."""
    compiled, words = compiled_of(dissection), Words(dissection)
    root, streams = compiled.planned.rewriting.root, compiled.streams
    forms = canonicals(
        root,
        compiled.composition.constants,
        lambda one: (streams[one.type], words.block(one)),
    )
    return [forms[one] for one in operators(root)]


def _operators(dissection: Dissection, words: Words, sharing: Sharing) -> list[dict[str, Any]]:
    """The operators of the plan that runs, with their figures, and the queries that have them."""
    rewriting = words.compiled.planned.rewriting
    named = operators(tree(rewriting.plan, None, words.variable))
    own = (dissection.query.name,)
    queries = [[*sharing.get(form, own)] for form in operator_forms(dissection)]
    return [
        {**one, "plan": named_one.text, "queries": of}
        for one, named_one, of in zip(rewriting.of_operators(), named, queries, strict=True)
    ]


def _table(rows: Sequence[dict[str, Any]], name: str) -> Iterator[str]:
    heads = ["plan", "µ", "DT", "b", "r", "CPU"]
    cells = [
        [
            one["plan"],
            *(
                figure(one[name])
                for name in ("mu", "detection_time", "burst_size", "burst_rate", "cpu")
            ),
        ]
        for one in rows
    ]
    others = [", ".join(each for each in one["queries"] if each != name) for one in rows]
    if any(others):
        heads.append("also of")
        for row, also in zip(cells, others, strict=True):
            row.append(also)
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    for row in (heads, *cells):
        first, *others = (
            cell.ljust(width) if not place else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join([first, *others]).rstrip()


def composition_template(dissection: Dissection) -> tuple[str, str]:
    """The template of a composition, and its normal form."""
    compiled = compiled_of(dissection)
    return _id(compiled), Words(dissection).plan(compiled.composition.normal)


def _id(compiled: CompiledComposition) -> str:
    """The name of what compositions share that differ in constants and variables alone."""
    streams = compiled.streams
    form = canonical(tree(compiled.composition.normal), source=lambda one: streams[one.type])
    return sha256(form.encode()).hexdigest()[:12]


# For programs.


def composition_members(dissection: Dissection, sharing: Sharing) -> dict[str, object]:
    """The members of a composition."""
    compiled, words = compiled_of(dissection), Words(dissection)
    normal = compiled.composition.normal
    steps, exceptions = [], []
    if isinstance(normal, Chain):
        steps = [
            {
                "step": number,
                "phi": [*map(words.conjunct, step.phi)],
                "theta": [*map(words.conjunct, step.theta)],
            }
            for number, step in enumerate(normal.steps, 2)
        ]
        exceptions = [
            {
                "plan": words.normal(one.forbidden),
                "low": one.low,
                "high": one.high,
                "lambda": [*map(words.conjunct, one.conditions)],
            }
            for one in normal.exceptions
        ]
    plans = _row_plans(compiled, words)
    return {
        "name": dissection.query.name,
        "template": _id(compiled),
        "kind": "eql",
        "streams": [*dict.fromkeys(one for one in dissection.streams if not is_internal(one))],
        "publishes": dissection.feeds,
        "normal": words.normal(normal),
        "variables": list(compiled.names),
        "steps": steps,
        "exceptions": exceptions,
        "rates": {stream: [*rate] for stream, rate in _by_stream(compiled).items()},
        "rules": [
            {
                "rule": row.rule,
                "applied": row.applied,
                "why": row.why,
                "plan": plan,
                "cost_before": _finite(row.cost_before),
                "cost_after": _finite(row.cost_after),
            }
            for row, plan in zip(compiled.planned.rewriting.rows, plans, strict=True)
        ],
        "operators": [
            {name: _finite(value) for name, value in one.items()} | {"node": 0}
            for one in _operators(dissection, words, sharing)
        ],
        "within": None if compiled.within is None else to_seconds(compiled.within),
        "consistency": str(compiled.level or STRONG),
        "monotone": compiled.monotone,
        "waits": waits_for(compiled),
        "notes": composition_notes(dissection),
    }


def _finite(value: Any) -> Any:
    """A figure, None where it is not bounded."""
    return None if value == float("inf") else value
