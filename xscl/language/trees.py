"""A stretch of a text, read by a rule of a grammar; lark's refusals are put into words."""

from __future__ import annotations

from contextlib import suppress

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from xscl.language.checks.names import is_plain
from xscl.language.grammar import STARTS, Grammar, grammar
from xscl.language.problems import Unreadable

__all__ = ["tree_of"]


def tree_of(text: str, start: int, end: int, rule: str, followed_by: str = "`;`") -> Tree[Token]:
    """Apply one rule to a stretch of the text; `followed_by` is what may stand after it.

    The tree's places count from the start of the stretch (lark would count the lines before
    it again for each one).
    """
    try:
        tree = _grammar(rule, text[start:end]).parse(text[start:end], start=rule)
    except UnexpectedInput as refusal:
        raise Unreadable(*_refusal(refusal, text, start, end, rule, followed_by)) from None
    assert isinstance(tree, Tree)
    return tree


def _grammar(rule: str, stretch: str) -> Lark:
    return grammar(_grammar_of(rule), is_plain(stretch))


def _grammar_of(rule: str) -> Grammar:
    """The grammar that has a rule to begin with."""
    return next(which for which, rules in STARTS.items() if rule in rules)


def _refusal(
    refusal: UnexpectedInput, text: str, start: int, end: int, rule: str, followed_by: str
) -> tuple[int, str]:
    # What is said of mistakes alone comes with the first one.
    from xscl.language.checks.other_languages import meant
    from xscl.language.patterns.refused import meant_by_pattern
    from xscl.language.problem_words import expected, found, refused_axis

    at = end
    if isinstance(refusal, UnexpectedCharacters):
        at = start + (refusal.pos_in_stream or 0)
    elif isinstance(refusal, UnexpectedToken) and refusal.token.type != "$END":
        at = start + (refusal.token.start_pos or 0)
    if (axis := refused_axis(text, start, at)) is not None:
        return axis
    what = found(text, at, end if at < end else len(text))
    # An LALR parser finishes what it can before it refuses a token; what could have stood there
    # is asked of one that has only come as far as the token before.
    parser = _grammar(rule, text[start:end]).parse_interactive(text[start:end], start=rule)
    with suppress(UnexpectedInput):
        for token in parser.iter_parse():
            if start + (token.start_pos or 0) >= at:
                break
    accepted = parser.accepts()  # type: ignore[no-untyped-call]
    if rule == "pattern" and (problem := meant_by_pattern(text[start:end], at - start)) is not None:
        return start + problem.at, problem.text
    if rule in ("eql_query", "eql_sub_query"):
        from xscl.language.eql.refused import meant_by_eql

        problem = meant_by_eql(text[start:end], at - start, accepted)
        if problem is not None:
            return start + problem.at, problem.text
    if rule == "event_query":
        from xscl.language.events.refused import meant_by_events

        problem = meant_by_events(text[start:end], at - start)
        if problem is not None:
            return start + problem.at, problem.text
    if rule == "query" and (problem := meant(text[start:end], at - start, accepted)) is not None:
        return start + problem.at, problem.text
    words = expected(accepted, followed_by, _grammar_of(rule))
    return at, f"found {what}, expected {words}"
