"""`history=True` finds the matches among the retained documents, whatever other queries there
are."""

from __future__ import annotations

import pytest

import xscl

PAIR = "S//a->x JOIN {x = y, 1} S//b->y"
SIMILAR = {
    "the same": (f"{PAIR} FOLLOWED BY {{y = z, 1}} S//c->z",) * 2,
    "a wider window": (
        f"{PAIR} FOLLOWED BY {{y = z, 1}} S//c->z",
        f"{PAIR} FOLLOWED BY {{y = z}} S//c->z",
    ),
    "a longer chain": (f"{PAIR} JOIN {{y = z, 1}} S//c->z FOLLOWED BY {{z = w, 1}} S//d->w",) * 2,
    "a part of it": (
        f"{PAIR} JOIN {{y = z, 1}} S//c->z FOLLOWED BY {{z = w, 1}} S//d->w",
        f"{PAIR} JOIN {{y = z, 1}} S//c->z",
    ),
    "more than it": (
        f"{PAIR} JOIN {{y = z, 1}} S//c->z",
        f"{PAIR} JOIN {{y = z, 1}} S//c->z FOLLOWED BY {{z = w, 1}} S//d->w",
    ),
    "on the right": (f"S//c->z JOIN {{z = y, 1}} ({PAIR})",) * 2,
    "two disjuncts": (
        f"{PAIR} FOLLOWED BY {{y = z, 1}} S//c->z",
        f"{PAIR} FOLLOWED BY {{y = z OR y != z, 1}} S//c->z",
    ),
    "in a sub-query": (
        f"{PAIR} FOLLOWED BY {{y = z, 1}} S//c->z",
        f"(SELECT <t>{{x}}</t> FROM {PAIR} FOLLOWED BY {{y = z, 1}} S//c->z)/t/a->v "
        "JOIN {v = w, 2} S//d->w",
    ),
}


def life(newer: str, *older: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """What a query finds in the retained documents and completes afterwards; another query retains
    all documents, and what the older ones have made of them is out of their reach."""
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe("S//*->n JOIN {n = m, 1000} S//never->m", name="holder")
        for query in older:
            engine.subscribe(query)
        time = 0.0
        for _ in range(3):
            for name in "abcdabcd":
                engine.publish("S", f"<{name}>1</{name}>", id=f"{name}{time}", timestamp=time)
                time += 0.25
            time += 5
        engine.stats(exact=True)  # drops what is out of reach
        assert engine.holds("a0.0")
        found = engine.subscribe(newer, name="newer", history=True).found
        later = [
            match
            for name in "abcd"
            for match in engine.publish("S", f"<{name}>1</{name}>", id=name, timestamp=time)
            if match.query == "newer"
        ]
        assert len({match.id for match in (*found, *later)}) == len(found) + len(later)
        return (
            sorted(match.documents for match in found),
            sorted(match.documents for match in later),
        )


@pytest.mark.parametrize("case", SIMILAR)
def test_history_finds_the_same_whatever_others_have_asked(case: str) -> None:
    older, newer = SIMILAR[case]
    alone = life(newer)
    assert alone[0]
    assert life(newer, older) == alone
    assert life(newer, older, older, newer) == alone


def test_a_match_of_two_disjuncts_is_found_once() -> None:
    """One disjunct has its left part in common with another query, the other has not."""
    left = "S//a->x JOIN {x = y} S//b->y"
    either = "S//a->x JOIN {x = y OR lower-case(x) = lower-case(y)} S//b->y"
    with xscl.Engine() as engine:
        engine.subscribe(f"{left} JOIN {{y = z}} S//c->z")
        for time, name in enumerate("abc"):
            engine.publish("S", f"<{name}>1</{name}>", id=name, timestamp=time)
        found = engine.subscribe(f"{either} JOIN {{y = z}} S//c->z", history=True).found
        assert [match.documents for match in found] == [("a", "b", "c")]
