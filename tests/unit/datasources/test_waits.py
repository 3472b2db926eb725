"""The names of the stores that a command waits for, and the causes."""

import asyncio
import errno

import pytest

from datasources.errors import StoreTimeout, StoreUnavailable
from datasources.waits import collected, innermost, waiting_for


def refused() -> StoreUnavailable:
    """The error of a store, around the error of a driver, around the error of a socket."""
    driver = ValueError("Can't connect to the server on 'shelf'")
    driver.__cause__ = ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed")
    error = StoreUnavailable("First: can't connect")
    error.__cause__ = driver
    return error


def test_a_wait_is_named_until_it_ends() -> None:
    with collected() as waits:
        assert waits.told() == ""
        with waiting_for("the queue"), waiting_for("the topology", lambda: "Connection refused"):
            assert waits.told() == "the queue: no answer yet; the topology: Connection refused"
        assert waits.told() == ""
    with waiting_for("the queue"):
        assert waits.told() == ""


def test_a_store_that_failed_is_named_with_the_innermost_cause_until_it_answers() -> None:
    with collected() as waits:
        with pytest.raises(StoreUnavailable), waiting_for("First"):
            raise refused()
        with waiting_for("Second"):
            assert waits.told() == "Second: no answer yet"
        assert waits.told() == waits.failures() == "First: Connection refused"
        with waiting_for("First"):
            pass
        assert waits.failures() == ""


def test_a_wait_that_was_cancelled_is_no_failure() -> None:
    with collected() as waits:
        with pytest.raises(asyncio.CancelledError), waiting_for("First"):
            raise asyncio.CancelledError
        assert (waits.told(), waits.failures()) == ("", "")


def test_of_many_stores_some_are_named() -> None:
    with collected() as waits:
        for number in range(9):
            with pytest.raises(StoreTimeout), waiting_for(f"S{number}"):
                raise StoreTimeout("no answer within 2 s")
        assert waits.failures().endswith("S5: no answer within 2 s; and 3 others")


def test_the_innermost_cause_has_a_text_of_one_line() -> None:
    late = StoreTimeout("queue: no answer within 1 s")
    late.__cause__ = TimeoutError()
    late.__cause__.__cause__ = asyncio.CancelledError("Cancelled via cancel scope 7f")
    assert innermost(late) == "queue: no answer within 1 s"
    group = StoreUnavailable("queue: unhandled errors in a TaskGroup")
    group.__cause__ = ExceptionGroup("several", [refused(), late])
    assert innermost(group) == "Connection refused"
    assert innermost(ValueError("one\ntwo")) == "one"
    assert innermost(ValueError()) == "ValueError"
    hidden = ValueError("said")
    hidden.__context__, hidden.__suppress_context__ = OSError("unsaid"), True
    assert innermost(hidden) == "said"
