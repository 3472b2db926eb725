"""Bearer tokens: a JWT whose subject is the viewer's id, signed with the gateway's secret."""

import time

import jwt

from datasources.errors import Unauthenticated
from datasources.ids import InvalidId, Kind, parse

_ALGORITHM, _AUDIENCE = "HS256", "pinway"


class Tokens:
    """Makes and reads tokens."""

    def __init__(self, secret: str, hours: int) -> None:
        self._secret, self._seconds = secret, hours * 3600

    def issue(self, user_id: int) -> str:
        """A token that names the user for the configured time."""
        now = int(time.time())
        claims = {"sub": str(user_id), "aud": _AUDIENCE, "iat": now, "exp": now + self._seconds}
        return jwt.encode(claims, self._secret, _ALGORITHM)

    def viewer(self, authorization: str | None) -> int | None:
        """The viewer that an Authorization header names; None without one. Raises
        Unauthenticated for one that is not valid."""
        if not authorization:
            return None
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Unauthenticated("the Authorization header must be: Bearer TOKEN")
        try:
            claims = jwt.decode(token.strip(), self._secret, [_ALGORITHM], audience=_AUDIENCE)
            return parse(claims["sub"], Kind.USER)
        except jwt.ExpiredSignatureError:
            raise Unauthenticated("the token has expired: get a new one") from None
        except (jwt.InvalidTokenError, InvalidId, KeyError):
            raise Unauthenticated("the token is not valid: get a new one") from None
