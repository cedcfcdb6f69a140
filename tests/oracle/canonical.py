"""Matches distinguished as a user would: results by canonical XML, lists as multisets."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from lxml import etree

MEMBERS = ("query", "documents", "nodes", "bindings", "result")


def canonical_xml(text: str) -> str:
    """Exclusive canonical XML, with comments.

    >>> canonical_xml("<a y='1' x='&#50;'><b/><![CDATA[<]]></a>")
    '<a x="2" y="1"><b></b>&lt;</a>'
    """
    root = etree.fromstring(text)
    return etree.tostring(root, method="c14n", exclusive=True, with_comments=True).decode()


def canonical_result(result: Any) -> str:
    """One spelling of a result: canonical XML of a document's text, else sorted JSON."""
    if isinstance(result, str) and result.lstrip().startswith("<"):
        return canonical_xml(result)
    return json.dumps(result, sort_keys=True, ensure_ascii=False)


def canonical_match(match: Mapping[str, Any]) -> str:
    """One line for what a match says: query, documents, nodes, bindings, result."""
    query, documents, nodes, bindings, result = (match[member] for member in MEMBERS)
    pairs = " ".join(f"{name}={number}" for name, number in sorted(bindings.items()))
    where = " ".join(f"{document}#{n}" for document, n in zip(documents, nodes, strict=True))
    return f"{query}: {where} [{pairs}] {canonical_result(result)}"


def anonymous(matches: Iterable[Mapping[str, Any]], known: Collection[str]) -> list[dict[str, Any]]:
    """The matches with `*` for an unknown document: a match's result, which has the match's id."""
    return [
        {**match, "documents": [each if each in known else "*" for each in match["documents"]]}
        for match in matches
    ]


def differences(expected: Iterable[Mapping[str, Any]], got: Iterable[Mapping[str, Any]]) -> str:
    """Empty where both are the same multiset, else one line for each match that differs."""
    want = Counter(map(canonical_match, expected))
    have = Counter(map(canonical_match, got))
    lines = [f"missing  {_times(n)}{line}" for line, n in sorted((want - have).items())]
    lines += [f"too many {_times(n)}{line}" for line, n in sorted((have - want).items())]
    if lines:
        lines.insert(0, f"{want.total()} matches expected, {have.total()} found")
    return "\n".join(lines)


def _times(number: int) -> str:
    return "" if number == 1 else f"{number} × "
