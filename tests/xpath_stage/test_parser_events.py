"""The events of a document leave the witnesses of its tree, in whatever pieces it comes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.xpath_stage.drawing import documents, spines
from xscl.xpath_stage import (
    ATTRIBUTE,
    Constant,
    ExcessiveDocument,
    Family,
    Filter,
    MalformedDocument,
    PrunedDocument,
    Spine,
    Step,
    Strings,
    Witnesses,
    XPathEvaluator,
    evaluate_parser_events,
    parse,
)
from xscl.xpath_stage.parsing.pruned import PIECE


def pieces(body: bytes, size: int) -> Iterator[bytes]:
    for begin in range(0, len(body), size):
        yield body[begin : begin + size]


def by_events(evaluator: XPathEvaluator, body: bytes, *, size: int = PIECE) -> Witnesses:
    found = Witnesses()
    source = PrunedDocument(pieces(body, size), text=True)
    evaluate_parser_events(evaluator, "S", source, 1, found)
    return found


def by_tree(evaluator: XPathEvaluator, body: bytes) -> Witnesses:
    found = Witnesses()
    evaluator.evaluate("S", parse(body.decode()), 1, found)
    return found


@given(
    st.lists(spines(), min_size=1, max_size=6),
    st.lists(documents, min_size=1, max_size=4),
    st.integers(1, 60),
)
@drawn(100)
def test_both_ways_leave_the_same_rows(asked: list[Spine], texts: list[str], size: int) -> None:
    walker, listener = XPathEvaluator(Strings()), XPathEvaluator(Strings())
    for one in asked:
        walker.register(one)
        listener.register(one)
    # Several as one, so that there is something before and after what a spine needs.
    for body in (*texts, f"<r><!--a-->{''.join(t for t in map(without_noise, texts))}</r>"):
        tree = by_tree(walker, body.encode())
        found = by_events(listener, body.encode(), size=size)
        assert (list(found.rows()), found.satisfied) == (list(tree.rows()), tree.satisfied)
        event("witnesses" if tree else "none")


def without_noise(text: str) -> str:
    return text.removeprefix("<!--before--><?before it?>").removesuffix("<!--after-->")


def test_families_hold_at_the_same_nodes() -> None:
    evaluator = XPathEvaluator(Strings())
    number = evaluator.constants.number(price := Family(Filter("price"), "<", number=True))
    evaluator.constants.register(number, 10.0)
    record = Step("descendant", "record", (price,))
    evaluator.register(Spine("S", (record, Step("child", "id")), (0, 1), ()))
    body = "".join(
        f"<record><id>{n}</id><price>{n % 20}</price></record>" for n in range(1000)
    ).encode()
    tree = by_tree(evaluator, b"<r>%s</r>" % body)
    assert len(tree.satisfied) == len(tree) == 500
    found = by_events(evaluator, b"<r>%s</r>" % body)
    assert (list(found.rows()), found.satisfied) == (list(tree.rows()), tree.satisfied)


NOISE = "<!--c--><?i?>"
RECORDS = "".join(
    f"{NOISE * (n % 3)}<record j='{n}' k='{n % 4}'><at k='{n % 3}'/><id>{n % 5}</id></record>"
    for n in range(40)
)


@pytest.mark.parametrize(
    ("steps", "family", "constant", "where"),
    [
        pytest.param(
            (Step("descendant", "record"), Step("child", "@k")), Family(Filter(".")), "1",
            "//record/@k[. = '1']", id="an attribute",
        ),
        pytest.param(
            (Step("descendant", "@k"),), Family(Filter(".")), "2", "//@k[. = '2']",
            id="attributes anywhere",
        ),
        pytest.param(
            (Step("descendant", "id"),), Family(Filter(".")), "3", "//id[. = '3']", id="a leaf"
        ),
        pytest.param(
            (Step("descendant", "record"),), Family(Filter("@k")), "3", "//record[@k = '3']",
            id="an element by its attribute",
        ),
        pytest.param(
            (Step("descendant", "record"), Step("child", "*")),
            Family(Filter("."), "<", number=True), 2.0, "//record/*[. < 2]", id="an order",
        ),
        pytest.param(
            (Step("descendant", "record"), Step("child", "at"), Step("child", "@*")),
            Family(Filter("$c0 = ."), "holds"), ("1",), "//record/at/@*[. = '1']", id="a condition",
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("also", [None, "record", "at", "r"])
def test_constants_hold_at_the_nodes_that_xpath_selects(
    steps: tuple[Step, ...], family: Family, constant: Constant, where: str, also: str | None
) -> None:
    """Whatever else is asked of the nodes around, which are then read with all below them."""
    evaluator = XPathEvaluator(Strings())
    number = evaluator.constants.number(family)
    evaluator.constants.register(number, constant)
    asked = (*steps[:-1], steps[-1]._replace(filters=(family,)))
    evaluator.register(Spine("S", asked, (len(asked) - 1,), None))
    if also is not None:
        evaluator.register(Spine("S", (Step("descendant", also),), (0,), ()))
    body = f"<r>{RECORDS}</r>".encode()
    root = parse(body.decode())
    numbers = {element: number for number, element in enumerate(root.iter("*"))}
    selected = cast(list[Any], root.xpath(where))
    expected = {
        (numbers[node], None) if node in numbers else (numbers[node.getparent()], node.attrname)
        for node in selected
    }
    assert expected
    for found in (by_tree(evaluator, body), by_events(evaluator, body, size=50)):
        satisfied = {(n % ATTRIBUTE, evaluator.attribute_name(n)) for _, n, _, _ in found.satisfied}
        assert satisfied == expected
        assert {one for *_, one, _ in found.satisfied} == {number}


def test_a_document_that_shows_late_that_it_is_malformed_leaves_nothing() -> None:
    evaluator = XPathEvaluator(Strings())
    evaluator.register(Spine("S", (Step("child", "a"), Step("child", "@k")), (1,), ()))
    found = Witnesses()

    def come() -> Iterator[bytes]:
        yield b"<a k='1'><b/>"
        yield b"</b>"

    with pytest.raises(MalformedDocument, match="line 1, column"):
        evaluate_parser_events(evaluator, "S", PrunedDocument(come(), text=False), 1, found)
    assert found == Witnesses()


def test_a_document_beyond_the_bound_of_work_leaves_nothing() -> None:
    evaluator = XPathEvaluator(Strings())
    evaluator.register(Spine("S", (Step("descendant", "b"),), (0,), ()))
    with pytest.raises(ExcessiveDocument, match="is at more than 3,000 nodes"):
        by_events(evaluator, b"<a>%s</a>" % (b"<b>x</b>" * 5000))


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "iso-8859-1", "utf-7", "cp1252"]
)
@pytest.mark.parametrize("size", [1, 3, 64, PIECE])
def test_bytes_are_decoded_as_they_declare(encoding: str, size: int) -> None:
    declared = encoding.replace("-sig", "").replace("-le", "")
    body = f'<?xml version="1.0" encoding="{declared}"?><a>é{"ü" * 50}</a>'.encode(encoding)
    if encoding == "utf-16-le":
        body = b"\xff\xfe" + body
    (start, element), (end, _) = PrunedDocument(pieces(body, size), text=False)
    assert (start, end, element.text) == ("start", "end", f"é{'ü' * 50}")


MANY = b" ".join(b'k%d=""' % n for n in range(10_001))


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        pytest.param(b"<a>" * 300, "deeper than 256", id="depth"),
        pytest.param(b"<a>%s</a>" % (b"x" * 10_100_000), "a text of more than", id="a text"),
        pytest.param(b"<a><b %s/></a>" % MANY, "more than 10,000 attributes", id="attributes"),
        pytest.param(b"<a><b k='%s'/></a>" % (b"x" * 1_000_001), "1,000,000 char", id="a value"),
        pytest.param(b"<a>&nbsp;</a>", "Entity 'nbsp' not defined", id="an entity"),
        pytest.param(
            b"<!DOCTYPE a SYSTEM 'x'><a>&e;</a>", "Entity 'e' not defined; only the five", id="DTD"
        ),
        pytest.param(
            b"<!DOCTYPE a SYSTEM 'x'><a k='&e;'/>", "Entity 'e' not defined; only", id="DTD @"
        ),
        pytest.param(
            b"<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>", "it declares entities", id="declared"
        ),
        pytest.param(b"<a/><a/>", "Extra content", id="two documents"),
        pytest.param(b"<a>", "Premature end", id="half a document"),
        pytest.param(b"<!--%s-->" % (b" " * 2_000_000), "no element in its first", id="a prolog"),
        pytest.param(b"<a/>" + b"<!-- -->" * 10_001, "outside its root element", id="an epilog"),
    ],
)
def test_the_bounds_of_a_document_hold(body: bytes, problem: str) -> None:
    with pytest.raises(MalformedDocument, match=problem):
        list(PrunedDocument(pieces(body, PIECE), text=False))
