"""Bearer tokens: a JWT whose subject is the viewer's id, signed with the gateway's secret."""

import hmac
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable

import jwt

from datasources.errors import Unauthenticated
from datasources.ids import InvalidId, Kind, parse

NOT_VALID = "the token is not valid: get a new one"
CLOSED = "the token is of a deleted account"
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


class Verified:
    """The viewers of recently verified tokens, until the tokens expire."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[int, float]] = {}

    def get(self, token: str) -> int | None:
        """The viewer's id; None for an unknown token. Raises Unauthenticated after its expiry."""
        known = self._kept.get(token)
        if known is None:
            return None
        viewer_id, expires = known
        if expires <= self._clock():
            del self._kept[token]
            raise Unauthenticated(EXPIRED)
        return viewer_id

    def put(self, token: str, viewer_id: int, expires: float) -> None:
        """Keep a token's viewer until `expires`, in epoch seconds."""
        if len(self._kept) >= _VERIFIED_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[token] = viewer_id, expires

    def expires(self, token: str) -> float | None:
        """When a known token expires (epoch seconds); None for an unknown token."""
        known = self._kept.get(token)
        return None if known is None else known[1]

    def clear(self) -> None:
        self._kept.clear()


class Tokens:
    """Makes and reads the gateway's own tokens."""

    def __init__(self, secret: str, hours: int, *, clock: Callable[[], float] = time.time) -> None:
        self._secret, self._seconds, self._clock = secret, hours * 3600, clock
        self._verified = Verified(clock)

    def issue(self, user_id: int) -> str:
        """A token that names the user for the configured time."""
        now = int(self._clock())
        claims = {"sub": str(user_id), "aud": AUDIENCE, "iat": now, "exp": now + self._seconds}
        return jwt.encode(claims, self._secret, _ALGORITHM)

    def viewer(self, authorization: str | None) -> int | None:
        """The viewer in an Authorization header; None without a header. Raises Unauthenticated for
        an invalid token."""
        if not authorization:
            return None
        token = bearer(authorization)
        viewer_id = self._verified.get(token)
        if viewer_id is None:
            self._verified.put(token, *self._verify(token))
            viewer_id = self._verified.get(token)
        return viewer_id

    def expires(self, authorization: str) -> float | None:
        """When a token that was just verified expires (epoch seconds)."""
        return self._verified.expires(bearer(authorization))

    def _verify(self, token: str) -> tuple[int, float]:
        """The viewer's id, and the time at which the token expires (epoch seconds)."""
        if not self._is_signed(token):
            raise Unauthenticated(NOT_VALID)
        try:
            claims = jwt.decode(
                token,
                self._secret,
                [_ALGORITHM],
                audience=AUDIENCE,
                options={"require": ["exp", "sub"]},
            )
            return parse(claims["sub"], Kind.USER), float(claims["exp"])
        except jwt.MissingRequiredClaimError as error:
            raise Unauthenticated(f"the token has no {error.claim}: get a new one") from None
        except jwt.ExpiredSignatureError:
            raise Unauthenticated(EXPIRED) from None
        except (jwt.InvalidTokenError, InvalidId, KeyError):
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
