"""The signature of feed tokens: a client can only wait for a write that a payload told it of.

A feed that is asked with a token looks for that write for up to two seconds. So a token that was
made up, of a write that never was, would hold a request for as long as that.
"""

import os
from base64 import urlsafe_b64encode
from hashlib import blake2b
from hmac import compare_digest

from datasources.errors import BadInput
from datasources.mappings import Edge
from feed_engine.feeds.seen import token_of

_TAG_BYTES = 12


class FeedTokens:
    """Writes and checks feed tokens with one secret; gateways that share it take each other's."""

    def __init__(self, secret: bytes) -> None:
        self._key = blake2b(b"feed token" + secret, digest_size=32).digest()

    def of(self, edge: Edge) -> str | None:
        """The signed token of a follow's or a new pin's edge; None for an edge that never was."""
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
"""Tokens for a context that has no others; they are valid until the process ends."""
