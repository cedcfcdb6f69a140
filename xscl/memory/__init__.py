"""One bound on the memory of an engine, and the shares that its parts have of it.

Beyond its share the join state's relations are in a temporary database, bodies of documents in a
temporary file, and the view cache, the memo of signatures and the trees of documents evict what was
least recently used.  The rest are the records of the retained documents and the strings that they
join by, in Python's dictionaries: these grow with the retained documents, and have an eighth of the
bound as a reserve.
"""
