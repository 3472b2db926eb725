"""Bearer tokens: a JWT whose subject is the viewer's id, signed with the gateway's secret."""

import hmac
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable

import jwt

from datasources.errors import Unauthenticated
from datasources.ids import InvalidId, Kind, parse

_ALGORITHM, _AUDIENCE = "HS256", "pinway"
_VERIFIED_KEPT = 4096


class Tokens:
    """Makes and reads tokens. Recently verified tokens are remembered until they expire."""

    def __init__(self, secret: str, hours: int, *, clock: Callable[[], float] = time.time) -> None:
        self._secret, self._seconds, self._clock = secret, hours * 3600, clock
        self._verified: dict[str, tuple[int, float]] = {}  # token → viewer's id, expiry

    def issue(self, user_id: int) -> str:
        """A token that names the user for the configured time."""
        now = int(self._clock())
        claims = {"sub": str(user_id), "aud": _AUDIENCE, "iat": now, "exp": now + self._seconds}
        return jwt.encode(claims, self._secret, _ALGORITHM)

    def viewer(self, authorization: str | None) -> int | None:
        """The viewer in an Authorization header; None without a header. Raises Unauthenticated for
        an invalid token."""
        if not authorization:
            return None
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Unauthenticated("the Authorization header must be: Bearer TOKEN")
        token = token.strip()
        known = self._verified.get(token)
        if known is None:
            known = self._verify(token)
            if len(self._verified) >= _VERIFIED_KEPT:
                del self._verified[next(iter(self._verified))]
            self._verified[token] = known
        viewer_id, expires = known
        if expires <= self._clock():
            del self._verified[token]
            raise Unauthenticated(_EXPIRED)
        return viewer_id

    def _verify(self, token: str) -> tuple[int, float]:
        """The viewer's id, and the time at which the token expires (epoch seconds)."""
        if not self._is_signed(token):
            raise Unauthenticated(_NOT_VALID)
        try:
            claims = jwt.decode(
                token,
                self._secret,
                [_ALGORITHM],
                audience=_AUDIENCE,
                options={"require": ["exp", "sub"]},
            )
            return parse(claims["sub"], Kind.USER), float(claims["exp"])
        except jwt.MissingRequiredClaimError as error:
            raise Unauthenticated(f"the token has no {error.claim}: get a new one") from None
        except jwt.ExpiredSignatureError:
            raise Unauthenticated(_EXPIRED) from None
        except (jwt.InvalidTokenError, InvalidId, KeyError):
            raise Unauthenticated(_NOT_VALID) from None

    def _is_signed(self, token: str) -> bool:
        """Whether the signature is ours. This check takes microseconds. A forged token may have a
        header that takes milliseconds to decode, and costs its sender nothing."""
        signed, _, signature = token.rpartition(".")
        if not signature.isascii() or not signed.isascii():
            return False
        made = hmac.digest(self._secret.encode(), signed.encode(), "sha256")
        wanted = urlsafe_b64encode(made).rstrip(b"=")
        return hmac.compare_digest(wanted, signature.encode())


_NOT_VALID = "the token is not valid: get a new one"
_EXPIRED = "the token has expired: get a new one"
