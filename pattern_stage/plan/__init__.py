"""Event queries at run time: one plan of m-ops over channels for all of them (Hong 2009, chapters 4
and 5; patterns-cel.md, sections 5 and 6).
"""
