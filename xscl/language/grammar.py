"""The grammar of the language as lark's tables: `grammar.lark`, compiled.

Compiling takes a sixth of a second, so the tables are kept beside it, in `grammar.tables`, under
the names of the grammar and of the lark that they are of; of another one, they are made anew.
`python -m xscl.language.grammar` writes them.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

import lark

from xscl.language.checks.names import AFTER_STREAM, END_OF_WORD, NAME, STRING

__all__ = ["compiled", "grammar", "name_of"]

_TABLES = Path(__file__).with_name("grammar.tables")
_PATTERNS = {"NAME": NAME, "STRING": STRING, "END": END_OF_WORD, "STREAM": AFTER_STREAM}


@cache
def grammar() -> lark.Lark:
    """The tables that are kept, or new ones."""
    text = _text()
    with _TABLES.open("rb") as file:
        if file.readline() == name_of(text):
            return lark.Lark.load(file)
    return compiled(text)


def compiled(text: str) -> lark.Lark:
    """The tables of a grammar, made anew."""
    starts = ["declaration", "query", "insert", "variable_path"]
    return lark.Lark(text, parser="lalr", start=starts, maybe_placeholders=False)


def name_of(text: str) -> bytes:
    """What tells the tables of a grammar from others."""
    return f"lark {lark.__version__}, grammar {sha256(text.encode()).hexdigest()}\n".encode()


def _text() -> str:
    text = _TABLES.with_suffix(".lark").read_text(encoding="utf-8")
    for word, pattern in _PATTERNS.items():
        # A slash would end lark's own pattern.
        text = text.replace(f"«{word}»", pattern.replace("/", r"\/"))
    return text


if __name__ == "__main__":
    with _TABLES.open("wb") as tables:
        tables.write(name_of(_text()))
        compiled(_text()).save(tables)
