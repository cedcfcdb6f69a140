"""Where documents come from: event files, document files, feeds; each as envelopes.

An envelope is a dict as in interface.md: `stream`, `id`, `timestamp`, `xml`.  What cannot be
read is told to a callback as a DocumentError; the rest goes on.
"""
