"""How the queries of each language are explained that are not joins.

A join is explained by its tree patterns, its stages and their templates (`text`, `records`, `svg`,
`mermaid`); a query of any other language by what its record here says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xscl.dissection.parts import Dissection
from xscl.event_queries.notes import notes as event_notes
from xscl.explain import automata, events, patterns
from xscl.explain.composition import pictures, text, words
from xscl.explain.drawing import DrawnState
from xscl.explain.event_plans import EventPlans
from xscl.language.syntax.languages import AUTOMATA, EQL, EVENT_QUERIES, PATTERNS, Language

__all__ = ["Edges", "Explained", "States", "explained"]

States = tuple[list[DrawnState], list[str]]
"""The states of an automaton; what is said below."""

Edges = tuple[list[str], list[tuple[int, int, str, str, str]]]
"""The states of an automaton by name, and its edges: from, to, name, formula, and how it is drawn,
"dashed" or "dead"."""


@dataclass(frozen=True, slots=True)
class Explained:
    """What is said of a query, given the plans of the event queries alongside it.

    `lines` are its text without its name, `members` those of its JSON; `template` is the name of
    what it shares with queries equal up to constants, and that in short.  The `states` of a picture
    stand in a row, unless they stand below what enters them.  `edges` are those of a diagram; None
    where its plan is one.
    """

    lines: Callable[[Dissection, EventPlans], Iterator[str]]
    members: Callable[[Dissection, EventPlans], dict[str, object]]
    notes: Callable[[Dissection, EventPlans], list[str]]
    template: Callable[[Dissection, EventPlans], tuple[str, str]]
    states: Callable[[Dissection, EventPlans], States]
    edges: Callable[[Dissection], Edges] | None


_EXPLAINED: dict[Language, Explained] = {
    PATTERNS: Explained(
        lambda one, _: patterns.pattern_lines(one),
        lambda one, _: patterns.pattern_members(one),
        lambda one, _: patterns.pattern_notes(one),
        lambda one, _: patterns.pattern_template(one),
        lambda one, _: patterns.pattern_states(one),
        patterns.pattern_edges,
    ),
    AUTOMATA: Explained(
        lambda one, _: automata.automaton_lines(one),
        lambda one, _: automata.automaton_members(one),
        lambda one, _: automata.automaton_notes(one),
        lambda one, _: automata.automaton_template(one),
        lambda one, _: automata.automaton_states(one),
        automata.automaton_edges,
    ),
    EQL: Explained(
        lambda one, plans: text.composition_lines(one, plans.of_composition),
        lambda one, plans: text.composition_members(one, plans.of_composition),
        lambda one, _: words.composition_notes(one),
        lambda one, _: text.composition_template(one),
        lambda one, _: pictures.composition_states(one),
        pictures.composition_edges,
    ),
    EVENT_QUERIES: Explained(
        events.event_lines,
        events.event_members,
        lambda one, plans: event_notes(plans.of(one).compiled),
        events.event_template,
        events.event_states,
        None,
    ),
}


def explained(dissection: Dissection) -> Explained | None:
    """How a query is explained, None for a join."""
    return _EXPLAINED.get(dissection.query.language)
