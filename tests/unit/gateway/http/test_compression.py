"""Compression: which clients get it, and how other requests go on meanwhile."""

import gzip
import os

import pytest

from gateway.http.compression import SLICE, accepts_gzip, compressed
from gateway.http.requests import headers_of
from tests.loop_turns import other_task


@pytest.mark.parametrize(
    ("accept", "accepts"),
    [
        (None, False),
        (b"", False),
        (b"gzip", True),
        (b"gzip, deflate, br, zstd", True),
        (b"GZip;q=0.1", True),
        (b"x-gzip", True),
        (b"*", True),
        (b"*;q=0", False),
        (b"gzip;q=0", False),
        (b"gzip; q=0.000, *", False),
        (b"br;q=1.0, *;q=0.5", True),
        (b"gzip;q=x", False),
        (b"identity", False),
        (b"gzipped", False),
        (b"\xff", False),
        (b"a," * 5_000 + b"gzip", False),
        (b"gzip;q=0.5, identity;q=1", False),
        (b"gzip;q=0.5, identity;q=0.5", True),
        (b"gzip;q=0.5, identity;q=0.4", True),
        (b"gzip;q=0.5", True),
        (b"gzip;q=0.5, *;q=1", False),
        (b"gzip, *;q=0", True),
        (b"*;q=0.5, identity;q=0.1", True),
        (b"gzip;foo=bar;q=0", False),
        (b"gzip;foo=bar;q=0.5", True),
        (b"gzip;q=0;foo=bar", False),
        (b"gzip ; Q=0", False),
        (b"gzip;q=nan", False),
    ],
)
def test_a_client_says_whether_it_takes_gzip(accept: bytes | None, accepts: bool) -> None:
    assert accepts_gzip(accept) is accepts


@pytest.mark.parametrize("name", [b"accept", b"accept-encoding", b"x-forwarded-for"])
def test_headers_that_are_lists_are_joined(name: bytes) -> None:
    pairs = [(name, b"a"), (b"host", b"h"), (name, b"b;q=0.5"), (name, b"c")]
    assert headers_of(pairs) == {name: b"a,b;q=0.5,c", b"host": b"h"}
    assert headers_of([(b"host", b"h"), (b"host", b"i")]) == {b"host": b"h"}


def test_a_second_header_may_refuse_gzip() -> None:
    encoding = b"accept-encoding"
    joined = headers_of([(encoding, b"gzip;q=0.1"), (b"host", b"h"), (encoding, b"identity")])
    assert not accepts_gzip(joined[encoding])


@pytest.mark.anyio
@pytest.mark.parametrize("size", [1, SLICE - 1, SLICE, 20 * SLICE + 7])
async def test_parts_are_compressed_whole_while_other_tasks_go_on(size: int) -> None:
    content = os.urandom(size // 2) + b"0" * (size - size // 2)
    for step in (max(size // 1_000, 1), size):
        parts = [content[at : at + step] for at in range(0, size, step)]
        async with other_task() as other:
            found = await compressed(parts)
        assert gzip.decompress(b"".join(found)) == content
        assert other.turns >= size // SLICE // 2
