"""What rules make of plans, and what these cost."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from time import process_time

import pytest

from tests.drawn import seeded, times
from tests.pattern_stage.compositions.plans import above, chain, conjunct, either, event, same
from xscl.pattern_stage.compositions.bracket_next import bracketed, is_allowed, parts_allowed
from xscl.pattern_stage.compositions.canonical import canonical
from xscl.pattern_stage.compositions.cost import Flow, Rates, source
from xscl.pattern_stage.compositions.operators import cost, operators
from xscl.pattern_stage.compositions.plan import (
    Bracket,
    Chain,
    Conjunct,
    Either,
    Event,
    Exception_,
    Many,
    Plan,
    left_deep,
)
from xscl.pattern_stage.compositions.push_filters import pushed, restricted
from xscl.pattern_stage.compositions.rules import RULES, SWITCHES, Rewriting, Row, rewritten
from xscl.pattern_stage.compositions.tree import tree
from xscl.pattern_stage.values.terms import (
    STEP,
    And,
    Column,
    Comparison,
    Constant,
    ForAll,
    Not,
    Or,
    Range,
    Spread,
    Truth,
)


def of(text: str, *rates: float) -> Rewriting:
    """`;` or `|` of events with these rates, by all rules."""
    some = [event(number) for number in range(1, len(rates) + 1)]
    plan = chain(*some) if text == ";" else either(*some)
    return rewritten(plan, Rates(dict(enumerate(rates, 1))))


def row(of: Rewriting, rule: str) -> Row:
    [found] = [one for one in of.rows if one.rule == rule]
    return found


@pytest.mark.parametrize(
    ("text", "rates", "before", "plan", "after"),
    [
        (";", (128, 1, 128), 638.008, "E1 ; (E2 ; E3)", 258.008),
        (";", (128, 16, 2, 1), 737.997, "(E1 ; E2) ; (E3 ; E4)", 729.333),
        (";", (2, 128, 1, 64, 4), 202.389, "(E1 ; E2) ; ((E3 ; E4) ; E5)", 201.016),
        (";", (1, 8, 64), 73.1111, "(E1 ; E2) ; E3", 73.1111),
        ("|", (1600, 100, 100, 700), 6000, "E1 | ((E2 | E3) | E4)", 3600),
        ("|", (5, 5, 5, 5), 45, "(E1 | E2) | (E3 | E4)", 40),
    ],
)
def test_golden_values(
    text: str, rates: tuple[float, ...], before: float, plan: str, after: float
) -> None:
    found = of(text, *rates)
    decided = row(found, "bracket_next" if text == ";" else "order_unions")
    assert decided.cost_before == pytest.approx(before, rel=3e-6)
    assert decided.cost_after == found.cost == pytest.approx(after, rel=3e-6)
    assert decided.plan == found.root.text == plan


def test_the_rows_and_the_operators() -> None:
    found = of(";", 128, 1, 128)
    assert [(one.rule, one.applied, one.why) for one in found.rows] == [
        ("push_filters", False, "no filter can move"),
        ("hoist_exceptions", False, "no exception is inside a chain"),
        ("order_unions", False, "no other order is cheaper"),
        ("bracket_next", True, None),
        ("share_operators", False, "no two operators are alike"),
    ]
    inner, root = found.of_operators()
    assert inner == {
        "id": 1,
        "plan": "E2 ; E3",
        "mu": 1,
        "detection_time": 1 + 1 / 128,
        "burst_size": 1 / 128,
        "burst_rate": 1,
        "cpu": 1 + 1 / 128 * 128 + 127,
    }
    assert (root["id"], root["plan"], root["mu"]) == (2, "E1 ; (E2 ; E3)", 128)


def test_unknown_rates_are_1_and_a_rate_is_above_0() -> None:
    assert tree(event(1)).flow == Flow(1, 1, 1, 1)
    with pytest.raises(ValueError, match="must be above 0"):
        Rates({1: 0.0})


# Brackets.


def brackets(first: int, last: int) -> list[Bracket]:
    """All of a part."""
    if first == last:
        return [first]
    return [
        (one, other)
        for split in range(first, last)
        for one in brackets(first, split)
        for other in brackets(split + 1, last)
    ]


def within(order: Bracket, last: list[int]) -> bool:
    """Whether the parts off the left spine end where they may."""

    def parts(order: Bracket, *, spine: bool) -> tuple[int, int]:
        if isinstance(order, int):
            return order, order
        (first, _), (_, end) = parts(order[0], spine=spine), parts(order[1], spine=False)
        kept.append(spine or end <= last[first])
        return first, end

    kept = list[bool]()
    parts(order, spine=True)
    return all(kept)


def cost_of(rates: list[float], order: Bracket) -> float:
    some = [event(place) for place in range(len(rates))]
    given = Rates(dict(enumerate(rates)))
    return cost(operators(tree(chain(*some, order=order), given)))


def test_the_best_of_the_allowed_brackets_is_found() -> None:
    draw = seeded("brackets")
    for _ in range(times(120)):
        count = draw.randint(2, 6)
        rates = [
            draw.choice([2.0 ** draw.randrange(8), draw.uniform(0.1, 200)]) for _ in range(count)
        ]
        flows = [source(rate)[0] for rate in rates]
        last = [
            count - 1,
            *(draw.choice([count - 1, draw.randrange(i, count)]) for i in range(1, count)),
        ]
        allowed = [one for one in brackets(0, count - 1) if within(one, last)]
        found, order = bracketed(flows, last)
        assert order in allowed
        least = min(cost_of(rates, one) for one in allowed)
        assert found == pytest.approx(least) == pytest.approx(cost_of(rates, order))


def test_the_papers_programme_is_never_cheaper_and_sometimes_dearer() -> None:
    draw = seeded("programme")
    dearer = 0
    for _ in range(times(300)):
        count = draw.randint(4, 8)
        rates = [2.0 ** draw.randrange(8) for _ in range(count)]
        flows = [source(rate)[0] for rate in rates]
        every = [count - 1] * count
        exact, paper = (bracketed(flows, every, exact=one) for one in (True, False))
        assert exact[0] <= paper[0] * (1 + 1e-12)
        assert paper[0] == pytest.approx(cost_of(rates, paper[1]))
        dearer += exact[0] < paper[0] * (1 - 1e-9)
    assert dearer


def test_of_equal_brackets_those_with_the_shortest_left_part() -> None:
    some = [2.0, 2.0, 1.0, 1.0]
    assert cost_of(some, ((0, 1), (2, 3))) == cost_of(some, left_deep(4)) == 10
    assert of(";", *some).root.text == "(E1 ; E2) ; (E3 ; E4)"


def test_many_operands_take_a_moment() -> None:
    """A guard against programmes that are exponential, nothing more."""
    started = process_time()
    for count in (12, 40):
        some = [float(2 ** (place * 5 % 8)) for place in range(count)]
        assert of(";", *some).cost <= cost_of(some, left_deep(count)) * (1 + 1e-12)
    assert process_time() - started < 30


# Law N.


def refused(plan: Chain) -> list[Bracket]:
    """What law N does not allow."""
    every = [replace(plan, order=one) for one in brackets(0, len(plan.operands) - 1)]
    found = [one.order for one in every if not is_allowed(one)]
    assert bool(found) == bool(parts_allowed(plan)[1])
    return found


def test_law_n_refuses_a_key_that_is_not_fixed() -> None:
    plan = chain(event(1, "A"), event(2, "B"), event(3, "C"), phi={3: (same("B.acc", "C.acc"),)})
    assert refused(plan) == [(0, (1, 2))]
    found = rewritten(plan, Rates({1: 128, 2: 1, 3: 128}))
    assert found.plan == plan
    assert row(found, "bracket_next").why == "no FILTER fixes what step 3 compares"


def test_law_n_refuses_branches_of_unlike_length() -> None:
    inner = either(chain(event(3, "D"), event(4, "F"), event(5, "G")), event(6, "H"))
    plan = chain(event(1, "A"), event(2, "B"), inner)
    assert refused(plan) == [(0, (1, 2))]


def test_law_n_refuses_fields_that_are_not_there() -> None:
    names = [event(number, name) for number, name in enumerate("ABCD")]
    plan = chain(*names, phi={3: (same("A.acc", "C.acc"),)})
    assert refused(plan) == [(0, (1, (2, 3))), (0, ((1, 2), 3)), ((0, (1, 2)), 3)]


def test_law_n_allows_what_it_can() -> None:
    names = [event(number, name) for number, name in enumerate("ABCD")]
    fixed = {
        2: (same("B.acc", "A.acc"),),
        3: (same("B.acc", "C.acc"),),
        4: (same("D.acc", "C.acc"),),
    }
    plan = chain(*names, phi=fixed)
    # C and D alone: B is before them, and fixes C.
    assert refused(plan) == []
    assert refused(chain(*names, phi={4: (above("D.x"),)})) == []
    assert refused(chain(*names, theta={3: (same("A.acc", "C.acc"),)})) == []
    other = {2: (same("A.acc", "B.acc"),), 3: (same("B.id", "C.acc"),)}
    assert refused(chain(*names[:3], phi=other)) == [(0, (1, 2))]
    order = conjunct(Comparison.of("<", Column(0, f"B{STEP}acc"), Column(0, f"C{STEP}acc")))
    assert refused(chain(*names[:3], phi={2: fixed[2], 3: (order,)})) == [(0, (1, 2))]
    assert refused(chain(names[0], names[1], Many(names[2]))) == [(0, (1, 2))]
    assert refused(chain(names[0], Many(names[1]), names[2])) == []


def test_an_iteration_without_a_measured_rate() -> None:
    plan = chain(event(1), Many(event(2)), event(3))
    found = rewritten(plan, Rates({1: 128, 3: 128}))
    assert found.plan == plan
    assert found.cost == inf
    assert row(found, "bracket_next").why == "the rate of an iteration is not known"
    form = canonical(tree(Many(event(2))))
    measured = rewritten(plan, Rates({1: 128, 3: 128}, {form: 1.0}))
    assert measured.root.text == "E1 ; (E2+ ; E3)"
    assert measured.cost < inf


# Filters.


def test_a_filter_of_a_union_is_one_of_its_branches() -> None:
    amount = [Comparison.of(">", Column(0, f"{one}{STEP}x"), Constant(0, True)) for one in "AB"]
    both = conjunct(Or(tuple(amount)))
    plan = either(event(1, "A"), event(2, "B"), conditions=(both,))
    assert pushed(plan) == either(
        Event("A", event(1).source, 1, (above("A.x"),)),
        Event("B", event(2).source, 2, (above("B.x"),)),
    )
    none = conjunct(Not(amount[0]))
    left, right = pushed_operands(either(event(1, "A"), event(2, "B"), conditions=(none,)))
    assert isinstance(left, Event)
    assert left.conditions == (none,)
    assert right == event(2, "B")


def pushed_operands(plan: Either) -> tuple[Plan, ...]:
    made = pushed(plan)
    assert isinstance(made, Either)
    assert not made.conditions
    return made.operands


def test_a_filter_of_a_union_with_a_chain_is_judged_on_the_whole_chain() -> None:
    some = chain(event(2, "B"), event(3, "C"))
    of_both = conjunct(Or((above("B.x").predicate, above("A.x").predicate)))
    _, right = pushed_operands(either(event(1, "A"), some, conditions=(of_both,)))
    assert right == chain(event(2, "B"), event(3, "C"), theta={2: (above("B.x"),)})


def test_iterations_have_no_filter() -> None:
    plan = either(event(1, "A"), Many(event(2, "B")), conditions=(above("B.x"),))
    assert pushed(plan) == plan


def test_phi_of_one_operand_alone_is_a_filter_and_theta_is_not() -> None:
    one = above("B.x")
    plan = chain(
        event(1, "A"), event(2, "B"), phi={2: (one, same("A.x", "B.x"))}, theta={2: (one,)}
    )
    assert pushed(plan) == chain(
        event(1, "A"),
        Event("B", event(2).source, 2, (one,)),
        phi={2: (same("A.x", "B.x"),)},
        theta={2: (one,)},
    )
    # PREV reads what is before the step.
    last = Column(4, f"B{STEP}x")
    before = ForAll((Range(0, f"B{STEP}x", "last"),), Comparison.of(">", last, Constant(0, True)))
    quantified = Conjunct(before, frozenset("B"), frozenset("B"), filters=True)
    plan = chain(event(1, "A"), event(2, "B"), phi={2: (quantified,)})
    assert pushed(plan) == plan


def test_what_is_left_without_the_fields_of_others() -> None:
    mine, other = above("A.x").predicate, above("B.x").predicate
    own = frozenset("A")
    spread = Comparison("<=", Spread("A", "B"), Constant(0, True), "number")
    of_all = ForAll((Range(0, f"B{STEP}x", "all"),), mine)
    for predicate, left in (
        (mine, mine),
        (other, Truth(False)),
        (Or((mine, other)), mine),
        (And((mine, other)), Truth(False)),
        (And((mine, Not(other))), mine),
        (Or((mine, Not(other))), Truth(True)),
        (Or((mine, other, mine)), Or((mine, mine))),
        (Not(Or((other, mine))), Not(mine)),
        (And((Not(other), Not(other))), Truth(True)),
        (spread, Truth(False)),
        (of_all, Truth(True)),
    ):
        assert restricted(predicate, own) == left


# Exceptions.


def test_exceptions_of_some_operands_do_not_keep_them_together() -> None:
    some = [event(number) for number in (1, 2, 3)]
    plan = chain(*some, exceptions=[Exception_(event(4, "X"), 1, 2)])
    rates = Rates({1: 128, 2: 1, 3: 128, 4: 7})
    found = rewritten(plan, rates)
    assert found.root.text == "(E1 ; (E2 ; E3)) \\[1, 2] X"
    assert row(found, "hoist_exceptions").applied
    assert found.cost == pytest.approx(258.0078125 + 128 + 7)
    without = rewritten(plan, rates, {"hoist_exceptions"})
    assert without.plan == plan
    assert without.root.text == "((E1 ; E2) \\[1, 2] X) ; E3"
    assert row(without, "hoist_exceptions").why == "switched off"
    assert row(without, "bracket_next").why == "an exception is inside the chain"


def test_an_exception_of_the_whole_chain() -> None:
    some = [event(number) for number in (1, 2, 3)]
    plan = chain(*some, exceptions=[Exception_(event(4, "X"), 0, 3)])
    found = rewritten(plan, Rates({1: 128, 2: 1, 3: 128}), {"hoist_exceptions"})
    assert found.root.text == "(E1 ; (E2 ; E3)) \\ X"


def test_an_exception_and_theta_are_at_the_lowest_node_of_the_spine() -> None:
    some = [event(number) for number in range(1, 5)]
    theta = {3: (same("E1.x", "E3.x"),), 4: (same("E1.x", "E4.x"),)}
    order = ((0, (1, 2)), 3)
    root = tree(chain(*some, theta=theta, exceptions=[Exception_(event(5), 0, 1)], order=order))
    assert [(one.text, one.continuing) for one in operators(root)] == [
        ("E1 \\ E5", ()),
        ("E2 ; E3", ()),
        ("(E1 \\ E5) ; (E2 ; E3)", theta[3]),
        ("((E1 \\ E5) ; (E2 ; E3)) ; E4", theta[4]),
    ]


# All.


def test_each_rule_can_be_switched_off() -> None:
    inner = either(event(4, "X"), event(5, "Y"), event(6, "Z"), conditions=(above("X.x"),))
    plan = chain(event(1), event(2), event(3), exceptions=[Exception_(inner, 0, 3)])
    rates = Rates({1: 128, 2: 1, 3: 128, 4: 100, 5: 2, 6: 1})
    applied = {one.rule for one in rewritten(plan, rates).rows if one.applied}
    assert applied == {"push_filters", "order_unions", "bracket_next"}
    for rule in RULES:
        rows = rewritten(plan, rates, {rule.__name__}).rows
        assert {one.rule for one in rows if one.applied} == applied - {rule.__name__}
    off = rewritten(plan, rates, SWITCHES)
    assert off.plan == plan
    assert not any(one.applied for one in off.rows)


def test_shared_operators_of_a_plan_count_once() -> None:
    def pair(*names: str) -> Chain:
        return chain(event(1, names[0]), event(2, names[1]))

    plan = either(pair("A", "B"), pair("C", "D"))
    found = rewritten(plan)
    shared = row(found, "share_operators")
    assert shared.applied
    assert (shared.cost_before, shared.cost_after) == (6, 4)
    assert len({*found.forms.values()}) == 4


def test_sources_and_constants_are_what_the_caller_takes_for_one() -> None:
    def of(variable: str, type_: int, place: int) -> Event:
        return Event(variable, event(type_).source, type_, (above(f"{variable}.x", place),))

    plan = chain(of("A", 1, 0), of("B", 2, 1))
    assert not row(rewritten(plan, constants=(5.0, 5.0)), "share_operators").applied
    same_stream = rewritten(plan, constants=(5.0, 5.0), source=lambda _: "t")
    assert row(same_stream, "share_operators").applied
    others = rewritten(plan, constants=(5.0, 6.0), source=lambda _: "t")
    assert not row(others, "share_operators").applied


def test_unions_of_iterations_have_no_bound() -> None:
    """Nothing is divided by a detection time of nothing."""
    several = either(Many(event(0)), Many(event(1)))
    assert rewritten(chain(several, several)).cost == inf
