"""`pinway reports`, as operators use it beside a gateway on embedded stores."""

import getpass
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from click.testing import CliRunner, Result

from gateway.cli import main
from gateway.operate import control, requests
from gateway.operate.requests import OnProgress
from gateway.settings import read_settings
from tests.gateways import Gateway, embedded_gateway


class Reported(NamedTuple):
    """The directory of the stores, and the ids of what was reported: Bob's pin three times, his
    board twice, and a comment and Bob himself once. `settle` does the jobs."""

    data: Path
    pin: str
    board: str
    comment: str
    bob: str
    settle: Callable[[], None]

    def pinway(self, *arguments: str, answer: str = "") -> Result:
        given = ["reports", *arguments, "--data-dir", str(self.data)]
        return CliRunner().invoke(main, given, input=answer)

    def json(self, *arguments: str) -> Any:
        done = self.pinway(*arguments, "--json")
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    def ids(self, *arguments: str) -> list[str]:
        """The ids that a list has."""
        return [case["id"] for case in self.json("list", *arguments)["cases"]]


@pytest.fixture
def reported(tmp_path: Path) -> Iterator[Reported]:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serving(tmp_path / "data", portal)) as made,
    ):
        yield made


@asynccontextmanager
async def serving(data: Path, portal: BlockingPortal) -> AsyncIterator[Reported]:
    """A gateway with reports, which answers the commands."""
    settings = read_settings(options={"data_dir": data, "jobs.run": False})
    async with embedded_gateway(data) as gateway:

        async def perform(request: Mapping[str, Any], told: OnProgress) -> Any:
            return await requests.perform(settings, gateway.runtime, request, told)

        async with control.answering(data, perform):
            yield await make(gateway, data, partial(portal.call, gateway.settle))


async def make(gateway: Gateway, data: Path, settle: Callable[[], None]) -> Reported:
    await gateway.sign_up("ann", "bob", "cat", "dan")
    board = await gateway.board("bob", "Bad teas")
    pin = await gateway.pin("bob", board, "Dust\nof the road, swept up in the city of a queen")
    said = await gateway.mutate(
        "bob", "createComment", "comment { id }", pinId=pin, text="drink it"
    )
    bob = str(gateway.people["bob"])
    found = Reported(data, pin, board, said["comment"]["id"], bob, settle)
    for viewer, id, reason, text in (
        ("ann", pin, "SPAM", "an advertisement"),
        ("cat", pin, "SPAM", ""),
        ("dan", pin, "HATE", "a\ncurse"),
        ("ann", board, "OTHER", "no tea"),
        ("cat", board, "OTHER", ""),
        ("ann", found.comment, "HARASSMENT", ""),
        ("ann", found.bob, "SPAM", ""),
    ):
        await gateway.mutate(viewer, "report", "", id=id, reason=reason, text=text)
    return found


def test_a_list_has_what_an_operator_decides_by(reported: Reported) -> None:
    done = reported.pinway("list", "--order", "most")
    assert done.exit_code == 0, done.output
    lines = [re.split(r" {2,}", line) for line in done.stdout.splitlines()]
    assert lines[0] == ["ID", "KIND", "REPORTS", "REASONS", "NEWEST", "OWNER", "NAME"]
    assert [line[:4] for line in lines[1:3]] == [
        [reported.pin, "pin", "3", "2 SPAM, 1 HATE"],
        [reported.board, "board", "2", "2 OTHER"],
    ]
    assert lines[1][5:] == ["bob", "Dust of the road, swept up in the city …"]
    assert len(lines) == 5


def test_lists_are_read_page_by_page_and_by_kind(reported: Reported) -> None:
    expected = [reported.bob, reported.comment, reported.board, reported.pin]
    assert reported.ids() == expected
    found, after = list[str](), list[str]()
    while after != ["--after", "None"]:
        page = reported.json("list", "--limit", "3", *after)
        found += [case["id"] for case in page["cases"]]
        after = ["--after", str(page["next"])]
    assert found == expected
    first = reported.json("list", "--limit", "1")
    told = reported.pinway("list", "--limit", "1").stdout
    assert told.splitlines()[-1] == f"further: --after {first['next']}"
    for kind in ("pin", "board", "comment"):
        assert reported.ids("--kind", kind) == [getattr(reported, kind)]
    assert reported.ids("--kind", "user") == [reported.bob]
    for wrong in ("x", "1", "1:", f"{10**20}:1"):
        refused = reported.pinway("list", "--after", wrong)
        assert (refused.exit_code, refused.output.count("\n")) == (1, 1)
        assert f"{wrong!r} is no place in the list" in refused.output


def test_show_has_the_object_its_reports_and_its_decisions(reported: Reported) -> None:
    reported.json("dismiss", reported.pin, "--by", "Zoë")
    done = reported.pinway("show", reported.pin)
    assert done.exit_code == 0, done.output
    text = re.sub(r"\d{4}-\d\d-\d\dT\S+", "TIME", done.stdout)
    assert text == (
        f"pin {reported.pin} 'Dust of the road, swept up in the city …' of bob: dismissed\n"
        "  title: Dust of the road, swept up in the city of a queen\n"
        f"  board: {reported.board}\n"
        "3 reports, the newest at TIME\n"
        "  TIME HATE by dan: a curse\n"
        "  TIME SPAM by cat\n"
        "  TIME SPAM by ann: an advertisement\n"
        "dismissed at TIME by Zoë\n"
    )
    shown = reported.json("show", reported.pin)
    assert [it["reporter"] for it in shown["filed"]] == ["dan", "cat", "ann"]
    assert [it["operator"] for it in shown["decisions"]] == ["Zoë"]


def test_decided_reports_leave_the_open_list_and_deciding_twice_is_harmless(
    reported: Reported,
) -> None:
    ids = (reported.pin, reported.board)
    assert reported.pinway("dismiss", *ids).stdout == "2 dismissed\n"
    done = reported.pinway("dismiss", *ids, reported.bob)
    assert done.stdout == "1 dismissed, 2 dismissed before\n"
    assert reported.ids() == [reported.comment]
    assert set(reported.ids("--status", "dismissed")) == {*ids, reported.bob}
    shown = reported.json("show", reported.pin)
    assert [it["operator"] for it in shown["decisions"]] == [getpass.getuser()]
    assert reported.pinway("list", "--status", "removed").stdout == "nothing is removed\n"


def test_a_removal_asks_first(reported: Reported) -> None:
    ids = (reported.bob, reported.board, reported.pin, reported.comment)
    done = reported.pinway("remove", *ids, answer="n\n")
    assert done.exit_code == 1
    assert done.stderr.splitlines()[:4] == [
        "the account of bob, with all its boards, pins and comments",
        f"board {reported.board} 'Bad teas' of bob, with all its pins",
        f"pin {reported.pin} 'Dust of the road, swept up in the city …' of bob",
        f"comment {reported.comment} 'drink it' of bob",
    ]
    assert len(reported.ids()) == 4
    assert reported.pinway("remove", reported.pin, answer="y\n").stdout == "1 removed\n"
    assert reported.pinway("remove", "--yes", *ids).stdout == "3 removed, 1 removed before\n"
    assert reported.ids() == []
    assert set(reported.ids("--status", "removed")) == set(ids)
    again = reported.pinway("remove", reported.bob, answer="n\n")
    assert "the account of bob (deleted already)\n" in again.stderr
    refused = reported.pinway("dismiss", reported.bob)
    assert refused.exit_code == 1
    assert "a removal can't be taken back" in refused.output


def test_one_wrong_id_changes_nothing(reported: Reported) -> None:
    absent = str(int(reported.pin) + 7)
    for id, message in (
        (absent, f"pinway: there are no reports of pin {absent}\n"),
        ("x", "pinway: 'x' is not an id"),
    ):
        for command in (("dismiss",), ("remove", "--yes")):
            refused = reported.pinway(*command, reported.pin, id)
            assert refused.exit_code == 1
            assert message in refused.output
        assert reported.pinway("show", id).exit_code == 1
    assert len(reported.ids()) == 4


def test_what_is_on_a_removed_object_is_told_as_deleted_and_can_be_closed(
    reported: Reported,
) -> None:
    reported.json("remove", "--yes", reported.board)
    told = {case["id"]: case["deleted"] for case in reported.json("list")["cases"]}
    assert told == {reported.pin: True, reported.comment: False, reported.bob: False}
    assert reported.pinway("remove", "--yes", reported.pin).stdout == "1 removed\n"
    reported.settle()
    assert reported.json("show", reported.comment)["deleted"]
    assert "drink it (deleted)" in reported.pinway("list").stdout
    assert reported.pinway("remove", "--yes", reported.comment).stdout == "1 removed\n"
    assert reported.ids() == [reported.bob]


def test_nothing_is_dismissed_beside_an_object_that_was_removed(reported: Reported) -> None:
    reported.json("remove", "--yes", reported.comment)
    refused = reported.pinway("dismiss", reported.pin, reported.comment, reported.board)
    assert refused.exit_code == 1
    assert f"{reported.comment} was removed on" in refused.output
    assert reported.ids("--status", "dismissed") == []


@pytest.mark.parametrize("name", ["", " ", "\x1b[31mZoë", "Zoë\nremoved by Max"])
def test_an_operators_name_is_one_that_can_be_printed(reported: Reported, name: str) -> None:
    refused = reported.pinway("dismiss", reported.pin, "--by", name)
    assert (refused.exit_code, refused.output.count("\n")) == (1, 1)
    assert f"{name!r} is no operator's name" in refused.output
    assert len(reported.ids()) == 4


def test_an_operator_without_a_name_is_asked_for_one(
    reported: Reported, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 4711")

    monkeypatch.setattr(getpass, "getuser", nobody)
    refused = reported.pinway("dismiss", reported.pin)
    assert refused.exit_code == 2
    assert "give --by NAME" in refused.output
    assert reported.pinway("dismiss", reported.pin, "--by", "Zoë").exit_code == 0
