"""The rules that rewrite a plan, in their order (NEXT CEP; Schultz-Møller et al., section 4): a
table, which is read from top to bottom.

A rule makes a plan with the same matches of a plan; where its precondition fails, it says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from typing import Any

from xscl.pattern_stage.compositions.bracket_next import EXACT, bracketed, parts_allowed
from xscl.pattern_stage.compositions.canonical import Sources, by_type, canonicals
from xscl.pattern_stage.compositions.cost import Rates
from xscl.pattern_stage.compositions.operators import Operator, cost, operators
from xscl.pattern_stage.compositions.plan import Bracket, Chain, Either, Many, Plan, plans
from xscl.pattern_stage.compositions.push_filters import pushed
from xscl.pattern_stage.compositions.tree import Name, same_name, tree

__all__ = [
    "RULES",
    "SWITCHES",
    "Given",
    "Rewriting",
    "Row",
    "bracket_next",
    "hoist_exceptions",
    "order_unions",
    "push_filters",
    "rewritten",
    "share_operators",
]


@dataclass(frozen=True, slots=True)
class Given:
    """What a rule knows beyond the plan: the rates, which rules are off, the plan's constants, and
    what makes two sources one."""

    rates: Rates = field(default_factory=Rates)
    without: frozenset[str] = frozenset()
    constants: Sequence[Any] = ()
    source: Sources = by_type

    def forms(self, root: Operator) -> dict[Operator, str]:
        """The canonical forms of a plan's operators."""
        return canonicals(root, self.constants, self.source)


Ruled = tuple[Plan, str | None]
"""A plan, and why the rule stands aside, if it does."""


def push_filters(plan: Plan, given: Given) -> Ruled:
    """Filters are judged as early as they can be."""
    made = _everywhere(plan, pushed)
    return made, "no filter can move" if made == plan else None


def hoist_exceptions(plan: Plan, given: Given) -> Ruled:
    """An exception of some operands of a chain does not keep these together: it is judged on the
    composite of the operands so far, of which it reads what it read."""
    return plan, None if any(map(_is_hoisted, _chains(plan))) else "no exception is inside a chain"


def order_unions(plan: Plan, given: Given) -> Ruled:
    """`|` is commutative and associative: by Huffman's algorithm an event of a frequent branch
    passes few operators."""

    def ordered(one: Plan) -> Plan:
        if isinstance(one, Either):
            rates = [tree(each, given.rates).flow.mu for each in one.operands]
            return replace(one, order=_huffman(rates))
        return one

    made = _everywhere(plan, ordered)
    return made, "no other order is cheaper" if made == plan else None


def bracket_next(plan: Plan, given: Given) -> Ruled:
    """`;` is associative where law N holds: the cheapest brackets of those that it allows."""
    reasons = dict[str, None]()

    def ordered(one: Plan) -> Plan:
        if not isinstance(one, Chain) or len(one.operands) < 3:
            return one
        if hoist_exceptions.__name__ in given.without and _is_hoisted(one):
            reasons["an exception is inside the chain"] = None
            return one
        flows = [tree(each, given.rates).flow for each in one.operands]
        if any(flow.unbounded for flow in flows):
            reasons["the rate of an iteration is not known"] = None
            return one
        last, refusals = parts_allowed(one)
        reasons.update(dict.fromkeys(refusals))
        _, order = bracketed(flows, last, exact=len(flows) <= EXACT)
        return replace(one, order=order)

    made = _everywhere(plan, ordered)
    if made == plan and not reasons:
        reasons["no other brackets are cheaper"] = None
    return made, "; ".join(reasons) or None


def share_operators(plan: Plan, given: Given) -> Ruled:
    """Operators that are alike are one, in a query and across queries; here those of the query."""
    forms = given.forms(tree(plan, given.rates))
    some = [form for one, form in forms.items() if one.kind != "event"]
    return plan, "no two operators are alike" if len({*some}) == len(some) else None


RULES: tuple[Callable[[Plan, Given], Ruled], ...] = (
    push_filters,
    hoist_exceptions,
    order_unions,
    bracket_next,
    share_operators,
)

SWITCHES = frozenset(rule.__name__ for rule in RULES)
"""All that can be switched off."""


@dataclass(frozen=True, slots=True)
class Row:
    """What a rule did to a plan: the plan as text, and what it cost before and costs now."""

    rule: str
    applied: bool
    why: str | None
    plan: str
    cost_before: float
    cost_after: float
    made: Plan


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A plan as the rules have left it, with its operators, their canonical forms, and what each
    rule did."""

    plan: Plan
    root: Operator
    forms: Mapping[Operator, str]
    rows: tuple[Row, ...]

    @property
    def cost(self) -> float:
        """What the plan costs, without what other queries share."""
        return self.rows[-1].cost_after

    def of_operators(self) -> list[dict[str, str | int | float]]:
        """For each operator its figures, by name."""
        return [
            {
                "id": number,
                "plan": one.text,
                "mu": one.flow.mu,
                "detection_time": one.flow.detection_time,
                "burst_size": one.flow.burst_size,
                "burst_rate": one.flow.burst_rate,
                "cpu": one.cpu,
            }
            for number, one in enumerate(operators(self.root), 1)
        ]


def rewritten(
    plan: Plan,
    rates: Rates | None = None,
    without: Iterable[str] = (),
    constants: Sequence[Any] = (),
    source: Sources = by_type,
    name: Name = same_name,
) -> Rewriting:
    """A plan by all rules but those switched off.

    `constants` are those of the plan's conjuncts; `source` returns what makes two sources one, by
    default within one query; `name` is how texts have a variable.
    """
    given = Given(rates or Rates(), SWITCHES & frozenset(without), constants, source)
    root = tree(plan, given.rates, name)
    now = cost(operators(root))
    rows = list[Row]()
    for rule in RULES:
        why: str | None = "switched off"
        before, changed = now, False
        if rule.__name__ not in given.without:
            made, why = rule(plan, given)
            changed = made != plan
            if changed:
                plan, root = made, tree(made, given.rates, name)
                now = cost(operators(root))
            elif rule is share_operators and why is None:
                now = cost(_distinct(root, given))
        rows.append(Row(rule.__name__, changed or why is None, why, root.text, before, now, plan))
    return Rewriting(plan, root, given.forms(root), tuple(rows))


def _distinct(root: Operator, given: Given) -> Iterable[Operator]:
    """An operator of each form."""
    forms = given.forms(root)
    return {forms[one]: one for one in operators(root)}.values()


def _chains(plan: Plan) -> Iterator[Chain]:
    return (one for one in plans(plan) if isinstance(one, Chain))


def _is_hoisted(chain: Chain) -> bool:
    """Whether an exception is of some operands only."""
    whole = 0, len(chain.operands)
    return any((one.low, one.high) != whole for one in chain.exceptions)


def _everywhere(plan: Plan, change: Callable[[Plan], Plan]) -> Plan:
    """A plan changed from its innermost parts outwards."""
    match plan:
        case Either(operands) | Chain(operands):
            parts = tuple(_everywhere(one, change) for one in operands)
            plan = replace(plan, operands=parts)
            if isinstance(plan, Chain) and plan.exceptions:
                exceptions = tuple(
                    replace(one, forbidden=_everywhere(one.forbidden, change))
                    for one in plan.exceptions
                )
                plan = replace(plan, exceptions=exceptions)
        case Many(operand):
            plan = replace(plan, operand=_everywhere(operand, change))
    return change(plan)


def _huffman(rates: Iterable[float]) -> Bracket:
    """The two of least rate are joined until one is left; of equal ones those that are first in the
    text, which is their order in a pair, too."""
    queue = [(rate, place) for place, rate in enumerate(rates)]
    trees: dict[int, Bracket] = {place: place for _, place in queue}
    heapify(queue)
    while len(queue) > 1:
        (rate, one), (other_rate, other) = heappop(queue), heappop(queue)
        first, second = sorted((one, other))
        trees[first] = trees[first], trees[second]
        heappush(queue, (rate + other_rate, first))
    return trees[queue[0][1]]
