"""What is read of texts by a grammar: each production, as the makers of trees are called for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from lark.grammar import Rule

from xscl.language.grammar import Grammar, grammar

__all__ = ["traced"]


@contextmanager
def traced(which: Grammar, note: Callable[[Rule, list[Any]], object]) -> Iterator[None]:
    """Within it each production that is read is noted, with what it has read.  The trees do not
    show all of them."""

    def tracing(rule: Rule, build: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
        def tracing_build(children: list[Any]) -> Any:
            note(rule, children)
            return build(children)

        return tracing_build

    with pytest.MonkeyPatch.context() as patch:
        for plain in (False, True):
            makers = grammar(which, plain)._callbacks
            for rule, build in list(makers.items()):
                patch.setitem(makers, rule, tracing(rule, build))
        yield
