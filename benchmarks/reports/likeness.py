"""Joins by likeness: the speed of one query and of a thousand, growth with the window, other
libraries over the same titles, and streams that are meant to be hard."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import Any

from lxml import etree

import xscl
from benchmarks.engine import found, resident
from benchmarks.measure import Envelopes, batches, floor_now
from benchmarks.peers.cells import cost
from benchmarks.peers.environments import NotInstalled, python_of, version_of
from benchmarks.report import Cell, Plot, Report, Statement, Table, number, time_text
from benchmarks.scale import Scale
from benchmarks.users.turns import HERE
from datasets import retold_titles

DAY = 86_400
TITLES = 100_000
PERIOD = 30 * DAY
WINDOW = 7
LEAST = 0.6
BATCH = 1_000
MANY = 1_000
WINDOWS = (1, 2, 4, 7, 14)
HARD = 20_000
REPEATED = 10_000
PEERED = 20_000
LIMIT = 1_800
QUERY = "S/item/title->t FOLLOWED BY {{similar(t, u) >= {least:.4f}, {days} days}} S/item/title->u"
PEERS = (
    ("DuckDB, a self-join by token", "duckdb", "duckdb_sql.py"),
    ("datasketch, MinHash LSH", "datasketch", "min_hash.py"),
    ("rapidfuzz, all pairs", "rapidfuzz numpy", "rapid.py"),
)


def run(scale: Scale) -> Report:
    titles = list(retold_titles(min(TITLES, scale.items), seconds=PERIOD))
    floor = floor_now(titles)
    one = fed(titles, [LEAST])
    many = fed(titles, thresholds(min(MANY, scale.many)))
    windows = {days: fed(titles, [LEAST], days=days) for days in WINDOWS}
    hard = list(hard_ones(min(HARD, scale.items // 4)))
    others, table = peers(titles[: min(PEERED, scale.items // 4)])
    rows: list[tuple[Cell, ...]] = [
        ("one query", 1, len(titles), one.matches, number(one.rate), one.rate * floor),
        (
            "thresholds from 0.5 to 1",
            min(MANY, scale.many),
            len(titles),
            many.matches,
            number(many.rate),
            many.rate * floor,
        ),
    ]
    slope = growth({days: 1 / one.rate - floor for days, one in windows.items()})
    full = scale.full
    return Report(
        "likeness",
        "Joins by likeness",
        f"{len(titles):,} titles over 30 days from XML text, 15 % of which repeat a recent one in "
        f"other words, under `similar(t, u) >= {LEAST}` within {WINDOW} days, in batches of "
        f"{BATCH:,}, groups read, in processor time; the floor reads the documents. Hard streams "
        f"have ten frequent words in all titles, or one title {hard[1][2]:,} times; by hand, all "
        "pairs of sets of words within the window are compared. Other libraries find the pairs of "
        f"{table:,} titles, without a window; their processor time includes their start.",
        (
            Table(
                ("query", "queries", "titles", "matches", "titles/s", "of the floor"), tuple(rows)
            ),
            Table(
                ("window, days", "matches", "titles/s"),
                tuple((days, one.matches, number(one.rate)) for days, one in windows.items()),
            ),
            Table(
                (
                    "hard stream",
                    "titles",
                    "matches",
                    "XSCL",
                    "all pairs by hand",
                    "XSCL's speed, all pairs = 1",
                ),
                tuple(
                    (name, len(some), took.matches, time_text(took.seconds), time_text(hand), part)
                    for name, some, _, took, hand, part in hard
                ),
            ),
            Table(
                ("way", "version", "time", "pairs found", "of all pairs", "wrong pairs"),
                tuple(others),
            ),
        ),
        (
            Plot(
                "window, days",
                "µs a title",
                {"XSCL": [(days, 1e6 / one.rate) for days, one in windows.items()]},
                log_x=True,
            ),
        ),
        (
            Statement(
                "goal, likeness",
                "100,000 titles, 7 days, one query: at least 8,000 titles/s",
                one.rate >= 8_000 if full else None,
                f"{number(one.rate)} titles/s",
            ),
            Statement(
                "goal, likeness",
                "state is flat after the window",
                one.grown <= 30e6 if full else None,
                f"{number(one.grown / 1e6)} MB more at the end than after half",
            ),
            Statement(
                "goal, likeness",
                "1,000 queries with thresholds from 0.5 to 1: at most 1.5 times one query",
                one.rate <= 1.5 * many.rate if full else None,
                f"{number(one.rate / many.rate)} times, with {many.matches:,} matches",
            ),
            Statement(
                "goal, likeness",
                "time beyond the floor grows with the window by a power below 1",
                slope < 1 if full else None,
                f"{number(slope)}",
            ),
            Statement(
                "goal, likeness",
                "hard streams: no worse than 0.5 of all pairs",
                all(part >= 0.5 for *_, part in hard) if full else None,
                ", ".join(number(part) for *_, part in hard),
            ),
        ),
    )


class Took:
    """What a run took: processor seconds, matches, and by how much it grew in its second half."""

    def __init__(self, titles: int, seconds: float, matches: int, grown: int) -> None:
        self.rate, self.seconds = titles / seconds, seconds
        self.matches, self.grown = matches, grown


def thresholds(many: int) -> list[float]:
    return [0.5 + 0.5 * place / max(1, many - 1) for place in range(many)]


def fed(titles: Envelopes, least: Sequence[float], days: int = WINDOW) -> Took:
    """The titles in batches under a query for each threshold, in order: what is out of reach is
    evicted."""
    with xscl.Engine(lateness=0) as engine:
        texts = (f"-- name: q{n}\n{QUERY.format(least=x, days=days)}" for n, x in enumerate(least))
        engine.load(";\n".join(texts))
        xscl.collect_rarely()
        matches = half = 0
        started = time.process_time()
        for some in batches(titles, BATCH):
            matches += found(engine, some)
            if not half and some[-1]["timestamp"] > titles[-1]["timestamp"] / 2:
                half = resident()
        return Took(len(titles), time.process_time() - started, matches, resident() - half)


Hard = tuple[str, Envelopes, int, Took, float, float]


def hard_ones(titles: int) -> list[Hard]:
    """Streams that are meant to be hard, and all pairs of each by hand."""
    made = []
    repeated = min(REPEATED, titles // 2)
    for name, some in (
        ("ten words in all titles", list(retold_titles(titles, seconds=PERIOD, shared=True))),
        (
            "one title again and again",
            list(retold_titles(titles, seconds=PERIOD, repeated=repeated)),
        ),
    ):
        took = fed(some, [LEAST])
        started = time.process_time()
        pairs = by_hand(some)
        hand = time.process_time() - started
        if pairs != took.matches:
            raise AssertionError(f"{name}: {took.matches} matches, {pairs} by hand")
        made.append((name, some, repeated, took, hand, hand / took.seconds))
    return made


def by_hand(titles: Envelopes) -> int:
    """The number of pairs within the window that are alike, by comparing all."""
    sets: list[tuple[float, frozenset[str]]] = []
    pairs = begin = 0
    for one in titles:
        at, words = one["timestamp"], words_of(one)
        while begin < len(sets) and sets[begin][0] < at - WINDOW * DAY:
            begin += 1
        for _, other in sets[begin:]:
            shared = len(words & other)
            pairs += shared >= LEAST * (len(words) + len(other) - shared)
        sets.append((at, words))
    return pairs


def words_of(title: Any) -> frozenset[str]:
    return frozenset((etree.fromstring(title["xml"]).findtext("title") or "").lower().split())


def growth(of: dict[int, float]) -> float:
    """The power by which a time grows with the window: the slope between its logarithms."""
    xs, ys = [log(days) for days in of], [log(max(seconds, 1e-9)) for seconds in of.values()]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum(
        (a - x) ** 2 for a in xs
    )


def peers(titles: Envelopes) -> tuple[list[tuple[Cell, ...]], int]:
    """The pairs of some titles by other libraries, beside XSCL's."""
    with tempfile.TemporaryDirectory() as place, xscl.Engine() as engine:
        engine.subscribe(QUERY.format(least=LEAST, days=365))
        started = time.process_time()
        places = {one["id"]: at for at, one in enumerate(titles)}
        pairs = sorted(
            (places[match.documents[0]], places[match.documents[1]])
            for some in batches(titles, BATCH)
            for match in engine.publish_many(some)
        )
        seconds = time.process_time() - started
        folder = Path(place)
        texts = [etree.fromstring(one["xml"]).findtext("title") for one in titles]
        (folder / "titles.json").write_text(json.dumps(texts))
        (folder / "pairs.json").write_text(json.dumps(pairs))
        rows: list[tuple[Cell, ...]] = [
            ("XSCL", f"xscl {xscl.__version__}", time_text(seconds), len(pairs), len(pairs), 0)
        ]
        for name, requirement, script in PEERS:
            try:
                python, version = python_of(requirement), version_of(requirement)
            except NotInstalled as error:
                rows.append((name, f"not installable: {error}", None, None, None, None))
                continue
            path = str(HERE / "benchmarks" / "peers" / "titles" / script)
            one = cost([str(python), "-P", path, str(folder), str(LEAST)], LIMIT)
            if one.failed:
                rows.append((name, version, one.failed, None, None, None))
                continue
            said = json.loads(one.printed.splitlines()[-1])
            rows.append(
                (name, version, time_text(one.processor), said["found"], len(pairs), said["others"])
            )
    return rows, len(titles)
