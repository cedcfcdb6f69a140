"""Event queries with one text but for constants in their blocks: each finds what it finds alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

import xscl
from tests.drawn import seeded

KINDS = ("k0", "k1", "k2")
TEXTS = {
    "selection": "SELECT who, amount FROM FILTER{{amount > {least}}}(S/json[kind = {kind}])",
    "window": "SELECT who, SUM(amount) AS total FROM WINDOW{{9 s}}(S/json[kind = {kind}]) "
    "GROUP BY who",
    "of two": "SELECT who FROM FILTER{{}}(S/json[kind = {kind}][amount > {least}])",
    "a word": "SELECT who FROM FILTER{{}}(S/json[starts-with(kind, {kind})])",
    "a regular expression": "SELECT who FROM FILTER{{}}(S/json[matches(kind, {kind})])",
    "next": "SELECT who FROM FILTER{{}}(S/json[kind = {kind}]) "
    "NEXT{{$2.who = $1.who AND $2.amount > {least}}} FILTER{{}}(S/json[kind = 'k0'])",
    "fold": "SELECT who FROM FILTER{{}}(S/json[kind = 'k0']) "
    "FOLD{{$2.who = $.who, $2.amount > $.amount}} FILTER{{}}(S/json[kind = {kind}])",
    "union": "(SELECT who FROM FILTER{{}}(S/json[kind = {kind}])) UNION "
    "(SELECT who FROM FILTER{{amount > {least}}}(S/json[kind = 'k0']))",
    "compared with a condition": "SELECT who FROM FILTER{{kind != {kind}}}(S/json[kind != {kind}])",
}  # fmt: skip
ROWS = [{"kind": kind, "least": least} for least in (20, 60) for kind in KINDS]


def documents() -> list[dict[str, object]]:
    random = seeded("constants of blocks")
    return [
        {
            "stream": "S",
            "id": f"e{number}",
            "timestamp": number,
            "json": {
                "kind": random.choice(KINDS),
                "who": random.choice("ab"),
                "amount": random.randrange(100),
            },
        }
        for number in range(80)
    ]


def found(queries: Mapping[str, str]) -> Counter[str]:
    with xscl.Engine() as engine:
        for name, text in queries.items():
            engine.subscribe(text, name=name)
        return Counter(match.query for match in reported(engine))


def reported(engine: xscl.Engine) -> Sequence[xscl.Match]:
    matches = [*engine.publish_many(documents()), *engine.flush()]
    return [match for match in matches if isinstance(match, xscl.Match)]


@pytest.mark.parametrize("kind", TEXTS)
def test_each_finds_what_it_finds_alone(kind: str) -> None:
    texts = {
        f"q{place}": TEXTS[kind].format(kind=f"'{row['kind']}'", least=row["least"])
        for place, row in enumerate(ROWS)
    }
    alone = Counter[str]()
    for name, text in texts.items():
        alone += found({name: text})
    assert len(alone) >= 4
    assert found(texts) == alone
    # As rows of one text with parameters.
    with xscl.Engine() as engine:
        text = TEXTS[kind].format(kind=":kind", least=":least")
        named = [{"name": f"q{place}", **row} for place, row in enumerate(ROWS)]
        used = [
            {key: row[key] for key in row if f":{key}" in text or key == "name"} for row in named
        ]
        engine.subscribe_many(text, used)
        assert Counter(match.query for match in reported(engine)) == alone
