"""The arcs of an automaton over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.xscl.serve.asking import serving

RISING = """
-- name: rising
AUTOMATON {"events": {"e": "S"}, "final": ["high"], "within": "1 min",
  "arcs": [{"from": "low", "to": "high", "event": "e", "when": "e.p > 9"}]};
-- name: join
S/json
"""


@pytest.mark.parametrize("durable", [False, True])
def test_an_arc_is_replaced(durable: bool, tmp_path: Path) -> None:
    with serving(RISING, state=tmp_path / "s" if durable else None) as server:
        server.publish("1", "<e><p>5</p></e>", 5)
        arc = {"from": "low", "to": "high", "event": "e", "when": "e.p > 4"}
        path = "/queries/rising/arcs"
        changed = server.post(path, **{"replace": "a0", "with": arc, "at": 7})
        assert changed == {"arcs": server.get(path)["arcs"], "matches": 0}
        assert [(one["name"], one.get("at"), one.get("until")) for one in changed["arcs"]] == [
            ("a0", None, 7.0),
            ("a0", 7.0, None),
        ]
        server.publish("2", "<e><p>5</p></e>", 6)
        server.publish("3", "<e><p>5</p></e>", 7)
        lines = b'{"automaton": "rising", "delete": "a0", "at": 9}\n{"advance": 8}'
        server.raw("POST", "/streams/S", lines, Content_Type="application/x-ndjson")
        assert [one["time"] for one in server.get("/matches", query="rising")["matches"]] == [7]
        # Whatever is refused changes nothing, and harms nobody.
        refused = server.post(path, 400, delete="a0", at=7)["error"]["message"]
        assert "is not after the watermark" in refused
        assert "no arc is named" in server.post(path, 400, delete="a9")["error"]["message"]
        assert [one.get("until") for one in server.get(path)["arcs"]] == [7.0, 9.0]
        assert server.post("/queries/none/arcs", 404, delete="a0")["error"]
        assert "is no automaton" in server.get("/queries/join/arcs", 400)["error"]["message"]
        assert server.publish("4", "<e/>", 9)["taken"] == 1
