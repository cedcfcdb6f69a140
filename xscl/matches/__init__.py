"""What comes out: matches, their nodes and their results."""
