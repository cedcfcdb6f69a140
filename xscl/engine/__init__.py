"""The engine: the one object that users hold, with all packages behind it."""

from xscl.engine.engine import Engine

__all__ = ["Engine"]
