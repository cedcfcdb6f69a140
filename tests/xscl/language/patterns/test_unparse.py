"""The law of printing: what is printed of a pattern says what the pattern says."""

from __future__ import annotations

import json

import pytest

from tests.shared import SHARED, needs
from xscl.language import parse
from xscl.language.patterns.normal_form import conjuncts
from xscl.language.patterns.unparse import PatternWording
from xscl.language.syntax import EventPattern, Query
from xscl.patterns.compile import CompiledPattern, compile_pattern


def printed(query: Query) -> str:
    source, wording = query.source, PatternWording(query.text)
    assert isinstance(source, EventPattern)
    components = ", ".join(map(wording.component, source.components))
    clauses = [
        f"({' OR '.join(map(wording.atom, clause))})" for clause in conjuncts(source.condition)
    ]
    condition = f" WHERE {' AND '.join(clauses)}" if clauses else ""
    within = "" if source.window is None else " WITHIN 1"
    return f"{source.kind} SEQ({components}){condition}{within}"


def said(query: Query) -> object:
    compiled: CompiledPattern = compile_pattern(query)
    pattern = compiled.pattern
    streams = [[one.stream.text for one in some] for some in compiled.blocks]
    return pattern.components, pattern.conjuncts, pattern.tests, compiled.constants, streams


def prints_what_it_says(query: Query) -> None:
    text = printed(query)
    [again], errors = parse(text)
    assert not errors, errors[0]
    assert said(again) == said(query), text


@needs("conformance")
def test_of_the_shared_cases() -> None:
    with (SHARED / "conformance" / "pattern-sase.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            for query in parse(json.loads(line)["queries"])[0]:
                prints_what_it_says(query)


@pytest.mark.parametrize(
    "condition",
    [
        "a.p - (b.q - 1) - 2 = a.p - b.q / (2 * a.x / 3)",
        "- -a.p < -(a.p + 1) AND a.p %5 % 2 = 50% * 7 % 4",
        "a.'x y'/z/@k = 'it''s' AND a.@k != b.'timestamp' AND b.timestamp > 1",
        "a = b AND [x]",
        "[x = -1, 'a b' = 'c', @k = 2.5, x/'y z'/@l] AND (a.p = 1 OR b.q = 2 AND a.p = 3)",
        "a.p / b.q = (a.x + 1) / b.y AND 8 * (1 - a.p) > 0.000001",
    ],
)
def test_of_values(condition: str) -> None:
    [query], errors = parse(f"EVENT SEQ('a b'//x->v[k = 'l'] a, B b) WHERE {condition}")
    assert not errors, errors[0]
    prints_what_it_says(query)
