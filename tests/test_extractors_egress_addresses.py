"""Which addresses are public, and how URLs may write them."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookstruct.extractors.egress.addresses import is_local_name, is_public, literal

PRIVATE_V4 = (
    *("0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1"),
    *("172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1"),
    *("203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "168.63.129.16"),
)
PRIVATE_V6 = (
    *("::", "::1", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "100::1", "3fff::1"),
    *("64:ff9b:1::a00:1", "2001:2::1", "2001:10::1"),
)


@pytest.mark.parametrize("text", [*PRIVATE_V4, *PRIVATE_V6])
def test_what_is_not_of_the_public_internet_is_not_public(text: str) -> None:
    assert not is_public(ip_address(text))


@pytest.mark.parametrize("text", ["1.1.1.1", "8.8.8.8", "93.184.215.14", "172.32.0.1", "2606:4700::1111", "2a00::1"])
def test_what_is_of_the_public_internet_is_public(text: str) -> None:
    assert is_public(ip_address(text))


def carriers(inner: str) -> list[str]:
    """IPv6 addresses that lead to an IPv4 one."""
    n = int(IPv4Address(inner))
    high, low = f"{n >> 16:x}", f"{n & 0xFFFF:x}"
    hidden = n ^ 0xFFFF_FFFF
    return [
        f"::ffff:{inner}",
        f"64:ff9b::{inner}",
        f"2002:{high}:{low}::1",
        f"2001:0:{high}:{low}:8000:63bf:a0a0:a0a0",  # Teredo, as its server
        f"2001:0:5db8:d822:8000:63bf:{hidden >> 16:x}:{hidden & 0xFFFF:x}",  # Teredo, as its client
        f"::{high}:{low}",
        f"2606:4700::5efe:{high}:{low}",
        f"2606:4700::200:5efe:{high}:{low}",
    ]


@pytest.mark.parametrize("inner", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "224.0.0.1"])
def test_an_address_that_carries_a_private_one_is_private(inner: str) -> None:
    assert [text for text in carriers(inner) if is_public(IPv6Address(text))] == []


def test_a_mapped_or_translated_public_address_is_public() -> None:
    assert is_public(IPv6Address("::ffff:8.8.8.8"))
    assert is_public(IPv6Address("64:ff9b::8.8.8.8"))


@given(st.ip_addresses(v=4))
def test_mapping_changes_nothing(address: IPv4Address) -> None:
    assert is_public(IPv6Address(f"::ffff:{address}")) == is_public(address)
    assert is_public(IPv6Address(f"64:ff9b::{address}")) == is_public(address)


@given(st.ip_addresses(v=4))
def test_every_spelling_of_an_address_reads_as_that_address(address: IPv4Address) -> None:
    n, parts = int(address), str(address).split(".")
    spellings = [
        str(address),
        str(n),
        hex(n),
        f"0{n:o}" if n else "0",
        ".".join(f"0{int(part):o}" for part in parts),
        ".".join(hex(int(part)).upper().replace("X", "x") for part in parts),
        f"{parts[0]}.{n & 0xFFFFFF}",
        f"{parts[0]}.{parts[1]}.{n & 0xFFFF}",
        f"{address}.",
    ]
    assert {literal(spelling) for spelling in spellings} == {address}


@given(st.ip_addresses(v=6))
def test_ipv6_is_read_with_and_without_brackets(address: IPv6Address) -> None:
    assert literal(f"[{address}]") == literal(str(address)) == literal(address.exploded) == address


@pytest.mark.parametrize(
    "host", ["a.example", "a.1", "1.2.3.4.5", "256.1.1.1", "08.1", "", "1..2", "::g", "4294967296"]
)
def test_a_name_is_no_address(host: str) -> None:
    assert literal(host) is None


def test_names_that_can_only_be_local_are_known() -> None:
    local = [
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "printer.local",
        "metadata.google.internal",
        "intranet",
        "nas.lan",
    ]
    assert all(is_local_name(name) for name in local)
    assert not any(is_local_name(name) for name in ["example.com", "localhost.example.com", "local.example"])
