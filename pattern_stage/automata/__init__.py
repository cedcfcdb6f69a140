"""Augmented finite automata over epochs of events: arcs with fences and transfers, which may come
and go; documents may come late, and be retracted (docs/semantics.md#automata).

After Chandramouli, Goldstein, Maier, *High-performance dynamic pattern matching over disordered
streams* (VLDB 2010).
"""
