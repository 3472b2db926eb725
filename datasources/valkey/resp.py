"""One command to a Valkey server on a Unix socket, before any client is connected."""

import asyncio
from pathlib import Path

ANSWER_SECONDS = 2.0


async def ask(socket: Path, *words: str) -> bytes:
    """The first 64 KB of the raw answer to a command; empty if the connection was closed. Raises
    OSError."""
    command = f"*{len(words)}\r\n" + "".join(f"${len(w.encode())}\r\n{w}\r\n" for w in words)
    async with asyncio.timeout(ANSWER_SECONDS):
        reader, writer = await asyncio.open_unix_connection(str(socket))
        try:
            writer.write(command.encode())
            return await reader.read(65536)
        finally:
            writer.close()
