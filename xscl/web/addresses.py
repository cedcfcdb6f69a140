"""Which addresses a feed may live at: those of the public Internet.

A feed's address comes from elsewhere (a list of subscriptions, a redirect, a name server), so it
may point at what only this machine can reach: itself, its network, a cloud's metadata service.
The address that is connected to is judged, not the name; an IPv6 address that carries an
IPv4 one is judged by that.

The tables follow IANA's registries of special-purpose addresses.  Those of the standard library
change from one version of Python to the next.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

__all__ = ["is_public"]

_SPECIAL_V4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # shared by a carrier's customers
            "127.0.0.0/8",  # loopback
            "169.254.0.0/16",  # link-local: a cloud's metadata
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # protocols of the IETF
            "192.0.2.0/24",  # documentation
            "192.88.99.0/24",  # once relays of 6to4
            "192.168.0.0/16",  # private
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, and broadcast
        ),
    )
)
_GLOBAL_V6 = IPv6Network("2000::/3")  # RFC 4291, section 2.4: all else is reserved or local
_SPECIAL_V6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocols of the IETF, Teredo among them
            "2001:db8::/32",  # documentation
            "3fff::/20",  # documentation
        ),
    )
)
_CARRYING_V4_LAST = tuple(
    map(
        IPv6Network,
        (
            "::/96",  # compatible: RFC 4291, section 2.5.5.1; loopback, too
            "::ffff:0:0/96",  # mapped: section 2.5.5.2
            "::ffff:0:0:0/96",  # translated: RFC 2765
            "64:ff9b::/96",  # NAT64: RFC 6052
        ),
    )
)


def is_public(address: str) -> bool:
    """Whether an address, in numbers, is one of the public Internet; ValueError if it is none.

    >>> is_public("192.0.43.8"), is_public("127.0.0.1"), is_public("::ffff:127.0.0.1")
    (True, False, False)
    """
    parsed = ip_address(address.partition("%")[0])
    carried = parsed if isinstance(parsed, IPv4Address) else _carried(parsed)
    if carried is not None:
        return not any(carried in network for network in _SPECIAL_V4)
    return parsed in _GLOBAL_V6 and not any(parsed in network for network in _SPECIAL_V6)


def _carried(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address stands for."""
    if address.sixtofour is not None:
        return address.sixtofour
    if any(address in network for network in _CARRYING_V4_LAST):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None
