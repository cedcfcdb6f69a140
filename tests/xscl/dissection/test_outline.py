"""Dissections in other names: an outline with names put in is what dissecting the query gives."""

from __future__ import annotations

import random

import pytest

from tests.xscl.language.test_alike import in_other_names, mutated, texts, without_places
from xscl.dissection.dissect import dissect
from xscl.dissection.outline import Outline
from xscl.dissection.parts import Disjunct, Dissection
from xscl.language import read_from
from xscl.language.alike import AlikeStatements, Instance
from xscl.language.problems import Unbound
from xscl.language.syntax import Query, SubQuery
from xscl.language.walk import operands


def without_names(disjunct: Disjunct) -> object:
    """What of a disjunct goes to the stages."""
    return (
        disjunct.streams,
        disjunct.definitions,
        disjunct.operators,
        disjunct.outputs,
        disjunct.selected,
        disjunct.labels,
        {(node, one.family, one.texts) for node, one in disjunct.opened},
    )


def registered(dissection: Dissection) -> object:
    select = without_places(dissection.query.select)
    disjuncts = [*map(without_names, dissection.disjuncts)]
    return select, dissection.streams, dissection.variables, disjuncts


def instances(text: str, dice: random.Random) -> list[Instance]:
    """Instances of the statements of a text in other names, whose dissection is in symbols."""
    similar, found = AlikeStatements(), list[Instance]()
    for again in (text, in_other_names(text, dice), mutated(in_other_names(text, dice), dice)):
        queries, _, _ = read_from(again, 1, similar)
        found += (one for one in queries if isinstance(one, Instance))
    return [one for one in found if one.prepared.like is not None and alone(one.query)]


def alone(query: Query) -> bool:
    return query.publish is None and not any(
        isinstance(operand, SubQuery) for operand in operands(query.source)
    )


@pytest.mark.parametrize("text", [*texts()])
def test_an_outline_in_names_is_the_dissection_of_the_query(text: str) -> None:
    for one in instances(text, random.Random(text)):
        prepared, like = one.prepared, one.prepared.like
        assert like is not None
        left_open = frozenset(prepared.constants)
        try:
            expected = dissect(prepared.opened(one.values, left_open))
        except Unbound:
            with pytest.raises(Unbound):
                dissect(like.opened(one.values, left_open))
            continue
        outline = Outline(dissect(like.opened(one.values, left_open)))
        assert registered(outline.named(prepared.names)) == registered(expected)


def test_some_are_in_other_names() -> None:
    dice = random.Random(1)
    found = [one for text in [*texts()][::3] for one in instances(text, dice)]
    assert len(found) > 20
