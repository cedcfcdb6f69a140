"""Conjuncts with constants as gates, through which all queries alike pass at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from pattern_stage.automaton import EachOf, GateOf
from pattern_stage.compiler.bound import reads_of
from pattern_stage.compiler.conditions import compared
from pattern_stage.compiler.terms import Reads, conjunct_text, is_number, leaves, value_text
from pattern_stage.pattern import Arithmetic, Conjunct, Constant

__all__ = ["GatedReads", "gate_of", "gated"]


class GatedReads(Reads, Protocol):
    """Reads that can take constants from a tuple `C` that is given, and note which they take."""

    given: list[int] | None


def gate_of(
    conjunct: Conjunct,
    reads: Callable[[], GatedReads],
    function: Callable[[GatedReads, str, str], str],
) -> GateOf | EachOf | None:
    """A conjunct as a gate, if it has constants: `value operator constant` if it is one comparison
    with one, else it is tested for each tuple of its constants.

    `function` makes a function of what is read, with parameters before and a result.
    """
    turned = compared(conjunct)
    if turned is not None:
        comparison, constant = turned
        if not any(isinstance(leaf, Constant) for leaf in leaves(comparison.left)):
            seen = reads()
            value = value_text(comparison.left, constant, comparison.operator, seen)
            number = is_number(comparison.left) or constant.number
            name = function(seen, "", value)
            return GateOf(name, comparison.operator, number, constant.place)
    if not any(isinstance(leaf, Constant) for leaf in reads_of(conjunct)):
        return None
    seen = reads()
    seen.given = []
    text = conjunct_text(conjunct, seen)
    return EachOf(function(seen, "C, ", text), tuple(seen.given), _monotone(conjunct))


def _monotone(conjunct: Conjunct) -> bool:
    """Whether a conjunct is an order of values one of which is the only constant and something:
    such as `b.volume < 0.8 * a.volume`.  Their rounded sums, products and quotients are monotone
    in a constant that is neither 0 nor infinite, whatever the other value is."""
    if len(conjunct) != 1 or conjunct[0].operator in ("=", "!="):
        return False
    if sum(isinstance(leaf, Constant) for leaf in reads_of(conjunct)) != 1:
        return False
    for term in (conjunct[0].left, conjunct[0].right):
        if isinstance(term, Arithmetic):
            if isinstance(term.left, Constant):
                return term.operator != "%"
            if isinstance(term.right, Constant):
                return term.operator in ("+", "-", "*")
    return False


def gated(
    conjuncts: Iterable[Conjunct],
    reads: Callable[[], GatedReads],
    function: Callable[[GatedReads, str, str], str],
) -> tuple[tuple[GateOf | EachOf, ...], list[Conjunct]]:
    """Conjuncts as gates, and those that have no constants."""
    gates, others = list[GateOf | EachOf](), list[Conjunct]()
    for conjunct in conjuncts:
        gate = gate_of(conjunct, reads, function)
        if gate is None:
            others.append(conjunct)
        else:
            gates.append(gate)
    return tuple(gates), others
