"""The sizes that an engine reports, against counting by hand; what it evicts, and when."""

from __future__ import annotations

from typing import Any

import xscl

PAIR = "S//a->x JOIN {x = y, 10} R//b->y"


def stats(engine: xscl.Engine) -> dict[str, Any]:
    return engine.stats(exact=True)


def test_what_is_counted() -> None:
    with xscl.Engine() as engine:
        engine.subscribe(PAIR, name="pair")
        engine.subscribe("SELECT x FROM S//a->x PUBLISH out", name="out")
        engine.subscribe("out/result", name="reader")
        engine.publish("S", "<r><a>1</a><a>é</a></r>", timestamp=5)
        engine.publish("R", "<r><b>3</b><b>1</b></r>", timestamp=7)
        engine.publish("Q", "<r/>", timestamp=9)
        reported = stats(engine)
        assert (reported["taken"], reported["documents"], reported["queries"]) == (3, 4, 3)
        assert reported["witnesses"] == 4 + 2
        assert reported["strings"] == 3
        assert reported["templates"] == 2
        assert reported["streams"] == {
            "S": {"documents": 1, "witnesses": 2, "bytes": 24, "latest": 5.0},
            "R": {"documents": 1, "witnesses": 2, "bytes": 23, "latest": 7.0},
            "out": {"documents": 2, "witnesses": 2, "bytes": 51, "latest": 5.0},
        }
        assert reported["bytes"] == 24 + 23 + 51
        assert reported["watermark"] is None


def test_skipped_documents_are_counted_by_reason() -> None:
    with xscl.Engine(lateness=5, on_skip=print) as engine:
        engine.subscribe(PAIR)
        engine.publish_many(
            [
                {"id": "d", "timestamp": 100, "xml": "<a/>"},
                {"id": "d", "timestamp": 101, "xml": "<a/>"},
                {"id": "late", "timestamp": 10, "xml": "<a/>"},
                {"id": "bad", "timestamp": 100, "xml": "<a>"},
            ]
        )
        assert stats(engine)["skipped"] == {
            "malformed": 1,
            "duplicate": 1,
            "late": 1,
            "unknown": 0,
        }
        assert stats(engine)["watermark"] == 95.0


def test_one_query_without_end_does_not_hold_what_only_others_read() -> None:
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe(PAIR)
        engine.subscribe("S//forever->x JOIN {x = y} R//ever->y")
        for number in range(50):
            engine.publish("S", f"<a>{number}</a>", timestamp=number)
        engine.publish("S", "<forever>f</forever>", timestamp=50)
        for number in range(51, 100):
            engine.publish("S", f"<a>{number}</a>", timestamp=number)
        reported = stats(engine)
        assert reported["documents"] == 12
        assert reported["witnesses"] == 12
        assert reported["strings"] == 12


def test_the_right_side_of_followed_by_is_retained_only_for_late_documents() -> None:
    with xscl.Engine(lateness=3) as engine:
        engine.subscribe("S//a->x FOLLOWED BY {x = y, 10} R//b->y")
        for number in range(40):
            engine.publish("R", f"<b>{number}</b>", timestamp=number)
        assert stats(engine)["documents"] == 4
        for number in range(40):
            engine.publish("S", f"<a>{number}</a>", timestamp=number)
        engine.publish("S", "<a/>", timestamp=60)
        assert stats(engine)["documents"] == 1


def test_a_date_far_ahead_moves_nothing() -> None:
    with xscl.Engine(lateness=5) as engine:
        engine.subscribe(PAIR)
        engine.publish("S", "<a>1</a>", timestamp="2099-01-01")
        for number in range(100):
            engine.publish("S", f"<a>{number}</a>", timestamp=number)
        reported = stats(engine)
        assert reported["skipped"]["late"] == 0
        assert reported["documents"] == 17
        assert reported["streams"]["S"]["latest"] > 4e9


def test_a_silent_stream_holds_nothing_back() -> None:
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe(PAIR)
        engine.publish("R", "<b>1</b>", timestamp=0)
        for number in range(100):
            engine.publish("S", f"<a>{number}</a>", timestamp=number)
        reported = stats(engine)
        assert set(reported["streams"]) == {"S"}
        assert reported["documents"] == 11


def test_to_ask_for_sizes_changes_nothing() -> None:
    """Neither what is retained nor what is pending to be written, however often a monitor asks."""
    with xscl.Engine(lateness=0) as asked, xscl.Engine(lateness=0) as left:
        for engine in (asked, left):
            engine.subscribe("S//a->x JOIN {x = y, 100 s} S//b->y")
        for n in range(60):
            for engine in (asked, left):
                engine.publish("S", f"<{'ab'[n % 2]}>{n // 9}</{'ab'[n % 2]}>", timestamp=n * 9)
            reported = asked.stats()
            assert reported == {**asked.stats(), "memory": reported["memory"]}
            stored = len(left._intake.retained)
            assert reported["documents"] == stored == len(asked._intake.retained)
            assert reported["witnesses"] == left._join.rows == asked._join.rows
            assert asked._join._state._pending.times == left._join._state._pending.times
        exact = asked.stats(exact=True)
        assert exact["documents"] == exact["witnesses"] == 12
