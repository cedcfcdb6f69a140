"""Files that a command names: put in place whole, and no output that is also an input."""
