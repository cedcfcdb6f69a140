"""Durable state: what an engine must know to continue after a stop, in one DuckDB file.

    schema.py      the relations of the file, its mark and version; a new file; files refused
    migration.py   a file of an earlier version -> one of this
    holder.py      who has the file open, for the message to a second process
    changes.py     what a transaction is to write
    state_file.py  the file: read at the start, a transaction for each batch
    writing.py     what a transaction writes, in columns
    outbox.py      matches that wait for callbacks, commands and webhooks
    keeper.py      an engine's side: what of it has changed since the last transaction
    group_commit.py when documents published one by one are written: together
    recovery.py    the file -> the engine as it was
    positions.py   how far each source was read
    output_file.py a file of matches that has each once
    journal_file.py the newest matches of a server
    tally_file.py  how many matches each of its queries has found
    polled.py      what polling remembers, in the state file
    compaction.py  the file without the room that has become free
    plan.py        a changed query file: which queries stay, start and stop
    points.py      named points at which a test ends the process

The truth is in the file, but not the join state: witnesses are a function of documents and queries,
so that the documents still in reach are kept, and evaluated again, without a word, at the start.
"""
