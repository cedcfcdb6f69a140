"""The words for a composition: its variables, blocks and conjuncts as they were written, and its
parts line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xscl.consistency import NOTHING
from xscl.dissection.parts import Dissection
from xscl.language.eql.notes import notes
from xscl.language.eql.unparse import condition
from xscl.language.syntax import Composition
from xscl.language.unparse import Wording
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
from xscl.times import span

__all__ = [
    "Words",
    "compiled_of",
    "composition_notes",
    "conjunct_lines",
    "figure",
    "part_lines",
    "scope_of",
    "waits_for",
]

_WAITS = "the watermark above the time of a match"


def compiled_of(dissection: Dissection) -> CompiledComposition:
    """What a composition is compiled to."""
    assert isinstance(dissection.compiled, CompiledComposition)
    return dissection.compiled


class Words:
    """The words of one composition's query."""

    def __init__(self, dissection: Dissection) -> None:
        self.compiled = compiled_of(dissection)
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


def composition_notes(dissection: Dissection) -> list[str]:
    """The notes on a composition."""
    source = dissection.query.source
    assert isinstance(source, Composition)
    return notes(source)


def waits_for(compiled: CompiledComposition) -> str:
    """What a match is pending for where the composition is `strong`."""
    return NOTHING if compiled.monotone else _WAITS


def figure(number: float) -> str:
    """A rate or a cost."""
    return "unbounded" if number == float("inf") else f"{number:,.6g}"


def part_lines(plan: Plan, words: Words) -> Iterator[str]:
    """A part of the normal form, with its conjuncts."""
    match plan:
        case Event():
            yield words.event(plan)
        case Either(operands):
            for place, one in enumerate(operands):
                yield from _below("| " if place else "  ", part_lines(one, words))
        case Many(operand, phi, theta):
            yield from _below("+ ", part_lines(operand, words))
            yield from (f"    {line}" for line in conjunct_lines(words, φ=phi, θ=theta))
        case Chain(operands, steps, _, exceptions):
            for place, one in enumerate(operands):
                yield from _below("; " if place else "  ", part_lines(one, words))
                if place:
                    number, step = place + 1, steps[place - 1]
                    named = {f"φ{number}": step.phi, f"θ{number}": step.theta}
                    yield from (f"    {line}" for line in conjunct_lines(words, **named))
                    yield from (f"    {line}" for line in _timers(plan, place, words))
                for exception in exceptions:
                    if exception.high == place + 1:
                        yield from _below("\\ ", part_lines(exception.forbidden, words))
                        yield f"    in {scope_of(exception)}"
                        yield from (
                            f"    {line}" for line in conjunct_lines(words, λ=exception.conditions)
                        )
    if isinstance(plan, Event | Either):
        yield from (f"  {line}" for line in conjunct_lines(words, σ=plan.conditions))


def _below(mark: str, lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"{'  ' if number else mark}{line}"


def conjunct_lines(words: Words, **by_sign: Iterable[Conjunct]) -> Iterator[str]:
    """Conjuncts, each after the sign of where it decides."""
    for sign, some in by_sign.items():
        yield from (f"{sign} {words.conjunct(one)}" for one in some)


def _timers(chain: Chain, place: int, words: Words) -> Iterator[str]:
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


def scope_of(exception: Exception_) -> str:
    """The interval in which an exception forbids events."""
    begin = f"the end of operand {exception.low}" if exception.low else "the start of operand 1"
    return f"({begin}, the end of operand {exception.high})"
