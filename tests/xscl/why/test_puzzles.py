"""Puzzles of the sort that people run into: `why` names the planted cause first.

`puzzles.jsonl` has a query and a document for each of its blocks a line, with the kind of the
cause, its text, the near miss and, where something more must be said, a part of the note.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from xscl.documents.document import Document
from xscl.errors import XSCLError
from xscl.language import parse
from xscl.times import from_timestamp
from xscl.why import Why, as_text, why

PUZZLES = [
    json.loads(line)
    for line in Path(__file__).with_name("puzzles.jsonl").read_text("utf-8").splitlines()
]
GOLDEN = sorted(Path(__file__).with_name("golden").glob("*.txt"))


def answer_of(puzzle: dict[str, Any]) -> Why:
    (query,), errors = parse(puzzle["query"])
    assert not errors
    numbers = {document["id"]: place for place, document in enumerate(puzzle["documents"])}
    return why(query, [document_of(d, numbers[d["id"]]) for d in puzzle["documents"]])


def document_of(envelope: dict[str, Any], number: int) -> Document:
    return Document(
        number,
        envelope["stream"],
        envelope["id"],
        from_timestamp(envelope["timestamp"]),
        envelope["json"] if "json" in envelope else envelope["xml"],
        "json" in envelope,
    )


@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle["puzzle"])
def test_the_planted_cause_is_named(puzzle: dict[str, Any]) -> None:
    found = answer_of(puzzle)
    cause = found.cause
    assert not found.holds
    assert cause is not None
    planted = puzzle["cause"]
    assert cause.kind == planted["kind"]
    assert planted["text"] in cause.text
    assert cause.near == planted["near"]
    assert planted["note"] is None or planted["note"] in (cause.note or "")
    json.dumps(found.to_dict())
    assert cause.text in as_text(found, width=200)


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda path: path.stem)
def test_the_table_reads_well(golden: Path) -> None:
    """`golden/NAME.txt`, hyphens for spaces, is the table of that puzzle, 100 columns wide."""
    puzzle = next(puzzle for puzzle in PUZZLES if puzzle["puzzle"] == golden.stem.replace("-", " "))
    assert str(answer_of(puzzle)) == golden.read_text("utf-8")


def test_conditions_are_in_the_order_in_which_they_are_judged() -> None:
    """Operators innermost first; a comparison of a group with a block outside is tested at that
    block."""
    (query,), _ = parse(
        "S//a->x JOIN {x = y} (S//b->y[. != ''] JOIN {x = z AND y = z, 1 h} S//c->z) "
        "JOIN {x = y AND w = z} S//d->w"
    )
    found = why(query, [None, None, None, None])
    assert [finding.text for finding in found.findings] == [
        *("//a->x", "//b->y", "[. != '']", "//c->z", "//d->w"),
        *("different documents", "JOIN {1 hour}", "y = z"),
        *("different documents", "JOIN {INF}", "x = y", "x = z"),
        *("different documents", "JOIN {INF}", "x = y", "w = z"),
    ]


def test_it_says_which_documents_are_missing() -> None:
    (query,), _ = parse("S//a->x FOLLOWED BY {x = y} (SELECT k FROM S//c->k)//k->y")
    with pytest.raises(XSCLError) as refused:
        why(query, [])
    assert str(refused.value) == (
        "query 'q1' joins 2 documents, one for each block; found 0. Its blocks:\n"
        "    1: stream S, S//a->x\n"
        "    2: a sub-query, (…)//k->y"
    )


def test_what_is_about_no_document_is_not_judged() -> None:
    (query,), _ = parse("S//a->x FOLLOWED BY {x = y, 1 day} (SELECT k FROM S//c->k)//k->y")
    document = document_of({"stream": "S", "id": "d1", "timestamp": 0, "xml": "<a>1</a>"}, 1)
    found = why(query, [document, None])
    assert not found.holds
    assert found.cause is None
    judged = [(finding.kind, finding.holds) for finding in found.findings]
    assert judged == [
        ("stream", True),
        ("step", True),
        ("step", None),
        ("documents", None),
        ("time", None),
        ("comparison", None),
    ]


def test_too_many_assignments_are_refused() -> None:
    """Six times thirty nodes below each of two, all of which a later comparison needs."""
    (query,), _ = parse(
        "S//b->b[a->p][a->q][a->r][a->s] JOIN {p = t AND q = t AND r = t AND s = t} S//c->t"
    )
    many = "".join(f"<a>{number}</a>" for number in range(30))
    xml = f"<a><b>{many}</b><b>{many}</b></a>"
    documents = [
        document_of({"stream": "S", "id": f"d{n}", "timestamp": 0, "xml": body}, n)
        for n, body in enumerate([xml, "<c>1</c>"])
    ]
    with pytest.raises(XSCLError, match="more than 100,000 assignments"):
        why(query, documents)
