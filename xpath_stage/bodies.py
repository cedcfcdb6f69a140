"""Evaluates the text of a document, or its JSON value; parses it only if its structure is new.

A body is cut at its brackets or keys, without a parser.  The cut shows its structure.  The values
that queries need are read from the same places as in the first document of that structure.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from contextlib import suppress

import orjson
from lxml import etree

from xscl.xpath_stage.constants import Satisfied
from xscl.xpath_stage.equal_leaves import MANY_ROWS
from xscl.xpath_stage.evaluator import Decided, XPathEvaluator
from xscl.xpath_stage.filters import Plain, plain_name
from xscl.xpath_stage.layouts import Layout, Witnesses
from xscl.xpath_stage.parsing.documents import MalformedDocument, parse
from xscl.xpath_stage.parsing.json_documents import json_tree
from xscl.xpath_stage.parsing.json_shapes import are_flat, cut_value, read_exactly, texts_of_value
from xscl.xpath_stage.parsing.markup import LONGEST, cut_text, places_of_attributes, texts_of_tags
from xscl.xpath_stage.structures import (
    FEW,
    Asked,
    Comparison,
    Decision,
    Outcomes,
    StructureLayout,
)
from xscl.xpath_stage.transitions import DEAD

__all__ = ["evaluate_json", "evaluate_text", "evaluate_value", "json_value"]

_NOTHING = Layout.of(())
"""The layout of a document from which no query needs anything."""

_Cut = tuple[Hashable, list[str]]


def evaluate_text(
    evaluator: XPathEvaluator, stream: str, body: str | bytes, document: int, to: Witnesses
) -> Layout:
    """Appends the witnesses of the XML document with number `document` to those of a batch; returns
    its layout.

    Raises MalformedDocument for one that cannot be read and ExcessiveDocument for one that causes
    too much work; nothing is appended then.
    """
    known = evaluator.settle().structures[stream]
    cut = cut_text(body) if known.credit > 0 or known.pay else None
    if (layout := _leave(evaluator, known, cut, document, to)) is not None:
        return layout
    root = parse(body)
    trace, layout, decided = _walk(evaluator, stream, root, document, to)
    if cut is not None and decided is not None and _met_before(known, cut, decided):
        markup, parts = cut
        texts = texts_of_tags(markup, parts)
        if texts is not None:
            places = places_of_attributes(root, parts) if min(trace) < 0 else {}
            _store(evaluator, stream, cut, trace, layout, texts, places, root, decided)
    return layout


def evaluate_value(
    evaluator: XPathEvaluator, stream: str, body: object, document: int, to: Witnesses
) -> Layout:
    """As `evaluate_text`, of a JSON value."""
    table = evaluator.settle()
    if table.root(stream) == DEAD and are_flat((body,)):
        return _NOTHING
    known = table.structures[stream]
    cut = cut_value(body) if known.credit > 0 or known.pay else None
    if (layout := _leave(evaluator, known, cut, document, to)) is not None:
        return layout
    return _walk_value(evaluator, stream, body, cut, document, to)


def evaluate_json(
    evaluator: XPathEvaluator, stream: str, body: bytes, document: int, to: Witnesses
) -> Layout:
    """As `evaluate_text`, of the text of a JSON document."""
    table = evaluator.settle()
    if table.root(stream) == DEAD:
        return evaluate_value(evaluator, stream, json_value(body), document, to)
    known = table.structures[stream]
    value: object = None
    cut: _Cut | None = None
    if (known.credit > 0 or known.pay) and len(body) <= LONGEST:
        # What this parser refuses or rounds is read by another one below.
        with suppress(ValueError):
            value = orjson.loads(body)
            cut = cut_value(value)
    if (layout := _leave(evaluator, known, cut, document, to)) is not None:
        return layout
    if cut is None:
        value = json_value(body)
    return _walk_value(evaluator, stream, value, cut, document, to)


def json_value(body: bytes) -> object:
    """The value of a text of JSON; raises MalformedDocument."""
    try:
        try:
            return read_exactly(body)
        except ValueError:
            return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise MalformedDocument(f"it is no JSON: {error}") from error


def _leave(
    evaluator: XPathEvaluator,
    known: Outcomes,
    cut: _Cut | None,
    document: int,
    to: Witnesses,
) -> Layout | None:
    """Appends the witnesses of a document of a known structure; returns its layout, None where
    nothing is known of its structure with the outcomes that its filters have."""
    stored = known.find(cut)
    if cut is None or stored is None:
        return None
    parts = cut[1]
    satisfied: list[tuple[int, int, Satisfied]] = []
    while isinstance(stored, Decision):
        following = stored.of(parts, evaluator.constants, satisfied)
        if following is None:
            known.undecided()
            return None
        stored = following
    to.satisfied += ((document, *one) for one in satisfied)
    layout = stored.layout
    if layout.paths:
        to.leave(document, layout, stored.numbers(parts, evaluator.strings))
    return layout


def _walk(
    evaluator: XPathEvaluator, stream: str, root: etree._Element, document: int, to: Witnesses
) -> tuple[list[int], Layout, list[Decided] | None]:
    """Appends the witnesses of a document; returns its trace and layout, and what these depend on
    besides its structure: the outcomes of some tests, None if more than that."""
    trace: list[int] = []
    strings: list[int] = []
    filtering = evaluator.walk(stream, root, trace, strings)
    layout = evaluator.leave(document, trace, strings, filtering, to)
    decided = filtering.decided if filtering is not None else []
    if len(trace) > FEW or len(layout.paths) > MANY_ROWS:
        decided = None
    return trace, layout, decided


def _walk_value(
    evaluator: XPathEvaluator,
    stream: str,
    value: object,
    cut: _Cut | None,
    document: int,
    to: Witnesses,
) -> Layout:
    root = json_tree(value)
    trace, layout, decided = _walk(evaluator, stream, root, document, to)
    if cut is not None and decided is not None:
        known = evaluator.settle().structures[stream]
        if _met_before(known, cut, decided):
            texts = texts_of_value(value, cut[1])
            _store(evaluator, stream, cut, trace, layout, texts, {}, root, decided)
    return layout


def _met_before(known: Outcomes, cut: _Cut, decided: Sequence[Decided]) -> bool:
    """Whether a document of the same structure and outcomes was met before."""
    return known.met_before((cut[0], *[one.holds for one in decided]))


def _store(
    evaluator: XPathEvaluator,
    stream: str,
    cut: _Cut,
    trace: list[int],
    layout: Layout,
    texts: list[slice],
    attributes: dict[tuple[int, str], slice],
    root: etree._Element,
    decided: Sequence[Decided],
) -> None:
    """Stores the layout of an evaluated document for others of its structure and with the same
    outcomes; `texts` are the places of the elements' texts among its parts."""
    table = evaluator.settle()
    asked: list[Asked] = []
    node, name = -1, ""
    for path in trace:
        if path < 0:
            name = evaluator.attribute_names[~path]
            continue
        node += not name
        some = attributes[node, name] if name else texts[node]
        name = ""
        for leaf in table.leaves[path]:
            if leaf.functions is not None:
                asked.append((some, leaf.functions))
    stored = StructureLayout(layout, asked, attributes=bool(attributes))
    comparisons = _comparisons(root, texts, decided) if decided else ()
    table.structures.store(stream, cut[0], comparisons, stored, len(trace))


def _comparisons(
    root: etree._Element, texts: list[slice], decided: Sequence[Decided]
) -> list[tuple[Comparison, bool]]:
    """The tests that were made, on the parts of a document, with their outcomes."""
    # All elements are kept, so that each is the same object wherever it is met.
    elements = [*root.iter("*")]
    text_of = dict(zip(elements, texts, strict=True))
    comparisons = []
    for test, element, code, holds in decided:
        name = test.name if isinstance(test, Plain) else plain_name(test.values)
        read = [element] if name == "." else element.iterchildren(name)
        values = tuple([text_of[one] for one in read])
        comparisons.append((Comparison(test, code, values), holds))
    return comparisons
