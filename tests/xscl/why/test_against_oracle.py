"""`why` against nested loops: it holds where they find a match, and the cause that it names is one.

That a condition is the cause means: with the conditions before it the query has a match, and with
it, none.  So the query is cut off before and after it, and both are asked of the nested loops.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count, islice, product

from hypothesis import HealthCheck, event, given, note
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.oracle import patterns
from tests.oracle.as_nested_loops import query_in_loops
from tests.oracle.as_xscl import xscl_text
from tests.oracle.drawn_documents import documents
from tests.oracle.drawn_queries import queries
from tests.oracle.nested_loops import Evaluation
from tests.oracle.terms import (
    Block,
    Branch,
    Document,
    Filter,
    Operation,
    Query,
    Step,
    Text,
    blocks_of,
)
from tests.xscl.why.cut import cut
from xscl.documents import document as published
from xscl.language import parse
from xscl.why import Finding, Why, why

SETTINGS = drawn(50, suppress_health_check=list(HealthCheck))
PLAIN = queries("plain", streams=("S",) * 9 + ("R",), easy=False)
EASY = queries("plain", streams=("S",), easy=True)
NOT_EMPTY = Filter((Operation("!=", (Step("/", "."),), Text("")),))


BRANCHES = ("./a", "./b", ".//a", ".//b", "./*/a", "./*/b", "./@k", ".//@k", "./c")


@st.composite
def branching(draw: st.DrawFn) -> Query:
    """A block whose step has several branches, which its nodes must have all of."""
    names = (f"x{number}" for number in count(1))

    def branch(path: str) -> Filter:
        steps = re.findall("(//?)([^/]+)", path.removeprefix("."))
        *inner, (axis, test) = steps
        last = Step(axis, test, next(names), draw(st.sampled_from([(), (NOT_EMPTY,)])))
        return Filter((Branch((*(Step(one, name) for one, name in inner), last)),))

    def filters() -> tuple[Filter, ...]:
        paths = draw(st.lists(st.sampled_from(BRANCHES), min_size=1, max_size=3))
        return tuple(map(branch, paths))

    steps = [Step("//", draw(st.sampled_from(["*", "a"])), next(names), filters())]
    if draw(st.booleans()):
        axis = draw(st.sampled_from(["/", "//"]))
        steps.append(Step(axis, draw(st.sampled_from(["*", "b"])), None, filters()))
    return Query(Block("S", tuple(steps)))


def judged(query: Query, chosen: Sequence[Document], known: Sequence[Document]) -> Why:
    text = xscl_text(query)
    note(text)
    (parsed,), errors = parse(text)
    assert not errors
    return why(parsed, [as_published(document, known) for document in chosen])


def as_published(document: Document, known: Sequence[Document]) -> published.Document:
    return published.Document(
        list(known).index(document),
        document.stream,
        document.id,
        round(document.timestamp * 1_000_000),
        document.content,
        False,
    )


def has_match(query: patterns.Query, chosen: Sequence[Document]) -> bool:
    """Whether exactly these documents match."""
    distinct = {document.id: document for document in chosen}.values()
    known = [patterns.Document(d.stream, d.id, d.timestamp, str(d.content)) for d in distinct]
    ids = tuple(document.id for document in chosen)
    return any(match.row.documents == ids for match in Evaluation(query).matches(known))


def some_choices(draw: st.DataObject, query: Query, known: list[Document]) -> list[list[Document]]:
    """Some choices of a document for each block: mostly of the right streams, and different."""
    blocks = blocks_of(query.source)
    of_stream = [[d for d in known if d.stream == b.stream] or known for b in blocks]
    different = (c for c in product(*of_stream) if len({d.id for d in c}) == len(c))
    chosen = draw.draw(st.permutations(list(islice(different, 400))))[:8]
    anyway = [draw.draw(st.sampled_from(known)) for _ in blocks]
    return [anyway, *map(list, chosen)]


@given(st.data(), PLAIN | EASY | branching(), documents("plain"))
@SETTINGS
def test_it_holds_where_nested_loops_find_a_match(
    data: st.DataObject, query: Query, known: list[Document]
) -> None:
    looped = query_in_loops("q", query, {})
    for chosen in some_choices(data, query, known):
        answer = judged(query, chosen, known)
        note(f"{[d.id for d in chosen]}")
        assert answer.holds == has_match(looped, chosen)
        assert (answer.cause is None) == answer.holds
        event(f"{len(chosen)} blocks: {'holds' if answer.holds else 'fails'}")


@given(st.data(), PLAIN | EASY | branching(), documents("plain"))
@SETTINGS
def test_the_query_has_a_match_up_to_the_cause_and_none_with_it(
    data: st.DataObject, query: Query, known: list[Document]
) -> None:
    for chosen in some_choices(data, query, known)[:4]:
        answer = judged(query, chosen, known)
        note(f"{[d.id for d in chosen]}: {answer.cause}")
        if answer.cause is None:
            continue
        event(f"cause: {answer.cause.kind}")
        disjunct, conditions = furthest(answer)
        number = conditions.index(answer.cause)
        before, total = cut(query, chosen, disjunct, number)
        assert total == len(conditions)
        assert all(has_match(part, some) for part, some in before)
        with_it, _ = cut(query, chosen, disjunct, number + 1)
        assert not all(has_match(part, some) for part, some in with_it)


def furthest(answer: Why) -> tuple[int, list[Finding]]:
    """The disjunct that the cause is from, counted from 0, and its conditions."""
    every = [answer.of(disjunct + 1) for disjunct in range(answer.disjuncts)]
    false = [sum(finding.holds is False for finding in some) for some in every]
    disjunct = false.index(min(false))
    return disjunct, every[disjunct]
