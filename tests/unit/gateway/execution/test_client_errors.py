"""Errors as the client sees them, and as they are logged."""

import logging

import pytest
from graphql import GraphQLError

from datasources.errors import Forbidden, StoreTimeout, StoreUnavailable, Unfinished
from gateway.execution.client_errors import shown


def at(path: str, cause: Exception) -> GraphQLError:
    steps = [int(step) if step.isdigit() else step for step in path.split("/")]
    return GraphQLError(str(cause), path=steps, original_error=cause)


def test_a_dead_server_is_logged_once_however_many_fields_fail(
    caplog: pytest.LogCaptureFixture,
) -> None:
    dead = [at(f"homeFeed/{n}/likeCount", StoreUnavailable("MySQL001A: gone")) for n in range(50)]
    late = at("viewer/boards", StoreTimeout("MySQL002A: no answer"))
    with caplog.at_level(logging.INFO, logger="pinway"):
        answers = shown(*dead, late)
    assert [answer["extensions"]["code"] for answer in answers] == ["UNAVAILABLE"] * 50 + [
        "TIMEOUT"
    ]
    assert [record.getMessage() for record in caplog.records] == [
        "MySQL001A: gone (at response path homeFeed/0/likeCount and 49 more)",
        "MySQL002A: no answer (at response path viewer/boards)",
    ]


def test_a_bug_is_logged_once_with_its_origin_and_not_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    answers = shown(*(at(f"pins/{n}", ZeroDivisionError("secret")) for n in range(3)))
    assert {answer["message"] for answer in answers} == {"Something went wrong."}
    assert {answer["extensions"]["code"] for answer in answers} == {"INTERNAL"}
    [record] = caplog.records
    assert record.getMessage() == "pins/0 and 2 more"
    assert record.exc_info is not None
    assert record.exc_info[0] is ZeroDivisionError


def test_each_failing_line_of_code_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def failed(n: int, line: int) -> GraphQLError:
        try:
            if line == 1:
                raise ValueError(f"first, for {n}")
            raise ValueError(f"second, for {n}")
        except ValueError as error:
            return at(f"pins/{n}", error)

    shown(*(failed(n, 1 + n % 2) for n in range(10)))
    assert [record.getMessage() for record in caplog.records] == [
        "pins/0 and 4 more",
        "pins/1 and 4 more",
    ]
    assert [str(record.exc_info[1]) for record in caplog.records if record.exc_info] == [
        "first, for 0",
        "second, for 1",
    ]


def test_an_error_of_the_client_is_shown_and_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    [asked] = shown(at("createPin", Forbidden("Not your board.", "input.boardId")))
    assert asked["message"] == "Not your board."
    assert asked["extensions"] == {"code": "FORBIDDEN", "field": "input.boardId"}
    assert not caplog.records
    [kept] = shown(at("createPin", Unfinished("Kept: send it again.")))
    assert kept["message"] == "Kept: send it again."
