"""Signs feed tokens, so that a client can only wait for a write whose payload it received.

A feed that is requested with a token waits for that write for up to two seconds. An invented token,
of a write that never happened, would hold every request for two seconds.
"""

import os
from base64 import urlsafe_b64encode
from hashlib import blake2b
from hmac import compare_digest

from datasources.errors import BadInput
from datasources.mappings import Edge
from feed_engine.feeds.own_writes import token_of

_TAG_BYTES = 12


class FeedTokens:
    """Writes and checks feed tokens with one secret. Gateways with the same secret accept each
    other's tokens."""

    def __init__(self, secret: bytes) -> None:
        self._key = blake2b(b"feed token" + secret, digest_size=32).digest()

    def of(self, edge: Edge) -> str | None:
        """The signed token of the edge of a follow or a new pin; None for an edge that never
        existed."""
        token = token_of(edge)
        return None if token is None else f"{token}.{self._tag(token)}"

    def read(self, signed: str | None) -> str | None:
        """The token inside a signed token. Raises BadInput for any other text."""
        if signed is None:
            return None
        token, _, tag = signed.partition(".")
        if not (signed.isascii() and compare_digest(tag, self._tag(token))):
            raise BadInput(
                f"{signed[:60]!r} is not a feedToken: send it as the payload had it", "seen"
            )
        return token

    def _tag(self, token: str) -> str:
        tag = blake2b(token.encode(), key=self._key, digest_size=_TAG_BYTES).digest()
        return urlsafe_b64encode(tag).decode()


TOKENS_OF_THIS_PROCESS = FeedTokens(os.urandom(32))
"""The tokens of contexts without others. They are valid until the process ends."""
