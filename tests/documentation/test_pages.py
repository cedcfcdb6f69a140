"""The pages of the language, docs/language.md and docs/language-reference.md: their examples are
run (examples.py), and they leave out nothing.

The examples without errors use all that the grammar reads, but for what it reads
only to refuse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from lark import Token
from lark.grammar import Rule

from tests.documentation.examples import Block, Example, blocks, examples, run, run_session
from tests.documentation.tracing import traced
from xscl import times
from xscl.language import parse, syntax
from xscl.language.checks.functions import FILTERING, WRAPPING
from xscl.language.checks.names import PREDECLARED
from xscl.language.grammar import grammar as the_grammar

ROOT = Path(__file__).parents[2]
FILES = {name: ROOT / "docs" / f"{name}.md" for name in ("language", "language-reference")}
PAGES = {name: file.read_text(encoding="utf-8") for name, file in FILES.items()}
BLOCKS: dict[str, list[Block]] = {
    name: [block for block in blocks(page) if block.kind not in ("ebnf", "shell")]
    for name, page in PAGES.items()
}
EXAMPLES = {name: examples(found) for name, found in BLOCKS.items()}
GOOD = [one.queries for found in EXAMPLES.values() for one in found if not one.error]


# The examples, run.


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(example, id=f"{name}, line {example.line}")
        for name, found in EXAMPLES.items()
        for example in found
    ],
)
def test_example(example: Example) -> None:
    run(example)


def test_the_python_session() -> None:
    name = "language-reference"
    run_session(PAGES[name], BLOCKS[name], str(FILES[name]))


@pytest.mark.parametrize("found", BLOCKS.values(), ids=BLOCKS.keys())
def test_every_block_is_run(found: list[Block]) -> None:
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
    assert found[0].kind == "documents"
    for block, following in pairwise(found):
        assert following.kind in follows[block.kind], f"line {following.line}"
    assert found[-1].kind in ("matches", "error", "picks", "skipped")


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
"""What the grammar reads so that it can be refused well, or for `similar`, which has a page of its
own."""


def production(rule: Rule) -> str:
    """A production by name.

    Lark makes a rule of each `(…)*`, as `__items_star_12: _COMMA item`, and the same after itself
    for more of them: here these are one.
    """
    name = rule.origin.name
    symbols = [symbol.name for symbol in rule.expansion if symbol.name != name]
    return re.sub(r"(__\w+)_\d+\b", r"\1", f"{name}: {' '.join(symbols)}")


def test_the_examples_use_the_whole_grammar() -> None:
    grammar = the_grammar("grammar")
    used: set[str] = set()
    units: set[str] = set()

    def note(rule: Rule, children: list[Any]) -> None:
        used.add(production(rule))
        units.update(c for c in children if isinstance(c, Token) and c.type == "UNIT")

    with traced("grammar", note):
        for text in GOOD:
            parse(text)
    # Patterns and event queries have a page of their own.
    known = {one for one in map(production, grammar.rules) if not re.search("EVENTS|QUERY", one)}
    assert sorted(known - used - REFUSED) == []
    assert sorted(REFUSED - known) == []
    assert sorted(REFUSED & used) == []
    lengths = {unit: times.microseconds("1", unit) for unit in times._UNITS}
    shown = {times.microseconds("1", unit) for unit in units}
    assert [unit for unit, length in lengths.items() if length not in shown] == []


NODE_TESTS = ("name", "{uri}name", "{*}name", "*", "@name", "@{uri}name", "@{*}name", "@*", ".")
OPERATORS = ("or", "and", "=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "div", "mod")
UNIONS = {"Condition", "JSONValue", "Predicate", "Select", "Side", "Source", "Selected"}
OF_EVENTS = {*syntax.patterns.__all__, *syntax.events.__all__, *syntax.eql.__all__, "Described"}
USES = {
    # Patterns, event queries and automata have a page of their own.
    *(set(syntax.__all__) - UNIONS - OF_EVENTS),
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
    page = PAGES["language-reference"]
    code = set(re.findall(r"`([^`\n]+)`", page))
    assert set(times._UNITS) - code == set()
    assert set(FILTERING) - {text.partition("(")[0] for text in code} == set()
    prefixes = re.findall(r"^\| `(\w+)` \| `(\S+:\S+)` \|$", page, re.MULTILINE)
    assert dict(prefixes) == PREDECLARED


def test_the_page_is_found() -> None:
    assert "(docs/language.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
