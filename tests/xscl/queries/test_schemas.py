"""What a later query knows of a published stream: the names that all of its publishers give it,
whatever their order (docs/semantics.md#schemas)."""

from __future__ import annotations

from pathlib import Path

import pytest

import xscl

CLOSED = "SELECT a, b FROM FILTER{a > 0}(S) PUBLISH p"
READS = "SELECT a FROM FILTER{{{} = 1}}(p)"


@pytest.mark.parametrize(
    "text",
    [
        "(A/x JOIN {1 h} B/x)/json JOIN {1 h} (SELECT z FROM (SELECT v FROM S))/json",
        "A/json JOIN {1 h} (SELECT z FROM (SELECT v FROM S))/json",
    ],
)
def test_a_query_that_is_refused_leaves_nothing(text: str) -> None:
    """None of its sub-queries; the error has the name that was given."""
    with xscl.Engine() as engine:
        before = engine.stats()
        with pytest.raises(xscl.QueryError, match="no attribute `z` here") as refused:
            engine.subscribe(text, name="q")
        assert refused.value.query == "q"
        assert engine.stats() == before
        engine.publish("A", "<x/>", timestamp=1)
        engine.subscribe(text.replace("z", "v"), name="q")
        assert not engine.publish("B", "<x/>", timestamp=2)
        assert not engine.publish("S", {"v": 1}, timestamp=3)


@pytest.mark.parametrize(
    ("other", "closed"),
    [
        ("SELECT b, a FROM T NEXT S PUBLISH p", True),
        ("SELECT 1 AS a, COUNT(*) AS b FROM S PUBLISH p", True),
        ("SELECT c FROM (SELECT b AS c FROM (SELECT b, a FROM T PUBLISH p)) NEXT S", True),
        ("SELECT a FROM (SELECT a FROM T PUBLISH p) NEXT S", False),
        ("SELECT a, b, c FROM T NEXT S PUBLISH p", False),
        ("SELECT a, * FROM FILTER{a > 0}(T) PUBLISH p", False),
        ("SELECT <r><a>{a}</a><b>{b}</b></r> FROM FILTER{a > 0}(T) PUBLISH p", False),
        ("SELECT x AS a FROM T//x->x PUBLISH p", False),
    ],
)
def test_a_stream_is_closed_if_all_that_publish_to_it_agree(other: str, closed: bool) -> None:
    for first, second in ((CLOSED, other), (other, CLOSED)):
        with xscl.Engine() as engine:
            engine.subscribe(first, name="first")
            engine.subscribe(second, name="second")
            if closed:
                with pytest.raises(xscl.QueryError, match="no attribute `d` here"):
                    engine.subscribe(READS.format("d"), name="reader")
            else:
                engine.subscribe(READS.format("d"), name="reader")


def test_a_publisher_that_goes_leaves_what_the_others_say() -> None:
    with xscl.Engine() as engine:
        engine.subscribe(CLOSED, name="closed")
        engine.subscribe("FILTER{a > 0}(T) PUBLISH p", name="open").cancel()
        with pytest.raises(xscl.QueryError, match="no attribute `d` here"):
            engine.subscribe(READS.format("d"), name="reader")


def test_a_reader_keeps_what_it_knew_over_a_restart(tmp_path: Path) -> None:
    """Its publisher may be gone by then; and others that publish later are not known to it."""
    reads = "SELECT a, c FROM p NEXT{a > 3 AND $2.c = 1} S"
    nested = "SELECT x FROM (SELECT a FROM p NEXT{a = $2.b} S)//a->x JOIN {x = y} S//y->y"
    rows: list[dict[str, object]] = [{"least": 1}, {"least": 2}]

    def explained(engine: xscl.Engine) -> dict[str, str]:
        readers = [one.name for one in engine.subscriptions if one.name != "later"]
        return {name: engine.explain(name).partition("  consistency")[0] for name in readers}

    with xscl.Engine(state=tmp_path / "state") as engine:
        first = engine.subscribe(CLOSED, name="first")
        engine.subscribe(reads, name="reads")
        engine.subscribe(nested, name="nested")
        engine.subscribe_many(reads.replace("3", ":least"), rows)
        engine.subscribe("SELECT d FROM FILTER{a > 0}(T) PUBLISH p", name="later")
        first.cancel()
        before = explained(engine)
    with xscl.Engine(state=tmp_path / "state") as engine:
        assert explained(engine) == before
        assert len(before) == 4
