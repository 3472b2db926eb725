"""Built files are sent from memory, in parts, without a thread."""

import os
from pathlib import Path
from typing import Any

import anyio.to_thread
import httpx
import pytest

from gateway.files import PART, Files, SentFromMemory

pytestmark = pytest.mark.anyio
HEADERS = {"x-content-type-options": "nosniff"}
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
    return httpx.AsyncClient(transport=httpx.ASGITransport(files), base_url="http://here")


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

    await SentFromMemory(page)({"type": "http", "method": "GET"}, no, send)
    assert [len(part) for part in parts] == [PART, PART, 1]
