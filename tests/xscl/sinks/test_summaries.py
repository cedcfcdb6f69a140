"""What matches are called: by their result where the query has a SELECT, else by their items."""

from __future__ import annotations

import json

import pytest

import xscl
from xscl.matches.match import json_form
from xscl.sinks.summaries import Summary, summary

ITEM = "<item><n>{0}</n><title>Part {0}</title><link>https://a.example/{0}</link></item>"

CASES = {
    "S//item[n = '1']": [(None, "Part 1", "https://a.example/1")],
    "EVENT SEQ(S/item a, !S/none x, S/item b) WITHIN 1 day": [
        ("a", "Part 1", "https://a.example/1"),
        ("b", "Part 2", "https://a.example/2"),
    ],
    "S//item[n->x] FOLLOWED BY {x != y, 1 day} S//item[n->y]": [
        (None, "Part 1", "https://a.example/1"),
        (None, "Part 2", "https://a.example/2"),
    ],
    "SELECT title, link FROM FILTER{n = 1}(S/item)": [(None, "Part 1", "https://a.example/1")],
    "FILTER{n = 1}(S/item)": [(None, "Part 1", "https://a.example/1")],
    "SELECT <r to='{b.link}'><title>{b.title}</title></r> FROM EVENT SEQ(S/item a, S/item b)": [
        (None, "Part 2", "https://a.example/2")
    ],
}


def _summary(text: str) -> Summary:
    with xscl.Engine() as engine:
        query = engine.subscribe(text)
        found = []
        for number in (1, 2):
            found += engine.publish("S", ITEM.format(number), id=f"d{number}", timestamp=number)
        found += engine.flush()
        assert len(found) == 1
        selects = query.dissection.query.select is not None
        return summary(json.loads(json_form(found[0])), selects=selects)


@pytest.mark.parametrize("text", CASES)
def test_titles_and_links(text: str) -> None:
    made = _summary(text)
    assert [(one.variable, one.title, one.link) for one in made.parts] == CASES[text]
    assert made.selects == text.startswith("SELECT")


def test_values_of_a_computed_result() -> None:
    (part,) = _summary("SELECT n, 2*n AS m, 'x' AS s FROM FILTER{n = 1}(S/item)").parts
    assert (part.title, part.values) == ("", [("n", "1"), ("m", "2"), ("s", "x")])


def test_of_many_items_the_first_and_the_last() -> None:
    result = f"<result>{''.join(map(ITEM.format, range(20)))}</result>"
    match = {"documents": list("x" * 20), "variables": ["a"] * 20, "result": result}
    made = summary(match, selects=False)
    numbers = [one.title.removeprefix("Part ") for one in made.parts]
    assert (numbers, made.more) == ([*"0123456", "19"], 12)


def test_text_that_is_no_markup_is_its_own_value() -> None:
    (part,) = summary({"documents": [], "result": "a <b"}, selects=True).parts
    assert part.values == [("", "a <b")]
