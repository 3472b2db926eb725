"""A request names one valid host (RFC 9112, section 3.2); all others are refused."""

import pytest

from tests.unit.gateway.server.apps import BODY, App, answers, served
from tests.unit.gateway.server.loops import in_each_loop

END = "connection: close\r\ncontent-length: 2\r\n\r\n{}"


def sent(hosts: list[str], version: str = "1.1", path: str = "/whole") -> bytes:
    lines = "".join(f"{host}\r\n" for host in hosts)
    return f"POST {path} HTTP/{version}\r\n{lines}{END}".encode()


@pytest.mark.parametrize(
    ("hosts", "words"),
    [
        ([], b"the Host header is missing"),
        (["host: a", "host: b"], b"send one Host header, not 2"),
        (["host: a", "Host: a"], b"send one Host header, not 2"),
        (["host: a", "hOST: a", "x: y", "host:"], b"send one Host header, not 3"),
        *(
            ([f"host: {value}"], b"the Host header must be a name or an address, and a port")
            for value in (
                *("a b", "a,b c", "a/b", "a@b", "user@a", "http://a", "a?b", "a#b", 'a"b'),
                *("a:b", "a:1:2", "a:999999", "[::1", "::1", "[::1]x", "[zz]", "a\tb", "a\\b"),
                *("<script>", "a|b", "{a}", "x" * 256),
            )
        ),
    ],
)
def test_a_request_without_one_valid_host_is_refused(hosts: list[str], words: bytes) -> None:
    @in_each_loop
    async def each() -> None:
        app = App()
        async with served(app) as port:
            for path in ("/whole", "/steps"):
                found = await answers(port, sent(hosts, path=path))
                assert found.startswith(b"HTTP/1.1 400 "), found
                assert words in found
                assert b"connection: close" in found
        assert app.ways == []

    for new_loop in each.pytestmark[0].args[1]:
        each(new_loop)


@in_each_loop
async def test_valid_hosts_are_answered() -> None:
    app = App()
    names = ("", "a", "pinway.test:8000", "127.0.0.1:80", "[::1]", "[::1]:8000", "A_b-c.example.")
    async with served(app) as port:
        for host in (*names, "a:", "xn--bcher-kva.example", "a%20b", "x" * 255):
            found = await answers(port, sent([f"host: {host}"]))
            assert found.startswith(b"HTTP/1.1 200 "), host
            assert found.endswith(BODY)


@in_each_loop
async def test_http_1_0_needs_no_host_and_has_one_at_most() -> None:
    async with served(App()) as port:
        assert (await answers(port, sent([], "1.0"))).startswith(b"HTTP/1.1 200 ")
        assert (await answers(port, sent(["host: a"], "1.0"))).startswith(b"HTTP/1.1 200 ")
        assert (await answers(port, sent(["host: a", "host: a"], "1.0"))).startswith(
            b"HTTP/1.1 400 "
        )


@in_each_loop
async def test_the_requests_before_a_refused_one_are_answered() -> None:
    async with served(App()) as port:
        found = await answers(
            port, sent(["host: a"]).replace(b"connection: close\r\n", b""), sent(["host: a b"])
        )
    assert found.count(b"HTTP/1.1 200 ") == 1
    assert found.count(b"HTTP/1.1 400 ") <= 1
