"""Only trusted proxies may name a client's address; an address counts in its networks, too."""

import logging

import pytest

from datasources.errors import ConfigError
from gateway.http.peers import MOST_HOPS, Proxies, Unit, site, units
from gateway.http.requests import headers_of

BEHIND = Proxies(["127.0.0.1", "10.0.0.0/8", "::1"])


def client(peer: str, *forwarded: str, proxies: Proxies = BEHIND) -> str:
    pairs = [(b"x-forwarded-for", value.encode()) for value in forwarded]
    return proxies.client(peer, headers_of(pairs))


def hides(peer: str, *forwarded: str, proxies: Proxies = BEHIND) -> bool:
    pairs = [(b"x-forwarded-for", value.encode()) for value in forwarded]
    return proxies.hides(peer, headers_of(pairs))


def test_an_untrusted_peer_is_the_client_whatever_it_says() -> None:
    assert client("203.0.113.5", "198.51.100.1") == "203.0.113.5"
    assert client("203.0.113.5") == "203.0.113.5"
    assert not hides("203.0.113.5")
    assert not hides("203.0.113.5", "unknown")


def test_a_trusted_proxy_names_the_client() -> None:
    assert client("127.0.0.1", "198.51.100.1") == "198.51.100.1"
    assert client("::ffff:10.1.2.3", "2001:db8::1") == "2001:db8::1"
    assert not hides("127.0.0.1", "198.51.100.1")
    assert not hides("127.0.0.1", "127.0.0.1"), "a client of the proxy on this machine"


def test_addresses_that_the_client_put_before_are_not_believed() -> None:
    assert client("127.0.0.1", "1.1.1.1, 198.51.100.1, 10.0.0.3") == "198.51.100.1"
    assert client("127.0.0.1", "1.1.1.1", "198.51.100.1") == "198.51.100.1"
    assert client("127.0.0.1", "unknown, 198.51.100.1") == "198.51.100.1"


@pytest.mark.parametrize(
    ("entry", "address"),
    [
        ("198.51.100.1:443", "198.51.100.1"),
        ("198.51.100.1:_hidden", "198.51.100.1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("[2001:db8::1]:443", "2001:db8::1"),
        ('"[2001:db8::1]"', "2001:db8::1"),
        ('"[2001:db8::1]:443"', "2001:db8::1"),
        ('"198.51.100.1:443"', "198.51.100.1"),
        ('"198.51.100.1"', "198.51.100.1"),
        (" \t198.51.100.1\t ", "198.51.100.1"),
        ("2001:DB8:0:0::1", "2001:db8::1"),
        ("::ffff:198.51.100.1", "198.51.100.1"),
        ("[::ffff:198.51.100.1]:80", "198.51.100.1"),
        ("fe80::1%eth0", "fe80::1"),
        ("[fe80::1%25eth0]:80", "fe80::1"),
    ],
)
def test_an_entry_may_have_a_port_brackets_quotes_and_a_zone(entry: str, address: str) -> None:
    assert client("127.0.0.1", entry) == address
    assert client("127.0.0.1", f"1.1.1.1, {entry}") == address
    assert client("127.0.0.1", f"{entry}, 10.0.0.3:80") == address
    assert client("127.0.0.1", entry, '"[::1]:80"', "10.0.0.3") == address
    assert not hides("127.0.0.1", entry)


@pytest.mark.parametrize(
    "entry",
    [
        *(
            "unknown",
            "_hidden",
            "_SEVKISEK",
            "",
            "unix:",
            "for=1.1.1.1",
            "1.1.1",
            "1.1.1.1:",
            "1:2",
        ),
        *("[::1", "::1]", '"1.1.1.1', '1.1.1.1"', "[1.1.1.1", "1.1.1.1 1.1.1.1", "1.1.1.1:80:80"),
        *("010.1.1.1", "3232235521", "localhost", "[]", '""', "[::1]80", "\xb9.1.1.1", "1.1.1.1/8"),
    ],
)
def test_an_entry_without_an_address_leaves_the_last_readable_hop(entry: str) -> None:
    assert client("127.0.0.1", f"{entry}, 10.0.0.3") == "10.0.0.3"
    assert client("127.0.0.1", f"8.8.8.8, {entry}, 10.0.0.3") == "10.0.0.3"
    assert not hides("127.0.0.1", f"{entry}, 198.51.100.1")
    # Nobody is named: the request is counted like one without the header.
    assert client("127.0.0.1", entry) == "127.0.0.1"
    assert hides("127.0.0.1", entry)
    assert hides("127.0.0.1", f"{entry}, 10.0.0.3")


def test_a_proxy_without_the_header_hides_its_client() -> None:
    assert hides("127.0.0.1")
    assert hides("")


def test_what_cannot_be_read_is_said_once_with_what_to_set(
    caplog: pytest.LogCaptureFixture,
) -> None:
    proxies = Proxies(["10.0.0.0/8"])
    with caplog.at_level(logging.WARNING, "pinway"):
        for _ in range(3):
            client("10.0.0.7", f"{'x' * 500}\x1b[2J", proxies=proxies)
            client("10.0.0.8", "unknown", proxies=proxies)
        client("203.0.113.5", "garbage", proxies=proxies)
    (told,) = caplog.messages
    assert "10.0.0.7" in told
    assert "X-Forwarded-For" in told
    assert "docs/how-to/proxy.md" in told
    assert "\x1b" not in told
    assert len(told) < 500


def test_a_proxy_that_speaks_of_its_client_in_another_header_is_told_of_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    proxies = Proxies(["10.0.0.0/8"])
    headers = headers_of([(b"forwarded", b"for=198.51.100.1")])
    with caplog.at_level(logging.WARNING, "pinway"):
        for _ in range(3):
            assert proxies.hides("10.0.0.7", headers)
        assert not proxies.hides("203.0.113.5", headers)
    (told,) = caplog.messages
    assert "Forwarded" in told
    assert "X-Forwarded-For" in told


def test_where_all_peers_are_trusted_a_client_can_not_choose_its_address() -> None:
    everybody = Proxies(["*"])
    assert client("192.0.2.1", "1.1.1.1, 2.2.2.2", proxies=everybody) == "2.2.2.2"
    assert client("192.0.2.1", "1.1.1.1", "2.2.2.2", proxies=everybody) == "2.2.2.2"
    assert not hides("192.0.2.1", "1.1.1.1, 2.2.2.2", proxies=everybody)
    two = Proxies(["*", "10.0.0.0/8"])
    assert client("192.0.2.1", "1.1.1.1, 2.2.2.2, 10.0.0.3", proxies=two) == "2.2.2.2"


def test_a_list_of_thousands_of_proxies_is_read_from_its_end_to_a_bound() -> None:
    hops = [f"10.0.{n // 256}.{n % 256}" for n in range(3_000)]
    assert client("127.0.0.1", ",".join(hops)) == hops[-MOST_HOPS]


def test_a_proxy_that_is_no_address_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"trusted_proxies.*'proxy\.internal'"):
        Proxies(["proxy.internal"])


def test_a_client_with_a_network_of_ipv6_addresses_counts_once() -> None:
    assert site("2001:db8::1") == site("2001:db8::2:3") != site("2001:db8:0:1::1")
    assert site("::ffff:198.51.100.1") == site("198.51.100.1") == "198.51.100.1"
    assert site("fe80::1%eth0") == "fe80::/64"
    assert site("") == ""


@pytest.mark.parametrize(
    "address",
    [
        "::ffff:198.51.100.1",  # IPv4-mapped
        "::ffff:0:198.51.100.1",  # SIIT
        "2002:c633:6401:7:8::9",  # 6to4
        "2001:0:5ef5:79fd:0:59a:39cc:9bfe",  # Teredo: the inverse of the client's address
        "64:ff9b::198.51.100.1",  # NAT64
        "64:ff9b:1::198.51.100.1",  # NAT64 of a network's own
    ],
)
def test_an_address_that_carries_an_ipv4_address_counts_as_the_ipv4_address(address: str) -> None:
    assert site(address) == "198.51.100.1"
    assert units(site(address)) == (Unit("198.51.100.1", 1),)


def test_an_ipv6_client_counts_in_three_networks() -> None:
    assert units(site("2001:db8:1:2345::6")) == (
        Unit("2001:db8:1:2345::/64", 1),
        Unit("2001:db8:1:2300::/56", 4),
        Unit("2001:db8:1::/48", 16),
    )
    assert units("198.51.100.1") == (Unit("198.51.100.1", 1),)
    assert units("v17") == (Unit("v17", 1),)


def test_what_is_remembered_of_addresses_is_bounded() -> None:
    for number in range(20_000):
        units(site(f"2001:db8:{number:x}::1"))
        client("127.0.0.1", f"203.0.{number >> 8}.{number & 255}")
    for function in (site, units, BEHIND._read):
        assert function.cache_info().currsize <= 8192  # type: ignore[attr-defined]
