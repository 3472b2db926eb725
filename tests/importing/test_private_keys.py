"""E-mail addresses and subjects of an import's users."""

import pytest

from datasources.ids import Kind
from datasources.protocols import Stores
from datasources.records import User, decode
from feed_engine import writes
from feed_engine.transactions.key_kinds import subject_key
from tests.audit import audit
from tests.importing.conftest import Fresh
from tests.importing.files import give, take
from tests.importing.worlds import canonical_set, encode

pytestmark = pytest.mark.anyio
ISSUER = "https://id.example/"
ANN = {"email": "Ann@Example.ORG", "issuer": ISSUER, "subject": "auth0|5"}


def line(name: str, **more: str) -> bytes:
    return encode({"type": "user", "key": name, "username": name, **more})


async def users(stores: Stores) -> dict[str, User]:
    found = [decode(Kind.USER, *row) for row in await stores.shards.objects.list(Kind.USER, 0, 99)]
    return {user.username: user for user in found if isinstance(user, User) and user.active}


async def claims(stores: Stores, namespace: str, *keys: str) -> dict[str, int]:
    return await stores.shards.mod.find(namespace, keys)


async def test_the_keys_are_claimed_and_come_back(fresh: Fresh) -> None:
    world = [line("ann", **ANN), line("bob", email="bob@x.org"), line("cat")]
    key = subject_key(ISSUER, "auth0|5")
    async with fresh() as stores:
        for _ in range(2):  # the second import changes nothing
            assert (await take(stores, *world)).bad == []
        found = await users(stores)
        assert (found["ann"].email, found["ann"].subject) == ("Ann@example.org", key)
        emails = await claims(stores, "email", "Ann@example.org", "bob@x.org")
        assert emails == {"Ann@example.org": found["ann"].id, "bob@x.org": found["bob"].id}
        assert await claims(stores, "subject", key) == {key: found["ann"].id}
        exported = await give(stores)
        assert canonical_set(exported) == canonical_set(b"\n".join(world))
        assert await audit(stores) == []
        again = await writes.sign_up(stores, writes.NewUser(username="ann"), subject=key)
        assert again.id == found["ann"].id
    async with fresh() as stores:
        assert (await take(stores, exported)).bad == []
        assert canonical_set(await give(stores)) == canonical_set(exported)


async def test_a_taken_key_is_reported_and_its_user_is_there_without_it(stores: Stores) -> None:
    held = subject_key(ISSUER, "auth0|5")
    dan = await writes.sign_up(stores, writes.NewUser(username="dan"), subject=held)
    report = await take(stores, line("ann", **ANN), line("bob", email="Ann@example.org"))
    assert [(bad.line, bad.message) for bad in report.bad] == [
        (2, "the e-mail address 'Ann@example.org' is taken: the user is there without it"),
        (1, f"the subject {held} is taken: the user is there without it"),
    ]
    found = await users(stores)
    assert (found["ann"].email, found["ann"].subject) == ("Ann@example.org", "")
    assert found["bob"].email == ""
    assert await claims(stores, "subject", held) == {held: dan.id}


async def test_a_user_who_changed_the_address_keeps_it(stores: Stores) -> None:
    await take(stores, line("ann", email="old@x.org"))
    ann = (await users(stores))["ann"]
    await writes.change_email(stores, ann.id, writes.EmailChange(email="new@x.org"))
    assert (await take(stores, line("ann", email="old@x.org"))).bad == []
    assert (await users(stores))["ann"].email == "new@x.org"
    await writes.change_email(stores, ann.id, writes.EmailChange(email="old@x.org"))
    assert (await claims(stores, "email", "old@x.org")) == {"old@x.org": ann.id}


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"email": "ann"}, "'ann' is not an e-mail address"),
        ({"issuer": ISSUER}, "both or none of `issuer` and `subject`"),
        ({"subject": "5"}, "both or none of `issuer` and `subject`"),
        ({"issuer": ISSUER, "subject": "x" * 256}, "length <= 255"),
    ],
)
async def test_a_wrong_key_is_a_bad_line(stores: Stores, fields: dict[str, str], told: str) -> None:
    report = await take(stores, line("ann", **fields))
    [bad] = report.bad
    assert told in bad.message
    assert await users(stores) == {}


async def test_keys_that_somebody_had_before_have_the_versions_of_their_claims(
    stores: Stores,
) -> None:
    keys = {"username": "eve", "email": "eve@x.org"}
    for kind, key in keys.items():
        await stores.shards.mod.claim(kind, key, 7)
        await stores.shards.mod.release(kind, key, 7)
    for _ in range(2):
        await take(stores, line("eve", email=keys["email"]))
        found = (await users(stores))["eve"]
        assert (found.claimed, found.email_claimed, found.subject_claimed) == (1, 1, 0)
