"""Evaluates queries over documents as one XQuery, by SaxonC, and reads the matches."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from lxml import etree
from saxonche import PySaxonProcessor

from tests.oracle.json_trees import JSONTree, gathered, value_of_xml
from tests.oracle.terms import Constructor, Document, Item, Query, VariablePath
from tests.oracle.xquery import PROLOG, declarations, query_in_xquery
from tests.oracle.xquery_filters import quoted

__all__ = ["matches_by_xquery", "program"]

_HEAD = """xquery version "3.1";
declare namespace map = "http://www.w3.org/2005/xpath-functions/map";
declare namespace array = "http://www.w3.org/2005/xpath-functions/array";
declare namespace output = "http://www.w3.org/2010/xslt-xquery-serialization";
"""

_PREDECLARED = {
    "atom": "http://www.w3.org/2005/Atom",
    "dc": "http://purl.org/dc/elements/1.1/",
}


@lru_cache(1)
def _processor() -> tuple[Any, Any]:
    saxon = PySaxonProcessor(license=False)
    return saxon, saxon.new_xquery_processor()


def matches_by_xquery(
    queries: Mapping[str, Query], namespaces: Mapping[str, str], documents: Sequence[Document]
) -> list[dict[str, Any]]:
    """Every match once, in the members of the JSON form that are compared."""
    trees = [JSONTree(document.content) if document.json else None for document in documents]
    _, processor = _processor()
    processor.set_query_content(program(queries, namespaces, documents, trees))
    rows = json.loads(processor.run_query_to_string())
    return [_match(row, queries[row["query"]], documents, trees) for row in rows]


def program(
    queries: Mapping[str, Query],
    namespaces: Mapping[str, str],
    documents: Sequence[Document],
    trees: Sequence[JSONTree | None],
) -> str:
    """One XQuery for all, which gives a JSON array of rows."""
    values = []
    for number, (document, tree) in enumerate(zip(documents, trees, strict=True)):
        text = document.content if tree is None else etree.tostring(tree.root, encoding="unicode")
        values.append(
            f"map {{ 'number': {number}, 'stream': {quoted(document.stream)},"
            f" 'id': {quoted(document.id)}, 'time': {document.timestamp!r},"
            f" 'root': parse-xml({quoted(str(text))}) }}"
        )
    rows = ", ".join(f"local:{name}()" for name in queries)
    return (
        _HEAD
        + declarations({**_PREDECLARED, **namespaces})
        + 'declare option output:method "text";\n'
        + "declare variable $documents := ("
        + ",\n".join(values)
        + ");\n"
        + PROLOG
        + "".join(query_in_xquery(name, query) for name, query in queries.items())
        + f"serialize(array {{ {rows} }}, map {{ 'method': 'json' }})"
    )


def _match(
    row: Mapping[str, Any],
    query: Query,
    documents: Sequence[Document],
    trees: Sequence[JSONTree | None],
) -> dict[str, Any]:
    outputs = [found for [found] in row["outputs"]]
    return {
        "query": row["query"],
        "documents": row["documents"],
        "nodes": [number for _, number, _, _ in outputs],
        "bindings": row["bindings"],
        "result": _result(row, query, outputs, _Values(documents, trees)),
    }


class _Values:
    """Nodes as JSON, and their names."""

    def __init__(self, documents: Sequence[Document], trees: Sequence[JSONTree | None]) -> None:
        self._documents = documents
        self._trees = trees

    def json(self, document: int) -> bool:
        return self._trees[document] is not None

    def name(self, node: Sequence[Any]) -> str:
        document, number, attribute, local = node
        tree = self._trees[document]
        return local if tree is None or attribute else tree.names[number]

    def value(self, node: Sequence[Any]) -> object:
        document, number, attribute, _ = node
        tree = self._trees[document]
        if tree is not None:
            return tree.values[number]
        root = etree.fromstring(str(self._documents[document].content))
        element = list(root.iter(etree.Element))[number]
        return element.get(etree.QName(_clark(attribute))) if attribute else value_of_xml(element)


def _clark(name: str) -> str:
    return name.removeprefix("Q").removeprefix("{}")


def _result(
    row: Mapping[str, Any], query: Query, outputs: Sequence[Any], values: _Values
) -> object:
    """A JSON value where the SELECT makes one, or all documents are JSON; else XML text."""
    select, found = query.select, iter(row["selected"])
    if isinstance(select, dict):
        return _constructed(select, found, values)
    if isinstance(select, Constructor) or not all(values.json(node[0]) for node in outputs):
        return row["xml"]
    if isinstance(select, str):
        whole = [values.value(node) for node in outputs]
        return whole if len(whole) > 1 else whole[0]
    return gathered(
        (item.alias or values.name(node), values.value(node))
        for item, nodes in zip(select, found, strict=True)
        if isinstance(item, Item)
        for node in nodes
    )


def _constructed(part: object, found: Any, values: _Values) -> object:
    match part:
        case dict():
            return {key: _constructed(member, found, values) for key, member in part.items()}
        case list():
            members: list[object] = []
            for member in part:
                if isinstance(member, VariablePath):
                    members += [values.value(node) for node in next(found)]
                else:
                    members.append(_constructed(member, found, values))
            return members
        case VariablePath():
            several = [values.value(node) for node in next(found)]
            return None if not several else several if len(several) > 1 else several[0]
    return part
