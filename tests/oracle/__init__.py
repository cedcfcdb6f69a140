"""Second opinions: what queries must match, found by other means than the engine's.

Nothing here imports from the packages under test.
"""
