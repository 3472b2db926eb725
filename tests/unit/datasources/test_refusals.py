"""Refused connections, and other failures of connecting."""

import errno

from datasources.refusals import is_refusal


def wrapped(cause: Exception) -> Exception:
    error = RuntimeError("a driver's own")
    error.__cause__ = cause
    return error


def test_a_refusal_is_found_below_a_drivers_error() -> None:
    refused = ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed")
    assert is_refusal(refused)
    assert is_refusal(wrapped(refused))


def test_of_several_addresses_all_must_refuse() -> None:
    one = "[Errno 111] Connect call failed ('::1', 1, 0, 0)"
    assert is_refusal(OSError(f"Multiple exceptions: {one}, [Errno 111] Connect call failed"))
    assert not is_refusal(OSError(f"Multiple exceptions: {one}, [Errno 113] No route to host"))


def test_another_failure_is_no_refusal() -> None:
    for error in (ConnectionResetError(104, "reset"), TimeoutError(), OSError("odd")):
        assert not is_refusal(error)
        assert not is_refusal(wrapped(error))
