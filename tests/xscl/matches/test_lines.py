"""Lines of JSON: the same bytes as the match's own members, whatever is shared and kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

import pytest

import xscl
from xscl.documents.kept_texts import KeptTexts
from xscl.matches.match import Match, json_form

XML = [
    f'<p n="{n}" q="1 &quot;&#10;&#9;&lt;"><k>a</k><k>b</k><t>é &amp; "{n}" &#13;\n</t><e/></p>'
    for n in range(3)
]
JSON = [
    {"k": ["a", "b"], "n": n, "t": f'é & "{n}" \n', "e": {}, "o": {"k": None}} for n in range(3)
]

JOIN = "S/*->x[./k->k] FOLLOWED BY {k = l} S/*->y[./k->l]"
SELECTS = [
    "",
    "SELECT * FROM ",
    "SELECT x FROM ",
    "SELECT y, k, x FROM ",
    "SELECT x/k AS a, y/t, x/@n, y/none FROM ",
    "SELECT x/none FROM ",
    "SELECT <r/> FROM ",
    "SELECT <r b='%b'>100%{x/k} %s</r> FROM ",
    "SELECT <r a='{x/@q}-{y/t}' b='{x/none}'>{y/k} <s/> {string(x/t)}{x/e}</r> FROM ",
    "SELECT <r xmlns='urn:r'>{x}<!-- {y} --><?pi {x}?>{y/t}</r> FROM ",
    'SELECT {"a": x/k, "b": [y/k, x/none, 1.50, null], "c": {}, "d": x/none, "e": y} FROM ',
]


def found(select: str) -> Iterator[Match]:
    """Matches of documents that are all XML, all JSON, and mixed, in which both join."""
    for bodies in (XML, JSON, [XML[0], JSON[1], XML[2]]):
        with xscl.Engine() as engine:
            engine.subscribe(f"{select}{JOIN}", name='a "name" %b')
            for number, body in enumerate(bodies):
                yield from engine.publish("S", body, id=f'd "{number}" é %', timestamp=number)


@pytest.mark.parametrize("select", SELECTS)
def test_a_line_is_the_match_as_json(select: str) -> None:
    matches = list(found(select))
    assert len(matches) > 3
    for match in matches:
        line = json_form(match)
        assert line == json.dumps(match.to_dict(), ensure_ascii=False)
        assert json.loads(line)["result"] == match.result
        content = json.dumps(
            [
                match.query,
                [*map(list, zip(match.streams, match.documents, strict=True))],
                [[node, None] for node in match.nodes],
                [[name, node, None] for name, node in sorted(match.bindings.items())],
            ],
            ensure_ascii=False,
        )
        assert match.id == hashlib.sha256(content.encode()).hexdigest()[:32]


EVENTS = [
    "FILTER{n >= 1}(S)",
    "FILTER{n >= 1}(S/*->x)",
    "SELECT n, t FROM S",
    "SELECT n, 2 * n AS m, t FROM S PUBLISH R",
    "S NEXT{$2.m > $1.n} (SELECT n AS m, t AS u FROM S)",
    'SELECT {"%b": [n, 1.50, t], "n": 1.0} FROM FILTER{n >= 1}(S)',
    "SELECT <r b='%b'>100%{n} %s {t}</r> FROM FILTER{n >= 1}(S) PUBLISH R",
]


@pytest.mark.parametrize("query", EVENTS)
def test_a_line_of_an_event_query_is_the_match_as_json(query: str) -> None:
    for bodies in (XML, JSON):
        with xscl.Engine() as engine:
            for number in range(2):
                engine.subscribe(query, name=f'a "name" %b {number}')
            matches = list[Match]()
            for number, body in enumerate(bodies):
                matches += engine.publish("S", body, id=f'd "{number}" é %', timestamp=number)
            matches += engine.flush()
        assert {match.query[-1] for match in matches} == {"0", "1"}
        for match in [*matches, *reversed(matches)]:
            assert json_form(match) == json.dumps(match.to_dict(), ensure_ascii=False)
            said = [int(1e6 * (match.start or 0)), int(1e6 * match.time), match.result]
            if not match.documents and "<r" not in query and "[" not in query:
                content = json.dumps([match.query, said], ensure_ascii=False, sort_keys=True)
                assert match.id == hashlib.sha256(content.encode()).hexdigest()[:32]
        assert len({match.id for match in matches}) == len(matches)


@pytest.mark.parametrize("select", SELECTS)
def test_texts_that_do_not_stay_are_made_again(
    select: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = list(map(json_form, found(select)))
    monkeypatch.setattr(KeptTexts, "keep", lambda self, owner, size: owner.evict())
    assert list(map(json_form, found(select))) == lines


def test_so_much_text_stays() -> None:
    class Owner:
        kept = True

        def evict(self) -> None:
            self.kept = False

    texts, owners = KeptTexts(10), [Owner() for _ in range(4)]
    for owner in owners:
        texts.keep(owner, 4)
    assert [owner.kept for owner in owners] == [False, False, True, True]
    texts.keep(owners[0], 11)
    assert not owners[0].kept
