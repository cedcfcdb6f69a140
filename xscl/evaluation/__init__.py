"""A batch goes through both stages, in waves, and comes out as matches."""
