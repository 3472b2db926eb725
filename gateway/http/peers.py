"""Addresses of clients: which proxies are trusted to name their clients, and what counts as one
client."""

import logging
import re
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import NamedTuple

from datasources.errors import ConfigError
from gateway.http.requests import Headers

log = logging.getLogger("pinway")

HOW_TO = "docs/how-to/proxy.md has lines for nginx, HAProxy and Caddy"
MOST_HOPS = 16
"""Entries of X-Forwarded-For that are read: a client may have sent thousands before the proxies'
own."""
_PREFIXES = ((64, 1), (56, 4), (48, 16))
"""An IPv6 client's networks, as bits of its address, and how many times a /64's share each of them
has. A /64 is one host or one network of hosts. Providers give households a /56, and organizations
or customers of a data center a /48."""
SIZES = tuple(times for _, times in _PREFIXES)
"""How many times a client's share the units of each size have."""
_CARRIERS = tuple(
    map(IPv6Network, ("::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48"))
)
"""Networks whose addresses end in an IPv4 address: mapped ones, SIIT, and NAT64 (RFC 6052, 8215).
All clients of a translator would otherwise be one /64."""
_REMEMBERED = 4_096
_SHORT = 256
"""Characters of the longest X-Forwarded-For that is remembered."""
_ENTRY = re.compile(
    r"""
    (?P<v4>[0-9.]+) (:[\w.-]+)?
    | \[ (?P<bracketed>[0-9a-fA-F:.]+) (%[^\]\s"]*)? \] (:[\w.-]+)?
    | (?P<v6>[0-9a-fA-F:.]+) (%[^\]\s"]*)?
    """,
    re.VERBOSE | re.ASCII,
)
"""An address of X-Forwarded-For, without quotes: the forms of RFC 7239, and a bare IPv6 address.
Ports may be obfuscated; zones name an interface of the proxy."""


class Unit(NamedTuple):
    """An address or a network that counts as one client, and how many times the share of one
    client it has."""

    name: str
    times: int


class Proxies:
    """The proxies whose X-Forwarded-For is trusted: addresses and networks, or `*` for all peers.

    With `*`, an address in the list is a further proxy only if it is named as well: all peers are
    proxies, but the list has the addresses of clients, too.
    """

    def __init__(self, trusted: Iterable[str]) -> None:
        """Raises ConfigError for a text that is neither an address nor a network."""
        self._all = False
        self._networks = []
        for name in trusted:
            if name == "*":
                self._all = True
                continue
            try:
                self._networks.append(ip_network(name))
            except ValueError as error:
                raise ConfigError(
                    f"setting http.trusted_proxies: {error}; give addresses (10.0.0.7), networks "
                    "(10.0.0.0/8) or *"
                ) from None
        self.trusts = lru_cache(maxsize=1024)(self._trusts)
        """Whether the address belongs to a trusted proxy."""
        self._read = lru_cache(maxsize=_REMEMBERED)(self._read_list)
        self._logged = set[str]()

    def _trusts(self, address: str) -> bool:
        return self._all or self._names(address)

    def _names(self, address: str) -> bool:
        """Whether an address or network of the setting has the address."""
        try:
            found = ip_address(address)
        except ValueError:
            return False
        if isinstance(found, IPv6Address) and found.ipv4_mapped:
            found = found.ipv4_mapped
        return any(found in network for network in self._networks)

    def client(self, peer: str, headers: Headers) -> str:
        """The client's address: the connection's peer, or the address that trusted proxies name.

        Each proxy appends the address of its own peer. So the list is read from its end, as long as
        the proxies are trusted: the client may have invented all earlier addresses. An entry
        without an address ends the list: the last hop that can be read is the client.
        """
        forwarded = headers.get(b"x-forwarded-for")
        if forwarded is None or not self.trusts(peer):
            return peer
        return self._named(peer, forwarded)[0]

    def hides(self, peer: str, headers: Headers) -> bool:
        """Whether the request comes from a trusted proxy that doesn't name its client: many clients
        may be behind it. A connection without an address is such a proxy's, too."""
        if not self.trusts(peer):
            return not peer
        forwarded = headers.get(b"x-forwarded-for")
        if forwarded is not None:
            return not self._named(peer, forwarded)[1]
        if b"forwarded" in headers:
            self._log_once(
                "Forwarded",
                f"the proxy {peer} names its clients in Forwarded alone, which is not read: its "
                f"clients can't be told apart. Let it send X-Forwarded-For: {HOW_TO}",
            )
        return True

    def _named(self, peer: str, forwarded: bytes) -> tuple[str, bool]:
        read = self._read if len(forwarded) <= _SHORT else self._read_list
        address, is_named, unreadable = read(peer, forwarded)
        if unreadable is not None:
            self._log_once(
                "unreadable",
                f"the proxy {peer} sends X-Forwarded-For with {unreadable}, which is no address: "
                + (
                    f"such requests count as requests of {address}"
                    if is_named
                    else "the clients of such requests can't be told apart"
                )
                + f". Let it send the address of its client: {HOW_TO}",
            )
        return address, is_named

    def _read_list(self, peer: str, forwarded: bytes) -> tuple[str, bool, str | None]:
        """The client's address; whether the list names a client, and not only proxies in front of
        an entry that can't be read; and this entry, if there is one."""
        address = peer
        entries = forwarded.decode("latin-1").rsplit(",", MOST_HOPS)[-MOST_HOPS:]
        for entry in reversed(entries):
            found = _address(entry)
            if found is None:
                return address, False, f"{entry.strip()[:60]!a}"
            address = found
            if not self._names(address):
                break
        return address, True, None

    def _log_once(self, kind: str, text: str) -> None:
        """Log a line of this kind once."""
        if kind not in self._logged:
            self._logged.add(kind)
            log.warning("%s", text)


def _address(entry: str) -> str | None:
    """The address in an entry of X-Forwarded-For, without its port and zone."""
    text = entry.strip(" \t")
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1]
    found = _ENTRY.fullmatch(text)
    if found is None:
        return None
    try:
        address = ip_address(found["v4"] or found["bracketed"] or found["v6"])
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return str(address)


@lru_cache(maxsize=_REMEMBERED)
def site(address: str) -> str:
    """The unit that counts as one client: an IPv4 address, or the /64 network of an IPv6
    address."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        carried = _carried(found)
        return str(carried) if carried else _network(found, _PREFIXES[0][0])
    return address


@lru_cache(maxsize=2 * _REMEMBERED)
def units(client: str) -> tuple[Unit, ...]:
    """The units in which a client (`site`) is counted, the smallest first: itself, and the larger
    networks of an IPv6 client. The owner of a large network also has all of its /64 networks, and
    would otherwise be 65,536 clients. A viewer's name is a unit of its own."""
    address, _, bits = client.partition("/")
    if bits != "64":
        return (Unit(client, 1),)
    found = IPv6Address(address)
    return tuple(Unit(_network(found, bits), times) for bits, times in _PREFIXES)


@lru_cache(maxsize=_REMEMBERED)
def around(client: str) -> tuple[Unit, ...]:
    """The units in which all operations of an address (`site`) count, of all its viewers: an
    address may be a household or an office with a viewer at each table. An IPv4 address has as many
    shares as a /56, because providers give a household either of them."""
    if "." in client:
        return (Unit(f"{client}/32", _PREFIXES[1][1]),)
    return units(client)[1:]


def _network(address: IPv6Address, bits: int) -> str:
    kept = int(address) >> (128 - bits) << (128 - bits)
    return f"{IPv6Address(kept)}/{bits}"


def _carried(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address stands for: its host, tunnel or translator has no other
    address."""
    if address.sixtofour:
        return address.sixtofour
    if address.teredo:
        return address.teredo[1]
    if any(address in network for network in _CARRIERS):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None
