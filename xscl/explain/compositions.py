"""A composition for people, for programs and as a picture: its normal form with each conjunct where
it decides, what each rule made of its plan, and what the operators cost
(docs/how-it-runs.md#compositions)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Any

from xscl.consistency import STRONG
from xscl.dissection.parts import Dissection
from xscl.language.eql.notes import notes
from xscl.language.eql.unparse import condition
from xscl.language.syntax import Composition
from xscl.language.unparse import Wording
from xscl.pattern_stage.compositions.canonical import canonical, canonicals
from xscl.pattern_stage.compositions.operators import Operator, operators
from xscl.pattern_stage.compositions.plan import (
    Chain,
    Conjunct,
    Either,
    Event,
    Exception_,
    Many,
    Plan,
    Step,
    events,
)
from xscl.pattern_stage.compositions.tree import tree
from xscl.pattern_stage.values.terms import Comparison, Spread
from xscl.patterns.compile_composition import CompiledComposition
from xscl.times import span, to_seconds

__all__ = [
    "composition_edges",
    "composition_graph",
    "composition_lines",
    "composition_members",
    "composition_notes",
    "composition_states",
    "composition_template",
    "operator_forms",
]

Sharing = Mapping[str, Iterable[str]]
"""The queries that have an operator, by its canonical form."""

_WAITS = "the watermark above the time of a match"
_NOTHING = "nothing"


def _compiled(dissection: Dissection) -> CompiledComposition:
    assert isinstance(dissection.compiled, CompiledComposition)
    return dissection.compiled


def composition_notes(dissection: Dissection) -> list[str]:
    """The notes on a composition."""
    source = dissection.query.source
    assert isinstance(source, Composition)
    return notes(source)


class _Words:
    """The words of one composition's query."""

    def __init__(self, dissection: Dissection) -> None:
        self.compiled = _compiled(dissection)
        self._blocks = Wording(dissection.query.text)
        flat = (block for blocks in self.compiled.blocks for block in blocks)
        self._of_type = [*flat]

    def variable(self, place: str) -> str:
        """A variable, by its place."""
        return self.compiled.names[int(place)]

    def event(self, event: Event) -> str:
        """A variable with its block."""
        return f"{self.variable(event.variable)}: {self.block(event)}"

    def block(self, event: Event) -> str:
        """The block of an event."""
        return self._blocks.block(self._of_type[event.type])

    def conjunct(self, conjunct: Conjunct) -> str:
        """A conjunct as it was written."""
        return condition(self.compiled.written[conjunct.place])

    def plan(self, plan: Plan) -> str:
        """A plan by its variables, in the order of its brackets."""
        return tree(plan, None, self.variable).text

    def normal(self, plan: Plan, *, nested: bool = False) -> str:
        """The normal form of a plan by its variables."""
        match plan:
            case Event(variable):
                return self.variable(variable)
            case Many(operand):
                return f"{self.normal(operand, nested=True)}+"
            case Either(operands):
                text = " | ".join(self.normal(one, nested=True) for one in operands)
            case Chain(operands, _, _, exceptions):
                text = " ; ".join(self.normal(one, nested=True) for one in operands)
                for one in exceptions:
                    scope = f"[{one.low}, {one.high}]"
                    text += f" \\{scope} {self.normal(one.forbidden, nested=True)}"
        return f"({text})" if nested else text


# For people.


def composition_lines(dissection: Dissection, sharing: Sharing) -> Iterator[str]:
    """The text of a composition, line by line, without its name; `sharing` are the queries that
    have an operator, by its form."""
    compiled, words = _compiled(dissection), _Words(dissection)
    rewriting = compiled.planned.rewriting
    yield f"  composition: {words.normal(compiled.composition.normal)}"
    yield from (f"    {line}" for line in _part(compiled.composition.normal, words))
    yield f"  consistency {(compiled.level or STRONG).said(_waits(compiled))}"
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
        cost = f"{_figure(row.cost_before)} → {_figure(row.cost_after)}"
        said = f"{text}, cost {cost}" if row.applied else f"no: {row.why}"
        yield f"    {row.rule:<16} {said}"
    yield "  operators"
    shown = _operators(dissection, words, sharing)
    yield from (f"    {line}" for line in _table(shown, dissection.query.name))
    yield from (f"  note: {note}" for note in composition_notes(dissection))


def _waits(compiled: CompiledComposition) -> str:
    return _NOTHING if compiled.monotone else _WAITS


def _rates(compiled: CompiledComposition) -> Iterator[str]:
    for stream, (rate, how) in _by_stream(compiled).items():
        yield f"{stream} {_figure(rate)} events a second, {how}"


def _by_stream(compiled: CompiledComposition) -> dict[str, Any]:
    return dict(zip(compiled.streams, compiled.planned.rates, strict=True))


def _figure(number: float) -> str:
    return "unbounded" if number == float("inf") else f"{number:,.6g}"


def _part(plan: Plan, words: _Words) -> Iterator[str]:
    """A part of the normal form, with its conjuncts."""
    match plan:
        case Event():
            yield words.event(plan)
        case Either(operands):
            for place, one in enumerate(operands):
                yield from _below("| " if place else "  ", _part(one, words))
        case Many(operand, phi, theta):
            yield from _below("+ ", _part(operand, words))
            yield from (f"    {line}" for line in _conjuncts(words, φ=phi, θ=theta))
        case Chain(operands, steps, _, exceptions):
            for place, one in enumerate(operands):
                yield from _below("; " if place else "  ", _part(one, words))
                if place:
                    number, step = place + 1, steps[place - 1]
                    named = {f"φ{number}": step.phi, f"θ{number}": step.theta}
                    yield from (f"    {line}" for line in _conjuncts(words, **named))
                    yield from (f"    {line}" for line in _timers(plan, place, words))
                for exception in exceptions:
                    if exception.high == place + 1:
                        yield from _below("\\ ", _part(exception.forbidden, words))
                        yield f"    in {_scope(exception)}"
                        yield from (
                            f"    {line}" for line in _conjuncts(words, λ=exception.conditions)
                        )
    if isinstance(plan, Event | Either):
        yield from (f"  {line}" for line in _conjuncts(words, σ=plan.conditions))


def _below(mark: str, lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"{'  ' if number else mark}{line}"


def _conjuncts(words: _Words, **by_sign: Iterable[Conjunct]) -> Iterator[str]:
    for sign, some in by_sign.items():
        yield from (f"{sign} {words.conjunct(one)}" for one in some)


def _timers(chain: Chain, place: int, words: _Words) -> Iterator[str]:
    """The time operators of a step: by when an attempt is dropped."""
    step: Step = chain.steps[place - 1]
    first = {one.variable for one in events(chain.operands[0])}
    for one in (*step.phi, *step.theta):
        if one.quantified and len(first) == 1 and first < one.variables and _is_duration(one):
            (variable,) = first
            length = words.compiled.composition.constants[_duration(one)]
            yield f"@ dropped {span(length)} after {words.variable(variable)}"


def _is_duration(one: Conjunct) -> bool:
    return isinstance(one.predicate, Comparison) and isinstance(one.predicate.left, Spread)


def _duration(one: Conjunct) -> int:
    place: int = one.predicate.right.place  # type: ignore[union-attr]
    return place


def _scope(exception: Exception_) -> str:
    begin = f"the end of operand {exception.low}" if exception.low else "the start of operand 1"
    return f"({begin}, the end of operand {exception.high})"


def _row_plans(compiled: CompiledComposition, words: _Words) -> list[str]:
    """The plan after each rule, by its variables."""
    return [words.plan(row.made) for row in compiled.planned.rewriting.rows]


def operator_forms(dissection: Dissection) -> list[str]:
    """The canonical forms of the operators of a composition's plan, in their order: those of other
    queries that have one of them have the same operator."""
    compiled, words = _compiled(dissection), _Words(dissection)
    root, streams = compiled.planned.rewriting.root, compiled.streams
    forms = canonicals(
        root,
        compiled.composition.constants,
        lambda one: (streams[one.type], words.block(one)),
    )
    return [forms[one] for one in operators(root)]


def _operators(dissection: Dissection, words: _Words, sharing: Sharing) -> list[dict[str, Any]]:
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
                _figure(one[name])
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
    compiled = _compiled(dissection)
    return _id(compiled), _Words(dissection).plan(compiled.composition.normal)


def _id(compiled: CompiledComposition) -> str:
    """The name of what compositions share that differ in constants and variables alone."""
    streams = compiled.streams
    form = canonical(tree(compiled.composition.normal), source=lambda one: streams[one.type])
    return sha256(form.encode()).hexdigest()[:12]


# For programs.


def composition_members(dissection: Dissection, sharing: Sharing) -> dict[str, object]:
    """The members of a composition."""
    compiled, words = _compiled(dissection), _Words(dissection)
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
        "streams": list(dict.fromkeys(dissection.streams)),
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
        "waits": _waits(compiled),
        "notes": composition_notes(dissection),
    }


def _finite(value: Any) -> Any:
    """A figure, None where it is not bounded."""
    return None if value == float("inf") else value


# As a picture.


def composition_states(
    dissection: Dissection,
) -> tuple[list[tuple[list[str], list[str]]], list[str]]:
    """The operands of a composition, each with its lines and conjuncts, and exceptions behind the
    operands that they follow; what is said below."""
    compiled, words = _compiled(dissection), _Words(dissection)
    states = [_state(one, words) for _, one in _row(compiled.composition.normal)]
    waits = (compiled.level or STRONG).said(_waits(compiled))
    cost = _figure(compiled.planned.rewriting.cost)
    said = [
        f"consistency {waits}",
        f"runs as {words.plan(compiled.planned.rewriting.plan)}, cost {cost}",
        *(f"note: {note}" for note in composition_notes(dissection)),
    ]
    return states, said


def composition_edges(
    dissection: Dissection,
) -> tuple[list[str], list[tuple[int, int, str, str, str]]]:
    """The operands of a composition by name, and the steps from each to the next."""
    compiled, words = _compiled(dissection), _Words(dissection)
    row = _row(compiled.composition.normal)
    names = [words.normal(_of(one)) for forbidden, one in row if not forbidden]
    return names, [(one, other, ";", "", "") for one, other in pairwise(range(len(names)))]


_Placed = tuple[Plan, tuple[Conjunct, ...], tuple[Conjunct, ...], int] | Exception_


def _row(plan: Plan) -> list[tuple[bool, _Placed]]:
    if not isinstance(plan, Chain):
        return [(False, (plan, (), (), 1))]
    found: list[tuple[bool, _Placed]] = []
    steps = (Step(), *plan.steps)
    for number, (operand, step) in enumerate(zip(plan.operands, steps, strict=True), 1):
        found.append((False, (operand, step.phi, step.theta, number)))
        found += [(True, one) for one in plan.exceptions if one.high == number]
    return found


def _of(one: _Placed) -> Plan:
    return one.forbidden if isinstance(one, Exception_) else one[0]


def _state(one: _Placed, words: _Words) -> tuple[list[str], list[str]]:
    if isinstance(one, Exception_):
        blocks = [words.event(each) for each in events(one.forbidden)]
        conjuncts = [*_inside(one.forbidden, words), *_conjuncts(words, λ=one.conditions)]
        return [f"! {words.normal(one.forbidden)}", *blocks], [*conjuncts, f"in {_scope(one)}"]
    plan, phi, theta, number = one
    blocks = [words.event(each) for each in events(plan)]
    named = {f"φ{number}": phi, f"θ{number}": theta}
    lines = [words.normal(plan), *blocks] if len(blocks) > 1 else blocks
    return lines, [*_inside(plan, words), *_conjuncts(words, **named)] or ["each event"]


def _inside(plan: Plan, words: _Words) -> list[str]:
    """The conjuncts in a part."""
    lines = (line.lstrip(" ;|+\\") for line in _part(plan, words))
    return [line for line in lines if line[:1] in "φθσλ" and not line.startswith("in ")]


def composition_graph(
    dissection: Dissection,
) -> tuple[list[str], list[tuple[int, int, str]], list[str]]:
    """The operators of the plan that runs by their names, first the events, last the root; edges
    from inputs, with the conjuncts that decide; and the streams of the events."""
    compiled, words = _compiled(dissection), _Words(dissection)
    rewriting = compiled.planned.rewriting
    leaves = [*events(rewriting.plan)]
    names = [words.event(one) for one in leaves]
    place = {(one.variable, one.type): number for number, one in enumerate(leaves)}
    edges: list[tuple[int, int, str]] = []

    def added(one: Operator) -> int:
        if one.event is not None:
            return place[one.event.variable, one.event.type]
        inputs = [added(each) for each in one.inputs]
        names.append("σ" if one.kind == "σ" else one.kind)
        said = [words.conjunct(each) for each in (*one.conditions, *one.continuing)]
        edges.extend((each, len(names) - 1, "") for each in inputs[:-1])
        edges.append((inputs[-1], len(names) - 1, " AND ".join(said)))
        return len(names) - 1

    added(rewriting.root)
    return names, edges, [compiled.streams[one.type] for one in leaves]
