"""Bugs planted one at a time, so that the tests are tested (`make mutants`)."""
