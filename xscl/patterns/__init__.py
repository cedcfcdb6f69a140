"""Patterns of events in order: from syntax trees to what the pattern stage takes, and plans."""
