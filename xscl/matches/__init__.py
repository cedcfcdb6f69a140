"""The output: matches, their nodes and their results."""
