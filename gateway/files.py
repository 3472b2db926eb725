"""Sends built files (pages, scripts, styles) from memory.

Starlette reads each part of a file, and each range, in a thread: each costs two changes of thread.
Built files are few and small, so a process keeps the content of each file that was requested. Other
requests proceed between two parts of a file.

A request for a range gets the whole file, which RFC 9110 (14.2) allows.
"""

import asyncio
import os
import stat
from collections.abc import Mapping
from functools import lru_cache

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Receive, Scope, Send

PART = 65_536
"""Bytes that are sent in one turn of the event loop."""


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
        response: Response = SentFromMemory(full, stat_result=found)
        if self.is_not_modified(response.headers, Headers(scope=scope)):
            response = NotModifiedResponse(response.headers)
        response.headers.update(self.headers_of(full))
        return response

    def headers_of(self, path: str) -> Mapping[str, str]:
        """The headers for the file at `path`."""
        return self._headers


class SentFromMemory(FileResponse):
    """The whole file at `path`."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.stat_result is None:
            self.stat_result = os.stat(self.path)
            self.set_stat_headers(self.stat_result)
        content = _content(str(self.path), self.stat_result.st_mtime_ns, self.stat_result.st_size)
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


@lru_cache(maxsize=128)
def _content(path: str, changed_ns: int, size: int) -> bytes:
    """The content of a file that was changed at `changed_ns` and has `size` bytes."""
    with open(path, "rb") as file:
        return file.read()
