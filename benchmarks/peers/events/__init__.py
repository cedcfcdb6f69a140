"""Events, and sequences and totals of them, for the same engines as joins."""
