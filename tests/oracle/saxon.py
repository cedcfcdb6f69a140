"""Evaluates queries over documents by SaxonC, a stage of queries as one XQuery, and reads the
matches.

What a stage publishes are documents for the next ones.  The id of such a document is its match's,
of which XQuery knows nothing: it is `*` here.
"""

from __future__ import annotations

import json
import locale
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from lxml import etree
from saxonche import PySaxonProcessor  # type: ignore[import-not-found]

from tests.oracle.json_trees import JSONTree, gathered, value_of_xml
from tests.oracle.stages import MOST_PUBLISHED, ExcessiveResults, Standing, stages
from tests.oracle.terms import Constructor, Document, Query, VariablePath
from tests.oracle.xquery import PROLOG, declarations, query_in_xquery
from tests.oracle.xquery_filters import quoted

__all__ = ["matches_by_xquery"]

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
    # It sets the process to the user's locale, which elementpath, another judge, may not support.
    before = locale.setlocale(locale.LC_ALL)
    saxon = PySaxonProcessor(license=False)
    locale.setlocale(locale.LC_ALL, before)
    return saxon, saxon.new_xquery_processor()


def matches_by_xquery(
    queries: Mapping[str, Query], namespaces: Mapping[str, str], documents: Sequence[Document]
) -> list[dict[str, Any]]:
    """Every match once, in the members of the JSON form that are compared; those of sub-queries
    are not among them.  Raises ExcessiveResults if too much is published."""
    published, found = list(documents), []
    for stage in stages(queries):
        values = _Values(published)
        for row in _evaluated(stage, namespaces, values):
            standing = stage[row["query"]]
            match = _match(row, standing.query, values)
            if standing.reported:
                found.append(match)
            time = max(document.timestamp for document in _documents(row, values))
            json = _is_json(row, standing.query, values)
            published += [
                Document(feed, "*", time, match["result"], json) for feed in standing.feeds
            ]
        if len(published) > len(documents) + MOST_PUBLISHED:
            raise ExcessiveResults
    return found


def _evaluated(
    stage: Mapping[str, Standing], namespaces: Mapping[str, str], values: _Values
) -> list[dict[str, Any]]:
    read = set().union(*(standing.reads for standing in stage.values()))
    if not any(document.stream in read for document in values.documents):
        return []  # of a variable that is always empty, Saxon says that nothing can be asked
    _, processor = _processor()
    processor.set_query_content(_program(stage, namespaces, values, read))
    rows: list[dict[str, Any]] = json.loads(processor.run_query_to_string())
    return rows


def _program(
    stage: Mapping[str, Standing],
    namespaces: Mapping[str, str],
    values: _Values,
    read: Collection[str],
) -> str:
    """One XQuery for all, which gives a JSON array of rows."""
    written = [
        f"map {{ 'number': {number}, 'stream': {quoted(document.stream)},"
        f" 'time': {document.timestamp!r}, 'root': parse-xml({quoted(values.xml(number))}) }}"
        for number, document in enumerate(values.documents)
        if document.stream in read
    ]
    rows = ", ".join(f"local:{name}()" for name in stage)
    return (
        _HEAD
        + declarations({**_PREDECLARED, **namespaces})
        + 'declare option output:method "text";\n'
        + "declare variable $documents := ("
        + ",\n".join(written)
        + ");\n"
        + PROLOG
        + "".join(query_in_xquery(name, standing.query) for name, standing in stage.items())
        + f"serialize(array {{ {rows} }}, map {{ 'method': 'json' }})"
    )


def _outputs(row: Mapping[str, Any]) -> list[list[Any]]:
    return [found for [found] in row["outputs"]]


def _documents(row: Mapping[str, Any], values: _Values) -> list[Document]:
    return [values.documents[document] for document, *_ in _outputs(row)]


def _match(row: Mapping[str, Any], query: Query, values: _Values) -> dict[str, Any]:
    return {
        "query": row["query"],
        "documents": [document.id for document in _documents(row, values)],
        "nodes": [number for _, number, _, _ in _outputs(row)],
        "bindings": row["bindings"],
        "result": _result(row, query, values),
    }


class _Values:
    """Documents as XML, their nodes as JSON, and the names of these."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = list(documents)
        self._trees = [JSONTree(d.content) if d.json else None for d in self.documents]

    def xml(self, document: int) -> str:
        tree = self._trees[document]
        if tree is None:
            return str(self.documents[document].content)
        text: str = etree.tostring(tree.root, encoding="unicode")
        return text

    def name(self, node: Sequence[Any]) -> str:
        document, number, attribute, local = node
        tree = self._trees[document]
        return str(local) if tree is None or attribute else tree.names[number]

    def value(self, node: Sequence[Any]) -> object:
        document, number, attribute, _ = node
        tree = self._trees[document]
        if tree is not None:
            return tree.values[number]
        root = etree.fromstring(self.xml(document))
        element = list(root.iter(etree.Element))[number]
        return element.get(etree.QName(_clark(attribute))) if attribute else value_of_xml(element)


def _clark(name: str) -> str:
    return name.removeprefix("Q").removeprefix("{}")


def _is_json(row: Mapping[str, Any], query: Query, values: _Values) -> bool:
    """Whether the SELECT makes a JSON value, or all documents are JSON."""
    if isinstance(query.select, dict | Constructor):
        return isinstance(query.select, dict)
    return all(document.json for document in _documents(row, values))


def _result(row: Mapping[str, Any], query: Query, values: _Values) -> object:
    """A JSON value, or XML text."""
    select, found = query.select, iter(row["selected"])
    if not _is_json(row, query, values):
        return row["xml"]
    if isinstance(select, dict):
        return _constructed(select, found, values)
    if isinstance(select, tuple):
        return gathered(
            (item.alias or values.name(node), values.value(node))
            for item, nodes in zip(select, found, strict=True)
            for node in nodes
        )
    whole = [values.value(node) for node in _outputs(row)]
    return whole if len(whole) > 1 else whole[0]


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
