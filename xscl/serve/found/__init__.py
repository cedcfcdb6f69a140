"""What queries have found: the matches that are kept, and how many there were.

journal.py     the newest matches, numbered, in memory and in the state file
by_query.py    their numbers by query
tallies.py     how many each query has found, and how fast they come
"""
