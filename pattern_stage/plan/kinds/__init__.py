"""The kinds of m-ops, one for each operator of the algebra, with their state."""
