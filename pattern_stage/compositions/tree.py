"""From a plan to the tree of its operators, in the order of its brackets: what each judges, what it
costs, and its text.

A chain's θ is judged at the lowest node of the left spine that covers its step, an exception
directly above the lowest one that covers its operands; inside the right part of a `;` there is φ
alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xscl.pattern_stage.compositions import cost as table
from xscl.pattern_stage.compositions.canonical import canonical
from xscl.pattern_stage.compositions.cost import UNKNOWN, Rates
from xscl.pattern_stage.compositions.operators import Operator
from xscl.pattern_stage.compositions.plan import (
    Bracket,
    Chain,
    Conjuncts,
    Either,
    Event,
    Exception_,
    Many,
    Plan,
)

__all__ = ["Name", "same_name", "tree"]


Name = Callable[[str], str]


def same_name(variable: str) -> str:
    """A variable under its own name."""
    return variable


def tree(
    plan: Plan, rates: Rates | None = None, name: Callable[[str], str] = same_name
) -> Operator:
    """The root of a plan's operators; `name` is how the text has a variable."""
    return _Trees(rates or Rates(), name).of(plan)


@dataclass(frozen=True, slots=True)
class _Trees:
    rates: Rates
    name: Name

    def of(self, plan: Plan) -> Operator:
        match plan:
            case Event(variable, _, type_, conditions):
                flow, cpu = table.source(self.rates.events.get(type_, UNKNOWN))
                one = Operator("event", (), self.name(variable), flow, cpu, event=plan)
                return self.selected(one, conditions)
            case Either(operands, order, conditions):
                parts = [self.of(one) for one in operands]
                return self.selected(self.united(order, parts), conditions)
            case Many(operand, phi, theta):
                one = self.of(operand)

                def made(measured: float | None) -> Operator:
                    flow, cpu = table.iteration(one.flow, measured)
                    return Operator("+", (one,), f"{one.nested}+", flow, cpu, phi, theta)

                return self.measured(made)
            case Chain(operands, _, order):
                node, _, _ = self.part(plan, order, [self.of(one) for one in operands], spine=True)
                return node

    def measured(self, made: Callable[[float | None], Operator]) -> Operator:
        """An operator with the rate measured of it, if one was."""
        one = made(None)
        passing = self.rates.passing
        return made(passing[form]) if passing and (form := canonical(one)) in passing else one

    def selected(self, one: Operator, conditions: Conjuncts) -> Operator:
        if not conditions:
            return one

        def made(measured: float | None) -> Operator:
            flow, cpu = table.selection(one.flow, measured)
            return Operator("σ", (one,), one.shown, flow, cpu, conditions)

        return self.measured(made)

    def united(self, order: Bracket, parts: list[Operator]) -> Operator:
        if isinstance(order, int):
            return parts[order]
        left, right = (self.united(one, parts) for one in order)
        flow, cpu = table.union(left.flow, right.flow)
        return Operator("|", (left, right), f"{left.nested} | {right.nested}", flow, cpu)

    def part(
        self, chain: Chain, order: Bracket, parts: list[Operator], *, spine: bool
    ) -> tuple[Operator, int, int]:
        """The operator of a part of a chain, with its first and last operand."""
        if isinstance(order, int):
            node, first, last, covered = parts[order], order, order, order
        else:
            left, first, covered = self.part(chain, order[0], parts, spine=spine)
            right, after, last = self.part(chain, order[1], parts, spine=False)
            flow, cpu = table.sequence(left.flow, right.flow)
            theta = [one for step in chain.steps[covered:last] for one in step.theta]
            node = Operator(
                ";",
                (left, right),
                f"{left.nested} ; {right.nested}",
                flow,
                cpu,
                chain.steps[after - 1].phi,
                tuple(theta) if spine else (),
            )
        if spine:
            least = covered + 1 if last > covered else 0
            for one in chain.exceptions:
                if least < one.high <= last + 1:
                    node = self.excepted(one, node, last + 1)
        return node, first, last

    def excepted(self, one: Exception_, node: Operator, covered: int) -> Operator:
        forbidden = self.of(one.forbidden)
        flow, cpu = table.exception(node.flow, forbidden.flow)
        scope = "" if (one.low, one.high) == (0, covered) else f"[{one.low}, {one.high}]"
        return Operator(
            "\\",
            (node, forbidden),
            f"{node.nested} \\{scope} {forbidden.nested}",
            flow,
            cpu,
            one.conditions,
            scope=(one.low, one.high),
        )
