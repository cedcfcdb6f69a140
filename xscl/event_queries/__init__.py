"""Event queries: schemas and names, from syntax trees to plans of Cayuga's algebra
(patterns-cel.md, sections 2 to 4 and 8)."""
