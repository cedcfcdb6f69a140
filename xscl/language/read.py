"""A query text → its queries and errors: all steps, in order (see `__init__.py`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from xscl.errors import QueryError, QuerySyntaxError
from xscl.language.alike import AlikeStatements, Instance, TextPlace
from xscl.language.checks.check import check
from xscl.language.checks.names import PREDECLARED
from xscl.language.parsing import NOTHING_DECLARED, is_declaration, parse_declaration
from xscl.language.problems import Problem, Unreadable, place
from xscl.language.scan import Statement, scan
from xscl.language.syntax import Declared, Query
from xscl.language.syntax.languages import AUTOMATA, EQL

__all__ = ["parse", "parse_from", "read_from"]

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def parse(text: str, *, first: int = 1) -> tuple[list[Query], list[QueryError]]:
    """All good queries of a text, and the errors of the others, both in the text's order.

    >>> queries, errors = parse("S//a->x; S//b->y[")
    >>> [query.name for query in queries], [error.query for error in errors]
    (['q1'], ['q2'])
    """
    queries, errors, _ = parse_from(text, first)
    return queries, errors


def parse_from(text: str, first: int) -> tuple[list[Query], list[QueryError], int]:
    """All good queries and all errors of a text, and the number of the query after its last one.

    The text's first query, good or bad, has the number `first`; query N without a name is `qN`.
    """
    queries, errors, following = read_from(text, first, None)
    return [query for query in queries if isinstance(query, Query)], errors, following


def read_from(
    text: str, first: int, alike: AlikeStatements | None
) -> tuple[list[Query | Instance], list[QueryError], int]:
    """As `parse_from`.  A statement that differs from one in `alike` by its literals alone is not
    parsed: it comes as an instance of that one."""
    scanned = scan(text)
    text = _LONE_SURROGATE.sub("\ufffd", text)  # refused below, but the errors must be printable
    namespaces: Mapping[str, str] = PREDECLARED
    declared: Mapping[str, Declared] = NOTHING_DECLARED
    named: dict[str, int] = {}
    queries: list[Query | Instance] = []
    errors: list[QueryError] = []
    number = first - 1
    before: Query | Instance | None = None
    heading: Statement | None = None
    for statement in scanned.statements:
        if is_declaration(scanned.text, statement):
            try:
                what = parse_declaration(scanned.text, statement)
            except Unreadable as unreadable:
                at, problem = unreadable.problem
                errors.append(QuerySyntaxError(problem, query="DECLARE", text=text, at=at))
            else:
                if isinstance(what, tuple):
                    namespaces = {**namespaces, what[0]: what[1]}
                elif what.stream.text not in declared:
                    declared = {**declared, what.stream.text: what}
                elif declared[what.stream.text].names != what.names:
                    problem = _declared_twice(declared[what.stream.text])
                    at = what.stream.at
                    errors.append(QueryError(problem, query="DECLARE", text=text, at=at))
            if statement.name is not None:
                heading = statement
            continue
        if heading is not None and statement.name is None:
            # `-- name:` stands before the declarations that a query needs, too.
            statement = replace(statement, name=heading.name, named_at=heading.named_at)
        heading = None
        number += 1
        last, before = (before if statement.name is None else None), None
        name = _LONE_SURROGATE.sub("\ufffd", statement.name or f"q{number}")
        so_far = len(errors)
        named_at = statement.start if statement.named_at is None else statement.named_at
        if named.setdefault(name, named_at) != named_at:
            there, here = place(text, named[name]), place(text, named_at)
            problem = f"two queries are named `{name}`: at {there}, and at {here}; rename one"
            errors.append(QueryError(problem, query=name, text=text, at=named_at))
        standing = TextPlace(text, scanned.text, statement, name, namespaces, declared)
        if alike is not None and len(errors) == so_far:
            instance = alike.find(standing)
            if instance is not None:
                before = instance
                queries.append(instance)
                continue
        try:
            query, problems = standing.read()
        except Unreadable as unreadable:
            [(at, problem)] = _continued(last, None, [unreadable.problem])
            errors.append(QuerySyntaxError(problem, query=name, text=text, at=at))
            continue
        before = query
        for at, problem in sorted({*_continued(last, query, [*problems, *check(query, text)])}):
            errors.append(QueryError(problem, query=name, text=text, at=at))
        if len(errors) == so_far:
            # Constants in a description are none of the language's literals.
            if alike is None or query.language is AUTOMATA:
                queries.append(query)
            else:
                queries.append(alike.note(standing, query))
    return queries, errors, number + 1


def _continued(
    before: Query | Instance | None, query: Query | None, problems: list[Problem]
) -> list[Problem]:
    """The problems of what follows a `;`: of what should have been one with the query before."""
    if before is None or not problems:
        return problems
    whole = before.query if isinstance(before, Instance) else before
    if EQL not in (whole.language, query and query.language):
        return problems
    from xscl.language.eql.refused import continued

    return continued(whole, query, problems)


def _declared_twice(before: Declared) -> str:
    return (
        f"the stream `{before.stream.text}` is declared already, with other names: "
        f"({', '.join(before.names)}); a declaration holds for the rest of its text"
    )
