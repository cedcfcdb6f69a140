"""Automata as they are described: values of Python and of JSON, their expressions read and checked
(docs/semantics.md#automata)."""
