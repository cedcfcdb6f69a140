"""The part of the language that asks for events in order: EVENT and PATTERN (patterns-sase.md)."""
