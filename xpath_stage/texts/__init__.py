"""What texts are compared by beyond equality: addresses in canonical form, and likeness."""

from __future__ import annotations
