"""The blocks of event types."""

from __future__ import annotations

from functools import lru_cache

from xscl.language.build import Builder
from xscl.language.checks.check import check
from xscl.language.checks.names import PREDECLARED
from xscl.language.patterns.build import build_block
from xscl.language.problems import Problem, Unreadable
from xscl.language.syntax import Block, Query
from xscl.language.trees import tree_of

__all__ = ["block_of"]


@lru_cache(maxsize=10_000)
def block_of(text: str) -> Block | Problem:
    """The block that a text is, or why it is none."""
    builder = Builder(PREDECLARED, [], 0)
    try:
        block = build_block(builder, tree_of(text, 0, len(text), "block", "the end"))
    except Unreadable as unreadable:
        return unreadable.problem
    query = Query("block", None, block, text, 0, None)
    problems = [*builder.problems, *check(query, text)]
    return problems[0] if problems else block
