"""A text of queries checked before anybody subscribes it: its good queries and its errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from xscl.dissection.parts import Dissection
from xscl.engine import Engine
from xscl.errors import QueryError
from xscl.language.parameters import Prepared
from xscl.language.read import parse_from

__all__ = ["Checked", "check"]


class Checked(NamedTuple):
    """What checking a text found: its good queries, the parameters of each, and its errors."""

    queries: list[Dissection]
    parameters: dict[str, list[str]]
    errors: list[QueryError]


def check(text: str, params: Mapping[str, object]) -> Checked:
    """Checks a text; a parameter that has no value stands for itself."""
    queries, _, _ = parse_from(text, 1)
    prepared = {query.name: Prepared(query) for query in queries}
    asked = {name: list(one.parameters) for name, one in prepared.items()}
    tables = {name: {**one.stand_ins, **params} for name, one in prepared.items() if one.parameters}
    with Engine() as engine:
        found, errors = engine.load_good(text, tables=tables)
        return Checked([one.dissection for one in found], asked, errors)
