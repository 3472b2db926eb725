"""A small HTTP client for measurements: it keeps connections, with one request at a time on
each."""

import asyncio
from typing import Any

import orjson

KEEP = 2.0  # seconds that a connection may be idle; the gateway closes it after five


class Client:
    """Sends GraphQL operations to 127.0.0.1:`port`. Connections are opened on demand."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._idle: list[tuple[float, asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def post(self, token: str, query: str, variables: dict[str, Any]) -> tuple[int, Any]:
        """The status and the body. Raises OSError, also for an incomplete answer."""
        body = orjson.dumps({"query": query, "variables": variables})
        head = (
            f"POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        reader, writer = self._kept() or await self._open()
        try:
            writer.write(head.encode() + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            lines = answer.decode("latin-1").lower().split("\r\n")
            lengths = [
                line.partition(":")[2] for line in lines if line.startswith("content-length")
            ]
            content = await reader.readexactly(int(lengths[0]))
        except asyncio.IncompleteReadError as error:
            writer.transport.abort()
            raise ConnectionResetError("the answer broke off") from error
        except BaseException:
            writer.transport.abort()
            raise
        self._idle.append((asyncio.get_running_loop().time(), reader, writer))
        return int(lines[0].split(" ")[1]), orjson.loads(content)

    async def get(self, path: str) -> str:
        """A page's text, over a new connection."""
        reader, writer = await self._open()
        writer.write(
            f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n".encode()
        )
        answer = await reader.read()
        writer.transport.abort()
        return answer.partition(b"\r\n\r\n")[2].decode()

    def _kept(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        """A kept connection that the server is not about to close."""
        now = asyncio.get_running_loop().time()
        while self._idle:
            since, reader, writer = self._idle.pop()
            if now - since < KEEP and not reader.at_eof():
                return reader, writer
            writer.transport.abort()
        return None

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 22)

    def close(self) -> None:
        for _, _, writer in self._idle:
            writer.transport.abort()
        self._idle.clear()
