"""An envelope becomes a document, which is retained while a query can reach it."""
