"""Texts of queries tried before anybody subscribes them: nothing is published, no state touched."""
