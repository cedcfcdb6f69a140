"""A pattern to an automaton: its condition by edges (`conditions`), its terms to Python text
(`terms`), over registers (`registers`) or the events of a match (`bound`), compiled (`texts`)."""
