"""Settings of all tests: an example may take as long as a busy machine makes it."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("patient", settings(), deadline=None)
settings.load_profile("patient")
