"""An envelope becomes a document, which is held while a query can reach it."""
