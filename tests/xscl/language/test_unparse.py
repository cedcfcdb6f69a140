"""What is printed of a query is the language, and means what the query said."""

from __future__ import annotations

from hypothesis import HealthCheck, given, note, settings

from tests.oracle.as_xscl import xscl_file
from tests.oracle.drawn_documents import NAMESPACES
from tests.oracle.drawn_queries import queries
from tests.oracle.terms import Query
from xscl.language import parse
from xscl.language.syntax import Block, Join, Source
from xscl.language.unparse import Wording


@given(queries("xml") | queries("json"))
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_printed_block_reads_as_it_was_printed(drawn: Query) -> None:
    text = xscl_file({"q": drawn}, NAMESPACES)
    note(text)
    (query,), errors = parse(text)
    assert not errors
    for block in blocks(query.source):
        printed = Wording(text).block(block)
        again = f"DECLARE NAMESPACE p = 'urn:p';\n{printed}"
        note(printed)
        (read,), errors = parse(again)
        assert not errors
        assert isinstance(read.source, Block)
        assert Wording(again).block(read.source) == printed


def blocks(source: Source) -> list[Block]:
    if isinstance(source, Join):
        return blocks(source.left) + blocks(source.right)
    assert isinstance(source, Block)
    return [source]
