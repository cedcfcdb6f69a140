"""From an event query to its plan, its constants and its blocks (docs/semantics.md#names,
#operators).

Queries that are equal up to constants have equal plans.  The problems of its names are raised here,
as they depend on what earlier queries publish.
"""

from __future__ import annotations

from dataclasses import dataclass

from xscl.consistency import Level
from xscl.errors import QueryError
from xscl.event_queries.steps import SchemaOf, Step, Steps
from xscl.event_queries.terms import Known, Open, Terms
from xscl.language.syntax import Block, Events, Query
from xscl.pattern_stage.algebra import is_document
from xscl.pattern_stage.algebra.nodes import Aggregate, Iterate, Node, Sequence

__all__ = ["CompiledEvents", "Open", "SchemaOf", "Step", "compile_events"]


@dataclass(frozen=True, slots=True)
class CompiledEvents:
    """An event query as the pattern stage takes it.

    `constants` are at the places that the plan names, `blocks` are the types of its sources, each
    once.  `names` are the attributes of its events, None where these may have others.  `monotone`
    says that a further event can only add some, `document` that some may still be documents.
    `level` is the consistency asked for.  `step` is the query with the schemas of its parts.
    """

    root: Node
    constants: tuple[Known, ...]
    blocks: tuple[Block, ...]
    names: tuple[str, ...] | None
    monotone: bool
    document: bool
    level: Level | None
    step: Step


def compile_events(query: Query, schema_of: SchemaOf) -> CompiledEvents:
    """The plan of a query whose source is one of events; `schema_of` has the names that earlier
    event queries publish to a stream.

    Raises QueryError, or an ExceptionGroup of several.

    >>> from xscl.language import parse
    >>> [query], _ = parse("SELECT Name, low FROM (SELECT Name AS N, Price AS low FROM S) "
    ...                    "NEXT{$1.N = $2.Name AND $2.Price >= 1.2*$1.low} S")
    >>> compiled = compile_events(query, lambda stream: None)
    >>> compiled.names, compiled.constants, len(compiled.blocks)
    (('Name', 'low'), (1.2,), 1)
    """
    terms = Terms()
    steps = Steps(query.name, schema_of, terms)
    step = steps.query(query)
    if terms.problems:
        raise _together(query, terms)
    events = query.source
    assert isinstance(events, Events)
    schema = step.schema
    return CompiledEvents(
        step.node,
        tuple(terms.constants),
        tuple(steps.blocks.values()),
        None if schema.open else schema.listed,
        _is_monotone(step.node),
        is_document(step.node),
        Level.asked(events.consistency),
        step,
    )


def _together(query: Query, terms: Terms) -> QueryError | ExceptionGroup[QueryError]:
    errors = [
        QueryError(problem, query=query.name, text=query.text, at=at)
        for at, problem in sorted(set(terms.problems))
    ]
    return errors[0] if len(errors) == 1 else ExceptionGroup("bad query", errors)


def _is_monotone(node: Node) -> bool:
    last = isinstance(node, Sequence | Iterate | Aggregate)
    return not last and all(map(_is_monotone, node.inputs))
