"""Answers to requests that no application receives: too large, too slow, or not HTTP."""

import orjson
from uvicorn.protocols.http.httptools_impl import STATUS_LINE


class Refusal(Exception):
    """A connection must end: a status, and a message for the client."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


_CODES = {408: "TIMEOUT", 503: "UNAVAILABLE"}


def refusal(why: Refusal, headers: list[tuple[bytes, bytes]]) -> bytes:
    """The whole response, in the form of a GraphQL response without data. `headers` are the headers
    of every response."""
    code = _CODES.get(why.status, "BAD_USER_INPUT")
    body = orjson.dumps({"errors": [{"message": why.message, "extensions": {"code": code}}]})
    lines = [b"%b: %b\r\n" % header for header in headers]
    lines += [
        b"content-type: application/json; charset=utf-8\r\n",
        b"x-content-type-options: nosniff\r\n",
        b"content-length: %d\r\n" % len(body),
        b"connection: close\r\n",
    ]
    if why.status == 503:
        lines.append(b"retry-after: 1\r\n")
    return b"".join([STATUS_LINE[why.status], *lines, b"\r\n", body])
