"""The page for users, docs/language.md: its examples are run, and they leave out nothing.

Its fenced blocks, by their info string:

    documents   envelopes as JSON Lines; they stay for what follows, until the next ones
    skipped     what is said of those of them that cannot be read
    xscl        queries, as in a query file
    params NAME the parameters of one of them, as a CSV file
    error       exactly what is said of the bad ones among them
    matches     the matches of the good ones, each as `query document,document -> result` (the
                result may stand on a line of its own; `*` is a document that a query published)
                or as JSON with some of its members
    python      one session from the first to the last of them

A table whose last columns are `example` and `picks` has in each row a query and the documents of
its matches.  The examples without errors use all that the grammar reads, but for what it reads
only to refuse.
"""

from __future__ import annotations

import doctest
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import chain, pairwise, repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from lark import Token
from lark.grammar import Rule

import xscl
from xscl import times
from xscl.cli.parameters import read_parameters
from xscl.language import parse, syntax
from xscl.language.checks.functions import FILTERING, WRAPPING
from xscl.language.checks.names import PREDECLARED
from xscl.language.grammar import grammar as the_grammar

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs" / "language.md"
PAGE = FILE.read_text(encoding="utf-8")

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
    """Documents, the queries that see them, and what the page says comes of it."""

    line: int
    documents: list[Envelope]
    queries: str
    tables: dict[str, list[dict[str, object]]] = field(default_factory=dict)
    skipped: str = ""
    error: str = ""
    matches: list[str] = field(default_factory=list)
    picks: list[str] = field(default_factory=list)


def blocks() -> Iterator[Block]:
    lines = enumerate(PAGE.splitlines(), 1)
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


def rows(csv: str) -> list[dict[str, object]]:
    with TemporaryDirectory() as folder:
        file = Path(folder, "rows.csv")
        file.write_text(csv, encoding="utf-8")
        return list(read_parameters(file))


def examples(blocks: list[Block]) -> list[Example]:
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
                found[-1].tables[block.query] = rows(block.text)
            case "error":
                found[-1].error = block.text
            case "matches":
                found[-1].matches.append(block.text)
            case "picks":
                found[-1].picks += block.text.split()
    return found


BLOCKS = [block for block in blocks() if block.kind]
EXAMPLES = examples(BLOCKS)
GOOD = [example.queries for example in EXAMPLES if not example.error]


# The examples, run.


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"line {example.line}")
def test_example(example: Example) -> None:
    skipped: list[xscl.DocumentError] = []
    with xscl.Engine(on_skip=skipped.append) as engine:
        _, errors = engine.load_good(example.queries, tables=example.tables)
        found: list[dict[str, Any]] = [
            match.to_dict() for match in engine.publish_many(example.documents)
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
    shown = {document["id"] for document in documents}
    ids = ",".join(id if id in shown else "*" for id in match["documents"])
    return f"{match['query']} {ids} -> {result}"


def test_the_python_session() -> None:
    session = [""] * (PAGE.count("\n") + 1)
    for block in BLOCKS:
        if block.kind == "python":
            assert block.text.startswith(">>> "), f"line {block.line}"
            lines = block.text.splitlines()
            session[block.line : block.line + len(lines)] = lines
    test = doctest.DocTestParser().get_doctest("\n".join(session), {}, "session", str(FILE), 0)
    told: list[str] = []
    results = doctest.DocTestRunner().run(test, out=told.append)
    assert results.attempted
    assert not results.failed, "".join(told)


def test_every_block_is_run() -> None:
    follows = {
        "documents": {"xscl", "example", "skipped"},
        "xscl": {"matches", "error", "params"},
        "params": {"matches", "error", "params"},
        "example": {"picks"},
        "error": {"xscl", "matches", "documents", "python"},
        "picks": {"xscl", "example", "documents"},
        "skipped": {"xscl", "documents"},
        "matches": {"xscl", "example", "documents", "matches", "python"},
        "python": {"python", "documents"},
    }
    assert BLOCKS[0].kind == "documents"
    for block, following in pairwise(BLOCKS):
        assert following.kind in follows[block.kind], f"line {following.line}"
    assert BLOCKS[-1].kind in ("matches", "error", "picks", "skipped")


# What they use.

REFUSED = {
    "__wrapped_star: _COMMA _argument",
    "plain_step: _test _ARROW VARIABLE",
    "plain_step: _test _ARROW VARIABLE __plain_step_star",
    "window: MINUS NUMBER",
    "window: MINUS NUMBER UNIT",
    "wrapped: FUNCTION _LPAR _RPAR",
    "wrapped: FUNCTION _LPAR _argument __wrapped_star _RPAR",
}
"""What the grammar reads so that it can be refused well."""


def production(rule: Rule) -> str:
    """A production by name.

    Lark makes a rule of each `(…)*`, as `__items_star_12: _COMMA item`, and the same after itself
    for more of them: here these are one.
    """
    name = rule.origin.name
    symbols = [symbol.name for symbol in rule.expansion if symbol.name != name]
    return re.sub(r"(__\w+)_\d+\b", r"\1", f"{name}: {' '.join(symbols)}")


def test_the_examples_use_the_whole_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = the_grammar("grammar")
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
    # Patterns have a page of their own.
    known = {one for one in map(production, grammar.rules) if "EVENTS" not in one}
    assert sorted(known - used - REFUSED) == []
    assert sorted(REFUSED - known) == []
    assert sorted(REFUSED & used) == []
    lengths = {unit: times.microseconds("1", unit) for unit in times._UNITS}
    shown = {times.microseconds("1", unit) for unit in units}
    assert [unit for unit, length in lengths.items() if length not in shown] == []


NODE_TESTS = ("name", "{uri}name", "{*}name", "*", "@name", "@{uri}name", "@{*}name", "@*", ".")
OPERATORS = ("or", "and", "=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "div", "mod")
UNIONS = {"Condition", "JSONValue", "Predicate", "Select", "Side", "Source"}
USES = {
    # Patterns have a page of their own.
    *(set(syntax.__all__) - UNIONS - set(syntax.patterns.__all__)),
    *("the axis /", "the axis //"),
    *(f"the node test {test}" for test in (*NODE_TESTS, "text()", "a quoted name")),
    *(f"the function {function}()" for function in FILTERING),
    *(f"{function}() in a predicate" for function in WRAPPING),
    *(f"{operator} in a filter" for operator in OPERATORS),
    *(f"{operator} in a predicate" for operator in OPERATORS if operator[0] in "=!<>"),
    *("FOLLOWED BY", "JOIN", "a window", "no window"),
    *("string() in a constructor", "an attribute in a constructor", "xmlns in a constructor"),
    *("text in a constructor", "comment in a constructor", "pi in a constructor"),
    *(f"{kind} in a JSON constructor" for kind in ("str", "int", "float", "bool", "NoneType")),
    "a parameter in a JSON constructor",
}


def test_the_examples_use_the_whole_language() -> None:
    used = {use for text in GOOD for query in parse(text)[0] for use in uses(query)}
    assert sorted(USES - used) == []


def uses(node: object) -> Iterator[str]:
    """What a syntax tree uses of the language."""
    if isinstance(node, tuple):
        for part in node:
            yield from uses(part)
    elif is_dataclass(node):
        yield type(node).__name__
        yield from uses_itself(node)
        for member in fields(node):
            yield from uses(getattr(node, member.name))


def uses_itself(node: object) -> Iterator[str]:
    match node:
        case syntax.Step():
            yield f"the axis {node.axis}"
            yield f"the node test {kind_of_test(node.test)}"
        case syntax.Function():
            yield f"the function {node.name}()"
        case syntax.Wrapped():
            yield f"{node.function}() in a predicate"
        case syntax.Binary():
            yield f"{node.operator} in a filter"
        case syntax.Comparison():
            yield f"{node.operator} in a predicate"
        case syntax.Join():
            yield node.operator
        case syntax.Window():
            given = node.length is not None or node.parameter is not None
            yield "a window" if given else "no window"
        case syntax.JSONObject():
            if any(isinstance(value, syntax.Parameter) for _, value in node.members):
                yield "a parameter in a JSON constructor"
        case syntax.JSONConstant():
            yield f"{type(node.value).__name__} in a JSON constructor"
        case syntax.Insert(string=True):
            yield "string() in a constructor"
        case syntax.Element():
            if node.namespaces:
                yield "xmlns in a constructor"
            if node.attributes:
                yield "an attribute in a constructor"
            for part in node.content:
                if isinstance(part, str | tuple):
                    yield f"{'text' if isinstance(part, str) else part[0]} in a constructor"


def kind_of_test(test: str) -> str:
    if test in ("*", "@*", ".", "text()"):
        return test
    if test.startswith("{}") or " " in test:
        return "a quoted name"
    return re.sub(r"\w+$", "name", re.sub(r"\{[^*}]+\}", "{uri}", test))


def test_the_tables_are_complete() -> None:
    code = set(re.findall(r"`([^`\n]+)`", PAGE))
    assert set(times._UNITS) - code == set()
    assert set(FILTERING) - {text.partition("(")[0] for text in code} == set()
    prefixes = re.findall(r"^\| `(\w+)` \| `(\S+:\S+)` \|$", PAGE, re.MULTILINE)
    assert dict(prefixes) == PREDECLARED


def test_the_page_is_found() -> None:
    assert "(docs/language.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
