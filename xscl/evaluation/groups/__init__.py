"""Match groups: what is found by the documents that it consists of, made when it is looked at.

match_groups.py    the groups of joins, and the sequence of all groups of a batch
pattern_groups.py  those of patterns
event_groups.py    those of event queries
grouping.py        rows -> groups
settled.py         those of a step in which something was taken back
query_names.py     the names of a group's queries
"""
