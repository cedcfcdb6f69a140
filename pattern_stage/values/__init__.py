"""The values of patterns and of event queries: one tree of terms and conditions (`terms`), its
compilation to Python (`texts`), and the functions that compiled text calls (`numbers`).

The languages differ in what they allow, and in where the value of a leaf is found.
"""
