"""Cases of queries, events and expected matches, run over the engine by its Python API."""
