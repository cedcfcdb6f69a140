"""Requests of any kind, right and wrong, made of what the server says at /openapi.json: no answer
is a failure, and each is as described."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)

from tests.drawn import drawn
from tests.xscl.serve.asking import PATIENCE, Asking, serving

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def server() -> Iterator[Asking]:
    with serving("-- name: q\nS//a->x JOIN {x = y, 1 day} S//b->y PUBLISH P") as asking:
        asking.publish("a", "<a>1</a>", 1)
        asking.publish("b", "<b>1</b>", 2)
        yield asking


@pytest.fixture(scope="module")
def requests(server: Asking) -> st.SearchStrategy[Case]:
    """Any request to any route."""
    schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{server.port}/openapi.json")
    operations = [one.ok() for one in schema.get_all_operations()]
    return st.one_of(
        operation.as_strategy(generation_mode=mode)
        for operation in operations
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    )


@drawn(150, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_request(requests: st.SearchStrategy[Case], data: st.DataObject) -> None:
    case = data.draw(requests)
    if case.operation.label == "GET /matches":
        # Events have no end.
        case.query = {**(case.query or {}), "live": False}
        case.headers.pop("accept", None)
    response = case.call(timeout=PATIENCE)
    case.validate_response(response, checks=CHECKS)
