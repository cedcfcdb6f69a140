"""Patterns of events in order of time: events and patterns in, matches out."""
