"""Where matches go: JSON Lines, feeds for any reader, and a readable form for a terminal; and where
documents go that could not be used."""
