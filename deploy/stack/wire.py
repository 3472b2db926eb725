"""Checks whether servers are well, with a few bytes of their own protocols and without drivers."""

import http.client
import json
import socket
import struct
from dataclasses import dataclass

from deploy.stack.ports import HOST

_TIMEOUT = 5.0
_MAX_ANSWER = 16 << 20
# Thrift's binary protocol: version and kinds of message, https://thrift.apache.org/docs/
_VERSION_1 = 0x80010000
_CALL, _REPLY, _EXCEPTION = 1, 2, 3
_STOP, _STRING, _LIST = 0, 11, 15


class BadAnswer(OSError):
    """The server gave an unexpected answer."""


def exchange(port: int, question: bytes, end: bytes) -> bytes:
    """Send `question`. Reads until the answer ends with `end` or the server closes."""
    with socket.create_connection((HOST, port), timeout=_TIMEOUT) as connection:
        connection.sendall(question)
        answer = b""
        while not answer.endswith(end):
            piece = connection.recv(4096)
            if not piece:
                break
            answer += piece
        return answer


def redis_ping(port: int) -> None:
    answer = exchange(port, b"PING\r\n", b"\r\n")
    if answer != b"+PONG\r\n":
        raise BadAnswer(answer.decode(errors="replace").strip() or "connection closed")


def memcached_version(port: int) -> str:
    answer = exchange(port, b"version\r\n", b"\r\n").decode(errors="replace").strip()
    word, _, version = answer.partition(" ")
    if word != "VERSION":
        raise BadAnswer(answer or "connection closed")
    return version


def zookeeper_mode(port: int) -> str:
    """The role of a ZooKeeper, from its four-letter command `srvr`."""
    with socket.create_connection((HOST, port), timeout=_TIMEOUT) as connection:
        connection.sendall(b"srvr")
        answer = b"".join(iter(lambda: connection.recv(4096), b"")).decode(errors="replace")
    for line in answer.splitlines():
        if line.startswith("Mode: "):
            return line.removeprefix("Mode: ")
    raise BadAnswer(answer.strip() or "connection closed")


def opensearch_health(port: int) -> str:
    """The health of an OpenSearch cluster: "green", or "yellow" without all copies."""
    connection = http.client.HTTPConnection(HOST, port, timeout=_TIMEOUT)
    try:
        connection.request("GET", "/_cluster/health?timeout=0s")
        answer = connection.getresponse()
        health = str(json.loads(answer.read(_MAX_ANSWER)).get("status", "no health"))
    except (http.client.HTTPException, ValueError, AttributeError) as problem:
        raise BadAnswer(f"no answer in HTTP: {problem!r}") from problem
    finally:
        connection.close()
    if health not in ("green", "yellow"):
        raise BadAnswer(health)
    return health


@dataclass
class _Reader:
    connection: socket.socket

    def take(self, count: int) -> bytes:
        if not 0 <= count <= _MAX_ANSWER:
            raise BadAnswer(f"an answer of {count} bytes")
        data = b""
        while len(data) < count:
            piece = self.connection.recv(count - len(data))
            if not piece:
                raise BadAnswer("connection closed")
            data += piece
        return data

    def i32(self) -> int:
        return int(struct.unpack(">i", self.take(4))[0])

    def text(self) -> str:
        return self.take(self.i32()).decode(errors="replace")

    def field(self) -> tuple[int, int]:
        """(type, id) of the next field of a struct; type 0 ends the struct."""
        kind = self.take(1)[0]
        return (kind, 0) if kind == _STOP else (kind, int(struct.unpack(">h", self.take(2))[0]))


def hbase_tables(port: int) -> list[str]:
    """The tables' names, from `getTableNames` of HBase's Thrift 1 interface.

    Raises BadAnswer with HBase's own message while the cluster can't answer.
    """
    name = b"getTableNames"
    call = struct.pack(">Ii", _VERSION_1 | _CALL, len(name)) + name + struct.pack(">ib", 0, _STOP)
    with socket.create_connection((HOST, port), timeout=_TIMEOUT) as connection:
        connection.sendall(call)
        reader = _Reader(connection)
        kind = reader.i32() & 0xFF
        reader.text()  # the method's name again
        reader.i32()  # the sequence number
        field, number = reader.field()
        if kind == _REPLY and (field, number) == (_LIST, 0):
            reader.take(1)
            return [reader.text() for _ in range(reader.i32())]
        if kind == _REPLY and field == 12:  # a declared IOError: a struct with a message
            field, number = reader.field()
        if field == _STRING:
            raise BadAnswer(reader.text().splitlines()[0])
        raise BadAnswer("not a list of tables")
