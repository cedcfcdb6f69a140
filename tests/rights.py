"""A process to which the rights of files apply, though root runs the tests.  It gives up root's
privileges, and continues as the owner of its files: so it still reads what it imports late, from a
directory that is private to root."""

from __future__ import annotations

import ctypes
import os
from contextlib import AbstractContextManager, nullcontext

__all__ = ["unprivileged"]

_VERSION_3 = 0x20080522
_NO_NEW_PRIVILEGES = 38


def unprivileged() -> AbstractContextManager[object]:
    """Gives up the capabilities of this process and of those that it starts (capabilities(7))."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        header, none = (ctypes.c_uint32 * 2)(_VERSION_3, 0), (ctypes.c_uint32 * 6)()
        if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.capset(header, none):
            raise OSError(ctypes.get_errno(), "capset")
    return nullcontext()
