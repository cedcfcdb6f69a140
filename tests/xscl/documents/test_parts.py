"""A batch retains what documents that come one by one retain, whatever shapes take turns in it and
whichever ids come again once nothing can reach the documents that had them."""

from __future__ import annotations

import pytest

from tests.drawn import seeded
from xscl import Engine

_QUERY = """
-- name: both
S/a[k->x] JOIN {x = y, 5 s} R/a[k->y];
-- name: alone
S/a[n->x] FOLLOWED BY {x = y, 3 s} S/b[n->y];
"""


def drawn(documents: int) -> list[dict[str, object]]:
    random, time = seeded("parts of batches"), 0
    envelopes: list[dict[str, object]] = []
    for _ in range(documents):
        time += random.choice((0, 0, 0, 1, 1, 7))
        tag, leaf = random.choice("ab"), random.choice("kn")
        xml = f"<{tag}><{leaf}>{random.randrange(2)}</{leaf}></{tag}>"
        stream, id = random.choice("SSRT"), str(random.randrange(30))
        envelopes.append({"stream": stream, "id": id, "timestamp": time, "xml": xml})
    return envelopes


@pytest.mark.parametrize("size", [2, 7, 40, 400])
def test_batches_are_as_documents_one_by_one(size: int) -> None:
    envelopes = drawn(400)
    found = []
    for many in (1, size):
        with Engine(lateness=0) as engine:
            engine.load(_QUERY)
            matches = [
                match.id
                for at in range(0, len(envelopes), many)
                for match in engine.publish_many(envelopes[at : at + many])
            ]
            found.append((matches, engine.documents, engine.skipped))
    one_by_one, together = found
    assert together == one_by_one
    matches, documents, skipped = together
    assert len(matches) > 20
    assert skipped.duplicate > 5
    assert documents < len(envelopes)


def test_of_an_id_that_comes_again_the_last_document_counts() -> None:
    a, b = "<a><k>1</k></a>", "<b><n>1</n></b>"
    batch = [("y", 0, a), ("x", 100, b), ("z", 190, a), ("x", 200, a)]
    with Engine(lateness=0) as engine:
        engine.load(_QUERY)
        engine.publish_many(
            {"stream": "S", "id": id, "timestamp": time, "xml": xml} for id, time, xml in batch
        )
        assert engine.documents == 4
        engine.publish("S", a, id="x", timestamp=201)
        assert (engine.documents, engine.skipped.duplicate) == (4, 1)
