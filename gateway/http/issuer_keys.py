"""The public keys of another issuer of tokens: a JSON Web Key Set (RFC 7517) in a file or at an
HTTPS address."""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Sequence
from http.client import HTTPException, HTTPMessage
from itertools import islice
from pathlib import Path
from typing import IO, Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from jwt import PyJWK, PyJWTError

from datasources.errors import ConfigError, StoreUnavailable

log = logging.getLogger("pinway")

ALGORITHMS = frozenset(("RS256", "ES256", "EdDSA"))
"""RSA with SHA-256, ECDSA over P-256, and Ed25519 (RFC 7518, RFC 8037)."""
FRESH = 300.0
"""Seconds after which the keys are read again."""
AGAIN = 10.0
"""The least number of seconds between two readings: tokens with unknown keys cost nothing."""
TIMEOUT = 5.0
"""The seconds for which a reading waits for the next bytes, and after which no more are read."""
MOST_TRIED = 8
"""The keys that are tried for one token."""
_MOST_BYTES = 1 << 20
_CHUNK = 1 << 16


class InvalidKeySet(ValueError):
    """A text is not a set of keys that can be used. The message says why."""


def parse_keys(text: bytes) -> list[PyJWK]:
    """The keys that sign tokens. Keys of other kinds and for other uses are left out. Raises
    InvalidKeySet if no key is left."""
    try:
        members = json.loads(text)["keys"]
        keys = [key for member in members if (key := _key(member)) is not None]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InvalidKeySet('is not a JSON Web Key Set: {"keys": [...]}') from None
    if not keys:
        raise InvalidKeySet(f"has no key for {', '.join(sorted(ALGORITHMS))}")
    return keys


def _key(member: Any) -> PyJWK | None:
    """A key that verifies signatures; None for any other member of the set."""
    if not isinstance(member, dict) or member.get("use", "sig") != "sig" or "d" in member:
        return None
    if not isinstance(member.get("kid", ""), str):
        return None
    try:
        key = PyJWK(member)
    except (PyJWTError, ValueError, TypeError, NotImplementedError):  # the last: "alg": "none"
        return None
    weak = key.key_type == "RSA" and key.key.key_size < 2048
    return key if key.algorithm_name in ALGORITHMS and not weak else None


class Redirects(HTTPRedirectHandler):
    """Follows redirects of the issuer, but none from HTTPS to an address without TLS."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        if urlsplit(newurl).scheme not in {"https", req.type}:
            raise OSError(f"a redirect to {newurl} is not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _download(address: str) -> bytes:
    """The text at an address. Raises OSError."""
    request = Request(address, headers={"accept": "application/json", "user-agent": "pinway"})
    ends, text = time.monotonic() + TIMEOUT, bytearray()
    try:
        with build_opener(Redirects).open(request, timeout=TIMEOUT) as answer:
            while len(text) < _MOST_BYTES and (chunk := answer.read1(_CHUNK)):
                text += chunk
                if time.monotonic() > ends:
                    raise TimeoutError("the answer takes too long")
            return bytes(text)
    except (HTTPException, ValueError) as error:  # the latter: a redirect to no address
        raise OSError(f"no HTTP answer: {error!r}") from None


class IssuerKeys:
    """The keys, which are read again while tokens arrive. If a reading fails, the keys stay as they
    were, and the log says so.

    A set in a file is read at once. A set at an address is read when it is needed first, so that
    the gateway starts while its issuer is away.
    """

    def __init__(self, source: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`source` is a path or an https:// address. Raises ConfigError for a wrong file."""
        self._source, self._clock = source, clock
        self._remote = source.startswith(("https://", "http://"))
        self._text, self._keys = b"", list[PyJWK]()
        self._tried = float("-inf") if self._remote else clock()
        self._reading: asyncio.Task[None] | None = None
        self.generation = 0
        """Grows when the set of keys changes."""
        if not self._remote:
            try:
                self._take(Path(source).read_bytes())
            except (OSError, InvalidKeySet) as error:
                raise ConfigError(f"auth.keys: {self._why(error)}") from None

    def refresh(self) -> None:
        """Begin to read the keys again if they are no longer fresh. Waits for nothing."""
        if self._clock() - self._tried >= (FRESH if self._keys else AGAIN):
            self._begin()

    async def find(self, algorithm: str, id_: str, *, but: Sequence[PyJWK] = ()) -> Sequence[PyJWK]:
        """The keys that may have signed a token, without the keys `but`: the keys of its algorithm
        with the id that it names, or all keys of its algorithm if it names none. If no key is left,
        the keys are read again. Raises StoreUnavailable if they could not be read yet."""
        if found := self._known(algorithm, id_, but):
            return found
        if self._reading is None and self._clock() - self._tried >= AGAIN:
            self._begin()
        if self._reading is not None:
            await asyncio.shield(self._reading)
        if not self._keys:
            raise StoreUnavailable("the keys of the token's issuer can't be read: try again later")
        return self._known(algorithm, id_, but)

    def _known(self, algorithm: str, id_: str, but: Sequence[PyJWK]) -> Sequence[PyJWK]:
        fitting = (
            key
            for key in self._keys
            if key.algorithm_name == algorithm and (not id_ or key.key_id == id_)
        )
        return [key for key in islice(fitting, MOST_TRIED) if key not in but]

    def _begin(self) -> None:
        if self._reading is None:
            self._tried = self._clock()
            self._reading = asyncio.create_task(self._read_again())

    async def _read_again(self) -> None:
        try:
            self._take(await asyncio.to_thread(self._read))
        except (OSError, InvalidKeySet) as error:
            kept = "the keys stay as they were" if self._keys else "no token is known"
            log.warning("auth.keys: %s; %s", self._why(error), kept)
        finally:
            self._reading = None

    def _read(self) -> bytes:
        return _download(self._source) if self._remote else Path(self._source).read_bytes()

    def _take(self, text: bytes) -> None:
        """Use the keys of this text. Raises InvalidKeySet, and then changes nothing."""
        if text != self._text or not self._keys:
            self._keys, self._text = parse_keys(text), text
            self.generation += 1

    def _why(self, error: OSError | InvalidKeySet) -> str:
        if isinstance(error, URLError):
            return f"{self._source}: {error.reason}"
        if isinstance(error, OSError):
            return f"{self._source}: {error.strerror or error}"
        return f"{self._source} {error}"
