"""Feeds that are polled: their addresses become documents as items appear, politely and safely.

What to fetch when, and what is new, is decided in `core` and `news` without I/O; `retrieval` and
`network` fetch, `fetching` carries the decisions out, `store` remembers, `poller` brings all
together.
"""
