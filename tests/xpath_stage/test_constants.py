"""The constants of filter families: found by value, as XPath 1.0 compares."""

from __future__ import annotations

import math
import operator
import random
from typing import Literal

import pytest
from lxml import etree

from xscl.xpath_stage import (
    ATTRIBUTE,
    Constants,
    Definition,
    Family,
    Filter,
    Spine,
    Step,
    Strings,
    Witnesses,
    XPathEvaluator,
)
from xscl.xpath_stage.filters import FilterTests
from xscl.xpath_stage.work import Work

ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
TEXTS = ["1", " 1.0\n", "2.5", "-0", "0", "", "x", "1e0", "NaN", "Infinity", "1000000000000"]


@pytest.mark.parametrize("order", ["<", "<=", ">", ">="])
def test_an_order_holds_where_some_constant_is_in_it(
    order: Literal["<", "<=", ">", ">="],
) -> None:
    constants, family = Constants(), Family(Filter("v"), order, True)
    random_ = random.Random(order)
    registered: list[float] = []
    for _ in range(400):
        if registered and random_.random() < 0.5:
            constants.release(
                constants.number(family), registered.pop(random_.randrange(len(registered)))
            )
        else:
            registered.append(float(random_.randint(-3, 12)))
            constants.register(constants.number(family), registered[-1])
        values = random_.sample(TEXTS, 3)
        root = etree.fromstring(f"<r>{''.join(f'<v>{value}</v>' for value in values)}</r>")
        expected = any(bool(root.xpath(f"v {order} {constant}")) for constant in registered)
        found = constants.satisfied(family, values)
        assert (found is not None) == expected
        if found is not None:
            _, satisfied = found
            assert isinstance(satisfied, float)
            for constant in set(registered):
                assert ORDERS[order](satisfied, constant) == bool(
                    root.xpath(f"v {order} {constant}")
                )


def test_numbers_are_equal_as_numbers_and_strings_as_strings() -> None:
    constants = Constants()
    numbers, strings = Family(Filter("v"), number=True), Family(Filter("v"))
    constants.register(constants.number(numbers), 1.0)
    constants.register(constants.number(strings), "1")
    assert constants.satisfied(numbers, [" 1.0\n", "x"]) == (constants.number(numbers), (1.0,))
    assert constants.satisfied(strings, [" 1.0\n", "x"]) is None
    assert constants.satisfied(strings, ["x", "1"]) == (constants.number(strings), ("1",))
    assert constants.satisfied(numbers, ["NaN", "x", ""]) is None


def test_functions_are_applied_to_values() -> None:
    constants, family = Constants(), Family(Filter("v"), functions=("lower-case", "number"))
    constants.register(constants.number(family), "NaN")
    constants.register(constants.number(family), "7")
    assert constants.satisfied(family, ["seven"]) is None
    assert constants.satisfied(family, ["7.0"]) == (constants.number(family), ("7",))


def test_what_nobody_asks_for_any_more_is_gone() -> None:
    constants, family = Constants(), Family(Filter("v"), "<", True)
    before = constants.number(family)
    for constant in (1.0, 1.0, math.pi):
        constants.register(constants.number(family), constant)
    for constant in (math.pi, 1.0, 1.0):
        constants.release(constants.number(family), constant)
    assert constants.sizes() == (0, 0)
    assert constants.satisfied(family, ["0"]) is None
    assert constants.number(family) != before


def test_a_node_leaves_witnesses_where_a_constant_holds_and_says_which() -> None:
    xpath = XPathEvaluator(Strings())
    of_element, of_attribute = Family(Filter("f")), Family(Filter("."))
    definition: Definition = (Step("descendant", "i", (of_element,)), Step("child", "l"))
    xpath.register(Spine("S", definition, (1,), ()))
    attributes: Definition = (Step("descendant", "@k", (of_attribute,)),)
    xpath.register(Spine("S", attributes, (0,), None))
    for family, constant in ((of_element, "a"), (of_element, "b"), (of_attribute, "c")):
        xpath.constants.register(xpath.constants.number(family), constant)
    witnesses = Witnesses()
    document = "<d><i><f>b</f><f>a</f><l>1</l></i><i k='c'><f>z</f><l>2</l></i></d>"
    xpath.evaluate("S", etree.fromstring(document), 7, witnesses)
    assert [node for _, node, *_ in witnesses.rows()] == [4, 5 + ATTRIBUTE]
    satisfied = {
        (*place, number): {*constants} if isinstance(constants, tuple) else constants
        for *place, number, constants in witnesses.satisfied
    }
    assert satisfied == {
        (7, 1, xpath.constants.number(of_element)): {"a", "b"},
        (7, 5 + ATTRIBUTE, xpath.constants.number(of_attribute)): {"c"},
    }
    states = len(xpath.automaton)
    xpath.constants.register(xpath.constants.number(of_element), "z")
    assert len(xpath.automaton) == states
    witnesses = Witnesses()
    xpath.evaluate("S", etree.fromstring(document), 8, witnesses)
    assert [node for _, node, *_ in witnesses.rows()] == [4, 5 + ATTRIBUTE, 7]


@pytest.mark.parametrize("path", ["f", ".", "f/g", ".//g", "@k", "f/text()", "*", "é-1.x"])
def test_the_values_of_a_path_are_those_of_its_nodes(path: str) -> None:
    document = "<r k='0'>a<f>b<!-- c -->d</f><f/><é-1.x>e</é-1.x><f><g>h</g>i<?j k?></f>l</r>"
    root = etree.fromstring(document)
    found = root.xpath(path)
    assert isinstance(found, list)
    expected = [node if isinstance(node, str) else node.xpath("string()") for node in found]
    assert FilterTests(Work()).values(Family(Filter(path)), root, None) == expected
