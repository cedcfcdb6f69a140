"""Addresses as feeds give them become absolute."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

__all__ = ["absolute"]

_ABSOLUTE = re.compile("https?://[A-Za-z0-9]")
_BLANK = re.compile(r"[\t\n\r]+")
_SCHEMES = frozenset({"http", "https"})


def absolute(url: str | None, base: str) -> str | None:
    """An http(s) address, resolved; None for all else (fragments, mailto, tag URIs).

    >>> absolute("../b", "https://a.example/x/y")
    'https://a.example/b'
    """
    url = url or ""
    if (
        _ABSOLUTE.match(url)
        and url.isascii()
        and url.isprintable()
        and not (" " in url or "[" in url or "&amp;" in url)
    ):
        return url
    url = _BLANK.sub("", url).strip()
    if "&amp;" in url:  # escaped once more than the format asks for
        url = url.replace("&amp;", "&")
    if not url or url.startswith("#"):
        return None
    try:
        if not url.lower().startswith(("http://", "https://")):
            if urlsplit(url).scheme:
                return None
            url = urljoin(base or "https:", url)
        parts = urlsplit(url)
    except ValueError:  # such as a bracket that opens no IPv6 address
        return None
    return url if parts.scheme in _SCHEMES and parts.netloc else None
