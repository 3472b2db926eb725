"""`pinway user find`, as operators use it on embedded stores."""

import json
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from click.testing import CliRunner, Result

from feed_engine import writes
from feed_engine.transactions.key_kinds import subject_key
from gateway.cli import main
from tests.gateways import embedded_gateway

ISSUER = "https://id.example/"


class Operator:
    def __init__(self, data: Path) -> None:
        self._data = data

    def find(self, *arguments: str) -> Result:
        given = ["user", "find", *arguments, "--data-dir", str(self._data)]
        return CliRunner().invoke(main, given)

    def json(self, *arguments: str) -> Any:
        done = self.find(*arguments, "--json")
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def operator(tmp_path_factory: pytest.TempPathFactory) -> Operator:
    data = tmp_path_factory.mktemp("users") / "data"
    with start_blocking_portal() as portal:
        portal.call(_fill, data)
    return Operator(data)


async def _fill(data: Path) -> None:
    async with embedded_gateway(data) as gateway:
        stores = gateway.stores
        subject = subject_key(ISSUER, "auth0|5")
        new = writes.NewUser(username="ann", full_name="Ann Lee")
        ann = await writes.sign_up(stores, new, subject=subject)
        for email in ("old@x.org", "Ann@x.org"):
            await writes.change_email(stores, ann.id, writes.EmailChange(email=email))
        await writes.change_user_name(stores, ann.id, writes.NameChange(username="ann.lee"))
        await writes.sign_up(stores, writes.NewUser(username="bob"))
        gone = await writes.sign_up(stores, writes.NewUser(username="cat"))
        await writes.delete_account(stores, gone.id, writes.Deletion(username="cat"))


def test_a_user_is_found_by_each_key_also_by_earlier_ones(operator: Operator) -> None:
    ann = operator.json("--username", "ann.lee")
    assert (ann["state"], ann["username"], ann["full_name"]) == ("active", "ann.lee", "Ann Lee")
    assert (ann["email"], ann["issuer"], ann["subject"]) == ("Ann@x.org", ISSUER, "auth0|5")
    kept = [(it["kind"], it["key"]) for it in ann["kept"]]
    assert kept == [("username", "ann"), ("email", "old@x.org")]
    for arguments in (
        ("--username", "ANN"),
        ("--email", "Ann@X.org"),
        ("--email", "old@x.org"),
        ("--subject", "auth0|5", "--issuer", ISSUER),
        ("--id", ann["id"]),
    ):
        assert operator.json(*arguments) == ann
    lines = operator.find("--email", "Ann@x.org").stdout.splitlines()
    assert lines[:3] == [f"user {ann['id']}: active", "  username: ann.lee", "  full name: Ann Lee"]
    assert lines[-1].startswith("  kept email until ")


def test_a_deleted_account_is_found_until_it_is_erased(operator: Operator) -> None:
    cat = operator.json("--username", "cat")
    assert (cat["state"], cat["username"]) == ("deleted", "cat")
    assert cat["deleted"] is not None


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (["--email", "ann@x.org"], 1, "no user with the email 'ann@x.org'"),
        (["--email", "ann"], 1, "not an e-mail address"),
        (["--username", "dan"], 1, "no user with the username 'dan'"),
        (["--subject", "auth0|5"], 1, "auth.issuer is empty"),
        (["--subject", "auth0|6", "--issuer", ISSUER], 1, "no user with the subject 'auth0|6'"),
        (["--id", "7"], 1, "7"),
        ([], 2, "exactly one of"),
        (["--id", "7", "--username", "ann"], 2, "exactly one of"),
        (["--username", "ann", "--issuer", ISSUER], 2, "--issuer goes with --subject"),
    ],
)
def test_a_wrong_question_says_what_is_wrong(
    operator: Operator, arguments: list[str], status: int, told: str
) -> None:
    done = operator.find(*arguments)
    assert done.exit_code == status
    assert told in done.output
