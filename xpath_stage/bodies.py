"""Evaluates the text of a document, or its JSON value; parses it only if its structure is new.

A body is cut at its brackets or keys, without a parser.  The cut shows its structure.  The values
that queries need are read from the same places as in the first document of that structure.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from contextlib import suppress

import orjson
from lxml import etree

from xscl.xpath_stage.equal_leaves import MANY_ROWS
from xscl.xpath_stage.evaluator import XPathEvaluator
from xscl.xpath_stage.layouts import Layout, Witnesses
from xscl.xpath_stage.parsing.documents import MalformedDocument, parse
from xscl.xpath_stage.parsing.json_documents import json_tree
from xscl.xpath_stage.parsing.json_shapes import are_flat, cut_value, read_exactly, texts_of_value
from xscl.xpath_stage.parsing.markup import LONGEST, cut_text, places_of_attributes, texts_of_tags
from xscl.xpath_stage.structures import FEW, Asked, StructureLayout
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
    stored = known.find(cut)
    if cut is not None and stored is not None:
        return _leave(evaluator, stored, cut[1], document, to)
    root = parse(body)
    trace, layout, general = _walk(evaluator, stream, root, document, to)
    if cut is not None and general and known.met_before(cut[0]):
        markup, parts = cut
        texts = texts_of_tags(markup, parts)
        if texts is not None:
            places = places_of_attributes(root, parts) if min(trace) < 0 else {}
            _store(evaluator, stream, cut, trace, layout, texts, places)
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
    stored = known.find(cut)
    if cut is not None and stored is not None:
        return _leave(evaluator, stored, cut[1], document, to)
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
    stored = known.find(cut)
    if cut is not None and stored is not None:
        return _leave(evaluator, stored, cut[1], document, to)
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
    stored: StructureLayout,
    parts: list[str],
    document: int,
    to: Witnesses,
) -> Layout:
    layout = stored.layout
    if layout.paths:
        to.leave(document, layout, stored.numbers(parts, evaluator.strings))
    return layout


def _walk(
    evaluator: XPathEvaluator, stream: str, root: etree._Element, document: int, to: Witnesses
) -> tuple[list[int], Layout, bool]:
    """Appends the witnesses of a document; returns its trace and layout, and whether these hold for
    all documents of the same structure."""
    trace: list[int] = []
    strings: list[int] = []
    filtering = evaluator.walk(stream, root, trace, strings)
    layout = evaluator.leave(document, trace, strings, filtering, to)
    chosen = filtering is not None and filtering.chosen
    return trace, layout, not chosen and len(trace) <= FEW and len(layout.paths) <= MANY_ROWS


def _walk_value(
    evaluator: XPathEvaluator,
    stream: str,
    value: object,
    cut: _Cut | None,
    document: int,
    to: Witnesses,
) -> Layout:
    trace, layout, general = _walk(evaluator, stream, json_tree(value), document, to)
    if cut is not None and general and evaluator.settle().structures[stream].met_before(cut[0]):
        _store(evaluator, stream, cut, trace, layout, texts_of_value(value, cut[1]), {})
    return layout


def _store(
    evaluator: XPathEvaluator,
    stream: str,
    cut: _Cut,
    trace: list[int],
    layout: Layout,
    texts: list[slice],
    attributes: dict[tuple[int, str], slice],
) -> None:
    """Stores the layout of an evaluated document for others of its structure; `texts` are the
    places of the elements' texts among its parts."""
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
    table.structures.store(stream, cut[0], stored, len(trace))
