"""The bound on the work of one document: what is counted, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from lxml import etree

import xscl
from tests.join_stage.views import views_of
from tests.xpath_stage.parsing.test_json_documents import nested as json_nested
from xscl.xpath_stage import (
    ExcessiveDocument,
    Filter,
    Spine,
    Step,
    Strings,
    Witnesses,
    XPathEvaluator,
)
from xscl.xpath_stage.work import Work

DEEP = "<a>" * 250 + "x" + "</a>" * 250
CHAIN = "<a>" * 200 + "x" + "</a>" * 200
LISTS = f"<r><a>{'<b>1</b>' * 20_000}</a><a>{'<c>2</c>' * 20_000}</a></r>"
SIBLINGS = f"<r>{'<b>1</b>' * 20_000}{'<c>2</c>' * 20_000}</r>"
TEXT = "<a>" * 250 + "x" * 1_000_000 + "</a>" * 250
SOME_TEXT = "<a>" * 250 + "x" * 200_000 + "</a>" * 250
SMALL = "<a><b>1</b><a><b>1</b><c>1</c><a><b>1</b><a/></a></a></a>"

STEPS = "its filters would take more than 100,000,000 steps"
CHARACTERS = "have more than 100,000,000 characters in all"
ANY = "more than 100,000,000"
WAYS = "matches a pattern in more than 10,000 ways"

EXCESSIVE = [
    pytest.param("S//*[.//*[.//*[.//*]]]", DEEP, STEPS, id="searches within searches"),
    pytest.param("S//*[.//*//*//*]", DEEP, STEPS, id="searches one after another"),
    pytest.param("S//*[count(.//*[.//*[.//*]]) > 9]", DEEP, STEPS, id="searches in a function"),
    pytest.param("S//*[not(.//*[.//* = 'y' or .//*[.//*]])]", DEEP, STEPS, id="under or"),
    pytest.param("S//r[b = c]", SIBLINGS, STEPS, id="all pairs of two lists"),
    pytest.param("S//r[b < c]", SIBLINGS, STEPS, id="all pairs in order"),
    pytest.param("S//r[a/b = a/c]", LISTS, STEPS, id="all pairs of lists further down"),
    pytest.param("S//r[.//b = .//c]", LISTS, STEPS, id="all pairs that a search finds"),
    pytest.param("S//*[.//*[contains(., 'y')]]", SOME_TEXT, ANY, id="strings in a filter"),
    pytest.param("S//*->x JOIN {x = y} S//*->y", TEXT, CHARACTERS, id="strings of nested elements"),
    pytest.param(
        "S//*->x JOIN {lower-case(x) = y} S//b->y", TEXT, CHARACTERS, id="strings under functions"
    ),
    pytest.param(
        "SELECT a, b, c FROM S//*->a//*->b//*->c//*->d", CHAIN, WAYS, id="ways through a chain"
    ),
    pytest.param(
        "SELECT a FROM S//*->a[.//*->b[.//*->c[.//*->d]]] JOIN {d = e AND c = e AND b = e} S//b->e",
        CHAIN,
        WAYS,
        id="ways through branches",
    ),
]


@pytest.mark.parametrize(("query", "document", "reason"), EXCESSIVE)
def test_documents_that_cause_too_much_work_are_refused(
    query: str, document: str, reason: str
) -> None:
    """They are as if they had never come; the others are unaffected, and so is the engine."""
    reported: list[xscl.DocumentError] = []
    with xscl.Engine(on_skip=reported.append) as fresh:
        fresh.load(f"{query}; S//b")
        before = fresh.publish("S", SMALL, id="1", timestamp=1)
        after = fresh.publish("S", SMALL, id="3", timestamp=3)
    with xscl.Engine(on_skip=reported.append) as engine:
        engine.load(f"{query}; S//b")
        assert engine.publish("S", SMALL, id="1", timestamp=1) == before
        with pytest.raises(xscl.DocumentError, match=reason) as raised:
            engine.publish("S", document, id="2", timestamp=2)
        assert (raised.value.stream, raised.value.document) == ("S", "2")
        assert "document '2' of stream 'S': " in str(raised.value)
        assert engine.publish("S", SMALL, id="3", timestamp=3) == after
    assert reported == []
    with xscl.Engine(on_skip=reported.append) as engine:
        engine.load(f"{query}; S//b")
        bodies = enumerate((SMALL, document, SMALL), start=1)
        batch = [{"id": str(n), "timestamp": n, "xml": body} for n, body in bodies]
        found = engine.publish_many(batch)
        assert {match.id for match in found} == {match.id for match in [*before, *after]}
        assert [error.document for error in reported] == ["2"]
        assert engine.skipped.malformed == 1


@pytest.mark.parametrize(
    ("query", "document"),
    [
        pytest.param("S//*[.//*]", DEEP, id="one search"),
        pytest.param("S//*[.//*[.//*]]", DEEP, id="two searches"),
        pytest.param("S//*[.//*][.//b][.//c]", DEEP, id="parallel searches"),
        pytest.param("S//r[b = '1'][c = 2]", SIBLINGS, id="lists and constants"),
        pytest.param("S//b[1]", SIBLINGS, id="positions, once for all siblings"),
        pytest.param("S//b[last()]", SIBLINGS, id="the last of many"),
        pytest.param("S//*[b = c]", SMALL, id="all pairs of short lists"),
        pytest.param("S//*->x", TEXT, id="nested elements that nobody compares"),
        pytest.param("S/*->x JOIN {x = y} S/*->y", TEXT, id="a long text once"),
    ],
)
def test_documents_that_are_only_large_are_answered(query: str, document: str) -> None:
    with xscl.Engine() as engine:
        engine.subscribe(query)
        engine.publish("S", document)
        assert engine.skipped.total == 0


def test_the_bound_is_for_each_document_alone() -> None:
    """Many documents may cause together what one may not."""
    with xscl.Engine() as engine:
        engine.subscribe("S//*[.//*[.//*]]")
        documents: Iterator[dict[str, Any]] = ({"xml": DEEP} for _ in range(10))
        assert len(engine.publish_many(documents)) == 10 * 248


def test_a_refused_document_leaves_nothing_behind() -> None:
    """Its id may come again, its strings are not kept, its time is no document's."""
    with xscl.Engine() as engine:
        engine.subscribe("S//a->x[.//*[.//*[.//*]]] JOIN {x = y} S//b->y")
        assert engine.publish("S", "<b>y</b>", id="0", timestamp=0) == []
        with pytest.raises(xscl.DocumentError):
            engine.publish("S", DEEP, id="1", timestamp=1)
        assert views_of(engine).r_doc().rows == [("0", 0, "y")]
        assert engine.publish("S", "<b>x</b>", id="1", timestamp=2) == []
        deep = "<a><i><i><i>x</i></i></i></a>"
        assert len(engine.publish("S", deep, id="2", timestamp=3)) == 1


def test_json_is_bounded_in_the_same_way() -> None:
    with xscl.Engine() as engine:
        engine.subscribe("S//*[.//*[.//*[.//*]]]")
        with pytest.raises(xscl.DocumentError, match=STEPS):
            engine.publish("S", json_nested(250, array=False))


def test_what_is_cut_off_is_the_document_alone() -> None:
    """The witnesses of those before it in the batch stay."""
    deep = Step("descendant", "*", (Filter(".//*[.//*[.//*]]", searches=3),))
    evaluator = XPathEvaluator(Strings())
    evaluator.register(Spine("S", (deep,), (0,), ()))
    batch = Witnesses()
    evaluator.evaluate("S", etree.fromstring(SMALL), 1, batch)
    rows = list(batch.rows())
    assert rows
    with pytest.raises(ExcessiveDocument):
        evaluator.evaluate("S", etree.fromstring(DEEP), 2, batch)
    assert list(batch.rows()) == rows


def often_evaluated(work: Work, filter: Filter, context: etree._Element, often: int) -> None:
    for _ in range(often):
        work.evaluate(filter, context)


def test_what_is_counted() -> None:
    """A search costs a subtree, one within another the subtree for each level of it."""
    root = etree.fromstring(f"<r>{'<b/>' * 999}</r>")
    for filter, often in [
        (Filter("b"), 100_000),
        (Filter(".//b", searches=1), 50_000),
        (Filter("b = c", pairs=True), 100),
        (Filter(".//b[.//c]", searches=2), 25_000),
    ]:
        work = Work()
        often_evaluated(work, filter, root, often)
        with pytest.raises(ExcessiveDocument, match=STEPS):
            often_evaluated(work, filter, root, often)
    work = Work()
    work.take_string("x" * 100_000_000)
    with pytest.raises(ExcessiveDocument, match=CHARACTERS):
        work.take_string("x")
