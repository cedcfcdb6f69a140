"""A stored JSON value: an equal text, independent of later changes of the value."""

from __future__ import annotations

import json
import tracemalloc
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import example, given

from tests.drawn import drawn
from tests.xpath_stage.parsing.test_json_documents import VALUES
from xscl.documents.bodies import Bodies
from xscl.documents.document import Document, as_stored, document_of
from xscl.documents.trees import Trees, content_of
from xscl.errors import DocumentError

DEEP: list[Any] = []
for _ in range(300):
    DEEP = [DEEP]


def stored(value: object) -> Document:
    return as_stored(document_of({"json": value}, 0, 0), Bodies(), Trees())


@given(VALUES)
@example(10**30)
@example({"a": "\ud800", "\udfff": -0.0})
@example((1.0, True, 1e22, 5e-324))
@example(DEEP)
@drawn(100)
def test_a_value_is_stored_as_an_equal_text(value: Any) -> None:
    document = stored({"of": MappingProxyType({"it": value})})
    assert isinstance(document.body, bytes)
    said = json.loads(json.dumps({"of": {"it": value}}))
    assert repr(content_of(document)) == repr(said)


@pytest.mark.parametrize("value", [{1, 2}, object(), {"a": [b"x"]}])
def test_what_is_no_value_is_not_retained(value: object) -> None:
    with pytest.raises(DocumentError, match="it is no JSON"):
        stored(value)


def test_a_small_value_takes_little_memory() -> None:
    made = [document_of({"json": {"n": n, "text": "x" * 50}}, 0, n) for n in range(1_000)]
    bodies, trees = Bodies(), Trees()
    tracemalloc.start()
    try:
        kept = [as_stored(one, bodies, trees) for one in made]
        assert tracemalloc.get_traced_memory()[0] < 1_000 * len(kept)
    finally:
        tracemalloc.stop()
