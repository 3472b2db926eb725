"""One connection to an HBase Thrift 1 server (binary protocol, buffered transport).

The interface's definition comes with aiohappybase. Its client is not used: it awaits each field
separately (7 µs for a cell on the event loop, against 0.5 here), and can't send a second request
before the first is answered.
"""

import asyncio
import importlib.util
from pathlib import Path
from typing import Any

import thriftpy2
from thriftpy2.protocol.cybin import TCyBinaryProtocol  # type: ignore[attr-defined]
from thriftpy2.thrift import TApplicationException, TMessageType
from thriftpy2.transport import TCyBufferedTransport

_READ = 1 << 20  # a page arrives in few pieces: after each piece, decoding starts again


def _load() -> Any:
    found = importlib.util.find_spec("aiohappybase")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("No module named 'aiohappybase'", name="aiohappybase")
    # Importing the package itself would need pkg_resources, which setuptools has removed.
    return thriftpy2.load(str(Path(found.origin).with_name("Hbase.thrift")), "Hbase_thrift")


idl = _load()
Refused = (idl.IOError, idl.IllegalArgument, idl.AlreadyExists)
"""The server's own exceptions: they are complete answers, and the connection remains usable."""


class Request:
    """A call by its name in Hbase.thrift, with its arguments by name."""

    def __init__(self, name: str, /, **arguments: Any) -> None:
        self.name, self.arguments = name, arguments


class Connection:
    """Requests, one after the other, over one socket.

    A call that ends before its answer arrived (cancelled, timed out) leaves the answer to the next
    caller. So after any exception but Refused, the caller must `abort` the connection.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._sequence = 0

    @classmethod
    async def open(cls, host: str, port: int) -> "Connection":
        """Connect. Raises OSError."""
        return cls(*await asyncio.open_connection(host, port, limit=_READ))

    def abort(self) -> None:
        """Close at once. May be called twice."""
        self._writer.transport.abort()

    @property
    def lost(self) -> bool:
        """Whether the server is known to have closed the connection."""
        return self._reader.at_eof() or self._writer.is_closing()

    async def call(self, name: str, /, **arguments: Any) -> Any:
        """One request's answer. Raises Refused, or OSError when the connection broke."""
        (answer,) = await self.send(Request(name, **arguments))
        return answer

    async def send(self, *requests: Request) -> list[Any]:
        """The answers to requests that are sent together; the server does them in order. Raises the
        first Refused when all are answered, or OSError when the connection broke."""
        first = self._sequence + 1
        self._sequence += len(requests)
        self._writer.write(b"".join(_encode(r, first + i) for i, r in enumerate(requests)))
        await self._writer.drain()
        received = bytearray()
        while True:
            piece = await self._reader.read(_READ)
            if not piece:
                raise ConnectionResetError("the server closed the connection")
            received += piece
            answers = _decode(bytes(received), requests, first)
            if answers is not None:
                break
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers


class _Incomplete(Exception):
    """A part of the answer has not arrived yet."""


class _Sink:
    """A buffer for the encoder's bytes."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.pieces.append(data)

    def flush(self) -> None:
        pass


class _Source:
    """A buffer of bytes for the decoder."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def read(self, size: int) -> bytes:
        piece = self._data[self._at : self._at + size]
        if not piece:
            raise _Incomplete
        self._at += len(piece)
        return piece


def _encode(request: Request, sequence: int) -> bytes:
    arguments = getattr(idl.Hbase, f"{request.name}_args")(**request.arguments)
    sink = _Sink()
    protocol = TCyBinaryProtocol(TCyBufferedTransport(sink, _BUFFER), decode_response=False)
    protocol.write_message_begin(request.name, TMessageType.CALL, sequence)
    protocol.write_struct(arguments)
    protocol.write_message_end()
    protocol.trans.flush()
    return b"".join(sink.pieces)


_BUFFER = 1 << 16


def _decode(data: bytes, requests: tuple[Request, ...], first: int) -> list[Any] | None:
    """The answers, or None while they are not complete."""
    source = _Source(data)
    protocol = TCyBinaryProtocol(TCyBufferedTransport(source, _BUFFER), decode_response=False)
    try:
        return [_answer(protocol, r.name, first + i) for i, r in enumerate(requests)]
    except _Incomplete:
        return None


def _answer(protocol: Any, name: str, sequence: int) -> Any:
    answered, kind, number = protocol.read_message_begin()
    if number != sequence:
        raise ConnectionAbortedError(f"answer {number} ({answered}) to request {sequence} ({name})")
    if kind == TMessageType.EXCEPTION:
        failure = TApplicationException()
        protocol.read_struct(failure)
        raise ConnectionAbortedError(f"{name}: {failure.message}")
    result = getattr(idl.Hbase, f"{name}_result")()
    protocol.read_struct(result)
    for field, value in vars(result).items():
        if field != "success" and value is not None:
            return value
    return getattr(result, "success", None)
