"""Sends built files (pages, scripts, styles) from memory.

Starlette reads each part of a file, and each range, in a thread: each costs two changes of thread.
Built files are few and small, so a process keeps the content of each file that was requested. Other
requests proceed between two parts of a file.

A request for a range gets the whole file, which RFC 9110 (14.2) allows.

Texts are compressed once, in a thread, when a client that takes gzip first asks for them. They are
the same for everybody, so their length tells nothing.
"""

import asyncio
import gzip
import os
import stat
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from pathlib import PurePath

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Receive, Scope, Send

from gateway.http.compression import accepts_gzip
from gateway.http.requests import headers_of

PART = 65_536
"""Bytes that are sent in one turn of the event loop."""
LEAST = 1_000
"""Bytes of the smallest file that is compressed."""
KEPT = 128
"""Files whose content is kept, and as many whose compressed content is."""
FOREVER = "public, max-age=31536000, immutable"
"""Cache-Control of files whose name has a hash of their content."""
PICTURE_HEADERS = {
    "cache-control": FOREVER,
    # An SVG that is opened by itself is a page: it must not run or load anything.
    "content-security-policy": "default-src 'none'; sandbox",
    "cross-origin-resource-policy": "cross-origin",
    "x-content-type-options": "nosniff",
}
"""The headers of pictures, which never change under their names."""
_TEXTS = (".css", ".html", ".js", ".json", ".map", ".svg", ".ttf", ".txt", ".wasm")
"""Files that become smaller; pictures and woff2 fonts are compressed already."""


class Files(StaticFiles):
    """The files in `directory`, sent with `headers`."""

    def __init__(self, directory: os.PathLike[str], headers: Mapping[str, str]) -> None:
        super().__init__(directory=directory)
        self._headers = headers

    async def get_response(self, path: str, scope: Scope) -> Response:
        if scope["method"] not in ("GET", "HEAD"):
            raise HTTPException(405, headers={"Allow": "GET, HEAD"})
        try:
            full, found = self.lookup_path(path)
        except (OSError, ValueError):  # too long a name, a NUL
            raise HTTPException(404) from None
        if found is None or not stat.S_ISREG(found.st_mode):
            raise HTTPException(404)
        sent = SentFromMemory(full, stat_result=found)
        sent.negotiate(scope)
        response: Response = sent
        if self.is_not_modified(response.headers, Headers(scope=scope)):
            response = NotModifiedResponse(response.headers)
        response.headers.update(self.headers_of(full))
        return response

    def headers_of(self, path: str) -> Mapping[str, str]:
        """The headers for the file at `path`."""
        return self._headers


class HashedFiles(Files):
    """Files of a page that Vite built: the names of the files in `assets` have a hash of their
    content."""

    def headers_of(self, path: str) -> Mapping[str, str]:
        hashed = PurePath(path).parent.name == "assets"
        return {**self._headers, "cache-control": FOREVER if hashed else "no-cache"}


class SentFromMemory(FileResponse):
    """The whole file at `path`."""

    _gzip: bool | None = None
    """True for a compressed answer; None before `negotiate`."""

    def negotiate(self, scope: Scope) -> None:
        """Choose the coding that the client accepts. It has an ETag of its own."""
        if self.stat_result is None:
            self.stat_result = os.stat(self.path)
            self.set_stat_headers(self.stat_result)
        is_text = PurePath(self.path).suffix in _TEXTS and self.stat_result.st_size >= LEAST
        self._gzip = is_text and accepts_gzip(headers_of(scope["headers"]).get(b"accept-encoding"))
        if is_text:
            self.headers.add_vary_header("Accept-Encoding")
        if self._gzip:
            self.headers["content-encoding"] = "gzip"
            self.headers["etag"] = self.headers["etag"].removesuffix('"') + '-gzip"'

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._gzip is None:
            self.negotiate(scope)
        assert self.stat_result is not None
        name = str(self.path), self.stat_result.st_mtime_ns, self.stat_result.st_size
        content = await _compressed(*name) if self._gzip else _content(*name)
        self.headers["accept-ranges"] = "none"
        self.headers["content-length"] = str(len(content))
        start = {"type": "http.response.start", "status": self.status_code}
        await send({**start, "headers": self.raw_headers})
        if scope["method"] == "HEAD":
            content = b""
        for at in range(0, max(len(content), 1), PART):
            if at:
                await asyncio.sleep(0)
            part, more = content[at : at + PART], at + PART < len(content)
            await send({"type": "http.response.body", "body": part, "more_body": more})


_thread = ThreadPoolExecutor(1, "compression")
_found: dict[tuple[str, int, int], Future[bytes]] = {}
"""The compressed files, and the ones that the thread compresses now."""


async def _compressed(path: str, changed_ns: int, size: int) -> bytes:
    """The file as gzip. It is compressed once, however many requests wait for it."""
    key = path, changed_ns, size
    future = _found.get(key)
    if future is None:
        content = _content(*key)
        future = _found[key] = _thread.submit(gzip.compress, content, 9, mtime=0)
        if len(_found) > KEPT:
            del _found[next(iter(_found))]
    if future.done():
        return future.result()
    return await asyncio.shield(asyncio.wrap_future(future))


@lru_cache(maxsize=KEPT)
def _content(path: str, changed_ns: int, size: int) -> bytes:
    """The content of a file that was changed at `changed_ns` and has `size` bytes."""
    with open(path, "rb") as file:
        return file.read()
