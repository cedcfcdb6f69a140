"""What counts as the same match, and what a difference looks like."""

from __future__ import annotations

from typing import Any

from tests.oracle.canonical import anonymous, canonical_result, differences


def match(result: Any, **members: Any) -> dict[str, Any]:
    usual = {"query": "q", "documents": ["d"], "nodes": [0], "bindings": {}, "time": 1.0}
    return {**usual, **members, "result": result}


def test_spelling_of_xml_does_not_matter() -> None:
    assert not differences(
        [match("<a  y='1' x=\"&#50;\"><b/>&#60;</a>")],
        [match('<a x="2" y="1"><b></b><![CDATA[<]]></a>')],
    )


def test_unused_namespaces_do_not_matter() -> None:
    assert canonical_result("<a xmlns:k='urn:k'/>") == canonical_result("<a/>")


def test_content_matters() -> None:
    for other in ("<a>1 </a>", "<a><!--c-->1</a>", "<a k='1'>1</a>", "<b>1</b>"):
        assert differences([match("<a>1</a>")], [match(other)])


def test_json_results() -> None:
    assert not differences([match({"a": 1, "b": [None]})], [match({"b": [None], "a": 1})])
    assert differences([match("1")], [match(1)])


def test_a_difference_reads_well() -> None:
    expected = [match("<a/>"), match("<a/>"), match("<b/>", bindings={"x": 3}, nodes=[2])]
    assert differences(expected, [match("<a/>"), match("<c/>")]).splitlines() == [
        "3 matches expected, 2 found",
        "missing  q: d#0 [] <a></a>",
        "missing  q: d#2 [x=3] <b></b>",
        "too many q: d#0 [] <c></c>",
    ]


def test_documents_that_are_results_are_anonymous() -> None:
    found = [match("<a/>", documents=["d", "5f0c"], nodes=[0, 1])]
    assert differences([match("<a/>", documents=["d", "*"], nodes=[0, 1])], found)
    assert not differences(
        [match("<a/>", documents=["d", "*"], nodes=[0, 1])], anonymous(found, {"d"})
    )
