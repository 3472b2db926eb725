"""Distinguishes a refused connection from other failures to connect."""

import errno
import re

_NUMBERS = re.compile(r"\[Errno (\d+)\]")


def is_refusal(error: BaseException) -> bool:
    """Whether the server refused the connection: no process listens at its address.

    Drivers wrap the socket's error, so the error's causes are checked, too. For a host with several
    addresses, asyncio joins all errors in one text; all of them must be refusals.
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
