"""The canonical form of an address, so that re-posts join.

Two feeds rarely write the address of one page in the same way: one adds where the reader came from,
one links to `www.`, one to http.  The canonical form sets aside what hardly ever distinguishes two
pages.  Most of its rules are those of RFC 3986, section 6.2; `scheme`, `www`, `slash`,
`tracking` and `order` go further, which is why the address as given is kept alongside it and each
rule can be left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, unquote

__all__ = ["CANONICAL", "RAW", "RULES", "Rules", "canonical", "rules_of"]

Rules = frozenset[str]
"""The names of the rules that are applied."""

_TRACKING_NAMES = """
    fbclid gclid gclsrc dclid gbraid wbraid msclkid yclid twclid ttclid li_fat_id igsh igshid _ga
    _gl _hsenc _hsmi mc_cid mc_eid mkt_tok vero_id vero_conv wickedid ref_src ref_url cmpid ncid
    ito guccounter guce_referrer guce_referrer_sig spm at_medium at_campaign
"""
_TRACKING = frozenset(_TRACKING_NAMES.split())
_TRACKING_PREFIXES = ("utm_", "pk_", "piwik_", "mtm_", "matomo_", "hsa_", "oly_", "at_link", "ns_")
"""The names, in lower case, of parameters that only say where a reader came from."""

_ORIGINS = frozenset({"source", "src", "ref", "from", "via", "feed"})
_FEEDS = ("rss", "atom", "feed")
"""Parameters that say the same if their value begins with one of `_FEEDS`."""

_PORTS = {"http": 80, "https": 443}
_PLAIN = re.compile(r"/(?!.*/\.|\.)[A-Za-z0-9\-._~!$&'()*+,;=:@/]*")
_PLAIN_QUERY = re.compile(r"[A-Za-z0-9\-._~!$&'()*+,;=:@/?]*")
_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
_UNRESERVED = re.compile(r"[A-Za-z0-9\-._~]")
_IN_PATH = "%/:@!$&'()*+,;=~"
_COMMON = re.compile(
    r"https?://(?:www\.)*+([a-z0-9\-]++(?:\.[a-z0-9\-]++)++)"
    r"((?:/[\w\-~]+(?:\.[\w\-~]+)*)*)/?(?:\?([\w\-.~!$&'()*+,;=:@/?]*))?(?:#(?![!/])\S*)?",
    re.ASCII,
)
"""What most addresses are: nothing in server, path and query needs encoding."""

_PARTS = re.compile(r"(https?)://([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.I | re.S)
_SERVER = re.compile(r"(.*@)?(\[[0-9A-Fa-f:.]+\]|[^\s:@\[\]]+)(?::(\d{0,5}))?", re.S)
_WWW = re.compile(r"\A(?:www\.)+")


@dataclass(slots=True)
class _Url:
    """The parts of an address; `user` ends in its @."""

    scheme: str
    user: str
    host: str
    port: int | None
    path: str
    query: str
    fragment: str


@lru_cache(maxsize=1 << 14)
def canonical(url: str, rules: Rules | None = None) -> str:
    """The canonical form of an absolute http(s) address, by all rules unless some are given.

    Any other text comes back as it is.

    >>> canonical("http://www.A.example:80/%7eb/./c/?utm_source=feed&x=1#top")
    'https://a.example/~b/c?x=1'
    >>> canonical("http://a.example/b/", frozenset({"slash"}))
    'http://a.example/b'
    """
    rules = CANONICAL if rules is None else rules
    if not rules:
        return url
    if rules == CANONICAL and (common := _COMMON.fullmatch(url)):
        host, path, query = common.groups()
        query = _sorted(_untracked(query)) if query else ""
        return f"https://{host}{path or '/'}{query and '?'}{query}"
    found = _PARTS.fullmatch(url)
    server = None if found is None else _SERVER.fullmatch(found[2])
    if found is None or server is None:
        return url
    one = _Url(
        scheme=found[1].lower(),
        user=server[1] or "",
        host=server[2].lower(),
        port=int(server[3]) if server[3] else None,
        path=found[3],
        query=found[4] or "",
        fragment=found[5] or "",
    )
    for name, rule in RULES.items():
        if name in rules:
            rule(one)
    return _written(one)


def rules_of(text: str) -> Rules:
    """The rules that an option names: `canonical` (all), `raw` (none), or all but some, as in
    `canonical,-www,-scheme`.  Raises ValueError for any other.

    >>> rules_of("raw")
    frozenset()
    """
    first, *others = (part.strip() for part in text.split(","))
    unknown = [other for other in others if other[:1] != "-" or other[1:] not in RULES]
    if first not in ("canonical", "raw") or unknown or (first == "raw" and others):
        raise ValueError(
            f"{text!r} names no form of links: give canonical, raw, or canonical less some of "
            f"its rules, such as canonical,-www (the rules: {', '.join(RULES)})"
        )
    return RAW if first == "raw" else CANONICAL - {other[1:] for other in others}


def _written(one: _Url) -> str:
    port = "" if one.port is None else f":{one.port}"
    query = f"?{one.query}" if one.query else ""
    fragment = f"#{one.fragment}" if one.fragment else ""
    return f"{one.scheme}://{one.user}{one.host}{port}{one.path}{query}{fragment}"


def _host(one: _Url) -> None:
    one.host = one.host.rstrip(".") or one.host
    if not one.host.isascii():
        try:
            one.host = one.host.encode("idna").decode("ascii")
        except UnicodeError:  # a name that no registry gives out
            one.host = one.host.lower()


def _www(one: _Url) -> None:
    short = _WWW.sub("", one.host)
    if "." in short:
        one.host = short


def _port(one: _Url) -> None:
    if one.port == _PORTS[one.scheme]:
        one.port = None


def _scheme(one: _Url) -> None:
    # Who gives a port means that server and no other.
    if one.port is None:
        one.scheme = "https"


def _path(one: _Url) -> None:
    if not _PLAIN.fullmatch(one.path):
        one.path = _without_dots(_encoded(one.path, _IN_PATH))
    one.path = one.path or "/"


def _without_dots(path: str) -> str:
    """A path without `.` and `..` (RFC 3986, section 5.2.4)."""
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments and segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _encoded(text: str, safe: str) -> str:
    return quote(_ESCAPE.sub(_unescaped, text), safe=safe)


def _unescaped(found: re.Match[str]) -> str:
    character = unquote(found[0], errors="replace")
    return character if _UNRESERVED.fullmatch(character) else found[0].upper()


def _slash(one: _Url) -> None:
    one.path = one.path.rstrip("/") or "/"


def _tracking(one: _Url) -> None:
    one.query = _untracked(one.query)


def _untracked(query: str) -> str:
    return "&".join([part for part in query.split("&") if part and not _tracks(part)])


def _tracks(part: str) -> bool:
    name, _, value = part.lower().partition("=")
    if name in _TRACKING or name.startswith(_TRACKING_PREFIXES):
        return True
    return name in _ORIGINS and value.startswith(_FEEDS)


def _order(one: _Url) -> None:
    one.query = _sorted(one.query)


def _sorted(query: str) -> str:
    if "&" not in query:
        return query
    return "&".join(sorted(query.split("&"), key=lambda part: part.partition("=")[0]))


def _query(one: _Url) -> None:
    if not _PLAIN_QUERY.fullmatch(one.query):
        one.query = _encoded(one.query, f"{_IN_PATH}?")


def _fragment(one: _Url) -> None:
    # `#!/page` and `#/page` name pages of sites that are one script.
    if not one.fragment.startswith(("!", "/")):
        one.fragment = ""


RULES: dict[str, Callable[[_Url], None]] = {
    "host": _host,
    "www": _www,
    "port": _port,
    "scheme": _scheme,
    "path": _path,
    "slash": _slash,
    "tracking": _tracking,
    "query": _query,
    "order": _order,
    "fragment": _fragment,
}
CANONICAL: Rules = frozenset(RULES)
RAW: Rules = frozenset()
