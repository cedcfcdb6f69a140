"""Which operators are alike."""

from __future__ import annotations

from typing import Any

from tests.pattern_stage.compositions.plans import above, chain, conjunct, either, event, same
from xscl.pattern_stage.algebra.nodes import Source
from xscl.pattern_stage.compositions.canonical import canonical, canonicals
from xscl.pattern_stage.compositions.plan import Event, Exception_, Many, Plan
from xscl.pattern_stage.compositions.tree import tree
from xscl.pattern_stage.values.terms import STEP, Comparison, Constant, Spread


def form(plan: Plan, *constants: Any) -> str:
    return canonical(tree(plan), constants)


def test_variables_have_no_names() -> None:
    one = chain(event(1, "A"), event(2, "B"), phi={2: (same("A.acc", "B.acc"),)})
    other = chain(event(1, "X"), event(2, "A"), phi={2: (same("X.acc", "A.acc"),)})
    assert form(one) == form(other)
    for unlike in (
        chain(event(2, "A"), event(1, "B"), phi={2: (same("A.acc", "B.acc"),)}),
        chain(event(1, "A"), event(2, "B"), phi={2: (same("A.acc", "B.id"),)}),
        chain(event(1, "A"), event(2, "B"), theta={2: (same("A.acc", "B.acc"),)}),
        chain(event(1, "A"), event(2, "B")),
    ):
        assert form(unlike) != form(one)


def test_conjuncts_and_branches_have_no_order() -> None:
    several = (same("A.acc", "B.acc"), above("B.x"))
    turned = (above("B.x"), same("B.acc", "A.acc"))
    assert form(chain(event(1, "A"), event(2, "B"), phi={2: several})) == (
        form(chain(event(1, "A"), event(2, "B"), phi={2: turned}))
    )
    one, other = chain(event(1, "A"), event(2, "B")), event(3, "C")
    after = event(4, "D")
    assert form(chain(either(one, other), after, phi={2: (same("C.x", "D.x"),)})) == (
        form(chain(either(other, one), after, phi={2: (same("C.x", "D.x"),)}))
    )
    assert form(chain(either(one, other), after, phi={2: (same("C.x", "D.x"),)})) != (
        form(chain(either(other, one), after, phi={2: (same("A.x", "D.x"),)}))
    )


def test_a_variable_of_two_branches_is_at_both_places() -> None:
    some = (event(1, "T"), event(2, "T"))
    after = event(3, "U")
    both = chain(either(*some), after, phi={2: (same("T.x", "U.x"),)})
    first = chain(either(event(1, "T"), event(2, "V")), after, phi={2: (same("T.x", "U.x"),)})
    assert form(both) != form(first)


def test_constants_count_by_value() -> None:
    def filtered(place: int) -> Event:
        return Event("A", Source(1, None), 1, (above("A.x", place),))

    assert form(filtered(0), 5.0) == form(filtered(1), 7.0, 5.0)
    assert form(filtered(0), 5.0) != form(filtered(1), 5.0, 7.0)
    assert form(filtered(0)) != form(filtered(1))


def test_the_scope_of_an_exception_counts() -> None:
    def of(low: int, high: int) -> str:
        return form(chain(event(1), event(2), exceptions=[Exception_(event(3), low, high)]))

    assert len({of(0, 2), of(1, 2), of(0, 1)}) == 3


def test_spreads_and_iterations() -> None:
    def spread(one: str, other: str) -> str:
        within = conjunct(Comparison("<=", Spread(one, other), Constant(0, True), "number"))
        return form(chain(event(1, "A"), event(2, "B"), theta={2: (within,)}))

    assert spread("A", "B") == spread("B", "A") != spread("A", "A")
    assert form(Many(event(1, "A"))) == form(Many(event(1, "B"))) != form(event(1))


def test_a_form_for_each_operator_and_sources_by_what_the_caller_takes_for_one() -> None:
    root = tree(chain(event(1, "A"), event(1, "B")))
    forms = canonicals(root, (), lambda one: ("stream", one.type))
    assert forms[root.inputs[0]] == forms[root.inputs[1]] == "('stream', 1)"
    assert STEP not in forms[root]
    assert len(forms) == 3
