"""Joins by likeness against all pairs, with another tokeniser and plain sets."""

from __future__ import annotations

import json
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import pytest

import xscl
from tests.commands import xscl as command
from tests.drawn import DRAW, seeded, times
from tests.xscl.engine.three_ways import in_three_ways
from tests.xscl.engine.ways import WAYS, Way
from xscl.join_stage.in_process import crossing

WORDS = ["Apple", "new", "M3", "chips", "can’t", "3.5", "Ｘray", "naïve", "STRASSE", "straße", "of"]
UNSPACED = ["東京", "タワー", "の", "新しい", "ไทย"]
THRESHOLDS = ["0.2", "1/3", "0.333333", "0.5", "0.6", "0.666667", "0.75", "0.8", "1"]


def text(draw: random.Random) -> str:
    """A text of a few words, so that many are alike."""
    kind = draw.random()
    if kind < 0.1:
        return draw.choice(["", "…", " - ", "x"])
    if kind < 0.25:
        return "".join(draw.choices(UNSPACED, k=draw.randrange(1, 4)))
    some = draw.sample(WORDS, draw.randrange(1, 6))
    return draw.choice([" ", ", ", ": ", " – "]).join(
        draw.choice([one, one.upper(), one.lower()]) for one in some
    )


def tokens(measure: str, text: str) -> set[str]:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    if measure == "trigrams":
        squeezed = re.sub(r"\s+", " ", folded).strip()
        if len(squeezed) < 3:
            return {squeezed} - {""}
        return {a + b + c for a, b, c in zip(squeezed, squeezed[1:], squeezed[2:], strict=False)}
    found: set[str] = set()
    unspaced = r"[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff]+"
    for run in re.findall(unspaced, folded):
        found |= {run} if len(run) == 1 else {a + b for a, b in pairwise(run)}
    rest = re.sub(unspaced, " ", folded)
    return found | set(re.findall(r"[^\W_]+(?:[’.][^\W_]+)*", rest))


def share(measure: str, one: str, other: str) -> Fraction:
    a, b = tokens(measure, one), tokens(measure, other)
    if not a or not b:
        return Fraction(0)
    return Fraction(len(a & b), min(len(a), len(b)) if measure == "containment" else len(a | b))


Item = Mapping[str, Any]


def alike(one: str | None, other: str | None, measure: str, least: str) -> bool:
    if one is None or other is None:
        return False
    return share(measure, one, other) >= Fraction(least)


class Query:
    """A query, drawn, as text and as nested loops."""

    def __init__(self, draw: random.Random, name: str) -> None:
        self.name = name
        self.kind = draw.choice(
            ["plain", "plain", "after", "equal", "order", "either", "both", "chain", "own", "text"]
        )
        measures = ["words", "containment", "trigrams"]
        self.asked = [
            (draw.choice(measures), draw.choice([one for one in THRESHOLDS if "/" not in one]))
            for _ in range(2)
        ]
        self.window = draw.choice([3, 8, 100])
        self.constant = text(draw).replace("'", "")

    def text(self) -> str:
        (measure, least), (other_measure, other_least) = self.asked
        by = "" if measure == "words" else f", '{measure}'"
        first = f"similar(t, u{by}) >= {least}"
        second = f"{other_least} <= similar(w/b, v/b, '{other_measure}')"
        left, right = "S//i->v[./a->t][./k->k]", "T//i->w[./a->u][./k->l]"
        if self.kind == "own":
            left = "S//i->v[./a->t][./k->k][./b->s]"
        predicate = {
            "equal": f"{first} AND k = l",
            "order": f"{first} AND k < l",
            "either": f"{first} OR {second}",
            "both": f"{first} AND {second}",
            "own": f"{first} AND similar(t, s, '{other_measure}') >= {other_least}",
            "text": f"k = l AND similar(u, '{self.constant}'{by}) >= {least}",
        }.get(self.kind, first)
        operator = "FOLLOWED BY" if self.kind in ("after", "chain") else "JOIN"
        query = f"{left} {operator} {{{predicate}, {self.window} s}} {right}"
        if self.kind == "chain":
            last = f"similar(t, x, '{other_measure}') >= {other_least}"
            query += f" FOLLOWED BY {{{last}, {self.window} s}} S//i[./a->x]"
        return f"-- name: {self.name}\n{query};\n"

    def matches(self, items: Sequence[Item]) -> Iterator[tuple[str, ...]]:
        (measure, least), (other_measure, other_least) = self.asked
        lefts = [one for one in items if one["stream"] == "S" and {"a", "k"} <= one.keys()]
        rights = [one for one in items if one["stream"] == "T" and {"a", "k"} <= one.keys()]
        for v, w in product(lefts, rights):
            apart = w["at"] - v["at"]
            if abs(apart) > self.window or (self.kind in ("after", "chain") and apart <= 0):
                continue
            first = alike(v["a"], w["a"], measure, least)
            second = alike(w.get("b"), v.get("b"), other_measure, other_least)
            holds = {
                "equal": first and v["k"] == w["k"],
                "order": first and int(v["k"]) < int(w["k"]),
                "either": first or second,
                "both": first and second,
                "own": first and alike(v["a"], v.get("b"), other_measure, other_least),
                "text": v["k"] == w["k"] and alike(w["a"], self.constant, measure, least),
            }.get(self.kind, first)
            if not holds:
                continue
            if self.kind != "chain":
                yield (v["id"], w["id"])
                continue
            for x in items:
                after = x["stream"] == "S" and 0 < x["at"] - w["at"] <= self.window
                if after and alike(v["a"], x.get("a"), other_measure, other_least):
                    yield (v["id"], w["id"], x["id"])


def drawn_items(draw: random.Random, number: int) -> list[Item]:
    items = []
    texts = [text(draw) for _ in range(12)]
    for at in range(number):
        item: dict[str, Any] = {"stream": draw.choice("ST"), "id": f"d{at}", "at": at}
        for name in "ab":
            if draw.random() < 0.9:
                item[name] = draw.choice(texts) if draw.random() < 0.7 else text(draw)
        if draw.random() < 0.95:
            item["k"] = str(draw.randrange(3))
        items.append(item)
    return items


def envelope(item: Item, draw: random.Random) -> dict[str, Any]:
    values = {name: item[name] for name in "abk" if name in item}
    made: dict[str, Any] = {"stream": item["stream"], "id": item["id"], "timestamp": item["at"]}
    if draw.random() < 0.5:
        return {**made, "json": {"i": values}}
    parts = "".join(f"<{name}>{value}</{name}>" for name, value in values.items())
    return {**made, "xml": f"<r><i>{parts}</i></r>"}


def expected(queries: Sequence[Query], items: Sequence[Item]) -> Counter[tuple[str, ...]]:
    return Counter((query.name, *found) for query in queries for found in query.matches(items))


def said(matches: Sequence[xscl.Match]) -> Counter[tuple[str, ...]]:
    return Counter((one.query, *one.documents) for one in matches)


def batches(draw: random.Random, some: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    left = [*some]
    while left:
        size = draw.choice([1, 2, 7, 40])
        yield left[:size]
        left = left[size:]


@pytest.mark.drawn
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_drawn_likenesses(way: Way) -> None:
    for number in range(times(2)):
        draw = seeded("likeness", way.name, number)
        queries = [Query(draw, f"q{i}") for i in range(6 if DRAW >= 1 else 3)]
        items = drawn_items(draw, 20 + min(40, times(40)))
        fed = [*batches(draw, [envelope(item, draw) for item in items])]
        texts = "".join(one.text() for one in queries)

        def make(options: Mapping[str, Any], texts: str = texts) -> xscl.Engine:
            engine = xscl.Engine(**options)
            engine.load(texts)
            return engine

        with way.taken() as options:
            found = in_three_ways(lambda: make(options), fed, skipping=False)
        assert said(found) == expected(queries, items), (number, texts)


@pytest.mark.drawn
def test_queries_come_and_go() -> None:
    """With `history`, and over a restart; a query sees what came after it, or all."""
    for number in range(times(6)):
        draw = seeded("likeness, live", number)
        queries = [Query(draw, f"q{i}") for i in range(5)]
        items = drawn_items(draw, 50)
        half = len(items) // 2
        fed = [envelope(item, draw) for item in items]
        with xscl.Engine() as engine:
            for one in queries[:3]:
                engine.load(one.text())
            found = [
                match for some in batches(draw, fed[:half]) for match in engine.publish_many(some)
            ]
            engine.cancel("q0")
            late = engine.load(queries[3].text(), history=True)
            found += [match for one in late for match in one.found]
            engine.load(queries[4].text())
            found += [
                match for some in batches(draw, fed[half:]) for match in engine.publish_many(some)
            ]
        assert said(found) == (
            expected(queries[:1], items[:half])
            + expected(queries[1:4], items)
            + expected(queries[4:], items[half:])
        ), (number, [one.text() for one in queries])


@pytest.mark.drawn
def test_a_restart_changes_nothing(tmp_path: Path) -> None:
    draw = seeded("likeness, restart")
    queries = [Query(draw, f"q{i}") for i in range(12)]
    items = drawn_items(draw, 80)
    fed = [envelope(item, draw) for item in items]
    (tmp_path / "q.xscl").write_text("".join(one.text() for one in queries))
    found = []
    for part in range(4):
        (tmp_path / f"{part}.jsonl").write_text(
            "".join(json.dumps(one) + "\n" for one in fed[part * 20 : part * 20 + 20])
        )
        out = command(
            "run", "q.xscl", "--events", f"{part}.jsonl", "--state", "s.duckdb", at=tmp_path
        )
        found += [json.loads(line) for line in out.stdout.splitlines()]
    counted = Counter((one["query"], *one["documents"]) for one in found)
    assert counted == expected(queries, items)


@pytest.mark.drawn
def test_events_that_are_alike() -> None:
    """As a condition and as a value, in patterns and event queries."""
    for number in range(times(20)):
        draw = seeded("likeness, events", number)
        measure = draw.choice(["words", "containment", "trigrams"])
        least = draw.choice(["0.25", "0.4", "0.5", "0.75", "1"])
        by = "" if measure == "words" else f", '{measure}'"
        texts = [text(draw) if draw.random() < 0.9 else None for _ in range(14)]
        pairs = {
            (i, j): float(int(share(measure, one, other) * 10**6)) / 10**6
            for (i, one), (j, other) in combinations(enumerate(texts), 2)
            if one is not None and other is not None
        }
        alike_ones = {pair: value for pair, value in pairs.items() if value >= float(least)}
        next_ones = {
            pair
            for pair in alike_ones
            if not any((pair[0], between) in alike_ones for between in range(pair[0] + 1, pair[1]))
        }
        with xscl.Engine(lateness=0) as engine:
            engine.load(
                f"-- name: pattern\nSELECT similar(a.t, b.t{by}) AS s "
                f"FROM EVENT SEQ(S a, S b) WHERE similar(a.t, b.t{by}) >= {least};\n"
                f"-- name: next\nSELECT n_1, n, similar(t_1, t{by}) AS s "
                f"FROM S NEXT{{similar($1.t, $2.t{by}) >= {least}}} S;\n"
            )
            found = engine.publish_many(
                {
                    "stream": "S",
                    "id": str(i),
                    "timestamp": i,
                    "json": {"n": i} | ({} if one is None else {"t": one}),
                }
                for i, one in enumerate(texts)
            )
            found += engine.flush()
        of: dict[str, dict[tuple[int, int], Any]] = {"pattern": {}, "next": {}}
        for match in found:
            result: Any = match.result
            pair = match.documents or (result["n_1"], result["n"])
            of[match.query][int(pair[0]), int(pair[1])] = result["s"]
        assert of["pattern"] == alike_ones
        assert of["next"] == {pair: alike_ones[pair] for pair in next_ones}


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("S//a->x JOIN {similar(x, y)} T//b->y", "compared with nothing"),
        ("S//a->x JOIN {similar(x, y) > 0.6} T//b->y", "compared otherwise"),
        ("S//a->x JOIN {similar(x, y) <= 0.6} T//b->y", "compared otherwise"),
        ("S//a->x JOIN {similar(x, y) >= 'much'} T//b->y", "a number above 0"),
        ("S//a->x JOIN {similar(x, y) >= 0} T//b->y", "a number above 0"),
        ("S//a->x JOIN {similar(x, y) >= 1.5} T//b->y", "a number above 0"),
        ("S//a->x JOIN {similar(x, y) >= 0.1234567} T//b->y", "six decimals"),
        ("S//a->x JOIN {similar(x, y, 'word') >= 0.6} T//b->y", "no measure"),
        ("S//a->x JOIN {similar(x, y, y) >= 0.6} T//b->y", "no measure"),
        ("S//a->x JOIN {similar(x) >= 0.6} T//b->y", "2 or 3 arguments"),
        ("S//a->x JOIN {similar(x = y, y) >= 0.6} T//b->y", "found a comparison"),
        ("S//a->x JOIN {number(similar(x, y)) >= 0.6} T//b->y", "is no value"),
        ("S//a->x JOIN {NOT similar(x, y) >= 0.6} T//b->y", "a join cannot ask for what is not"),
        ("S/a[similar(b, 'c')]", "compared with nothing"),
        ("S/a[not(similar(b, 'c'))]", "compared with nothing"),
        ("S/a[similar(b) >= 0.6]", "2 or 3 arguments"),
        ("S/a[similar(b, 'c', 'word') >= 0.6]", "no measure"),
        ("S/a[similar(b, 'c', d) >= 0.6]", "no measure"),
        ("EVENT SEQ(S a, S b) WHERE similar(a.t) >= 0.6", "2 or 3 arguments"),
        ("EVENT SEQ(S a, S b) WHERE similar(a.t, b.t, 'w') >= 0.6", "a measure"),
        ("EVENT SEQ(S a, S b) WHERE canonical(a.t, b.t) = 'c'", "takes 1 argument"),
        ("FILTER{similar(t) > 0.5}(S)", "2 or 3 arguments"),
        ("FILTER{similar(t, 'x', t) > 0.5}(S)", "a measure"),
        ("FILTER{similar(t, 'x')}(S)", "expected an operator"),
    ],
)  # fmt: skip
def test_what_is_refused(query: str, problem: str) -> None:
    with xscl.Engine() as engine, pytest.raises(xscl.QueryError, match=problem):
        engine.subscribe(query)


def test_queries_that_differ_in_the_threshold_share_a_template() -> None:
    with xscl.Engine() as engine:
        for number in range(20):
            engine.subscribe(
                f"S/i->x JOIN {{similar(x, y) >= {0.5 + number / 50:g}, 1 day}} T/i->y",
                name=f"q{number}",
            )
        engine.publish("S", "<i>a b c d e f g h i j</i>", id="s", timestamp=1)
        found = engine.publish("T", "<i>a b c d e f g h</i>", id="t", timestamp=2)
        assert {one.query for one in found} == {f"q{number}" for number in range(16)}
        assert engine.stats()["templates"] == 1


@pytest.mark.drawn
def test_filters_against_a_text() -> None:
    """In brackets, of paths with and without nodes, over XML and JSON."""
    for number in range(times(20)):
        draw = seeded("likeness, filters", number)
        items = drawn_items(draw, 30)
        constant = text(draw).replace("'", "")
        measure = draw.choice(["words", "containment", "trigrams"])
        least = draw.choice(["0.2", "0.333333", "0.5", "0.6", "1"])
        by = draw.choice([f", '{measure}'", ""] if measure == "words" else [f", '{measure}'"])
        with xscl.Engine() as engine:
            engine.load(
                f"-- name: is\nS//i[similar(a, '{constant}'{by}) >= {least}];\n"
                f"-- name: not\nS//i[not(similar(a, '{constant}'{by}) >= {least})];\n"
                f"-- name: own\nS//i[{least} <= similar(a, b{by})]"
            )
            found = engine.publish_many([envelope(item, draw) for item in items])
        expects = Counter[tuple[str, ...]]()
        for item in (item for item in items if item["stream"] == "S"):
            holds = alike(item.get("a"), constant, measure, least)
            expects["is" if holds else "not", item["id"]] += 1
            if alike(item.get("a"), item.get("b"), measure, least):
                expects["own", item["id"]] += 1
        assert said(found) == expects, (number, constant, measure, least)


def test_the_least_likeness_is_a_parameter() -> None:
    """One query for many, of which each has its own; one that is none is refused with its row."""
    query = "S/i->x JOIN {similar(x, y) >= :least, 1 day} T/i->y"
    rows = [{"name": f"q{number}", "least": round(0.5 + number / 50, 2)} for number in range(20)]
    with xscl.Engine() as engine:
        engine.subscribe_many(query, rows)
        engine.publish("S", "<i>a b c d e f g h i j</i>", id="s", timestamp=1)
        found = engine.publish("T", "<i>a b c d e f g h</i>", id="t", timestamp=2)
        assert {one.query for one in found} == {f"q{number}" for number in range(16)}
        assert engine.stats()["templates"] == 1
        for bad in (0, 1.5, 0.1234567, "0.6"):
            with pytest.raises(xscl.QueryError, match="the least likeness is a number above 0"):
                engine.subscribe(query, params={"least": bad})
        params = {"text": "X y", "least": 0.5}
        engine.subscribe("S/i[similar(., :text) >= :least]", name="filter", params=params)
        assert len(engine.publish("S", "<i>y, x z</i>", id="u", timestamp=200_000)) == 1


LEAST = "S/i[t->t] JOIN {similar(t, u) >= 0.9, 1 day} T/i[t->u]"


@pytest.mark.parametrize("query", [LEAST, LEAST.replace("0.9", ":least")])
def test_what_is_not_alike_enough_is_explained(query: str) -> None:
    """The likeness that there is, and the words of either side."""
    with xscl.Engine() as engine:
        if ":least" in query:
            engine.subscribe_many(query, [{"name": "q", "least": 0.9}])
        else:
            engine.subscribe(query, name="q")
        engine.publish("S", "<i><t>Apple unveils a chip</t></i>", id="s", timestamp=1)
        assert not engine.publish("T", "<i><t>Apple unveils chips</t></i>", id="t", timestamp=2)
        for shown in (str(engine.why("q", "s", "t")), str(engine.hint("q"))):
            assert "0.4" in shown
        said = " ".join(str(engine.why("q", "s", "t")).split())
        assert "both have: apple, unveils" in said
        assert "only right: chips" in said


def test_a_run_that_finds_nothing_alike_says_the_greatest_likeness(tmp_path: Path) -> None:
    (tmp_path / "q.xscl").write_text(f"-- name: q\n{LEAST}\n")
    lines = [
        {"stream": "S", "id": "s", "timestamp": 1, "xml": "<i><t>Apple unveils a chip</t></i>"},
        {"stream": "T", "id": "t", "timestamp": 2, "xml": "<i><t>Apple unveils chips</t></i>"},
    ]
    (tmp_path / "e.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    done = command("run", "q.xscl", "--events", "e.jsonl", at=tmp_path)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "0.4" in done.stderr


NUMBER_AS_TEXT: dict[str, dict[str, float]] = {
    "similar(a.title, 2024) >= 0.9": {},
    "similar(a.title, :w) >= 0.9": {"w": 2024},
    "similar( :w, a.title) >= 0.9": {"w": 2024.0},
    "canonical(a.title) = canonical(2024)": {},
    "canonical( :w) = canonical(a.title)": {"w": 2024},
}


@pytest.mark.parametrize("condition", NUMBER_AS_TEXT)
@pytest.mark.parametrize(
    ("form", "name", "expected"),
    [
        ("EVENT S a WHERE {}", "a.title", [("d0",), ("d2",)]),
        ("EVENT SEQ(S a, !T t) WHERE {} WITHIN 5", "a.title", [("d0",), ("d2",)]),
        ("EVENT SEQ(S a, S b) WHERE {}", "b.title", [("d0", "d2"), ("d1", "d2")]),
        (
            "PATTERN SEQ(S b, S+ a[]) WHERE skip_till_any_match {{ {} }}",
            "a[1].title",
            [("d0", "d2"), ("d1", "d2")],
        ),
        ("FILTER{{{}}}(S)", "title", [("d0",), ("d2",)]),
    ],
)
def test_a_number_is_a_text_where_one_is_asked_for(
    form: str, name: str, expected: list[tuple[str, ...]], condition: str
) -> None:
    text, values = form.format(condition.replace("a.title", name)), NUMBER_AS_TEXT[condition]
    with xscl.Engine() as engine:
        engine.subscribe(text, params=values)
        found = []
        for number, title in enumerate(("2024", "1999", "2024")):
            found += engine.publish("S", {"title": title}, id=f"d{number}", timestamp=number)
        found += engine.flush()
    if "FILTER" in form:
        assert [one.result["title"] for one in found] == ["2024"] * 2
    else:
        assert sorted(one.documents for one in found) == expected


@pytest.mark.parametrize(
    "form",
    [
        "S/a[similar(b, 'abcdef', '{}') >= 0.6]",
        "EVENT SEQ(S a, S b) WHERE similar(a.t, b.t, '{}') >= 0.6",
        "S//a->x JOIN {{similar(x, y, '{}') >= 0.6}} S//b->y",
        "FILTER{{similar(t, 'abc', '{}') >= 0.6}}(S)",
    ],
)
def test_a_wrong_measure_is_refused_after_queries_that_are_alike(form: str) -> None:
    with xscl.Engine() as engine:
        for number, measure in enumerate(["words", "trigrams", "words"]):
            engine.subscribe(form.format(measure), name=f"q{number}")
        for wrong in ("trigram", "", "WORDS"):
            with pytest.raises(xscl.QueryError, match="measure"):
                engine.subscribe(form.format(wrong))


def test_other_queries_change_no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does a leaf path that is new to others; another likeness sees what came before it."""
    made: list[object] = []
    make = crossing.Crossing._sides
    monkeypatch.setattr(
        crossing.Crossing, "_sides", lambda self: (made.append(self), make(self))[1]
    )
    title = "one two three four five six"
    text = "S/item[./title->t] JOIN {similar(t, u) >= 0.6} S/item[./title->u]"
    with xscl.Engine() as engine:
        engine.subscribe(text, name="alike")
        engine.publish("S", f"<item><title>{title}</title><link>a</link></item>", id="a")
        before = len(made)
        engine.subscribe("S/item[./link->t] JOIN {t = u} S/item[./link->u]", name="same")
        engine.subscribe("S/item[./title->t] JOIN {t = u} T/x->u", name="other")
        found = engine.publish("S", f"<item><title>{title} x</title><link>a</link></item>", id="b")
        assert {(one.query, *sorted(one.documents)) for one in found} == {("alike", "a", "b")}
        engine.cancel("other")
        engine.publish("S", "<item><title>y</title></item>", id="c")
        assert len(made) - before <= 1
        engine.subscribe(text.replace("S/item[./title->u]", "T/item[./name->u]"), name="new")
        found = engine.publish("T", f"<item><name>{title}</name></item>", id="d")
        assert found == []
        found = engine.publish("S", f"<item><title>{title}</title></item>", id="e")
        assert {(one.query, *sorted(one.documents)) for one in found} == {
            ("alike", "a", "e"),
            ("alike", "b", "e"),
            ("new", "d", "e"),
        }
