"""Titles that are alike, found by other libraries: each script reads a folder's titles
(`titles.json`) and the pairs that there are (`pairs.json`, by place), and prints how many of these
it finds and how many others."""
