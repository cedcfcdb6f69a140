"""A JSON value as it is held: text that says the same, whatever becomes of the value later."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import example, given

from tests.drawn import drawn
from tests.xpath_stage.parsing.test_json_documents import VALUES
from xscl.documents.bodies import Bodies
from xscl.documents.document import Document, as_held, document_of
from xscl.documents.trees import Trees, content_of
from xscl.errors import DocumentError

DEEP: list[Any] = []
for _ in range(300):
    DEEP = [DEEP]


def held(value: object) -> Document:
    return as_held(document_of({"json": value}, 0, 0), Bodies(), Trees())


@given(VALUES)
@example(10**30)
@example({"a": "\ud800", "\udfff": -0.0})
@example((1.0, True, 1e22, 5e-324))
@example(DEEP)
@drawn(100)
def test_a_value_is_held_as_text_that_says_the_same(value: Any) -> None:
    document = held({"of": MappingProxyType({"it": value})})
    assert isinstance(document.body, bytes)
    said = json.loads(json.dumps({"of": {"it": value}}))
    assert repr(content_of(document)) == repr(said)


@pytest.mark.parametrize("value", [{1, 2}, object(), {"a": [b"x"]}])
def test_what_is_no_value_is_not_held(value: object) -> None:
    with pytest.raises(DocumentError, match="it is no JSON"):
        held(value)
