"""A closed engine answers nothing: every public name of it says that it is closed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import xscl

MACHINE = """AUTOMATON {"events": {"e": "S"}, "final": ["q1"],
  "arcs": [{"from": "q0", "to": "q1", "event": "e"}]}"""

USES: dict[str, Callable[[xscl.Engine], object]] = {
    "advance": lambda engine: engine.advance(0),
    "cancel": lambda engine: engine.cancel("q"),
    "clear": lambda engine: engine.clear(),
    "count": lambda engine: engine.count([{"xml": "<a/>"}]),
    "flush": lambda engine: engine.flush(),
    "documents": lambda engine: engine.documents,
    "explain": lambda engine: engine.explain("q"),
    "follow_windows": lambda engine: engine.follow_windows(),
    "held": lambda engine: list(engine.held()),
    "hint": lambda engine: engine.hint("q"),
    "pending": lambda engine: engine.pending(),
    "arcs": lambda engine: engine.arcs("m"),
    "replan": lambda engine: engine.replan(),
    "retract": lambda engine: engine.retract("S", "d"),
    "retain": lambda engine: engine.retain("S"),
    "holds": lambda engine: engine.holds("d"),
    "keeper": lambda engine: engine.keeper,
    "load": lambda engine: engine.load("S/b"),
    "load_good": lambda engine: engine.load_good("S/b"),
    "number_after_these": lambda engine: engine.number_after_these(),
    "plan": lambda engine: engine.plan([]),
    "preview": lambda engine: engine.preview({"xml": "<a/>"}),
    "previews": lambda engine: engine.previews([{"xml": "<a/>"}]),
    "publish": lambda engine: engine.publish("S", "<a/>"),
    "publish_many": lambda engine: engine.publish_many([]),
    "published": lambda engine: engine.published,
    "reads": lambda engine: engine.reads("S"),
    "run": lambda engine: list(engine.run([{"xml": "<a/>"}])),
    "skipped": lambda engine: engine.skipped,
    "stats": lambda engine: engine.stats(),
    "stream": lambda engine: engine.stream("P"),
    "streams": lambda engine: engine.streams,
    "subscribe": lambda engine: engine.subscribe("S/b"),
    "subscribe_many": lambda engine: engine.subscribe_many("S/a[. = :k]", [{"k": "1"}]),
    "subscriptions": lambda engine: engine.subscriptions,
    "transaction": lambda engine: engine.transaction().__enter__(),
    "waits": lambda engine: engine.waits,
    "watermark": lambda engine: engine.watermark,
    "why": lambda engine: engine.why("q", "d"),
    "__enter__": lambda engine: engine.__enter__(),
}


def test_every_public_name_is_tried() -> None:
    names = {name for name in dir(xscl.Engine) if not name.startswith("_")}
    assert names == USES.keys() - {"__enter__"} | {"close", "commit"}


@pytest.mark.parametrize("name", USES)
def test_a_closed_engine_says_so(name: str) -> None:
    engine = xscl.Engine(revisable=True)
    engine.subscribe("S//a PUBLISH P", name="q")
    engine.subscribe(MACHINE, name="m")
    engine.publish("S", "<a/>", id="d")
    if name != "load":
        USES[name](engine)
    engine.close()
    engine.close()
    with pytest.raises(xscl.StateError, match="the engine is closed; make a new one"):
        USES[name](engine)


def test_a_subscription_of_a_closed_engine_may_be_cancelled() -> None:
    with xscl.Engine() as engine:
        subscription = engine.subscribe("S/a")
    subscription.cancel()
