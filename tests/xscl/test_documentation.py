"""The page for users, docs/language.md: its examples are run, and they leave out nothing.

Its fenced blocks, by their info string:

    documents   envelopes as JSON Lines; they stay for what follows, until the next ones
    skipped     what is said of those of them that cannot be read
    xscl        queries, as in a query file
    error       exactly what is said of the bad ones among them
    matches     the matches of the good ones, each as `query document,document -> result` (the
                result may stand on a line of its own) or as JSON with some of its members

A table whose last columns are `example` and `picks` has a query and its matches in each row.  The
examples that are no errors use all that the grammar can read, but for what it reads only to refuse.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest
from lark import Token
from lark.grammar import Rule

import xscl
from xscl.language import parse, syntax, windows
from xscl.language.functions import FILTERING, WRAPPING
from xscl.language.names import PREDECLARED
from xscl.language.parse import _grammar

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")

REFUSED = {
    "plain_step: _test _ARROW VARIABLE",
    "plain_step: _test _ARROW VARIABLE __step_star",
    "window: MINUS NUMBER",
    "window: MINUS NUMBER UNIT",
    "wrapped: FUNCTION _LPAR _RPAR",
    "wrapped: FUNCTION _LPAR _argument __wrapped_star _RPAR",
    "__wrapped_star: _COMMA _argument",
}
"""What the grammar reads so that it can be refused well."""

Envelope = dict[str, Any]


@dataclass(frozen=True)
class Block:
    """A fenced block, or the last two cells of a table's row: its kind and its place."""

    kind: str
    text: str
    line: int


@dataclass
class Example:
    """Queries, the documents that they see, and what the page says comes of it."""

    line: int
    documents: list[Envelope]
    queries: str
    error: str = ""
    matches: list[str] = field(default_factory=list)
    picks: str | None = None


def blocks() -> Iterator[Block]:
    lines = enumerate(PAGE.splitlines(), 1)
    columns: list[str] = []
    for number, line in lines:
        if line.startswith("```"):
            inside = iter(lambda: next(lines)[1], "```")
            yield Block(line[3:], "\n".join(inside), number)
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            columns = columns or cells
            if columns[-2:] == ["example", "picks"] and cells[-2].startswith("`"):
                yield Block("example", cells[-2].strip("`"), number)
                yield Block("picks", cells[-1].replace("`", ""), number)
        else:
            columns = []


BLOCKS = list(blocks())


def examples() -> Iterator[Example]:
    documents: list[Envelope] = []
    example: Example | None = None
    for block in BLOCKS:
        match block.kind:
            case "documents":
                documents = [json.loads(line) for line in block.text.splitlines()]
            case "xscl" | "example":
                if example is not None:
                    yield example
                example = Example(block.line, documents, block.text)
            case "error" | "picks":
                setattr(example, block.kind, block.text)
            case "matches":
                assert example is not None
                example.matches.append(block.text)
    assert example is not None
    yield example


EXAMPLES = list(examples())


def at_line(found: Example | tuple[Block, Block]) -> str:
    return f"line {found.line if isinstance(found, Example) else found[0].line}"


# The examples, run.


@pytest.mark.parametrize("example", EXAMPLES, ids=at_line)
def test_example(example: Example) -> None:
    skipped: list[xscl.DocumentError] = []
    with xscl.Engine(on_skip=skipped.append) as engine:
        _, errors = engine.load_good(example.queries)
        found = [match.to_dict() for match in engine.publish_many(example.documents)]
    assert "\n\n".join(map(str, errors)) == example.error
    assert not skipped
    for matches in example.matches:
        expected = matches.replace(" ->\n    ", " -> ").splitlines()
        lines = chain(expected, repeat(""))
        assert [as_written(*pair) for pair in zip(found, lines, strict=False)] == expected
    if example.picks is not None:
        picked = " ".join(",".join(match["documents"]) for match in found)
        assert picked == example.picks


def as_written(match: dict[str, Any], line: str) -> str:
    """A match in the form that its line on the page has."""
    if line.startswith("{"):
        return json.dumps({member: match[member] for member in json.loads(line)})
    result = match["result"]
    if not isinstance(result, str) or not result.startswith("<"):
        result = json.dumps(result, ensure_ascii=False)
    return f"{match['query']} {','.join(match['documents'])} -> {result}"


DOCUMENTS = [
    (block, following)
    for block, following in zip(BLOCKS, BLOCKS[1:], strict=False)
    if block.kind == "documents" and following.kind == "skipped"
]


@pytest.mark.parametrize("pair", DOCUMENTS, ids=at_line)
def test_skipped_documents(pair: tuple[Block, Block]) -> None:
    documents, expected = pair
    skipped: list[xscl.DocumentError] = []
    with xscl.Engine(on_skip=skipped.append) as engine:
        engine.publish_many([json.loads(line) for line in documents.text.splitlines()])
    assert "\n".join(map(str, skipped)) == expected.text


def test_every_block_is_run() -> None:
    follows = {
        "xscl": {"matches", "error"},
        "example": {"picks"},
        "documents": {"xscl", "skipped", "example"},
        "error": {"xscl", "matches", "documents"},
    }
    known = {"", "documents", "skipped", "xscl", "error", "matches", "example", "picks"}
    run = [block for block in BLOCKS if block.kind]
    for block, following in zip(run, run[1:], strict=False):
        assert block.kind in known, f"line {block.line}"
        assert following.kind in follows.get(block.kind, known), f"line {following.line}"
    assert run[-1].kind in ("matches", "error", "picks", "skipped")


# What they use.

GOOD = [example.queries for example in EXAMPLES if not example.error]


def production(rule: Rule) -> str:
    """A production by name.

    Lark makes a rule of each `(…)*`, as `__items_star_12: _COMMA item`, and the same after itself
    for more of them: here these are one.
    """
    name = rule.origin.name
    symbols = [symbol.name for symbol in rule.expansion if symbol.name != name]
    return re.sub(r"(__\w+)_\d+\b", r"\1", f"{name}: {' '.join(symbols)}")


def test_the_examples_use_the_whole_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = _grammar()
    used: set[str] = set()
    units: set[str] = set()

    def tracing(rule: Rule, build: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
        def traced(children: list[Any]) -> Any:
            used.add(production(rule))
            units.update(c for c in children if isinstance(c, Token) and c.type == "UNIT")
            return build(children)

        return traced

    # What lark calls for each production that it has read: the trees do not show all of them.
    for rule, build in list(grammar._callbacks.items()):
        monkeypatch.setitem(grammar._callbacks, rule, tracing(rule, build))
    for text in GOOD:
        parse(text)
    assert set(map(production, grammar.rules)) - used == REFUSED
    lengths = {windows.microseconds("1", unit): unit for unit in windows._UNITS}
    for unit in units:
        lengths.pop(windows.microseconds("1", unit), None)
    assert lengths == {}, "units that no example uses"


TESTS = {
    "name",
    "{uri}name",
    "{*}name",
    "*",
    "@name",
    "@{uri}name",
    "@{*}name",
    "@*",
    ".",
    "text()",
}
OPERATORS = "or and = != < <= > >= + - * div mod".split()
USES = {
    *(f"the axis {axis}" for axis in ("/", "//")),
    *(f"the node test {test}" for test in TESTS | {"{}name"}),
    *(f"the function {function}()" for function in FILTERING),
    *(f"{function}() in a predicate" for function in WRAPPING),
    *(f"{operator} in a filter" for operator in OPERATORS),
    *(f"{operator} in a predicate" for operator in OPERATORS[2:8]),
    *(f"{type(value).__name__} in JSON" for value in ("", 1, 0.5, True, None)),
    *("FOLLOWED BY", "JOIN", "a window", "no window"),
    *("string() in a constructor", "text in a constructor", "comment in a constructor"),
    *("pi in a constructor", "a namespace in a constructor", "an attribute in a constructor"),
    *syntax.__all__,
} - {"Condition", "Predicate", "Select", "Side", "Source", "JSONValue"}  # unions of the others


def test_the_examples_use_the_whole_language() -> None:
    used = {use for text in GOOD for query in parse(text)[0] for use in uses(query)}
    assert USES - used == set()


def uses(node: object) -> Iterator[str]:
    """What a syntax tree uses of the language."""
    if isinstance(node, tuple):
        for part in node:
            yield from uses(part)
    if not is_dataclass(node):
        return
    yield type(node).__name__
    yield from of_this(node)
    for member in fields(node):
        yield from uses(getattr(node, member.name))


def of_this(node: object) -> Iterator[str]:
    match node:
        case syntax.Step(axis=axis, test=test):
            yield f"the axis {axis}"
            if test.startswith("{}"):
                yield "the node test {}name"
            else:
                kind = re.sub(r"\{[^*}]+\}", "{uri}", test)
                kind = kind if kind in TESTS else re.sub(r"[^@{}*]+$", "name", kind)
                yield f"the node test {kind}"
        case syntax.Function(name=name):
            yield f"the function {name}()"
        case syntax.Wrapped(function=name):
            yield f"{name}() in a predicate"
        case syntax.Binary(operator=operator):
            yield f"{operator} in a filter"
        case syntax.Comparison(operator=operator):
            yield f"{operator} in a predicate"
        case syntax.Join(operator=operator):
            yield operator
        case syntax.Window(length=length):
            yield "no window" if length is None else "a window"
        case syntax.JSONConstant(value=value):
            yield f"{type(value).__name__} in JSON"
        case syntax.Insert(string=True):
            yield "string() in a constructor"
        case syntax.Element(namespaces=namespaces, attributes=attributes, content=content):
            if namespaces:
                yield "a namespace in a constructor"
            if attributes:
                yield "an attribute in a constructor"
            for part in content:
                if isinstance(part, str):
                    yield "text in a constructor"
                elif isinstance(part, tuple):
                    yield f"{part[0]} in a constructor"


def test_the_tables_are_complete() -> None:
    cells = set(re.findall(r"`([^`\n]+)`", PAGE))
    assert set(windows._UNITS) - cells == set()
    assert {f"{name}()" for name in FILTERING if f"`{name}(" not in PAGE} == set()
    rows = dict(re.findall(r"^\| `(\w+)` \| `(http[^`]+)` \|$", PAGE, re.MULTILINE))
    assert rows == PREDECLARED


def test_the_page_is_found() -> None:
    assert "(docs/language.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
