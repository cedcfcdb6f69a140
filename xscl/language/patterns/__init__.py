"""The part of the language that asks for events in order: EVENT and PATTERN
(docs/semantics.md#sase-patterns)."""
