"""Very many filters that compare one name with texts: what holds is what XPath says, however it is
looked up."""

from __future__ import annotations

import random

import pytest
from lxml import etree

from xscl import Engine
from xscl.xpath_stage import transitions

NAMES = ("kind", "source", "@k", ".")


def document(draw: random.Random) -> str:
    kinds = "".join(f"<kind>k{draw.randrange(9)}</kind>" for _ in range(draw.randrange(3)))
    source = f"<source>k{draw.randrange(9)}<b>{draw.choice(['', '1'])}</b></source>"
    inner = draw.choice([kinds, kinds + source, f"k{draw.randrange(9)}", "<item>k1</item>"])
    return f"<r><item k='k{draw.randrange(9)}'>{inner}</item><item>k{draw.randrange(9)}</item></r>"


def queries() -> list[str]:
    found = [f"[{name} = 'k{n}']" for name in NAMES for n in range(12)]
    found += [f"[kind = 'k{n}'][source = 'k{n}']" for n in range(9)]
    found += [f"[kind = 'k{n}' or source = 'k1']" for n in range(3)]
    found += [f"[kind != 'k{n}']" for n in range(3)] + ["[kind = 'k1'][2]", "[source]", "[. = 1]"]
    return found


@pytest.mark.parametrize("most", [0, 5, 64])
@pytest.mark.parametrize("step", ["/item", "/item/kind", "/item/@k"])
def test_they_hold_where_xpath_says_so(
    most: int, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transitions, "MOST_SINGLE", most)
    draw = random.Random(most)
    texts = {f"q{n}": f"/{step}{one}" for n, one in enumerate(queries()) if valid(step, one)}
    with Engine() as engine:
        for name, path in texts.items():
            # A pattern compares no constants of others with its own.
            engine.subscribe(f"EVENT S{path} x", name=name)
        for number in range(40):
            xml = document(draw)
            found = {}
            for match in engine.publish("S", xml, id=f"d{number}", timestamp=number):
                found[match.query] = found.get(match.query, 0) + 1
            root = etree.fromstring(xml).getroottree()
            expected = {name: len(root.xpath(path)) for name, path in texts.items()}
            assert found == {name: many for name, many in expected.items() if many}


def valid(step: str, filters: str) -> bool:
    return not step.endswith("@k") or filters.startswith("[. =")
