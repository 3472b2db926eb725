"""HTTP/1.1 written and read by hand, so that attackers can break every rule."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

PEER = "BENCH_PEER"
"""Set in the environment of a peer's clients: the peers refuse requests without a viewer."""
HOST = b"host: 127.0.0.1\r\n" + (b"authorization: Bearer 1\r\n" if PEER in os.environ else b"")


def post(
    content: Any, headers: Mapping[str, str] | None = None, *, target: str = "/graphql"
) -> bytes:
    """A POST of a JSON body, or of unchanged bytes."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    given = {"content-type": "application/json", **(headers or {})}
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items()).encode()
    head = f"POST {target} HTTP/1.1\r\n".encode() + HOST + lines
    return head + b"content-length: %d\r\n\r\n" % len(body) + body


def get(query: str, headers: str = "", *, method: str = "GET", target: str = "/graphql") -> bytes:
    """A GET of an operation, with the header that a gateway may require."""
    url = f"{target}?{urlencode({'query': query})}" if query else target
    lines = f"accept: application/json\r\napollo-require-preflight: 1\r\n{headers}"
    return f"{method} {url} HTTP/1.1\r\n".encode() + HOST + lines.encode() + b"\r\n"


class Connection:
    """One connection, optionally from another local address."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, port: int, address: str = "127.0.0.1") -> Connection:
        """Connect. Raises OSError."""
        local = (address, 0) if address != "127.0.0.1" else None
        return cls(*await asyncio.open_connection("127.0.0.1", port, local_addr=local))

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """Send a request. Returns the status and the body of the answer. Raises OSError and
        EOFError."""
        self.writer.write(request)
        return await self.answer(body=not request.startswith(b"HEAD "))

    async def answer(self, *, body: bool = True) -> tuple[int, bytes]:
        """The next answer. Raises OSError and EOFError."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        lower = head.lower()
        if not body or status == 304:
            return status, b""
        if b"transfer-encoding: chunked" in lower:
            return status, await self._chunks()
        length = int(lower.partition(b"content-length:")[2].split(b"\r\n")[0] or b"0")
        return status, await self.reader.readexactly(length)

    async def _chunks(self) -> bytes:
        parts = []
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            parts.append((await self.reader.readexactly(size + 2))[:-2])
        await self.reader.readuntil(b"\r\n")
        return b"".join(parts)

    def close(self) -> None:
        self.writer.transport.abort()
