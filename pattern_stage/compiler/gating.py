"""Conjuncts with constants as gates, through which all similar queries pass together."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from xscl.pattern_stage.automaton import EachOf, GateOf
from xscl.pattern_stage.compiler.conditions import compared
from xscl.pattern_stage.compiler.terms import ComponentTexts
from xscl.pattern_stage.pattern import Conjunct
from xscl.pattern_stage.values.terms import Arithmetic, Constant, is_number, leaves

__all__ = ["gate_of", "gated"]


def gate_of(
    conjunct: Conjunct,
    reads: Callable[[], ComponentTexts],
    function: Callable[[ComponentTexts, str, str], str],
) -> GateOf | EachOf | None:
    """A conjunct as a gate, if it has constants: `value operator constant` if it is one comparison
    with one, else it is tested for each tuple of its constants.

    `function` makes a function of what is read, with leading parameters and a result.
    """
    turned = compared(conjunct)
    if turned is not None:
        comparison, constant = turned
        if not any(isinstance(leaf, Constant) for leaf in leaves(comparison.left)):
            seen = reads()
            value = seen.compared(comparison.left, constant, comparison.operator)
            number = is_number(comparison.left) or constant.number
            name = function(seen, "", value)
            return GateOf(name, comparison.operator, number, constant.place)
    if not any(isinstance(leaf, Constant) for leaf in leaves(conjunct)):
        return None
    seen = reads()
    seen.given = []
    text = seen.conjunct(conjunct)
    return EachOf(function(seen, "C, ", text), tuple(seen.given), _monotone(conjunct))


def _monotone(conjunct: Conjunct) -> bool:
    """Whether a conjunct is an order of values one of which is an operation on the only constant,
    such as `b.volume < 0.8 * a.volume`.  Rounded sums, products and quotients are monotone in a
    constant that is neither 0 nor infinite, whatever the other value is."""
    if len(conjunct) != 1 or conjunct[0].operator in ("=", "!="):
        return False
    if sum(isinstance(leaf, Constant) for leaf in leaves(conjunct)) != 1:
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
    reads: Callable[[], ComponentTexts],
    function: Callable[[ComponentTexts, str, str], str],
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
