"""A user changes the profile that everybody reads."""

import anyio
import msgspec
import pytest

from datasources.errors import BadInput, NotFound
from datasources.ids import shard_of
from datasources.protocols import ShardTx, Stores
from datasources.records import Image, User
from feed_engine import writes
from feed_engine.transactions import access
from tests.people import People

pytestmark = pytest.mark.anyio
PICTURE = Image(url="/images/ada.svg", width=64, height=64, color="#aabbcc")


async def read(stores: Stores, user: User) -> User:
    return await access.recall(stores, User, user.id)


async def test_given_fields_change_and_all_others_stay(stores: Stores, people: People) -> None:
    user = await people.user()
    change = writes.ProfileChange(full_name="Ada", about="two\nlines", avatar=PICTURE)
    changed = await writes.update_profile(stores, user.id, change)
    assert (changed.full_name, changed.about, changed.avatar) == ("Ada", "two\nlines", PICTURE)
    assert await read(stores, user) == changed

    changed = await writes.update_profile(stores, user.id, writes.ProfileChange(about=None))
    assert (changed.full_name, changed.about, changed.avatar) == ("Ada", "", PICTURE)
    changed = await writes.update_profile(
        stores, user.id, writes.ProfileChange(full_name=None, avatar=None)
    )
    assert (changed.full_name, changed.avatar) == ("", None)
    assert changed.username == user.username


async def test_a_change_keeps_fields_that_a_later_version_stores(
    stores: Stores, people: People
) -> None:
    user = await people.user()

    async def from_the_future(tx: ShardTx) -> None:
        raw = await tx.get(user.id)
        assert raw is not None
        fields = msgspec.json.decode(raw) | {"pronouns": "she"}
        await tx.update(user.id, msgspec.json.encode(fields))

    await stores.shards.objects.transact(shard_of(user.id), from_the_future)
    await writes.update_profile(stores, user.id, writes.ProfileChange(about="new"))
    raw = (await stores.shards.objects.get([user.id]))[user.id]
    assert b'"pronouns":"she"' in raw
    assert b'"about":"new"' in raw


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (writes.ProfileChange(full_name="x" * 181), "fullName"),
        (writes.ProfileChange(full_name="two\nlines"), "fullName"),
        (writes.ProfileChange(about="x" * 2001), "about"),
        (writes.ProfileChange(avatar=Image(url="javascript:alert(1)")), "avatar"),
    ],
)
async def test_a_wrong_value_changes_nothing(
    stores: Stores, people: People, change: writes.ProfileChange, field: str
) -> None:
    user = await people.user()
    with pytest.raises(BadInput) as refused:
        await writes.update_profile(stores, user.id, change)
    assert (refused.value.field or "").partition(".")[0] == field
    assert await read(stores, user) == await read(stores, user) == user


async def test_a_user_who_does_not_exist_has_no_profile(stores: Stores, people: People) -> None:
    user = await people.user()
    with pytest.raises(NotFound):
        await writes.update_profile(stores, user.id + 1_000, writes.ProfileChange(about="me"))


async def test_two_changes_at_once_keep_each_others_fields(stores: Stores, people: People) -> None:
    user = await people.user()
    async with anyio.create_task_group() as group:
        for change in (writes.ProfileChange(full_name="Ada"), writes.ProfileChange(about="me")):
            group.start_soon(writes.update_profile, stores, user.id, change)
    found = await read(stores, user)
    assert (found.full_name, found.about) == ("Ada", "me")
