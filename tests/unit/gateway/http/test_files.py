"""Built files are sent from memory, in parts, without a thread."""

import asyncio
import gzip
import os
from pathlib import Path
from typing import Any

import anyio.to_thread
import httpx
import pytest

from gateway.http.files import PART, Files, HashedFiles, SentFromMemory

pytestmark = pytest.mark.anyio
HEADERS = {"x-content-type-options": "nosniff"}
GZIP = {"accept-encoding": "gzip, deflate, br"}
LARGE = bytes(range(256)) * (PART // 128)


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> httpx.AsyncClient:
    (tmp_path / "built").mkdir()
    (tmp_path / "built" / "large.js").write_bytes(LARGE)
    (tmp_path / "built" / "empty.css").touch()
    (tmp_path / "secret").write_text("outside")

    async def no_thread(*given: Any, **named: Any) -> None:
        raise AssertionError("a thread was used")

    files = Files(tmp_path / "built", HEADERS)
    files.config_checked = True  # once, in a thread
    monkeypatch.setattr(anyio.to_thread, "run_sync", no_thread)
    plain = {"accept-encoding": "identity"}
    transport = httpx.ASGITransport(files)
    return httpx.AsyncClient(transport=transport, base_url="http://here", headers=plain)


async def test_a_file_is_whole_and_has_the_headers(client: httpx.AsyncClient) -> None:
    answer = await client.get("/large.js")
    assert answer.content == LARGE
    assert answer.headers["content-length"] == str(len(LARGE))
    assert answer.headers["content-type"].startswith(("text/javascript", "application/javascript"))
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert (await client.get("/empty.css")).content == b""
    head = await client.head("/large.js")
    assert (head.content, head.headers["content-length"]) == (b"", str(len(LARGE)))


async def test_a_range_gets_the_whole_file(client: httpx.AsyncClient) -> None:
    answer = await client.get("/large.js", headers={"range": "bytes=0-1,5-6"})
    assert (answer.status_code, answer.content) == (200, LARGE)
    assert answer.headers["accept-ranges"] == "none"


async def test_a_file_that_the_client_has_is_not_sent(client: httpx.AsyncClient) -> None:
    etag = (await client.get("/large.js")).headers["etag"]
    answer = await client.get("/large.js", headers={"if-none-match": etag})
    assert (answer.status_code, answer.content) == (304, b"")


async def test_a_changed_file_is_read_again(client: httpx.AsyncClient, tmp_path: Path) -> None:
    await client.get("/large.js")
    path = tmp_path / "built" / "large.js"
    path.write_bytes(b"new")
    os.utime(path, (1, 1))
    assert (await client.get("/large.js")).content == b"new"


@pytest.mark.parametrize("name", ["none.js", "%2e%2e/secret", "a%00b", "x" * 300, ""])
async def test_another_name_is_not_found(client: httpx.AsyncClient, name: str) -> None:
    with pytest.raises(Exception, match="404"):
        await client.get(f"/{name}")


async def test_a_text_is_compressed_once_for_clients_that_take_gzip(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    times, compress = 0, gzip.compress

    def counted(*given: Any, **named: Any) -> bytes:
        nonlocal times
        times += 1
        return compress(*given, **named)

    monkeypatch.setattr(gzip, "compress", counted)
    answers = await asyncio.gather(*(client.get("/large.js", headers=GZIP) for _ in range(20)))
    assert times == 1
    for answer in answers:
        assert answer.content == LARGE
        assert answer.headers["content-encoding"] == "gzip"
        assert answer.headers["vary"] == "Accept-Encoding"
        assert int(answer.headers["content-length"]) < len(LARGE) / 10
    head = await client.head("/large.js", headers=GZIP)
    assert head.headers["content-length"] == answers[0].headers["content-length"]
    plain = await client.get("/large.js", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.headers["vary"] == "Accept-Encoding"
    assert plain.content == LARGE


async def test_each_coding_of_a_file_has_an_etag_of_its_own(client: httpx.AsyncClient) -> None:
    plain = {"accept-encoding": "identity"}
    tags = [(await client.get("/large.js", headers=one)).headers["etag"] for one in (plain, GZIP)]
    assert len(set(tags)) == 2
    for tag, coding, status in (
        (tags[0], plain, 304),
        (tags[1], GZIP, 304),
        (tags[0], GZIP, 200),
        (tags[1], plain, 200),
    ):
        answer = await client.get("/large.js", headers={**coding, "if-none-match": tag})
        assert answer.status_code == status


async def test_small_files_and_pictures_are_not_compressed(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    (tmp_path / "built" / "picture.webp").write_bytes(LARGE)
    for name in ("picture.webp", "empty.css"):
        answer = await client.get(f"/{name}", headers=GZIP)
        assert "content-encoding" not in answer.headers
        assert "vary" not in answer.headers


async def test_a_changed_file_is_compressed_again(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    await client.get("/large.js", headers=GZIP)
    path = tmp_path / "built" / "large.js"
    path.write_bytes(LARGE + b"new")
    os.utime(path, (1, 1))
    assert (await client.get("/large.js", headers=GZIP)).content == LARGE + b"new"


async def test_the_files_of_a_build_are_kept_for_ever_by_their_hash(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "index-D4B6t2Pb.js").write_bytes(b"1")
    (tmp_path / "icon.svg").write_bytes(b"1")
    http = httpx.AsyncClient(
        transport=httpx.ASGITransport(HashedFiles(tmp_path, HEADERS)), base_url="http://here"
    )
    hashed = await http.get("/assets/index-D4B6t2Pb.js")
    assert hashed.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert (await http.get("/icon.svg")).headers["cache-control"] == "no-cache"


async def test_only_get_and_head_are_allowed(client: httpx.AsyncClient) -> None:
    with pytest.raises(Exception, match="405"):
        await client.post("/large.js")


async def test_a_page_is_sent_in_parts(tmp_path: Path) -> None:
    page, parts = tmp_path / "index.html", list[bytes]()
    page.write_bytes(LARGE + b"!")
    no: Any = None

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            parts.append(message["body"])
            assert message["more_body"] == (len(parts) < 3)

    await SentFromMemory(page)({"type": "http", "method": "GET", "headers": []}, no, send)
    assert [len(part) for part in parts] == [PART, PART, 1]
