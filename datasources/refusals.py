"""Tells a refused connection from other failures of connecting."""

import errno
import re

_NUMBERS = re.compile(r"\[Errno (\d+)\]")


def is_refusal(error: BaseException) -> bool:
    """Whether the server refused the connection: no process listens at its address.

    Drivers wrap the socket's error, so its causes are looked at, too. For a host of several
    addresses asyncio names all errors in one text; then all of them must be refusals.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ConnectionRefusedError):
            return True
        if isinstance(cause, OSError) and cause.errno is None:
            numbers = _NUMBERS.findall(str(cause))
            return bool(numbers) and set(numbers) == {str(errno.ECONNREFUSED)}
        cause = cause.__cause__ or cause.__context__
    return False
