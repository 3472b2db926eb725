"""Addresses of clients: which proxies are trusted to name their clients, and what counts as one
client."""

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

from datasources.errors import ConfigError
from gateway.requests import Headers

_IPV6_SITE = 64
"""Bits of an IPv6 address that are assigned to one household or host; it chooses the other bits
freely."""


class Proxies:
    """The proxies whose X-Forwarded-For is trusted: addresses and networks, or `*` for all."""

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
                    f"setting trusted_proxies: {error}; give addresses (10.0.0.7), networks "
                    "(10.0.0.0/8) or *"
                ) from None
        self.trusts = lru_cache(maxsize=1024)(self._trusts)
        """Whether the address belongs to a trusted proxy."""

    def _trusts(self, address: str) -> bool:
        if self._all:
            return True
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
        the proxies are trusted: the client may have invented all earlier addresses.
        """
        forwarded = headers.get(b"x-forwarded-for")
        if forwarded is None or not self.trusts(peer):
            return peer
        address = peer
        for name in reversed(forwarded.decode("latin-1").split(",")):
            try:
                address = str(ip_address(name.strip()))
            except ValueError:
                break
            if not self.trusts(address):
                break
        return address


@lru_cache(maxsize=4096)
def site(address: str) -> str:
    """The unit that counts as one client: an IPv4 address, or the /64 network of an IPv6
    address."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped:
            return str(found.ipv4_mapped)
        return str(ip_network((found, _IPV6_SITE), strict=False))
    return address
