"""`why` as text, with documents and without, of a query of each language.

With XSCL_GOLDEN=1 in the environment the texts are written again.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from xscl import Engine

GOLDEN = Path(__file__).with_name("golden") / "languages"
QUERIES = {
    "join": "S/json[./kind = 'order'][./id->x] FOLLOWED BY {x = y, 1 min} T/json[./id->y]",
    "pattern": (
        "EVENT SEQ(S/json[kind = 'order'] o, !S/json[kind = 'cancel'] c, T/json s) "
        "WHERE [id] AND s.cost > o.cost WITHIN 1 min"
    ),
    "kleene": (
        "PATTERN SEQ(S/json[kind = 'order']+ o[], !S/json[kind = 'cancel'] c, T/json s) "
        "WHERE skip_till_next_match { [id] AND o[i].cost > o[i-1].cost } WITHIN 2 min"
    ),
    "events": (
        "SELECT id, cost FROM FILTER{kind = 'order' AND cost > 3}(S) "
        "NEXT{$1.id = $2.id AND $2.cost > $1.cost} T"
    ),
    "automaton": (
        'AUTOMATON {"events": {"s": "S", "t": "T"}, "by": ["id"], "within": "1 min", '
        '"final": ["sent"], "register": {"c": 0}, "arcs": ['
        '{"from": "begin", "to": "on", "event": "s", "when": "s.kind = \'order\'", '
        '"set": "c = s.cost"}, '
        '{"from": "on", "to": "sent", "event": "t", "when": "t.cost > c"}]}'
    ),
    "composition": (
        "SELECT * FROM (S/json O; T/json P \\ S/json C) WHERE FILTER(O.kind = 'order'), "
        "C.kind = 'cancel', C.id = O.id, FILTER(P.id = O.id), P.cost > O.cost, "
        "(O, P) OCCURS WITHIN 1 min"
    ),
}
GIVEN = {"kleene": ("o1", "o3", "s2"), "automaton": ("o1", "c1", "s1")}


def documents() -> list[dict[str, Any]]:
    rows = [
        ("S", "o1", 0, "order", "7", 4),
        ("S", "o2", 5, "order", "8", 2),
        ("S", "c1", 9, "cancel", "7", 4),
        ("S", "o3", 20, "order", "7", 6),
        ("T", "s1", 30, "sent", "7", 5),
        ("T", "s2", 90, "sent", "7", 9),
        ("T", "s3", 95, "sent", "9", 1),
    ]
    return [
        {
            "stream": stream,
            "id": id,
            "timestamp": time,
            "json": {"kind": kind, "id": of, "cost": cost},
        }
        for stream, id, time, kind, of, cost in rows
    ]


@pytest.mark.parametrize("language", QUERIES)
def test_golden(language: str) -> None:
    given = documents()
    with Engine() as engine:
        engine.subscribe(QUERIES[language], name=language)
        engine.publish_many(given)
        events = language == "events"
        by_id = {one["id"]: one for one in given}
        some = GIVEN.get(language, ("o1", "s1"))
        asked = [by_id[id] for id in some] if events else some
        answers = (
            engine.why(language, *asked),
            engine.why(language, among=given if events else None),
        )
    text = "\n".join(map(str, answers))
    file = GOLDEN / f"{language}.txt"
    if os.environ.get("XSCL_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("document", ["<release by='bob'/>", "<release><by>bob</by></release>"])
def test_both_sides_of_a_filter_are_shown(document: str) -> None:
    """Of an attribute as of an element."""
    step = "@by" if "by=" in document else "by"
    with Engine() as engine:
        for number, condition in enumerate((". = 'Bob'", "contains(., 'Bob')", ". > 5")):
            engine.subscribe(f"S/release[./{step}->by[{condition}]]", name=f"q{number}")
        given = {"stream": "S", "id": "d", "timestamp": 0, "xml": document}
        found = [engine.why(f"q{number}", given).cause for number in range(3)]  # type: ignore[union-attr]
    assert [one.left.shown for one in found] == [("bob",)] * 3
    assert [one.right.shown for one in found] == [("Bob",), ("Bob",), ("5",)]
    assert found[0].near == "but for case"
