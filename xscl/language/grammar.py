"""The grammars of the language as lark's tables: `grammar.lark`, `patterns.lark`, `events.lark`,
`automata.lark` and `eql.lark`, compiled, each with those behind it that it shares with others.

Compiling takes a sixth of a second, so the tables are kept alongside them, in files ending in
`.tables`, under the names of the grammar and of the lark that they are of; of another one, they are
made again.  `python -m xscl.language.grammar` writes them.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Literal as OneOf

import lark
from lark.lexer import PatternRE

from xscl.language.checks.names import (
    AFTER_STREAM,
    END_OF_VARIABLE,
    END_OF_WORD,
    NAME,
    STRING,
    VARIABLE,
    WORD,
    plain_form,
)

__all__ = ["STARTS", "Grammar", "compiled", "grammar", "name_of"]

Grammar = OneOf["grammar", "patterns", "events", "automata", "eql"]

STARTS: dict[Grammar, tuple[str, ...]] = {
    "grammar": ("declaration", "query", "insert", "variable_path"),
    "patterns": ("pattern", "items", "value", "block"),
    "events": ("event_query", "stream", "cell"),
    "automata": ("fence", "transfer"),
    "eql": ("eql_query", "eql_sub_query", "eql_cell"),
}
"""The rules that texts are read by."""

_SHARED: dict[Grammar, tuple[str, ...]] = {
    "grammar": ("paths",),
    "patterns": ("values", "paths"),
    "events": ("values", "paths"),
    "automata": ("values", "paths"),
    "eql": ("values", "paths"),
}
"""The grammars that are put behind each."""

_FOLDER = Path(__file__).parent
_PATTERNS = {
    "NAME": NAME,
    "WORD": WORD,
    "VARIABLE": VARIABLE,
    "STRING": STRING,
    "END": END_OF_WORD,
    "STOP": END_OF_VARIABLE,
    "STREAM": AFTER_STREAM,
}


@cache
def grammar(which: Grammar, plain: bool = False) -> lark.Lark:
    """The tables that are kept, or new ones, for texts that are plain alone (`is_plain`) or any."""
    tables = _kept(which)
    if plain:
        # The lexers, whose terminals are in order, compile them when they are first used.
        for terminal in tables.terminals:
            if isinstance(terminal.pattern, PatternRE):
                terminal.pattern.value = plain_form(_as_written(terminal.pattern.value))
    return tables


def _kept(which: Grammar) -> lark.Lark:
    with (_FOLDER / f"{which}.tables").open("rb") as file:
        if file.readline() == name_of(which):
            return lark.Lark.load(file)
    return compiled(which)


def compiled(which: Grammar) -> lark.Lark:
    """The tables of a grammar, made again."""
    starts = [*STARTS[which]]
    return lark.Lark(_text(which), parser="lalr", start=starts, maybe_placeholders=False)


def _as_written(pattern: str) -> str:
    """A pattern of names.py as it is there: lark's has characters for escapes, and the other way
    around for slashes."""
    return pattern.encode("ascii", "backslashreplace").decode().replace(r"\/", "/")


def name_of(which: Grammar) -> bytes:
    """What tells the tables of a grammar from others."""
    digest = sha256(_text(which).encode()).hexdigest()
    return f"lark {lark.__version__}, grammar {digest}\n".encode()


@cache
def _text(which: Grammar) -> str:
    text = "\n".join(
        (_FOLDER / f"{name}.lark").read_text(encoding="utf-8") for name in (which, *_SHARED[which])
    )
    for word, pattern in _PATTERNS.items():
        # A slash would end lark's own pattern.
        text = text.replace(f"«{word}»", pattern.replace("/", r"\/"))
    return text


if __name__ == "__main__":
    for one in STARTS:
        with (_FOLDER / f"{one}.tables").open("wb") as tables:
            tables.write(name_of(one))
            compiled(one).save(tables)
