"""How many events come through each block and condition of a composition, and how many composites
through each step of its chain: successors, what ends attempts, and what exceptions kill."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from xscl.dissection.parts import Dissection
from xscl.documents.document import Document
from xscl.pattern_stage.compositions.plan import Chain, Plan, Step, left_deep
from xscl.why.compositions.composites import Composites
from xscl.why.findings import Tally
from xscl.why.funnel import block_tallies
from xscl.why.patterns import pattern_of
from xscl.why.report import Funnel

__all__ = ["funnel_of_composition"]


def funnel_of_composition(dissection: Dissection, documents: Iterable[Document]) -> Funnel:
    """Counts what comes through each part of a composition."""
    composites = Composites(dissection, documents)
    normal = composites.compiled.composition.normal
    tallies = (*_blocks(composites), *_parts(composites, normal))
    matches = len(composites.of(normal))
    return Funnel(dissection.query.name, len(composites.documents), tallies, matches)


def _blocks(composites: Composites) -> Iterator[Tally]:
    for number, (_, block) in enumerate(composites.blocks, 1):
        pattern = pattern_of(number, block, composites.wording)
        read = [one for one in composites.documents if one.stream == block.stream.text]
        yield from block_tallies(pattern, read, composites.wording, lambda *_: None)


def _parts(composites: Composites, plan: Plan) -> Iterator[Tally]:
    """The tallies of a whole: of a chain operand by operand."""
    if not isinstance(plan, Chain):
        yield _tally(composites, composites.name(plan), plan)
        return
    for number, operand in enumerate(plan.operands, 1):
        yield _tally(composites, composites.name(operand), operand)
        if number > 1:
            step = plan.steps[number - 2]
            before = _first(plan, number - 1)
            after = composites.name(_first(replace(plan, exceptions=()), number - 1))
            for passed in range(len(step.phi) + 1):
                some = Step(step.phi[:passed], ())
                text = f"a next {composites.name(operand)} after {after}"
                if passed:
                    text = composites.text(step.phi[passed - 1])
                yield _tally(composites, text, _with(before, operand, some), passed > 0)
            for passed in range(1, len(step.theta) + 1):
                some = Step(step.phi, step.theta[:passed])
                text = composites.text(step.theta[passed - 1])
                yield _tally(composites, text, _with(before, operand, some), comparison=True)
        here = [one for one in plan.exceptions if one.high == number]
        for passed in range(1, len(here) + 1):
            left = [one for one in plan.exceptions if one.high < number]
            some_left = replace(_first(plan, number), exceptions=(*left, *here[:passed]))
            text = f"no {composites.name(here[passed - 1].forbidden)} in its scope"
            yield _tally(composites, text, some_left)


def _tally(composites: Composites, text: str, plan: Plan, comparison: bool = False) -> Tally:
    kind = "comparison" if comparison else "documents"
    return Tally(kind, None, text, len(composites.of(plan)), pairs=isinstance(plan, Chain))  # type: ignore[arg-type]


def _first(chain: Chain, count: int) -> Chain:
    """The first operands of a chain, with their exceptions."""
    exceptions = tuple(one for one in chain.exceptions if one.high <= count)
    operands, steps = chain.operands[:count], chain.steps[: count - 1]
    return Chain(operands, steps, left_deep(count), exceptions)


def _with(before: Chain, operand: Plan, step: Step) -> Chain:
    """A chain with one more operand."""
    operands = (*before.operands, operand)
    return Chain(operands, (*before.steps, step), left_deep(len(operands)), before.exceptions)
