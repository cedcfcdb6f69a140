"""The examples of a page for users, run.

Its fenced blocks, by their info string:

    documents   envelopes as JSON Lines; they stay for what follows, until the next ones
    skipped     what is said of those of them that cannot be read
    xscl        queries, as in a query file
    params NAME the parameters of one of them, as a CSV file
    error       exactly what is said of the bad ones among them
    matches     the matches of the good ones, each as `query document,document -> result` (the
                result may stand on a line of its own; `*` is a document that a query published;
                what is computed names none) or as JSON with some of its members
    python      one session from the first to the last of them

A table whose last columns are `example` and `picks` has in each row a query and the documents of
its matches.
"""

from __future__ import annotations

import doctest
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import xscl
from xscl.cli.parameters import read_parameters

__all__ = ["Block", "Envelope", "Example", "as_written", "blocks", "examples", "run", "run_session"]

Envelope = dict[str, Any]


@dataclass(frozen=True)
class Block:
    """A fenced block, or one of the last two cells of a table's row."""

    kind: str
    text: str
    line: int
    query: str = ""
    """The one whose parameters it has."""


@dataclass
class Example:
    """Documents, the queries that see them, and the result that the page shows."""

    line: int
    documents: list[Envelope]
    queries: str
    tables: dict[str, list[dict[str, object]]] = field(default_factory=dict)
    skipped: str = ""
    error: str = ""
    matches: list[str] = field(default_factory=list)
    picks: list[str] = field(default_factory=list)


def blocks(page: str) -> Iterator[Block]:
    """The blocks of a page in order, those without a kind too."""
    lines = enumerate(page.splitlines(), 1)
    columns: list[str] = []
    for number, line in lines:
        if line.startswith("```"):
            kind, _, query = line[3:].partition(" ")
            inside = iter(lambda: next(lines)[1], "```")
            yield Block(kind, "\n".join(inside), number, query)
        elif line.startswith("|"):
            cells = line.strip("| ").split(" | ")
            columns = columns or cells
            if columns[-2:] == ["example", "picks"] and cells[-1].startswith("`"):
                yield Block("example", cells[-2].strip("`"), number)
                yield Block("picks", cells[-1].replace("`", ""), number)
        else:
            columns = []


def _rows(csv: str) -> list[dict[str, object]]:
    with TemporaryDirectory() as folder:
        file = Path(folder, "rows.csv")
        file.write_text(csv, encoding="utf-8")
        return list(read_parameters(file))


def examples(blocks: list[Block]) -> list[Example]:
    """The examples that blocks make."""
    documents: list[Envelope] = []
    found: list[Example] = []
    for block in blocks:
        match block.kind:
            case "documents":
                documents = [json.loads(line) for line in block.text.splitlines()]
            case "skipped":
                found.append(Example(block.line, documents, "", skipped=block.text))
                documents = []
            case "xscl" | "example":
                found.append(Example(block.line, documents, block.text))
            case "params":
                found[-1].tables[block.query] = _rows(block.text)
            case "error":
                found[-1].error = block.text
            case "matches":
                found[-1].matches.append(block.text)
            case "picks":
                found[-1].picks += block.text.split()
    return found


def run(example: Example) -> None:
    """Runs an example, and compares its result with the page; matches that are pending are reported
    at the end of the documents."""
    skipped: list[xscl.DocumentError] = []
    # Arcs change of the automaton of another example.
    documents = [one for one in example.documents if one.get("automaton", "") in example.queries]
    with xscl.Engine(on_skip=skipped.append) as engine:
        _, errors = engine.load_good(example.queries, tables=example.tables)
        found: list[dict[str, Any]] = [
            match.to_dict() for match in (*engine.publish_many(documents), *engine.flush())
        ]
    assert "\n\n".join(map(str, errors)) == example.error
    assert "\n".join(map(str, skipped)) == example.skipped
    for matches in example.matches:
        expected = matches.replace(" ->\n    ", " -> ").splitlines()
        written = zip(found, chain(expected, repeat("")), strict=False)
        assert [as_written(match, line, example.documents) for match, line in written] == expected
    if example.picks:
        assert [",".join(match["documents"]) for match in found] == example.picks


def as_written(match: dict[str, Any], line: str, documents: list[Envelope]) -> str:
    """A match in the form that its line on the page has."""
    if line.startswith("{"):
        return json.dumps({member: match[member] for member in json.loads(line)})
    result = match["result"]
    if not isinstance(result, str) or not result.startswith("<"):
        result = json.dumps(result, ensure_ascii=False)
    shown = {document.get("id") for document in documents}
    ids = ",".join(id if id in shown else "*" for id in match["documents"])
    of = f"{match['query']} {ids}" if ids else match["query"]
    return f"{of} -> {result}"


def run_session(page: str, blocks: list[Block], name: str) -> None:
    """Runs the Python of a page as one session."""
    session = [""] * (page.count("\n") + 1)
    for block in blocks:
        if block.kind == "python":
            assert block.text.startswith(">>> "), f"line {block.line}"
            lines = block.text.splitlines()
            session[block.line : block.line + len(lines)] = lines
    test = doctest.DocTestParser().get_doctest("\n".join(session), {}, "session", name, 0)
    reported: list[str] = []
    results = doctest.DocTestRunner().run(test, out=reported.append)
    assert results.attempted
    assert not results.failed, "".join(reported)
