"""Requests to an OpenSearch cluster over HTTP, each with a deadline, and the errors of
`datasources.errors` for the failures."""

import asyncio
import ssl
import time
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import aiohttp
import msgspec
from yarl import URL

from datasources.errors import Refused, StoreConflict, StoreTimeout, StoreUnavailable

CONNECTIONS = 32
LEFT_ALONE = 10.0
"""Seconds in which a node that failed is asked after all other nodes."""
LONGEST_REASON = 200
NO_OPTIONS: Mapping[str, str] = {}
_SENDER = msgspec.json.Encoder(order="deterministic")


@dataclass(frozen=True)
class Cluster:
    """The nodes of a cluster as (host, port), all with the same user and TLS. `prefix` begins the
    names of all indexes; `shards` is the number of shards of a new index."""

    nodes: tuple[tuple[str, int], ...]
    prefix: str
    user: str = ""
    password: str = field(default="", repr=False)
    tls: ssl.SSLContext | None = None
    shards: int = 1


class Answer(NamedTuple):
    """The status of an answer in HTTP, and its document."""

    status: int
    document: Any

    @property
    def is_missing(self) -> bool:
        return self.status == 404


class Connection:
    """Sends requests to a node that works. `name` stands for the cluster in errors."""

    def __init__(self, cluster: Cluster) -> None:
        scheme = "https" if cluster.tls else "http"
        self._nodes = [URL.build(scheme=scheme, host=h, port=p) for h, p in cluster.nodes]
        self._cluster = cluster
        self._failed: dict[URL, float] = {}
        self._turn = 0
        self._session: aiohttp.ClientSession | None = None
        self.name = "OpenSearch at " + ",".join(f"{host}:{port}" for host, port in cluster.nodes)

    async def get(
        self, path: str, deadline: float, options: Mapping[str, str] = NO_OPTIONS
    ) -> Answer:
        """The answer, also if nothing is there."""
        return await self.ask("GET", path, None, deadline, options, missing=True)

    async def ask(
        self,
        method: str,
        path: str,
        body: Any,
        deadline: float,
        options: Mapping[str, str] = NO_OPTIONS,
        *,
        missing: bool = False,
    ) -> Answer:
        """The answer to a request, which may be sent twice. `body` is sent as JSON, and a list as
        one line for each of its values. `deadline`: seconds for the answer. `options` are the
        parameters after the path. With `missing`, an answer that something is not there is
        returned.

        Raises StoreTimeout, StoreConflict, Refused and StoreUnavailable.
        """
        data = None if body is None else _encoded(body)
        try:
            async with asyncio.timeout(deadline):
                answer = await self._sent(method, path, data, options)
        except TimeoutError:
            raise StoreTimeout(f"{self.name}: no answer within {deadline:g} s") from None
        if answer.status >= 300 and not (missing and answer.is_missing):
            raise self._error(answer)
        return answer

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def _sent(
        self, method: str, path: str, data: bytes | None, options: Mapping[str, str]
    ) -> Answer:
        fault: Exception | None = None
        for node in self._order():
            try:
                answer = await self._exchange(node, method, path, data, options)
            except aiohttp.ClientConnectorError as error:
                fault = self._unreachable(error)
            except msgspec.DecodeError:
                fault = StoreUnavailable(f"{self.name}: the answer is no JSON")
            except (aiohttp.ClientError, OSError) as error:
                fault = StoreUnavailable(f"{self.name}: {error or type(error).__name__}")
            except asyncio.CancelledError:  # also when the deadline has passed
                self._failed[node] = time.monotonic() + LEFT_ALONE
                raise
            else:
                self._failed.pop(node, None)
                return answer
            self._failed[node] = time.monotonic() + LEFT_ALONE
        assert fault is not None
        raise fault

    async def _exchange(
        self, node: URL, method: str, path: str, data: bytes | None, options: Mapping[str, str]
    ) -> Answer:
        async with self._opened().request(
            method,
            node.with_path(path).with_query(dict(options)),
            data=data,
            headers={"Content-Type": "application/json"} if data is not None else None,
            allow_redirects=False,
        ) as response:
            raw = await response.read()
        if response.status >= 400 and response.content_type != "application/json":
            return Answer(response.status, raw.decode(errors="replace"))  # of a proxy, or a plugin
        return Answer(response.status, msgspec.json.decode(raw) if raw else None)

    def _order(self) -> Iterator[URL]:
        """The nodes, which take turns, and nodes that failed a moment ago at the end. The first
        node comes again after all others: the connection that broke may have been an old one."""
        self._turn = (self._turn + 1) % len(self._nodes)
        turned = self._nodes[self._turn :] + self._nodes[: self._turn]
        now = time.monotonic()
        ordered = sorted(turned, key=lambda node: self._failed.get(node, 0.0) > now)
        return iter((*ordered, ordered[0]))

    def _opened(self) -> aiohttp.ClientSession:
        # The session belongs to the loop that runs, and there is none when the stores are opened.
        if self._session is None:
            cluster = self._cluster
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=CONNECTIONS, ssl=cluster.tls or True),
                headers=_login(cluster),
                timeout=aiohttp.ClientTimeout(total=None),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    def _unreachable(self, error: aiohttp.ClientConnectorError) -> StoreUnavailable:
        if isinstance(error.os_error, ConnectionRefusedError):
            return Refused(f"{self.name}: no server listens there")
        return StoreUnavailable(f"{self.name}: {error.os_error.strerror or error.os_error}")

    def _error(self, answer: Answer) -> Exception:
        reason = reason_of(answer.document)
        if answer.status == 401:
            return StoreUnavailable(f"{self.name} refuses the user and the password")
        if answer.status == 403:
            return StoreUnavailable(f"{self.name}: the user has not the rights: {reason}")
        if answer.status == 409:
            return StoreConflict(f"{self.name}: {reason}")
        if answer.status in (408, 504):
            return StoreTimeout(f"{self.name}: {reason}")
        return StoreUnavailable(f"{self.name}: {reason}")


def reason_of(document: Any) -> str:
    """The reason in the document of an error, shortened."""
    error = document.get("error", document) if isinstance(document, dict) else document
    if isinstance(error, dict):
        causes = error.get("root_cause")
        error = causes[0] if isinstance(causes, list) and causes else error
        error = f"{error.get('type', 'error')}: {error.get('reason', '')}"
    return str(error)[:LONGEST_REASON]


def _login(cluster: Cluster) -> dict[str, str]:
    """The header with the user and the password (RFC 7617)."""
    if not cluster.user:
        return {}
    login = b64encode(f"{cluster.user}:{cluster.password}".encode()).decode()
    return {"Authorization": f"Basic {login}"}


def _encoded(body: Any) -> bytes:
    if isinstance(body, list):
        return _lines(body)
    return _SENDER.encode(body)


def _lines(values: Iterable[Any]) -> bytes:
    return b"".join(_SENDER.encode(value) + b"\n" for value in values)
