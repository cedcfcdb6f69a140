"""The errors of a query that parses: what it says that cannot be meant."""
