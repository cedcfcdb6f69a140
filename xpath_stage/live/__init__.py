"""Spines come and go while documents flow."""
