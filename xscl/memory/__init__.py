"""One bound on the memory of an engine, and the shares that its rooms have of it.

Beyond its share the join state's relations lie in a temporary database, bodies of documents in a
temporary file, and the view cache, the memo of signatures and the trees of documents let go of what
was not used for longest.  The rest are the records of the documents held and the strings that they
join by, in Python's dictionaries: these grow with what is held, and have an eighth of the bound for
a reserve.
"""
