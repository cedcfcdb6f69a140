"""Notes on a query: costs and meanings that its writer may not have meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from xscl.dissection.parts import Disjunct, Dissection, JoinOperator
from xscl.explain.event_plans import EventPlans
from xscl.explain.explained import explained
from xscl.explain.stages import waiting
from xscl.explain.symmetry import finds_both_orders
from xscl.explain.words import Words, listed
from xscl.language.syntax import (
    Comparison,
    Conjunction,
    Disjunction,
    Predicate,
    Query,
    Side,
    VariablePath,
    Wrapped,
)
from xscl.language.walk import operators, selected_variables
from xscl.times import span

__all__ = ["notes", "warnings"]


def warnings(dissections: Iterable[Dissection]) -> Iterator[tuple[str, str]]:
    """The notes on the patterns and event queries among some queries and their sub-queries, each
    with the query's name."""
    given = [*dissections]
    plans = EventPlans(given)
    for one in chain.from_iterable(each.everything() for each in given):
        own = explained(one)
        said = [] if own is None else own.notes(one, plans)
        yield from ((one.query.name, note) for note in said)


def notes(dissection: Dissection) -> list[str]:
    """The notes on a query, without those on its sub-queries; each once."""
    if not dissection.disjuncts:
        return ["its predicate never holds: it matches nothing"]
    of_disjuncts = (_of_disjunct(dissection, disjunct) for disjunct in dissection.disjuncts)
    return list(dict.fromkeys(chain(*of_disjuncts, _unused(dissection))))


def _of_disjunct(dissection: Dissection, disjunct: Disjunct) -> Iterator[str]:
    words = Words(dissection, disjunct)
    for number, stage in enumerate(disjunct.operators, 1):
        if len(stage.sides) == 2:
            at = f" at stage {number}" if len(disjunct.operators) > 1 else ""
            yield from _time(words, stage, at)
            yield from _equalities(disjunct, words, stage, at)
            if finds_both_orders(disjunct, stage):
                yield (
                    f"JOIN over one stream{at}: each pair is found in both orders; an order of "
                    "two of its values, such as fa < fb, leaves one"
                )
    parents = {node.parent for node in disjunct.patterns if node.step.test != "."}
    for root in disjunct.patterns:
        every = root.parent is None and root.step.axis == "//" and root.step.test == "*"
        if every and not root.conditions and root.number not in parents:
            documents = f"every document of {words.stream(root.block)}"
            yield f"block {root.block + 1}: //* matches every element of {documents}"


def _time(words: Words, stage: JoinOperator, at: str) -> Iterator[str]:
    window = stage.constraint.window
    if window is None:
        sides = zip(stage.sides, waiting(stage), strict=True)
        kept = [words.side(side) for side, waits in sides if waits]
        yield f"no window{at}: {listed(kept)} {'is' if len(kept) == 1 else 'are'} kept for good"
    elif not window and stage.constraint.after:
        yield f"a window of 0{at}: nothing follows anything within it, so it matches nothing"
    elif not window:
        yield f"a window of 0{at}: only documents of exactly the same time join"


def _equalities(disjunct: Disjunct, words: Words, stage: JoinOperator, at: str) -> Iterator[str]:
    window = stage.constraint.window
    within = "of all time" if window is None else f"within {span(window)}"
    between = at or " between the blocks"
    leading = stage.plan.leading(stage.thresholds)
    if stage.graph.value_joins:
        pass
    elif leading is not None:
        edge, _ = leading
        one, other = (words.node(stage.assignment[node]) for node in (edge.left, edge.right))
        yield (
            f"no equality{between}: documents are looked up by the first tokens of {one} and "
            f"{other} ({edge.measure})"
        )
    else:
        yield f"no equality{between}: a cross product {within}"
    for edge in stage.graph.value_joins:
        left, right = (disjunct.patterns[node].functions for node in (edge.left, edge.right))
        said = f"{words.node(edge.left)} = {words.node(edge.right)}"
        if left != right:
            yield f"{said}: not under the same functions, so that equal texts may be unequal"
        elif left:
            yield f"{said}: the values under functions are made and kept beside the texts"


def _unused(dissection: Dissection) -> Iterator[str]:
    disjunct = dissection.disjuncts[0]
    put_out = {name for node in disjunct.outputs for name in disjunct.patterns[node].variables}
    used = {*put_out, *selected_variables(dissection.query), *_compared(dissection.query)}
    unused = [name for name in dissection.variables if name not in used]
    if unused:
        verb, steps = ("is", "its step") if len(unused) == 1 else ("are", "their steps")
        yield f"{listed(unused)} {verb} bound and never used: {steps} alone would say the same"


def _compared(query: Query) -> Iterator[str]:
    """The variables that the predicates of a query name."""
    waiting: list[Predicate | Side] = [
        join.predicate for join, _ in operators(query.source) if join.predicate is not None
    ]
    while waiting:
        match waiting.pop():
            case Conjunction(parts) | Disjunction(parts):
                waiting += parts
            case Comparison(_, left, right):
                waiting += (left, right)
            case Wrapped(_, operand):
                waiting.append(operand)
            case VariablePath(variable):
                yield variable.text
