"""Feeds that are polled: their addresses become documents as items appear, politely and safely.

`core` and `news` decide, without I/O, which feed to fetch when and which items are new; `fetching`
carries the decisions out by `xscl.web.retrieval`, `store` remembers, `poller` brings all together.
"""
