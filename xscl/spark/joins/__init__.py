"""Standing queries over a DataFrame of documents, with the engine's own answers.

Spark brings together what may match, and the embedded engine evaluates each part: `plan` has which
queries need what, `cells` the parts of a stream, each match in one of them; `documents` reads each
document once and says to which cells it goes, `matches` has the engine of a process and makes rows
of what it finds.  `batch` and `stream` are the two ways through Spark, `join` is what users call.
"""
