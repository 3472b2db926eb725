"""Bearer tokens: a JWT whose subject is the viewer's id, signed with the gateway's secret."""

import hmac
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

import jwt

from datasources.errors import Unauthenticated
from datasources.ids import InvalidId, Kind, parse

NOT_VALID = "the token is not valid: get a new one"
CLOSED = "the token is of a deleted account, or of a user who signed out everywhere"
EXPIRED = "the token has expired: get a new one"
AUDIENCE = "pinway"
"""The audience (`aud`) of tokens for the gateway."""
_ALGORITHM = "HS256"
_VERIFIED_KEPT = 4096


def bearer(authorization: str) -> str:
    """The token in an Authorization header. Raises Unauthenticated."""
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise Unauthenticated("the Authorization header must be: Bearer TOKEN")
    return token.strip()


class Token(NamedTuple):
    """A verified token: the viewer's id, and when it was issued and expires (epoch seconds).
    `issued` is 0 if the token does not say it. `subject` is the key of the subject that the token
    has in place of an id (`key_kinds.subject_key`); its user may not exist yet."""

    viewer_id: int | None
    issued: float
    expires: float
    is_own: bool = True
    subject: str = ""

    @property
    def renewable(self) -> float:
        """The epoch second from which on the token may be renewed: the middle of its life; never
        (inf) for a token of another issuer."""
        return (self.issued + self.expires) / 2 if self.is_own else inf


class Verified:
    """Recently verified tokens, until they expire."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._kept: dict[str, Token] = {}

    def get(self, token: str) -> Token | None:
        """A known token. Raises Unauthenticated after its expiry."""
        known = self._kept.get(token)
        if known is not None and known.expires <= self._clock():
            del self._kept[token]
            raise Unauthenticated(EXPIRED)
        return known

    def put(self, token: str, verified: Token) -> None:
        if len(self._kept) >= _VERIFIED_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[token] = verified

    def clear(self) -> None:
        self._kept.clear()


def issued_at(claims: dict[str, Any]) -> float:
    """When a token was issued, by its verified claims."""
    return float(claims.get("iat", 0))


class Tokens:
    """Makes and reads the gateway's own tokens."""

    def __init__(self, secret: str, hours: int, *, clock: Callable[[], float] = time.time) -> None:
        self._secret, self._seconds, self._clock = secret, hours * 3600, clock
        self._verified = Verified(clock)

    def issue(self, user_id: int) -> str:
        """A token that names the user for the configured time."""
        now = self._clock()
        claims = {
            "sub": str(user_id),
            "aud": AUDIENCE,
            # A sign-out in the same second refuses earlier tokens only. A time that is rounded up
            # could be later than a later sign-out. The rounding is for the errors of floating point
            # numbers.
            "iat": min(now, int(round(now * 1000, 3)) / 1000),
            "exp": int(now) + self._seconds,
        }
        return jwt.encode(claims, self._secret, _ALGORITHM)

    def read(self, authorization: str) -> Token:
        """The token in an Authorization header. Raises Unauthenticated for an invalid token."""
        token = bearer(authorization)
        found = self._verified.get(token)
        if found is None:
            self._verified.put(token, self._verify(token))
            found = self._verified.get(token)
            assert found is not None
        return found

    def _verify(self, token: str) -> Token:
        if not self._is_signed(token):
            raise Unauthenticated(NOT_VALID)
        try:
            claims = jwt.decode(
                token,
                self._secret,
                [_ALGORITHM],
                audience=AUDIENCE,
                # The clock of the gateway that issued the token may be a little ahead.
                options={"require": ["exp", "sub"], "verify_iat": False},
            )
            return Token(parse(claims["sub"], Kind.USER), issued_at(claims), float(claims["exp"]))
        except jwt.MissingRequiredClaimError as error:
            raise Unauthenticated(f"the token has no {error.claim}: get a new one") from None
        except jwt.ExpiredSignatureError:
            raise Unauthenticated(EXPIRED) from None
        except (jwt.InvalidTokenError, InvalidId, KeyError, TypeError, ValueError):
            raise Unauthenticated(NOT_VALID) from None

    def _is_signed(self, token: str) -> bool:
        """Whether the signature is ours. This check takes microseconds. A forged token may have a
        header that takes milliseconds to decode, and costs its sender nothing."""
        signed, _, signature = token.rpartition(".")
        if not signature.isascii() or not signed.isascii():
            return False
        made = hmac.digest(self._secret.encode(), signed.encode(), "sha256")
        wanted = urlsafe_b64encode(made).rstrip(b"=")
        return hmac.compare_digest(wanted, signature.encode())
