"""Which addresses belong to the public internet; an address that carries another is judged by both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_COMPATIBLE = IPv6Network("::/96")
_EXAMPLES = IPv6Network("3fff::/20")  # for documentation (RFC 9637), which older Pythons do not know
_ISATAP = (0x00005EFE, 0x02005EFE)  # the first half of the interface identifier (RFC 5214)
_CLOUD = frozenset({IPv4Address("168.63.129.16")})  # public by its number, Azure's own services by its use
_RELAYS = IPv4Network("192.88.99.0/24")  # 6to4 relays, withdrawn (RFC 7526)

_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+", re.IGNORECASE)


def is_public(address: Address) -> bool:
    """Whether `address`, and every IPv4 address it carries, is one of the public internet's.

    >>> [is_public(ip_address(a)) for a in ("93.184.215.14", "10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::a00:1")]
    [True, False, False, False]
    """
    if isinstance(address, IPv4Address):
        return _is_public_v4(address)
    carried = list(_carried(address))
    if not all(_is_public_v4(inner) for inner in carried):
        return False
    if address.ipv4_mapped is not None or address in _NAT64:
        return True
    return address in _GLOBAL_UNICAST and address.is_global and address not in _EXAMPLES


def _is_public_v4(address: IPv4Address) -> bool:
    unusual = address.is_multicast or address.is_reserved or address in _RELAYS or address in _CLOUD
    return address.is_global and not unusual


def _carried(address: IPv6Address) -> Iterator[IPv4Address]:
    """The IPv4 addresses inside: mapped, NAT64, 6to4, Teredo (server and client), compatible, ISATAP."""
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    low = int(address) & 0xFFFF_FFFF
    if address in _NAT64 or address in _COMPATIBLE or int(address) >> 32 & 0xFFFF_FFFF in _ISATAP:
        yield IPv4Address(low)


def literal(host: str) -> Address | None:
    """The address that a browser reads in a URL's host, None for a name.

    Numbers may be decimal, octal (0177.1) or hexadecimal (0x7f.1), and of one to four parts, as URLs allow.

    >>> [str(literal(h)) for h in ("2130706433", "0177.1", "0x7f.0.0.1", "[::1]", "example.com", "1.2.3.4.")]
    ['127.0.0.1', '127.0.0.1', '127.0.0.1', '::1', 'None', '1.2.3.4']
    """
    bare = host.strip("[]").split("%")[0]
    if ":" in bare:
        try:
            return ip_address(bare)
        except ValueError:
            return None
    return _legacy_v4(bare.removesuffix("."))


def _legacy_v4(host: str) -> IPv4Address | None:
    """The IPv4 parser of the URL standard: the last part fills the bytes that the others leave."""
    parts = host.split(".")
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    try:
        numbers = [_number(part) for part in parts]
    except ValueError:  # 08 and 09 are no octal numbers
        return None
    *first, last = numbers
    if any(number > 255 for number in first) or last >= 256 ** (5 - len(numbers)):
        return None
    return IPv4Address(last + sum(number << 8 * (3 - place) for place, number in enumerate(first)))


def _number(part: str) -> int:
    if part.lower().startswith("0x"):
        return int(part[2:] or "0", 16)
    return int(part, 8) if part.startswith("0") and len(part) > 1 else int(part)


def is_local_name(host: str) -> bool:
    """Whether a name can only mean this machine or this network, whatever a resolver says.

    >>> is_local_name("a.localhost"), is_local_name("printer.local"), is_local_name("example.com")
    (True, True, False)
    """
    bare = host.lower().rstrip(".")
    return bare.rpartition(".")[2] in ("localhost", "local", "internal", "localdomain", "lan") or "." not in bare
