"""Only trusted proxies may name a client's address; an IPv6 network counts as one client."""

import pytest

from datasources.errors import ConfigError
from gateway.peers import Proxies, site
from gateway.requests import headers_of

BEHIND = Proxies(["127.0.0.1", "10.0.0.0/8", "::1"])


def client(peer: str, *forwarded: str, proxies: Proxies = BEHIND) -> str:
    pairs = [(b"x-forwarded-for", value.encode()) for value in forwarded]
    return proxies.client(peer, headers_of(pairs))


def test_an_untrusted_peer_is_the_client_whatever_it_says() -> None:
    assert client("203.0.113.5", "198.51.100.1") == "203.0.113.5"
    assert client("203.0.113.5") == "203.0.113.5"


def test_a_trusted_proxy_names_the_client() -> None:
    assert client("127.0.0.1", "198.51.100.1") == "198.51.100.1"
    assert client("::ffff:10.1.2.3", "2001:db8::1") == "2001:db8::1"


def test_addresses_that_the_client_put_before_are_not_believed() -> None:
    assert client("127.0.0.1", "1.1.1.1, 198.51.100.1, 10.0.0.3") == "198.51.100.1"
    assert client("127.0.0.1", "1.1.1.1", "198.51.100.1") == "198.51.100.1"


def test_what_is_no_address_ends_the_list() -> None:
    assert client("127.0.0.1", "unknown, 10.0.0.3") == "10.0.0.3"
    assert client("127.0.0.1", "unknown") == "127.0.0.1"
    assert client("127.0.0.1", "") == "127.0.0.1"


def test_where_all_are_trusted_the_first_address_is_the_client() -> None:
    assert client("192.0.2.1", "1.1.1.1, 2.2.2.2", proxies=Proxies(["*"])) == "1.1.1.1"


def test_a_proxy_that_is_no_address_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"trusted_proxies.*'proxy\.internal'"):
        Proxies(["proxy.internal"])


def test_a_client_with_a_network_of_ipv6_addresses_counts_once() -> None:
    assert site("2001:db8::1") == site("2001:db8::2:3") != site("2001:db8:0:1::1")
    assert site("::ffff:198.51.100.1") == site("198.51.100.1") == "198.51.100.1"
    assert site("fe80::1%eth0") == "fe80::/64"
    assert site("") == ""
