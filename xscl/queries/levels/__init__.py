"""Patterns and event queries as a second stage: by levels of the graph of streams."""
