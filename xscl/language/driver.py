"""The reading of a text by a grammar's tables: an LALR(1) parser, as lark's, without what lark does
for each token beside that.

A text costs what its tokens cost, and many queries are read.  Lark counts lines and columns, and
asks for each step what it is; here places are offsets alone, and what a state does is looked up.
The states, the lexers and the makers of trees are lark's.  A text that is refused is left to it: it
says why.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from lark import Lark, Token, Tree
from lark.lexer import BasicLexer, ContextualLexer
from lark.parsers.lalr_analysis import Shift
from lark.utils import TextSlice

__all__ = ["Driver"]

_END = "$END"


class _Reduction(NamedTuple):
    """A rule's number of symbols, what is made of them, and the symbol that this is."""

    size: int
    make: Callable[[list[Any]], Any]
    origin: str


class _State(NamedTuple):
    """What a state does with a symbol, the state after it or a reduction; and its lexer."""

    actions: Mapping[str, int | _Reduction]
    match: Callable[[TextSlice[str], int], tuple[str, str] | None]
    ignored: Collection[str]
    named: Mapping[str, Callable[[Token], Token]]


class Driver:
    """Reads texts by some tables."""

    def __init__(self, tables: Lark) -> None:
        self._tables = tables
        self._states: dict[int, _State] = {}
        self._ends: dict[str, tuple[int, int]] = {}
        self._table: Mapping[int, Mapping[str, tuple[Any, Any]]] = {}
        self._makers: Mapping[Any, Callable[[list[Any]], Any]] = {}
        self._lexers: Mapping[int, BasicLexer] = {}

    def read(self, text: str, rule: str) -> Tree[Token] | None:
        """The tree of a text that a rule derives; None where there is none."""
        first, last = self._ends.get(rule) or self._begin(rule)
        known, make_state = self._states, self._state
        numbers, values = [first], list[Any]()
        source, at, end = TextSlice(text, 0, len(text)), 0, len(text)
        while True:
            state = known.get(numbers[-1]) or make_state(numbers[-1])
            if at < end:
                found = state.match(source, at)
                if found is None:
                    return None
                value, kind = found
                start, at = at, at + len(value)
                if kind in state.ignored:
                    continue
                token = _token(kind, value, start, at)
                if kind in state.named:
                    # A word that another pattern has found.
                    kind = state.named[kind](token).type
            else:
                token, kind = _token(_END, "", end, end), _END
            action = state.actions.get(kind)
            while type(action) is _Reduction:
                size, make, origin = action
                if size:
                    children = values[-size:]
                    del values[-size:], numbers[-size:]
                else:
                    children = []
                values.append(make(children))
                before = known.get(numbers[-1]) or make_state(numbers[-1])
                following = before.actions[origin]
                assert type(following) is int
                numbers.append(following)
                if following == last and kind == _END:
                    tree: Tree[Token] = values[-1]
                    return tree
                action = (known.get(following) or make_state(following)).actions.get(kind)
            if action is None:
                return None
            numbers.append(action)  # type: ignore[arg-type]
            values.append(token)

    def _begin(self, rule: str) -> tuple[int, int]:
        """The first and the last state of a rule."""
        parser = self._tables.parse_interactive("", start=rule)
        conf, lexer = parser.parser_state.parse_conf, parser.lexer_thread.lexer
        assert isinstance(lexer, ContextualLexer)
        self._table, self._makers = conf.states, conf.callbacks
        self._lexers = lexer.lexers  # type: ignore[assignment]
        self._ends[rule] = ends = conf.start_state, conf.end_state
        return ends

    def _state(self, number: int) -> _State:
        """A state that is new."""
        actions: dict[str, int | _Reduction] = {
            symbol: argument
            if action is Shift
            else _Reduction(len(argument.expansion), self._makers[argument], argument.origin.name)
            for symbol, (action, argument) in self._table[number].items()
        }
        lexer = self._lexers[number]
        # What it names is known once it has a scanner.
        match = lexer.scanner.match
        made = _State(actions, match, lexer.ignore_types, lexer.callback)
        self._states[number] = made
        return made


def _token(kind: str, value: str, start: int, end: int) -> Token:
    """A token without a line; lark's constructor takes as long as the rest."""
    token = str.__new__(Token, value)
    token.type, token.value = kind, value
    token.start_pos, token.end_pos = start, end
    token.line = token.column = token.end_line = token.end_column = None
    return token
