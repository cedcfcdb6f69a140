"""NEXT CEP's queries as its paper draws them, and a simulation of its nodes."""
