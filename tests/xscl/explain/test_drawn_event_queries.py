"""Whatever event queries there are, each is explained in every form, within a terminal's width."""

from __future__ import annotations

import json

from hypothesis import given

import xscl
from tests.drawn import drawn
from tests.oracle.event_algebra.drawn_queries import texts
from tests.oracle.event_algebra.syntax import Declared
from tests.oracle.event_algebra.writing import written
from xscl.explain import EventPlans, as_json, as_mermaid, as_svg, as_text, warnings


@drawn(20)
@given(texts(3))
def test_each_is_explained(text: Declared) -> None:
    with xscl.Engine() as engine:
        engine.load(written(text))
        parts = [one.dissection for one in engine.subscriptions]
        plans = EventPlans(parts)
        for part in parts:
            assert max(map(len, as_text(part, parts).splitlines())) <= 100
            assert json.loads(json.dumps(as_json(part, plans)))["name"] == part.query.name
            assert as_mermaid([part]).startswith("flowchart")
        assert as_mermaid(parts).count("subgraph") >= len(parts)
        assert as_svg(parts).endswith("</svg>")
        assert {name for name, _ in warnings(parts)} <= {
            one.query.name for part in parts for one in part.everything()
        }
        names = [one.name for one in engine.subscriptions]
        assert all(name in engine.explain(name).splitlines()[0] for name in names)
