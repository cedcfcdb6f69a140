"""How far `xscl ingest` is: while it runs, and asked from outside."""
