"""Patterns of events in order of time: events and patterns in, matches out.

A `pattern` is compiled (`compiler`) to an `automaton`; queries that differ only in constants that
`gates` compare are `members` of one (`shared`).  `runs` process events in order of time and leave
`cells`; a plain sequence in which any event may be skipped is constructed from `stacks`.  `endings`
decides when a run is a match, unless `negation` forbids it.  The `processor` combines these.

Event queries are of another kind: an `algebra` of operators, and one `plan` for all of them.  Their
events are the same: `layouts`.

Each name is imported from its module: a program that describes patterns needs no stage.
"""
