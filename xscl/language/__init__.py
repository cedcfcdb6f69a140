"""XSCL, the query language: from a text to syntax trees, and what follows from syntax alone.

A text's way, in order:

    read.py         all that follows, for each statement of a text
    scan.py         a text -> its statements; comments and constructors are blanked
    alike.py        statements that differ in names and literals alone -> one query with symbols and
                    parameters in their places
    parsing.py      a statement -> a query, by grammar.lark (compiled: grammar.py)
      sources.py      lark's tree -> blocks, joins, sub-queries
      build.py        lark's tree -> paths, filters and lists
      constructor.py  an XML constructor -> an element (its extent: markup.py)
      json_constructor.py  a JSON constructor -> an object
      patterns/       EVENT and PATTERN, by patterns.lark -> components, conditions, values
      events/         FILTER, NEXT, FOLD, UNION, WINDOW, by events.lark -> expressions; which part
                      of a statement is in which language
      eql/            patterns with `;`, `|`, `\\` and `+`, and WHERE, by eql.lark -> what is after
                      what, qualifications; what a comparison with an exception may read; notes
    checks/         a query -> the problems of its names, variables, functions and size
    parameters.py   a query with parameters, and values -> a query (a place of one: blanks.py)
    normal_form.py  a predicate -> value-join normal form (section 6.2 of the thesis)

Alongside it: the nodes of a tree (syntax/), walks over queries (walk.py) and over the conditions of
filters (conditions.py), a tree as text again (unparse.py), whether two queries say the same
(same_query.py), the sentences of errors (problems.py; of syntax errors: problem_words.py,
checks/other_languages.py).

The language is that of chapter 6 of the thesis.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xscl.language.read import parse, parse_from, read_from

__all__ = ["parse", "parse_from", "read_from"]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Who reads syntax trees alone waits for no grammar."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module("xscl.language.read"), name)
