"""Event queries at run time: one plan of m-ops over channels for all of them (Hong 2009, chapters 4
and 5; docs/semantics.md#states-and-instances, #sharing).
"""
