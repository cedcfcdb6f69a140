"""Patterns of events in order of time: events and patterns in, matches out.

A `pattern` is compiled (`compiler`) to an `automaton`; queries alike but for constants that `gates`
compare are `members` of one (`shared`).  `runs` take events in order of time and leave `cells`;
where a pattern is a plain sequence of which any event may be skipped, `stacks` construct it.
`endings` are where a run is a match, unless `negation` forbids it.  The `processor` is the whole.

Event queries are of another kind: an `algebra` of operators, and one `plan` for all of them.

Each name is imported of its module: who describes patterns needs no stage.
"""
