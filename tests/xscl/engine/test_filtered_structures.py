"""Documents of few structures under filters: an engine that cuts them, and reads events without a
tree, finds what one finds that parses and walks each."""

from __future__ import annotations

import json
import random

import pytest

from tests.drawn import seeded, times, turn
from xscl import Engine, Match
from xscl.documents.events import EventNode
from xscl.queries.levels import event_readers
from xscl.xpath_stage.structures import Decision, StreamStructures

COMPARED = ["kind = 'a'", "kind = 'b'", "n > 2", "n <= 1", "./n = 3", "tag != 'x'"]
OTHERS = ["kind = 'a' and n > 1", "lower-case(kind) = 'a'", "who/name = 'p'", "not(tag)"]


def queries(draw: random.Random) -> list[str]:
    conditions = draw.choice([COMPARED, COMPARED, [*COMPARED, *OTHERS]])

    def block(number: int) -> str:
        name = draw.choice(["json", "json", "item"])
        return name + "".join(f"[{one}]" for one in draw.sample(conditions, number))

    def query(form: int) -> str:
        left, right = (block(draw.choice([1, 1, 2])) for _ in "ab")
        deep = draw.choice(["/", "//"])
        return (
            f"S/{left}[./who->w] FOLLOWED BY {{w = v, 30 s}} S/{right}[./who->v]",
            f"EVENT SEQ(S{deep}{left} a, S/{right} b) WHERE a.n < b.n WITHIN 9 s",
            f"S//{left}",
            f"S//{left}[./tag->t] JOIN {{t = u, 30 s}} S//{right}[./tag->u]",
            f"SELECT tag, SUM(n) AS total FROM WINDOW{{9 s}}(S{deep}{left}) GROUP BY tag",
            f"S{deep}{left} NEXT{{$2.tag = $1.tag}} S/{right}",
            f"EVENT SEQ(S/{left} a, S//who->w b) WHERE a.who = b.w WITHIN 9 s",
            "SELECT k, COUNT(*) AS n FROM WINDOW{9 s}(S) GROUP BY k",
        )[form]

    return [
        f"-- name: q{n}\n{query(draw.choice([0, 1, 1, 2, 3, 4, 5, 6, 7]))}"
        for n in range(draw.randint(3, 8))
    ]


def envelope(draw: random.Random, number: int) -> dict[str, object]:
    kind, size, shape = draw.choice("abcA"), draw.randrange(6), draw.randrange(3)
    one: dict[str, object] = {
        "stream": "S",
        "id": str(number),
        "timestamp": number - draw.choice([0, 0, 3]),
    }
    if draw.random() < 0.4:
        tag = f"<tag>{draw.choice(['x', 'y', ''])}</tag>" if shape else ""
        name = draw.choice(["item", "item k='1'", 'item k="1"', 'item k="2"'])
        sizes = range(size, size + draw.choice([1, 1, 3]))
        items = [
            f"<{name}><kind>{kind}</kind><n>{n}</n><who>{draw.choice('pqr')}</who>{tag}</item>"
            for n in sizes
        ]
        text = items[0] if len(items) == 1 else f"<items>{''.join(items)}</items>"
        return one | {"xml": text}
    value: dict[str, object] = {"kind": kind, "n": size}
    value["who"] = {"name": draw.choice("pq")} if shape == 2 else draw.choice("pqr")
    if shape:
        value["tag"] = draw.choice(["x", "y", "", ["x", "y"]])
    return one | {"json": value if draw.random() < 0.5 else json.dumps(value).encode()}


def found(seed: float) -> tuple[list[str], bool]:
    """All matches, and whether any document was told from others by what filters compare."""
    draw = random.Random(seed)
    texts = queries(draw)
    ids: list[str] = []
    with Engine(lateness=5) as engine:
        for text in texts:
            engine.load(text)
        for number in range(100):
            if number == 50:
                later = texts[0].replace("q0", "later").replace("'a'", "'b'")
                engine.load(later, history=True)
            ids += sorted(map(line, engine.publish_many([envelope(draw, number)])))
        ids += sorted(map(line, engine.flush()))
        known = engine._evaluation._xpath.paths.structures.values()
        decided = any(isinstance(one, Decision) for some in known for one in some.values())
    return ids, decided


def line(match: Match) -> str:
    """A match with its result."""
    one = match.to_dict()
    return f"{match.id} {one.get('result')}"


@pytest.mark.drawn
@pytest.mark.parametrize("part", turn(range(2)))
def test_what_is_cut_is_found_as_what_is_walked(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = seeded("filtered structures", part)
    matches = decisions = 0
    for _ in range(times(20)):
        seed = drawn.random()
        ids, decided = found(seed)
        with monkeypatch.context() as patch:
            patch.setattr(StreamStructures, "find", lambda self, cut: None)
            assert found(seed)[0] == ids, seed
        with monkeypatch.context() as patch:
            # Attributes of a whole JSON document are read from its members, without a tree.
            patch.setattr(event_readers, "WHOLE", EventNode())
            assert found(seed)[0] == ids, seed
        matches += len(ids)
        decisions += decided
    assert matches
    assert decisions
