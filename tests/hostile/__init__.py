"""The hostile pack: documents, event files and queries that mean harm, made by code.

`documents`, `lines`, `archives` and `queries` are the pack; `alone` runs the command line on one
of them in a process of its own, whose memory is bounded and measured.
"""
