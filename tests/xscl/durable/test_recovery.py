"""An engine that is opened again is the engine that it was: compared with one that was never
closed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, note
from hypothesis import strategies as st

import xscl
from tests.drawn import drawn
from tests.xscl.durable.crashes import as_after_a_kill

PAIR = "S//a->x FOLLOWED BY {x = y, 5} S//b->y"

NOT_KEPT = ("in_process", "joined", "memory", "paths", "automaton_states")
"""What is at hand for speed alone, what was done so far, and how many blocks the relations lie in;
label paths of documents that have gone are not known any more."""

OF_CANCELLED = ("witnesses", "strings", "streams", "shared_queries", "constants", "rows")
"""What a cancelled query has needed of documents stays for one that needs the same of later
ones, though that cannot reach it, and one that was similar to it stays a form; until it is
opened again."""


class Twins:
    """A durable engine, opened again now and then, and one in memory that never is."""

    def __init__(self, path: Path, **options: Any) -> None:
        self.path = path
        self.options = options
        self.cancelled = False
        self.durable = xscl.Engine(path, **options)
        self.other = xscl.Engine(**options)

    def reopen(self, *, killed: bool = False) -> None:
        if killed:
            before, self.path = self.path, self.path.with_name(f"{self.path.name}'")
            as_after_a_kill(before, self.path)
            self.durable.close()
            before.unlink()
        else:
            self.durable.close()
        self.durable = xscl.Engine(self.path, **self.options)

    def both(self, call: Any) -> None:
        found = []
        for engine in (self.durable, self.other):
            answer = call(engine)
            found.append([(m.to_dict()) for m in answer] if isinstance(answer, list) else answer)
        assert found[0] == found[1]

    def check(self) -> None:
        aside = NOT_KEPT + (OF_CANCELLED if self.cancelled else ())
        kept = []
        for engine in (self.durable, self.other):
            stats = engine.stats(exact=True)
            kept.append({key: value for key, value in stats.items() if key not in aside})
        assert kept[0] == kept[1]
        assert [each.name for each in self.durable.subscriptions] == [
            each.name for each in self.other.subscriptions
        ]

    def close(self) -> None:
        self.durable.close()
        self.other.close()


@pytest.fixture
def twins(tmp_path: Path) -> Iterator[Twins]:
    both = Twins(tmp_path / "state.duckdb")
    yield both
    both.close()


def publish(twins: Twins, id: str, time: float, xml: object) -> None:
    twins.both(lambda engine: engine.publish("S", xml, id=id, timestamp=time))


def test_what_came_before_is_matched_by_what_comes_after(twins: Twins) -> None:
    twins.both(lambda engine: engine.subscribe(PAIR, name="pair").name)
    publish(twins, "d1", 1, "<a>1</a>")
    publish(twins, "d2", 2, b"<?xml version='1.0' encoding='iso-8859-1'?><a>\xe9</a>")
    publish(twins, "d3", 3, {"a": ["é", 1]})
    twins.reopen()
    publish(twins, "d4", 4, "<c><b>1</b><b>é</b></c>")
    publish(twins, "d1", 4, "<a>1</a>")
    twins.check()
    assert twins.durable.skipped.duplicate == 1


def test_composites_results_and_sub_queries_come_back(twins: Twins) -> None:
    chain = "S//a->x JOIN {x = y, 9} S//b->y FOLLOWED BY {y = z, 9} S//c->z"
    queries = (
        f"{chain}; {chain} JOIN {{z = w}} S//d->w;"
        "SELECT <r>{x}</r> FROM S//a->x JOIN {x = y} S//b->y PUBLISH R;"
        "R//a->x JOIN {x = y} S//d->y;"
        "(SELECT <r>{x}</r> FROM S//a->x JOIN {x = y} S//b->y)/r/a->v JOIN {v = w} S//d->w"
    )
    twins.both(lambda engine: len(engine.load(queries)))
    for number, name in enumerate("abcab"):
        publish(twins, f"d{number}", number, f"<{name}>1</{name}>")
        twins.reopen()
        twins.check()
    publish(twins, "c", 6, "<c>1</c>")
    publish(twins, "d", 7, "<d>1</d>")
    twins.reopen()
    publish(twins, "d'", 8, "<d>1</d>")
    twins.check()


def test_queries_keep_what_they_have_seen(twins: Twins) -> None:
    twins.both(lambda engine: engine.subscribe("S//*", name="reader").name)
    publish(twins, "d1", 1, "<a>1</a>")
    twins.both(lambda engine: engine.subscribe(PAIR, name="new").name)
    twins.both(lambda engine: engine.subscribe(PAIR, name="old", history=True).found)
    publish(twins, "d2", 2, "<a>1</a>")
    twins.both(lambda engine: engine.cancel("reader"))
    twins.cancelled = True
    twins.reopen()
    publish(twins, "d3", 3, "<b>1</b>")
    twins.check()


def test_members_of_forms_come_back(twins: Twins) -> None:
    text = "-- name: many\nS//a->x[. = :v] FOLLOWED BY {x = y} S//b->y"
    rows = [{"v": str(number % 5)} for number in range(50)]
    twins.both(lambda engine: len(engine.subscribe_many(text, rows)))
    for number in range(20):
        similar = f"S//a[. = '{number}'] FOLLOWED BY {{, 5}} S//b"
        twins.both(lambda engine, similar=similar: engine.subscribe(similar).name)
    publish(twins, "d1", 1, "<a>3</a>")
    twins.both(lambda engine: engine.cancel("many[3]"))
    twins.cancelled = True
    twins.reopen()
    assert (
        twins.durable.stats(exact=True)["shared_queries"]
        == twins.other.stats(exact=True)["shared_queries"]
    )
    publish(twins, "d2", 2, "<b>3</b>")
    twins.check()


QUERIES = [
    "S//a->x FOLLOWED BY {x = y, 2} S//b->y",
    "S//a->x JOIN {x = y, 6} S//b->y",
    "S//c->x[./a->y] JOIN {y = z, 3} S//*->z",
    "S//a->x JOIN {x = y, 3} S//b->y JOIN {y = z, 4} S//c->z",
    "S//a->x JOIN {x = y, 3} S//b->y JOIN {y = z AND x = z, 4} S//d->z",
    "SELECT x FROM S//a->x JOIN {x = y, 4} S//d->y PUBLISH P",
    "SELECT <r>{x}</r> FROM P//a->x JOIN {x = y, 4} S//c->y PUBLISH R",
    "(SELECT <r>{x}</r> FROM S//b->x JOIN {x = y, 3} S//c->y)/r/*->v JOIN {v = w, 5} S//a->w",
    "S//d->x[a > 1] JOIN {, 2} S//c->y[. != '1']",
    "S//a->x JOIN {x = y OR x < y, 2} S//d->y",
    "S//a->x[. = '0'] FOLLOWED BY {, 7} S//b",
    "S//a->x[. = '1'] FOLLOWED BY {, 7} S//b",
    "S//a->x[. = '2'] FOLLOWED BY {, 7} S//b",
]

xml = st.recursive(
    st.builds("<{0}>{1}</{0}>".format, st.sampled_from("abcd"), st.integers(0, 2)),
    lambda inner: st.builds("<{0}>{1}{2}</{0}>".format, st.sampled_from("abcd"), inner, inner),
    max_leaves=4,
)
document = st.tuples(st.integers(0, 12), xml)
step = st.one_of(
    st.tuples(st.just("publish"), st.lists(document, min_size=1, max_size=4)),
    st.tuples(st.just("publish"), st.lists(document, min_size=1, max_size=4)),
    st.tuples(st.just("subscribe"), st.tuples(st.sampled_from(QUERIES), st.booleans())),
    st.tuples(st.just("cancel"), st.integers(0, 20)),
    st.tuples(st.just("reopen"), st.booleans()),
)


@given(
    first=st.lists(st.sampled_from(QUERIES), min_size=1, max_size=4),
    lateness=st.sampled_from([None, 0, 2, 5]),
    steps=st.lists(step, min_size=3, max_size=14),
    ids=st.integers(3, 30),
)
@drawn(
    7,
    phases=(Phase.generate,),
)
def test_an_engine_that_is_opened_again_is_as_one_that_was_never_closed(
    tmp_path_factory: pytest.TempPathFactory,
    first: list[str],
    lateness: float | None,
    steps: list[tuple[str, Any]],
    ids: int,
) -> None:
    twins = Twins(tmp_path_factory.mktemp("twins") / "state.duckdb", lateness=lateness)
    try:
        names: list[str] = []

        def subscribe(text: str, *, history: bool = False) -> None:
            name = f"n{len(names)}"
            names.append(name)
            note((name, text, history))
            twins.both(lambda engine: engine.subscribe(text, name=name, history=history).found)

        for text in first:
            subscribe(text)
        number = 0
        for kind, what in steps:
            note((kind, what))
            match kind:
                case "publish":
                    batch = []
                    for time, text in what:
                        batch.append(
                            {
                                "stream": "S",
                                "id": f"d{number % ids}",
                                "timestamp": time,
                                "xml": text,
                            }
                        )
                        number += 1
                    twins.both(lambda engine, batch=batch: engine.publish_many(batch))
                case "subscribe":
                    subscribe(what[0], history=what[1])
                case "cancel":
                    # Of what only a cancelled query could reach, duplicates may be answer for
                    # longer.
                    twins.cancelled = lateness is None
                    if lateness is None and names[what % len(names)] in {
                        s.name for s in twins.other.subscriptions
                    }:
                        twins.both(partial(xscl.Engine.cancel, name=names[what % len(names)]))
                case _:
                    twins.reopen(killed=what)
                    twins.check()
        twins.reopen()
        twins.check()
    finally:
        twins.close()
