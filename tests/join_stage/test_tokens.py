"""The tokens of strings: split once, dropped with the string."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import xscl
from tests.drawn import seeded
from xscl.join_stage.tokens import Tokens
from xscl.xpath_stage import likeness

TEXTS = {1: "Apple unveils M3", 2: "the m3, unveils: apple", 3: "M3 chips", 4: "…", 5: "東京都"}


def test_a_string_is_split_once_for_all_measures_of_a_kind() -> None:
    asked = list[int]()

    def text(string: int) -> str | None:
        asked.append(string)
        return TEXTS.get(string)

    tokens = Tokens(likeness, text)
    for measure in ("words", "containment", "words"):
        assert len(tokens.of(measure, 1)) == 3
    assert asked == [1]
    assert set(tokens.of("words", 1)) < set(tokens.of("containment", 2, TEXTS[2]))
    assert tokens.of("words", 4) == ()
    assert tokens.of("words", 7) == (), "a value that equals nothing"
    assert tokens.missing("containment", {1, 2, 3, 4}) == {3}
    assert tokens.missing("trigrams", {1}) == {1}


def test_likenesses_are_those_of_the_texts() -> None:
    tokens = Tokens(likeness, TEXTS.get)
    for measure in ("words", "containment", "trigrams"):
        for one, left in TEXTS.items():
            for other, right in TEXTS.items():
                expected = likeness.share(left, right, measure)
                assert tokens.likeness(measure, one, other) == round(expected * 10**6)


def test_what_is_dropped_takes_its_tokens_with_it() -> None:
    """A token has its number as long as a string has it; then the number is gone for good."""
    tokens = Tokens(likeness, TEXTS.get)
    before = {string: tokens.of("words", string) for string in TEXTS}
    tokens.of("trigrams", 1)
    assert len(tokens) == 6
    tokens.drop([2, 3, 9])
    assert len(tokens) == 4
    assert tokens.of("words", 1) == before[1]
    assert set(tokens.of("words", 2)) & set(before[2]) == set(before[1])
    for drop in (lambda: tokens.drop(TEXTS), tokens.clear):
        drop()
        assert len(tokens) == 0
        assert [*tokens._numbers, *tokens._tokens, *tokens._uses] == []
        assert not set(tokens.of("words", 1)) & set(before[1])


def _titles(draw: random.Random, number: int) -> list[dict[str, object]]:
    words = [f"w{n}" for n in range(5_000)]
    return [
        {
            "stream": draw.choice("ST"),
            "id": f"d{at}",
            "timestamp": at,
            "xml": f"<i><t>{' '.join(draw.sample(words, 8))}</t></i>",
        }
        for at in range(number)
    ]


@pytest.mark.parametrize(("in_process", "number"), [(500, 2_000), (10, 500)])
def test_tokens_stay_as_long_as_their_strings(in_process: int, number: int) -> None:
    """In either data flow, as documents leave the window; none without a query that asks."""
    fed = _titles(seeded("tokens, a window"), number)
    with xscl.Engine(lateness=0, strategies=xscl.Strategies(in_process=in_process)) as engine:
        engine.subscribe("S/i/t->t JOIN {similar(t, u) >= 0.5, 20 s} T/i/t->u", name="q")
        tokens = engine._join._in_process.tokens
        for begin in range(0, number, 25):
            size = 25 if begin % 2 else 5
            for at in range(begin, begin + 25, size):
                engine.publish_many(fed[at : at + size])
        assert 20 <= len(tokens) <= 500
        assert len(tokens._numbers) <= 8 * len(tokens)
        engine.cancel("q")
        engine.subscribe("S/i/t->t JOIN {t = u, 20 s} T/i/t->u")
        engine.publish("S", "<i><t>w1</t></i>", id="last", timestamp=number)
        assert len(tokens) == 0


def test_after_a_restart_texts_are_looked_up_together(tmp_path: Path) -> None:
    """One by one each would be a query to DuckDB."""
    state = tmp_path / "s.duckdb"
    fed = _titles(seeded("tokens, a restart"), 60)
    query = "S/i/t->t JOIN {similar(t, u) >= 0.5, 1 day} T/i/t->u"
    with xscl.Engine(state) as engine:
        engine.subscribe(query)
        engine.publish_many(fed[:-1])
    with xscl.Engine(state) as engine:
        tokens = engine._join._in_process.tokens
        alone, text = list[int](), tokens._text

        def looked_up(string: int) -> str | None:
            alone.append(string)
            return text(string)

        tokens._text = looked_up
        engine.publish_many(fed[-1:])
        assert len(tokens) == 60
        assert len(alone) <= 1, "the new one's"
