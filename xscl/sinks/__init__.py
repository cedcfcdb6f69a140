"""Where matches go: JSON Lines, counts, and a readable form for a terminal."""
