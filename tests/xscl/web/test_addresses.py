"""Which addresses count as public."""

from __future__ import annotations

from ipaddress import IPv4Address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xscl.web.addresses import is_public

INSIDE = [
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254",
    "172.16.0.1", "192.168.1.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.7",
    "203.0.113.5", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
    "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12:3456::1", "fec0::1", "ff02::1",
    "2001:db8::1", "64:ff9b:1::1", "100::1", "4000::1", "3fff::1",
    "2001:0:101:101::fefe:fefe",
]  # fmt: skip


@pytest.mark.parametrize("address", INSIDE)
def test_what_is_not_of_the_public_internet(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    ["192.0.43.8", "1.1.1.1", "2606:4700:4700::1111", "64:ff9b::101:101", "2002:101:101::1"],
)
def test_what_is(address: str) -> None:
    assert is_public(address)


SPECIAL = [
    ip_network(network)
    for network in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    )
]  # fmt: skip
"""IANA's registry of special-purpose addresses, as far as they are not global."""


@given(
    st.one_of(
        st.integers(0, 2**32 - 1).map(IPv4Address),
        st.sampled_from(SPECIAL).flatmap(
            lambda network: st.integers(
                int(network.network_address), int(network.broadcast_address)
            ).map(IPv4Address)
        ),
    )
)
def test_an_address_is_judged_equally_in_all_its_forms(address: IPv4Address) -> None:
    inside = any(address in network for network in SPECIAL)
    number = int(address)
    high, low = number >> 16, number & 0xFFFF
    forms = [
        str(address),
        f"::ffff:{address}",
        f"::ffff:0:{address}",
        f"64:ff9b::{address}",
        f"2002:{high:x}:{low:x}::1",
    ]
    assert [is_public(form) for form in forms] == [not inside] * len(forms)


def test_what_is_no_address_is_refused() -> None:
    with pytest.raises(ValueError, match="address"):
        is_public("localhost")
