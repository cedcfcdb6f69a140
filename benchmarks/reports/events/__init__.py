"""The figures of the thesis' chapters 4 and 5: Cayuga's queries, RUMOR's plans."""
