"""The page docs/limits.md: each limit of its table is met and passed, and its example of a dead
letter is one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import xscl
from tests.commands import xscl as command
from xscl.language import parse
from xscl.xpath_stage import work

PAGE = (Path(__file__).parents[2] / "docs" / "limits.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("\n## ")[0]
ROWS = dict(re.findall(r"^\| ([^|]+?) \| ([^|]+?) \| [^|]+ \|$", TABLE, re.MULTILINE)[2:])


def numbers(limit: str) -> list[int]:
    """The numbers that a limit begins with.

    >>> numbers("16 MiB (at most)"), numbers("32, 256")
    ([16777216], [32, 256])
    """
    found = re.match(r"\d[\d,]*\b( MiB)?(, \d+)?", limit)
    assert found, limit
    text = found[0].removesuffix(" MiB")
    parts = text.split(", ")
    return [int(part.replace(",", "")) * (2**20 if found[1] else 1) for part in parts]


def is_taken(document: object) -> bool:
    """Whether an engine takes a document."""
    with xscl.Engine() as engine:
        engine.subscribe("S//a")
        try:
            engine.publish("S", document)
        except xscl.DocumentError:
            return False
    return True


def is_read(text: str) -> bool:
    """Whether a query's text is read."""
    return not parse(text)[1]


def is_made(characters: int) -> bool:
    """Whether a text of so many characters is made of others."""
    with xscl.Engine() as engine:
        engine.subscribe("SELECT concat(a, 'b') AS a FROM S")
        (match,) = engine.publish("S", {"a": "x" * (characters - 1)})
        return bool(match.result)


def nested(levels: int) -> object:
    document: object = 1
    for _ in range(levels - 1):
        document = {"a": document}
    return document


Passes = Callable[[int], bool]
LIMITS: dict[str, list[Passes]] = {
    "levels of a document": [
        lambda n: is_taken("<a>" * n + "</a>" * n),
        lambda n: is_taken(nested(n)),
    ],
    "a text, a tag, a comment": [lambda n: is_taken(f"<a>{'x' * n}</a>")],
    "attributes of an element": [
        lambda n: is_taken("<a " + " ".join(f'k{i}=""' for i in range(n)) + "/>")
    ],
    "an attribute's value": [lambda n: is_taken(f'<a k="{"x" * n}"/>')],
    "characters of a query": [lambda n: is_read("S//a[b = '" + "x" * (n - 12) + "']")],
    "filters of a query": [lambda n: is_read("S//a" + "[b = 'x']" * n)],
    "paths of a SELECT": [lambda n: is_read(f"SELECT {', '.join(['x'] * n)} FROM S//a->x")],
    "blocks of a query": [lambda n: is_read("S" + " JOIN {} S" * (n - 1))],
    "comparisons and tests of an event query or of EQL": [
        lambda n: is_read("FILTER{" + " AND ".join(["a = 1"] * n) + "}(S)"),
        lambda n: is_read("t A WHERE " + ", ".join(["A.x = 1"] * n)),
    ],
    "items of a list of an event query or of EQL, aggregates of a FOLD": [
        lambda n: is_read(f"SELECT {', '.join(['a'] * n)} FROM S NEXT S"),
        lambda n: is_read(f"SELECT {', '.join(['A.x'] * n)} FROM t A"),
        lambda n: is_read(f"S FOLD{{, , {', '.join(['1 AS a'] * n)}}} S"),
    ],
    "`+` of EQL in one another": [lambda n: is_read("(" * n + "t A" + ")+" * n)],
    "characters of a text that `concat` makes": [is_made],
    "depth of parentheses, filters and operators": [lambda n: is_read("(" * n + "S" + ")" * n)],
}
PAIRS: dict[str, list[Passes]] = {
    "comparisons joined by AND, disjuncts": [
        lambda n: is_read("S//a->x JOIN {" + " AND ".join(["x = y"] * n) + "} S//b->y"),
        lambda n: is_read("S//a->x JOIN {" + " OR ".join(["x = y"] * n) + "} S//b->y"),
    ],
}
ELSEWHERE = {
    "a dry run of `xscl serve`",
    "bytes of a document",
    "an integer of JSON",
    "entities",
    "matches of a pattern, or outputs of an event query, in one step; pending and partial matches, "
    "and instances of NEXT and FOLD alike",
    "work of the filters on a document",
    "string values taken of a document",
    "steps of a block that bind",
}
"""Rows with a test of their own below, or in tests/xscl/serve/test_dry_runs.py."""


def test_every_row_is_tested() -> None:
    assert sorted(ROWS) == sorted({*LIMITS, *PAIRS, *ELSEWHERE})


@pytest.mark.parametrize("row", LIMITS)
def test_a_limit(row: str) -> None:
    (limit,) = numbers(ROWS[row])
    for passes in LIMITS[row]:
        assert passes(limit)
        assert not passes(limit + 1)


@pytest.mark.parametrize("row", PAIRS)
def test_two_limits(row: str) -> None:
    for limit, passes in zip(numbers(ROWS[row]), PAIRS[row], strict=True):
        assert passes(limit)
        assert not passes(limit + 1)


def test_steps_that_bind() -> None:
    """The steps that lead to what is bound count, too."""
    (limit,) = numbers(ROWS["steps of a block that bind"])
    steps = [f"[./b->x{i}]" for i in range(limit + 1)]
    assert is_read("S//a" + "".join(steps[: limit // 2 - 1]))
    assert not is_read("S//a" + "".join(steps))


def test_bytes_and_digits(tmp_path: Path) -> None:
    """Both are about bytes that a reader meets, so documents come as a user sends them."""
    (limit,) = numbers(ROWS["bytes of a document"])
    for name, size in (("fits", limit), ("more", limit + 1)):
        parts = ("<b>" + "x" * 993 + "</b>") * ((size - 7) // 1_000)
        filler = "y" * (size - 7 - len(parts))
        (tmp_path / f"{name}.xml").write_text(f"<a>{parts}{filler}</a>", encoding="utf-8")
        assert (tmp_path / f"{name}.xml").stat().st_size == size
    (digits,) = numbers(ROWS["an integer of JSON"])
    lines = (f'{{"stream": "S", "json": {{"a": {"7" * n}}}}}\n' for n in (digits, digits + 1))
    (tmp_path / "events.jsonl").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "q.xscl").write_text("-- name: all\nS//a", encoding="utf-8")
    for source, count in (("--docs", "S=*.xml"), ("--events", "events.jsonl")):
        done = command("run", "q.xscl", source, count, "--format", "counts", at=tmp_path)
        assert done.returncode == 0
        assert "skipped" in done.stderr
        assert re.search(r"all\W+1\b", done.stdout), done.stdout


def test_entities() -> None:
    for entity in re.findall(r"`(&\w+;)`", ROWS["entities"]):
        assert is_taken(f"<a>{entity}</a>")
    assert is_taken('<!DOCTYPE a [<!ENTITY x "y">]><a>&#233;</a>')
    assert not is_taken('<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>')


def test_work_of_a_document() -> None:
    """Documents of so much work take minutes; tests/hostile has them."""
    assert numbers(ROWS["work of the filters on a document"]) == [work._STEPS]
    assert numbers(ROWS["string values taken of a document"]) == [work._CHARACTERS]


def test_a_dead_letter(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```json\n(.*)\n```$", PAGE, re.MULTILINE)
    (tmp_path / "q.xscl").write_text("S//a", encoding="utf-8")
    line = json.dumps({"stream": "S", "id": "d7", "timestamp": 0, "xml": "<a>\n <b></a>"})
    done = command(
        "run", "q.xscl", "--events", "-", "--dead-letters", "dead.jsonl", at=tmp_path, stdin=line
    )
    assert done.returncode == 1  # every document was skipped
    (letter,) = map(json.loads, (tmp_path / "dead.jsonl").read_text().splitlines())
    shown = json.loads(example)
    assert list(letter) == list(shown)
    for member in ("stream", "document", "line", "column"):
        assert letter[member] == shown[member]
    assert letter["raw"].startswith(shown["raw"].removesuffix("…"))
