"""The paper's automata over its synthetic stream, for the figures of automata."""
