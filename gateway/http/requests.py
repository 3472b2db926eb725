"""Reads GraphQL requests from HTTP, and chooses the media type of the answer (GraphQL over HTTP,
2025 draft).

It works on ASGI's scope and messages directly, because every request takes this path.
"""

from functools import lru_cache
from typing import Any

import orjson
from starlette.datastructures import QueryParams
from starlette.types import Receive

GRAPHQL_JSON = "application/graphql-response+json"
JSON = "application/json"
EVENTS = "text/event-stream"
DEFER_SPEC = "20220824"
"""The version of the proposal for incremental delivery: the one that Apollo Client's
`Defer20220824Handler`, urql and Relay's payloads follow."""
INCREMENTAL = f'multipart/mixed; boundary="-"; deferSpec={DEFER_SPEC}'

_OFFERED = {GRAPHQL_JSON: GRAPHQL_JSON, JSON: JSON, "application/*": JSON, "*/*": JSON}
MOST_SHOWN = 60
"""Characters of a header's value that a message repeats."""
_COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    **{bytes([0x78, level]): "deflate" for level in (0x01, 0x5E, 0x9C, 0xDA)},
}
"""The first bytes of compressed bodies. No JSON begins with them."""
_BEGINS_A_VALUE = (b",", b"[", b"{")
"""The bytes before each JSON value except the first."""

Headers = dict[bytes, bytes]
_LISTS = (b"accept", b"accept-encoding", b"content-encoding", b"x-forwarded-for")
"""The headers whose repetitions form one list."""


class Refused(Exception):
    """The request can't be run as it was sent: an HTTP status, and a message for the client."""

    def __init__(
        self, status: int, message: str, code: str = "BAD_USER_INPUT", **headers: str
    ) -> None:
        Exception.__init__(self, message)
        self.status, self.message, self.code = status, message, code
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class Disconnected(Exception):
    """The client disconnected before it had sent its request: nobody waits for an answer."""


class RequestParameters:
    """The parameters of a GraphQL request (GraphQL over HTTP, section 5): the document, its
    variables and the operation's name; and whether the client requests the cost. `id` or `digest`
    names a document that the request does not have (`gateway/http/persisted.py`): `query` is None.
    A request may have both a document and its `digest`."""

    __slots__ = ("digest", "id", "name", "query", "variables", "wants_cost")

    def __init__(
        self,
        query: str | None,
        variables: dict[str, Any] | None,
        name: str | None,
        wants_cost: bool,
        id: str | None,
        digest: str | None,
    ) -> None:
        self.query, self.variables, self.name = query, variables, name
        self.wants_cost, self.id, self.digest = wants_cost, id, digest


def headers_of(pairs: list[tuple[bytes, bytes]]) -> Headers:
    """The headers by name, in lower case. Of several headers with one name, the first counts,
    unless they are the parts of a list: a proxy may append a value or a header."""
    headers = dict(reversed(pairs))
    if len(headers) < len(pairs):
        for name in _LISTS:
            if name in headers:
                headers[name] = b",".join([value for other, value in pairs if other == name])
    return headers


def read_query_string(text: bytes) -> RequestParameters:
    """The operation of a GET. Raises Refused."""
    parameters: dict[str, Any] = dict(QueryParams(text))
    for name in ("variables", "extensions"):
        if parameters.get(name):
            parameters[name] = _json(parameters[name].encode(), f"the parameter {name}")
    return parameters_of(parameters)


def check_size(body: bytes, max_bytes: int, max_values: int) -> None:
    """Raises Refused for JSON that is too large, or has too many values."""
    if len(body) > max_bytes:
        raise Refused(413, f"the body is larger than {max_bytes} bytes")
    # Counting bytes takes a thousandth of the time for making and freeing the values.
    if len(body) > max_values and sum(map(body.count, _BEGINS_A_VALUE)) > max_values:
        raise Refused(413, f"the body has more than {max_values} commas and brackets")


def read_json(body: bytes, max_bytes: int, max_values: int) -> RequestParameters:
    """The operation of a POST. Raises Refused."""
    check_size(body, max_bytes, max_values)
    try:
        return parameters_of(_json(body, "the body"))
    except Refused as error:
        if coding := next(
            (name for begin, name in _COMPRESSED.items() if body.startswith(begin)), ""
        ):
            raise Refused(
                415, f"send the body as plain JSON, not as {coding}", accept_encoding="identity"
            ) from error
        raise


@lru_cache(maxsize=128)  # a client sends the same header each time
def response_type(accept: bytes | None) -> str:
    """The media type of the answer. Raises Refused if the client accepts neither type."""
    if not accept:
        return JSON
    best, most = None, 0.0
    for media, weight in _accepted(accept):
        if (found := _OFFERED.get(media)) and weight > most:
            best, most = found, weight
    if best is None:
        raise Refused(406, f"accept {GRAPHQL_JSON} or {JSON}")
    return best


@lru_cache(maxsize=128)
def prefers_events(accept: bytes | None) -> bool:
    """Whether the client would rather have server-sent events than JSON: their weight is higher, or
    the same and they come first. Clients such as urql accept events after JSON for all
    operations."""
    if not accept or b"event" not in accept.lower():
        return False  # nearly all requests
    best, prefers = 0.0, False
    for media, weight in _accepted(accept):
        if (media == EVENTS or media in _OFFERED) and weight > best:
            best, prefers = weight, media == EVENTS
    return prefers


@lru_cache(maxsize=128)
def accepts_parts(accept: bytes | None) -> bool:
    """Whether the client takes the parts of a response one after the other, in the format of
    `INCREMENTAL`. Clients name other formats by further parameters of the media type."""
    if not accept or b"multipart" not in accept.lower():
        return False  # nearly all requests
    for part in accept.decode("latin-1").lower().split(","):
        media, *parameters = [each.strip() for each in part.split(";")]
        if media == "multipart/mixed" and quality(";".join(parameters)) > 0:
            options = dict(each.partition("=")[::2] for each in parameters)
            spec = options.pop("deferspec", DEFER_SPEC).strip('"')
            if spec == DEFER_SPEC and options.keys() <= {"boundary", "q"}:
                return True
    return False


def _accepted(accept: bytes) -> list[tuple[str, float]]:
    """The media types of the header Accept, each with its weight."""
    parts = [part.partition(";") for part in accept.decode("latin-1").split(",")]
    return [(media.strip().lower(), quality(options)) for media, _, options in parts]


def quality(options: str) -> float:
    """The weight of a choice in a list (RFC 9110, section 12.4.2), from its parameters."""
    for option in options.split(";"):
        name, _, value = option.strip().partition("=")
        if name.lower() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0


def check_content_type(content_type: bytes) -> None:
    """Raises Refused unless it is JSON."""
    if content_type == b"application/json":
        return
    media, _, options = content_type.decode("latin-1").partition(";")
    if media.strip().lower() != JSON:
        shown = media.strip()[:MOST_SHOWN] or "a body of unknown type"
        raise Refused(415, f"send {JSON}, not {shown}")
    charset = options.lower().replace(" ", "").replace('"', "").partition("charset=")[2]
    if charset and charset.split(";")[0] not in ("utf-8", "utf8"):
        raise Refused(415, "send the body in utf-8")


def check_coding(coding: bytes) -> None:
    """Raises Refused for a body that is compressed. A small compressed body may be huge when it is
    read, so none is."""
    name = coding.decode("latin-1").strip().lower()
    if any(part.strip() not in ("", "identity") for part in name.split(",")):
        shown = f"content-encoding: {name[:MOST_SHOWN]}"
        raise Refused(
            415, f"send the body as plain JSON, without {shown}", accept_encoding="identity"
        )


async def read_body(receive: Receive, max_bytes: int) -> bytes:
    """The body. Reading stops when it is too large. Raises Disconnected."""
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        chunks.append(chunk)
        if size > max_bytes or not message.get("more_body"):
            return b"".join(chunks)


def _json(data: bytes, what: str) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        raise Refused(400, f"{what} is not valid JSON") from None


def parameters_of(message: Any) -> RequestParameters:
    """The operation in a JSON value. Raises Refused."""
    if not isinstance(message, dict):
        raise Refused(400, 'send one JSON object: {"query": "...", "variables": {...}}')
    query, variables = message.get("query"), message.get("variables")
    name, extensions = message.get("operationName"), message.get("extensions")
    id_, digest = None, None
    if isinstance(extensions, dict) and "persistedQuery" in extensions:
        digest = _digest(extensions["persistedQuery"])
        if query == "":  # some clients send an empty document with a hash
            query = None
    if query is None and digest is None:
        id_ = message.get("documentId") or message.get("doc_id")
        if id_ is None:
            raise Refused(400, "query must be a string that holds the document")
        if not isinstance(id_, str):
            raise Refused(400, "documentId must be a string")
    elif query is not None and not isinstance(query, str):
        raise Refused(400, "query must be a string that holds the document")
    if not (variables is None or isinstance(variables, dict)):
        raise Refused(400, "variables must be an object, or left out")
    if not (name is None or isinstance(name, str)):
        raise Refused(400, "operationName must be a string, or left out")
    if not (extensions is None or isinstance(extensions, dict)):
        raise Refused(400, "extensions must be an object, or left out")
    wants_cost = extensions is not None and extensions.get("cost") is True
    return RequestParameters(query, variables, name, wants_cost, id_, digest)


def _digest(persisted: Any) -> str:
    """The hash in `extensions.persistedQuery`."""
    if isinstance(persisted, dict) and persisted.get("version") == 1:
        digest = persisted.get("sha256Hash")
        if isinstance(digest, str):
            return digest
    raise Refused(400, 'extensions.persistedQuery must be {"version": 1, "sha256Hash": "the hash"}')
