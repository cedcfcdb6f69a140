"""The routes of `xscl serve` -> sections of a page, from what a server says of itself (OpenAPI)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import xscl
from xscl.serve.app import application
from xscl.serve.safety import LOOPBACK, Gate
from xscl.serve.service import Limits, Service

__all__ = ["described"]


def described() -> str:
    """All routes, and the objects that they take and answer with, as Markdown."""
    return "\n".join(_lines(_openapi()))
