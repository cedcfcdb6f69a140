"""Where documents come from: event files, document files, feeds; each as envelopes.

An envelope is a dict as in docs/envelope.md: `stream`, `id`, `timestamp`, `xml`.  A document
that cannot be read goes to a callback as a DocumentError; the rest continues.
"""
