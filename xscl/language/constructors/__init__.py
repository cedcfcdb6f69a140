"""Constructors of SELECT: results as XML and as JSON."""
