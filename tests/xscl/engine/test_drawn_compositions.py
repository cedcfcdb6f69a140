"""Drawn queries in EQL over drawn documents: the engine against the evaluator that tries all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import pytest

import xscl
from tests.drawn import seeded, times
from tests.oracle.drawn_compositions import STREAMS, drawn_events, drawn_query
from tests.xscl.engine.three_ways import in_three_ways
from xscl.pattern_stage.switches import COMPOSITION_SWITCHES as RULES
from xscl.pattern_stage.switches import EVENT_SWITCHES as SWITCHES


def engine(text: str, without: set[str], rates: dict[str, float]) -> xscl.Engine:
    made = xscl.Engine(without=without, lateness=20, rates=rates)
    made.load(text)
    return made


@pytest.mark.drawn
def test_agreement() -> None:
    found_any = 0
    for number in range(times(800)):
        dice = seeded("compositions", number)
        drawn = drawn_query(dice)
        without = {one for one in sorted(SWITCHES | RULES) if dice.random() < 0.2}
        # Other rates, other plans.
        rates = {stream: dice.choice([1, 8, 128]) for stream in STREAMS if dice.random() < 0.7}
        make = partial(engine, drawn.text, without, rates)

        size = dice.randint(1, 4)
        starts = range(0, len(drawn.envelopes), size)
        batches = [drawn.envelopes[start : start + size] for start in starts]
        matches = in_three_ways(make, batches)
        found = Counter(zip_documents(matches))
        wanted = Counter(drawn.expected())
        found_any += bool(wanted)
        assert found == wanted, f"{number}: {drawn.text}\n{drawn.envelopes} {rates} {without}"
    assert found_any


@pytest.mark.drawn
def test_lives(tmp_path: Path) -> None:
    """Queries come and go, look back or do not, over restarts and new plans: each finds what the
    definitions find among what it has seen."""
    for number in range(times(16)):
        dice, state = seeded("lives of compositions", number), tmp_path / f"{number}.xscl"
        several = [drawn_query(dice) for _ in range(4)]
        lines = sorted(drawn_events(dice, 14), key=lambda one: one["timestamp"])
        engine = xscl.Engine(state, lateness=0)
        # What it may still need is retained.
        engine.subscribe("SELECT * FROM (s A; t B; u C)", "all")
        seen: dict[str, int] = {}
        ended: dict[str, int] = {}
        found = dict[str, list[xscl.Match]]()
        for place, line in enumerate(lines):
            if dice.random() < 0.3 and len(seen) < len(several):
                name, history = f"q{len(seen)}", dice.random() < 0.5
                made = engine.subscribe(several[len(seen)].text, name, history=history)
                seen[name] = 0 if history else place
                found[name] = list(made.found)
            if dice.random() < 0.1 and seen.keys() - ended.keys():
                name = dice.choice(sorted(seen.keys() - ended.keys()))
                engine.cancel(name)
                ended[name] = place
            if dice.random() < 0.1:
                engine.replan()
            if dice.random() < 0.15:
                engine.close()
                engine = xscl.Engine(state)
            for match in engine.publish_many([line]):
                found.setdefault(match.query, []).append(match)
        for match in engine.flush():
            found.setdefault(match.query, []).append(match)
        engine.close()
        for place, (name, since) in enumerate(seen.items()):
            drawn = several[place]._replace(envelopes=lines[since : ended.get(name)])
            matches = [*zip_documents(found.get(name, ()))]
            wanted = Counter(drawn.expected())
            if name in ended:
                # What was pending is not reported.
                assert not Counter(matches) - wanted, f"{number}, {name}: {drawn.text}\n{lines}"
            else:
                assert Counter(matches) == wanted, f"{number}, {name}: {drawn.text}\n{lines}"


def zip_documents(matches: Iterable[xscl.Match]) -> Iterator[tuple[tuple[str, str], ...]]:
    for one in matches:
        yield tuple(zip(one.variables, one.documents, strict=True))
