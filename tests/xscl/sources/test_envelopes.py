"""Lines of event files against Python's own JSON: the same values, and what it refuses."""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from xscl.errors import DocumentError
from xscl.sources.envelopes import read_events

numbers = st.integers() | st.integers(min_value=2**62, max_value=2**66) | st.floats()
values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(st.characters(codec="utf-8"), max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
    max_leaves=5,
)


def finite(value: object) -> bool:
    if isinstance(value, dict | list):
        return all(map(finite, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, float) or math.isfinite(value)


@drawn(50)
@given(values, st.booleans())
def test_the_values_of_lines_are_those_of_python(value: object, ascii_only: bool) -> None:
    errors: list[DocumentError] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.jsonl"
        path.write_text(json.dumps({"json": value}, ensure_ascii=ascii_only), encoding="utf-8")
        found = [envelope["json"] for envelope in read_events(str(path), errors.append)]
    if finite(value):
        assert repr(found) == repr([value])
        assert not errors
    else:
        assert not found
        assert "is no JSON" in str(errors[0])
